//! Tables for Python: NumPy arrays column by column, and any consumer of Arrow through the PyCapsule interface.

use crate::arrays::{Array, ArrowArrayStream, ArrowSchema};
use carom_show::table::{Table as Columns, Values};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// Named columns of one length.
#[pyclass(frozen, module = "carom._carom")]
pub struct Table {
    pub inner: Columns,
}

impl Table {
    pub fn new(inner: Columns) -> Table {
        Table { inner }
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

    /// A column: an array of doubles or whole numbers, or a list of texts.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(column) = self.inner.columns.iter().find(|column| column.name == name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        Ok(match &column.values {
            Values::Numbers(v) => Bound::new(py, Array::numbers(v.clone()))?.into_any(),
            Values::Integers(v) => Bound::new(py, Array::integers(v.clone()))?.into_any(),
            Values::Texts(v) => PyList::new(py, v)?.into_any(),
        })
    }

    /// The bytes of a parquet file.
    fn parquet(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        Ok(py.detach(|| carom_show::table::parquet(&self.inner))?)
    }

    /// From the bytes of a parquet file that carom wrote.
    #[staticmethod]
    fn from_parquet(py: Python<'_>, pieces: Vec<Vec<u8>>) -> PyResult<Table> {
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
        let stream = ArrowArrayStream::of(self.inner.columns.clone());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of(&self.inner.columns);
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}
