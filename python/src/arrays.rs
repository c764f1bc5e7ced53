//! Memory that other libraries see: columns of motions and tables without a copy, as NumPy arrays and through Arrow's C data
//! interface. The only file of this crate with `unsafe`.
//!
//! ```text
//! stream ── get_schema ─▶ struct { column … }      every structure has a `release` that frees what it owns, and that whoever
//!        └─ get_next ───▶ struct { column … }, then none    takes it over sets to null where it was
//! ```
#![allow(unsafe_code)]

use carom_show::table::{ColumnValues, Table as Columns};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A read-only array for NumPy: `numpy.asarray` makes a view of it, which keeps it alive.
///
/// Frozen: what it owns is neither changed nor moved.
#[pyclass(frozen, module = "carom._carom")]
pub struct Array {
    address: usize,
    shape: Vec<usize>,
    kind: &'static str,
    _owner: Owner,
}

/// Whose memory it is.
enum Owner {
    Source(#[allow(dead_code)] Source),
    Numbers(#[allow(dead_code)] Vec<f64>),
}

/// What has columns, and keeps them where they are.
#[derive(Clone)]
pub enum Source {
    /// A motion: its samples.
    Motion(Arc<carom::Motion>),
    /// A table.
    Table(Arc<Columns>),
}

/// The values of a column, where they are.
#[derive(Clone, Copy)]
enum View<'a> {
    Numbers(&'a [f64]),
    Integers(&'a [i64]),
    Texts(&'a [String]),
}

impl Source {
    fn columns(&self) -> Vec<(String, View<'_>)> {
        match self {
            Source::Motion(motion) => {
                let columns = motion.columns().into_iter();
                columns.map(|(name, values)| (name, View::Numbers(values))).collect()
            }
            Source::Table(table) => {
                let columns = table.columns.iter();
                columns.map(|column| (column.name.clone(), View::of(&column.values))).collect()
            }
        }
    }
}

impl<'a> View<'a> {
    fn of(values: &'a ColumnValues) -> View<'a> {
        match values {
            ColumnValues::Numbers(v) => View::Numbers(v),
            ColumnValues::Integers(v) => View::Integers(v),
            ColumnValues::Texts(v) => View::Texts(v),
        }
    }

    fn len(self) -> usize {
        match self {
            View::Numbers(v) => v.len(),
            View::Integers(v) => v.len(),
            View::Texts(v) => v.len(),
        }
    }
}

impl Array {
    /// A column of a motion.
    pub fn of_motion(motion: &Arc<carom::Motion>, values: &[f64]) -> Array {
        let (address, shape) = (values.as_ptr() as usize, vec![values.len()]);
        Array { address, shape, kind: "<f8", _owner: Owner::Source(Source::Motion(Arc::clone(motion))) }
    }

    /// A column of a table; none when it is of texts.
    pub fn of_table(table: &Arc<Columns>, values: &ColumnValues) -> Option<Array> {
        let (address, kind) = match values {
            ColumnValues::Numbers(v) => (v.as_ptr() as usize, "<f8"),
            ColumnValues::Integers(v) => (v.as_ptr() as usize, "<i8"),
            ColumnValues::Texts(_) => return None,
        };
        let owner = Owner::Source(Source::Table(Arc::clone(table)));
        Some(Array { address, shape: vec![values.len()], kind, _owner: owner })
    }

    /// Numbers in rows.
    pub fn rows(values: Vec<f64>, rows: usize, width: usize) -> Array {
        let (address, shape) = (values.as_ptr() as usize, vec![rows, width]);
        Array { address, shape, kind: "<f8", _owner: Owner::Numbers(values) }
    }

    /// Numbers.
    pub fn numbers(values: Vec<f64>) -> Array {
        let (address, shape) = (values.as_ptr() as usize, vec![values.len()]);
        Array { address, shape, kind: "<f8", _owner: Owner::Numbers(values) }
    }
}

#[pymethods]
impl Array {
    /// NumPy's array interface, version 3; the data is not to be written to.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entry = PyDict::new(py);
        entry.set_item("version", 3)?;
        entry.set_item("typestr", self.kind)?;
        entry.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        entry.set_item("data", (self.address, true))?;
        Ok(entry)
    }
}

/// What a value's bytes mean, as the interface writes it; columns may be null.
const NULLABLE: i64 = 2;

/// The names and kinds of columns.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private: *mut c_void,
}

/// The values of columns.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private: *mut c_void,
}

/// A table as a stream of one piece.
#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private: *mut c_void,
}

// SAFETY: each of them owns everything it points to, alone, and none of it belongs to a thread.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was made here and not taken over by anyone, who would have set `release` to null.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for a schema.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as for a schema.
            unsafe { release(self) }
        }
    }
}

/// What a schema owns; the rest points into it.
struct SchemaParts {
    _format: CString,
    _name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// What an array owns; the rest points into it.
#[derive(Default)]
struct ArrayParts {
    /// Keeps the numbers alive, which are where they were.
    _source: Option<Source>,
    _validity: Vec<u8>,
    _offsets: Vec<i64>,
    _bytes: Vec<u8>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

struct StreamParts {
    source: Source,
    given: bool,
}

impl ArrowSchema {
    /// A structure with a field for each column.
    pub fn of(source: &Source) -> ArrowSchema {
        let field = |(name, values): (String, View<'_>)| {
            let format = match values {
                View::Numbers(_) => c"g",
                View::Integers(_) => c"l",
                View::Texts(_) => c"U",
            };
            // A name with a zero byte cannot be said; models have none.
            let name = CString::new(name).unwrap_or_default();
            Box::into_raw(Box::new(ArrowSchema::new(format.to_owned(), name, Vec::new())))
        };
        let fields = source.columns().into_iter().map(field).collect();
        ArrowSchema::new(c"+s".to_owned(), CString::default(), fields)
    }

