//! Tables for Python: NumPy arrays column by column, and any consumer of Arrow through the PyCapsule interface.

use crate::arrays::{Array, ArrowArrayStream, ArrowSchema, Source};
use carom_show::table::{ColumnValues, Table as Columns};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyCapsule, PyList};
use std::sync::Arc;

/// Named columns of one length.
#[pyclass(frozen, module = "carom._carom")]
pub struct Table {
    pub inner: Arc<Columns>,
}

impl Table {
    pub fn new(inner: Columns) -> Table {
        Table { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.inner.columns.iter().map(|column| column.name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.inner.rows()
    }

    /// A column: an array of doubles or whole numbers, which is a view, or a list of texts.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(column) = self.inner.columns.iter().find(|column| column.name == name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        match (&column.values, Array::of_table(&self.inner, &column.values)) {
            (ColumnValues::Texts(texts), _) => Ok(PyList::new(py, texts)?.into_any()),
            (_, Some(array)) => Ok(Bound::new(py, array)?.into_any()),
            (_, None) => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// The bytes of a parquet file.
    fn parquet(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        Ok(py.detach(|| carom_show::table::parquet(&self.inner))?)
    }

    /// From the bytes of a parquet file that carom wrote.
    #[staticmethod]
    fn from_parquet(py: Python<'_>, pieces: &Bound<'_, PyList>) -> PyResult<Table> {
        // Bytes only: a sequence that claims to be endless is not given room first.
        let pieces: Vec<PyBackedBytes> = pieces.iter().map(|p| Ok(p.extract()?)).collect::<PyResult<_>>()?;
        let read = py.detach(|| carom_cli::ensemble::joined(&pieces));
        read.map(Table::new).map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types; the producer may ignore it.
        drop(requested_schema);
        let stream = ArrowArrayStream::of(Source::Table(Arc::clone(&self.inner)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of(&Source::Table(Arc::clone(&self.inner)));
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}
