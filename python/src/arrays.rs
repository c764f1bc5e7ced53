//! Memory that other libraries see: columns of a motion as NumPy arrays without a copy, and tables through Arrow's C data
//! interface. The only file of this crate with `unsafe`.
//!
//! ```text
//! stream ── get_schema ─▶ struct { column … }      every structure has a `release` that frees what it owns, and that whoever
//!        └─ get_next ───▶ struct { column … }, then none    takes it over sets to null where it was
//! ```
#![allow(unsafe_code)]

use carom_show::table::{Column, Values};
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
    Motion(#[allow(dead_code)] Arc<carom::Motion>),
    Numbers(#[allow(dead_code)] Vec<f64>),
    Integers(#[allow(dead_code)] Vec<i64>),
}

impl Array {
    /// A column of a motion.
    pub fn of_motion(motion: &Arc<carom::Motion>, values: &[f64]) -> Array {
        let (address, shape) = (values.as_ptr() as usize, vec![values.len()]);
        Array { address, shape, kind: "<f8", _owner: Owner::Motion(Arc::clone(motion)) }
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

    /// Whole numbers.
    pub fn integers(values: Vec<i64>) -> Array {
        let (address, shape) = (values.as_ptr() as usize, vec![values.len()]);
        Array { address, shape, kind: "<i8", _owner: Owner::Integers(values) }
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
struct ArrayParts {
    _validity: Vec<u8>,
    _offsets: Vec<i64>,
    _numbers: Vec<f64>,
    _integers: Vec<i64>,
    _bytes: Vec<u8>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

struct StreamParts {
    columns: Vec<Column>,
    given: bool,
}

impl ArrowSchema {
    /// A structure with a field for each column.
    pub fn of(columns: &[Column]) -> ArrowSchema {
        let field = |column: &Column| {
            let format = match column.values {
                Values::Numbers(_) => c"g",
                Values::Integers(_) => c"l",
                Values::Texts(_) => c"U",
            };
            // A name with a zero byte cannot be said; models have none.
            let name = CString::new(column.name.as_str()).unwrap_or_default();
            Box::into_raw(Box::new(ArrowSchema::new(format.to_owned(), name, Vec::new())))
        };
        ArrowSchema::new(c"+s".to_owned(), CString::default(), columns.iter().map(field).collect())
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
    fn of(columns: &[Column]) -> ArrowArray {
        let rows = columns.first().map_or(0, |column| column.values.len());
        let children =
            columns.iter().map(|column| Box::into_raw(Box::new(ArrowArray::column(&column.values))));
        let children = children.collect();
        ArrowArray::new(rows, 0, ArrayParts::none(children), |_| vec![null()])
    }

    fn column(values: &Values) -> ArrowArray {
        let mut parts = ArrayParts::none(Vec::new());
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
            Values::Numbers(v) => {
                let nulls = validity(&|i| v[i].is_nan());
                parts._numbers = v.clone();
                ArrowArray::new(rows, nulls, parts, |p| vec![p.validity(), p._numbers.as_ptr().cast()])
            }
            Values::Integers(v) => {
                parts._integers = v.clone();
                ArrowArray::new(rows, 0, parts, |p| vec![null(), p._integers.as_ptr().cast()])
            }
            Values::Texts(v) => {
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
    fn none(children: Vec<*mut ArrowArray>) -> ArrayParts {
        ArrayParts {
            _validity: Vec::new(),
            _offsets: Vec::new(),
            _numbers: Vec::new(),
            _integers: Vec::new(),
            _bytes: Vec::new(),
            buffers: Vec::new(),
            children,
        }
    }

    /// One bit per row that has a value; none of them when every row has one.
    fn validity(&self) -> *const c_void {
        if self._validity.is_empty() { null() } else { self._validity.as_ptr().cast() }
    }
}

impl ArrowArrayStream {
    /// The columns as one piece.
    pub fn of(columns: Vec<Column>) -> ArrowArrayStream {
        ArrowArrayStream {
            get_schema: Some(stream_schema),
            get_next: Some(stream_next),
            get_last_error: Some(stream_error),
            release: Some(release_stream),
            private: Box::into_raw(Box::new(StreamParts { columns, given: false })).cast(),
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
        out.write(ArrowSchema::of(&parts.columns));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above. At the end the array has no `release`; the rest of it means nothing then.
    unsafe {
        let parts = &mut *(*stream).private.cast::<StreamParts>();
        if parts.given {
            let mut end = ArrowArray::of(&[]);
            release_array(&mut end);
            out.write(end);
        } else {
            parts.given = true;
            out.write(ArrowArray::of(&parts.columns));
        }
    }
    0
}

unsafe extern "C" fn stream_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}