    fn new(format: CString, name: CString, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
        // Moving the parts into their box moves no text and no list.
        let mut parts = Box::new(SchemaParts { _format: format, _name: name, children });
        ArrowSchema {
            format: parts._format.as_ptr(),
            name: parts._name.as_ptr(),
            metadata: null(),
            flags: if parts.children.is_empty() { NULLABLE } else { 0 },
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private: Box::into_raw(parts).cast(),
        }
    }
}

impl ArrowArray {
    /// A structure with the values of each column.
    fn of(source: &Source) -> ArrowArray {
        let columns = source.columns();
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        let children = columns.into_iter();
        let children =
            children.map(|(_, values)| Box::into_raw(Box::new(ArrowArray::column(source, values))));
        let children = children.collect();
        ArrowArray::new(rows, 0, ArrayParts { children, ..ArrayParts::default() }, |_| vec![null()])
    }

    /// Numbers stay where they are, in the source; texts are written down one after the other.
    fn column(source: &Source, values: View<'_>) -> ArrowArray {
        let mut parts = ArrayParts::default();
        let rows = values.len();
        let mut validity = |missing: &dyn Fn(usize) -> bool| {
            let nulls = (0..rows).filter(|&i| missing(i)).count();
            if nulls > 0 {
                parts._validity = vec![0; rows.div_ceil(8)];
                (0..rows).filter(|&i| !missing(i)).for_each(|i| parts._validity[i / 8] |= 1 << (i % 8));
            }
            nulls
        };
        match values {
            View::Numbers(v) => {
                let nulls = validity(&|i| v[i].is_nan());
                parts._source = Some(source.clone());
                ArrowArray::new(rows, nulls, parts, |p| vec![p.validity(), v.as_ptr().cast()])
            }
            View::Integers(v) => {
                parts._source = Some(source.clone());
                ArrowArray::new(rows, 0, parts, |_| vec![null(), v.as_ptr().cast()])
            }
            View::Texts(v) => {
                let nulls = validity(&|i| v[i].is_empty());
                parts._offsets.push(0);
                for text in v {
                    parts._bytes.extend(text.as_bytes());
                    parts._offsets.push(parts._bytes.len() as i64);
                }
                ArrowArray::new(rows, nulls, parts, |p| {
                    vec![p.validity(), p._offsets.as_ptr().cast(), p._bytes.as_ptr().cast()]
                })
            }
        }
    }

    fn new(
        rows: usize,
        nulls: usize,
        parts: ArrayParts,
        buffers: impl FnOnce(&ArrayParts) -> Vec<*const c_void>,
    ) -> ArrowArray {
        let mut parts = Box::new(parts);
        parts.buffers = buffers(&parts);
        ArrowArray {
            length: rows as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: parts.buffers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.buffers.as_mut_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_array),
            private: Box::into_raw(parts).cast(),
        }
    }
}

impl ArrayParts {
    /// One bit per row that has a value; none of them when every row has one.
    fn validity(&self) -> *const c_void {
        if self._validity.is_empty() { null() } else { self._validity.as_ptr().cast() }
    }
}

impl ArrowArrayStream {
    /// All columns as one piece.
    pub fn of(source: Source) -> ArrowArrayStream {
        ArrowArrayStream {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(release_stream),
            private: Box::into_raw(Box::new(StreamParts { source, given: false })).cast(),
        }
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface calls this once, with a schema that was made here; its parts and its children are boxes made here.
    // A child that someone took over has no `release` any more, and dropping its box frees nothing else.
    unsafe {
        let parts = Box::from_raw((*schema).private.cast::<SchemaParts>());
        parts.children.iter().for_each(|&child| drop(Box::from_raw(child)));
        (*schema).release = None;
        (*schema).private = null_mut();
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as for a schema.
    unsafe {
        let parts = Box::from_raw((*array).private.cast::<ArrayParts>());
        parts.children.iter().for_each(|&child| drop(Box::from_raw(child)));
        (*array).release = None;
        (*array).private = null_mut();
    }
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: as for a schema.
    unsafe {
        drop(Box::from_raw((*stream).private.cast::<StreamParts>()));
        (*stream).release = None;
        (*stream).private = null_mut();
    }
}

unsafe extern "C" fn stream_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the interface passes a stream that is not released, and room for a schema that holds nothing yet.
    unsafe {
        let parts = &*(*stream).private.cast::<StreamParts>();
        out.write(ArrowSchema::of(&parts.source));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above. At the end the array has no `release`; the rest of it means nothing then.
    unsafe {
        let parts = &mut *(*stream).private.cast::<StreamParts>();
        if parts.given {
            let mut end = ArrowArray::new(0, 0, ArrayParts::default(), |_| Vec::new());
            release_array(&mut end);
            out.write(end);
        } else {
            parts.given = true;
            out.write(ArrowArray::of(&parts.source));
        }
    }
    0
}

unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}
