//! Ensembles: rows of a sweep, whole or chunk by chunk, into memory or into a folder.

use crate::attend::attend;
use crate::error::{broken, refused};
use crate::model::Model;
use crate::table::Table;
use carom_cli::ensemble::{Inputs, SweepQuestion};
use carom_cli::store::{Store, parquet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// A sweep, ready to be simulated.
#[pyclass(frozen, module = "carom._carom")]
pub struct Ensemble {
    inner: carom_cli::ensemble::Sweep,
    /// What the model is called in messages.
    file: String,
}

impl Ensemble {
    fn simulate(
        &self,
        py: Python<'_>,
        range: std::ops::Range<u64>,
        threads: Option<u32>,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<(carom_show::table::Table, Option<PyErr>)> {
        if range.start > range.end || range.end > self.inner.count() {
            return Err(PyValueError::new_err("no such rows"));
        }
        let (result, raised) = attend(py, progress, |attended| {
            let received = &mut |n| attended.rows.store(n, Ordering::Relaxed);
            self.inner.rows(range, threads, &|| attended.goes_on(), received)
        })?;
        match (result, raised) {
            (Ok(table), raised) => Ok((table, raised)),
            (_, Some(error)) => Err(error),
            (Err(refusal), None) => Err(refused(py, &refusal, &self.file)),
        }
    }
}

/// Names and ranges, how many draws, the seed.
type RandomRanges = (Vec<(String, f64, f64)>, u64, u64);

/// Doubles from their bytes, lowest first.
fn doubles(bytes: &[u8]) -> PyResult<Vec<f64>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    match rest {
        [] => Ok(numbers.iter().map(|number| f64::from_le_bytes(*number)).collect()),
        _ => Err(PyValueError::new_err("these are not the bytes of doubles")),
    }
}

#[pymethods]
impl Ensemble {
    /// Checks and compiles. `lists` are names and values, the bytes of doubles; `random` names and ranges.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        model: &Model,
        lists: Vec<(String, PyBackedBytes)>,
        product: bool,
        random: Option<RandomRanges>,
        set: Vec<(String, f64)>,
        start: Vec<(String, f64)>,
        run: Vec<(String, String)>,
        project: bool,
        columns: Option<String>,
        events: Option<String>,
    ) -> PyResult<Ensemble> {
        let lists = lists.into_iter().map(|(name, bytes)| Ok((name, doubles(&bytes)?)));
        let lists = lists.collect::<PyResult<Vec<_>>>()?;
        let inputs = match random {
            Some((ranges, count, seed)) => Inputs::Random { ranges, count, seed },
            None if product => Inputs::Product(lists),
            None => Inputs::Rows(lists),
        };
        let (text, file, tables) = (model.text.clone(), model.file.clone(), model.owned_tables());
        let question =
            SweepQuestion { text, file, tables, set, start, run, project, columns, events, inputs };
        let made = py.detach(|| carom_cli::ensemble::Sweep::new(question));
        let file = model.file.clone();
        made.map_err(|refusal| refused(py, &refusal, &file)).map(|inner| Ensemble { inner, file })
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.inner.count()).unwrap_or(usize::MAX)
    }

    #[getter]
    fn key(&self) -> String {
        self.inner.key()
    }

    /// Some rows in memory. `progress` hears how many there are. A signal whose handler raises ends it; the exception comes with
    /// the rows that were done.
    fn rows(
        &self,
        py: Python<'_>,
        first: u64,
        last: u64,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Table, Option<Py<PyAny>>)> {
        let (table, raised) = self.simulate(py, first..last, threads, progress.as_ref())?;
        Ok((Table::new(table), raised.map(|error| error.into_value(py).into_any())))
    }

    /// The values that are varied, in one row.
    fn inputs(&self, index: u64) -> PyResult<Vec<(String, f64)>> {
        if index >= self.inner.count() {
            return Err(PyValueError::new_err("no such row"));
        }
        Ok(self.inner.inputs(index))
    }

    /// Begins or opens the folder of this sweep: rows per chunk, number of chunks, indices of the missing ones.
    fn open(&self, py: Python<'_>, folder: PathBuf, chunk: Option<u64>) -> PyResult<(u64, u64, Vec<u64>)> {
        let (opened, raised) = attend(py, None, |attended| {
            let opened = Store::open(&folder, &self.inner, chunk, &|| attended.goes_on())?;
            Ok(opened.map(|store| (store.range(0).end, store.chunks(), store.missing())))
        })?;
        match (opened, raised) {
            (_, Some(error)) => Err(error),
            (Ok(Some(found)), None) => Ok(found),
            (Ok(None), None) => Err(broken()),
            (Err(refusal), None) => Err(refused(py, &refusal, &self.file)),
        }
    }

    /// Is this the folder of this sweep?
    fn holds(&self, py: Python<'_>, folder: PathBuf) -> bool {
        py.detach(|| Store::existing(&folder, &self.inner).is_ok())
    }

    /// The chunks that the folder of this sweep does not have; what killed workers left of others is removed.
    fn missing(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<u64>> {
        let missing = py.detach(|| {
            let store = Store::existing(&folder, &self.inner)?;
            store.tidy();
            Ok(store.missing())
        });
        missing.map_err(|refusal| refused(py, &refusal, &self.file))
    }

    /// The bytes of a chunk's file.
    fn chunk(
        &self,
        py: Python<'_>,
        first: u64,
        last: u64,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<u8>> {
        let (table, raised) = self.simulate(py, first..last, threads, progress.as_ref())?;
        // A chunk is whole or not at all.
        if let Some(error) = raised {
            return Err(error);
        }
        py.detach(|| parquet(&table)).map_err(|refusal| refused(py, &refusal, &self.file))
    }

    /// Writes the bytes of a chunk into its folder, whole or not at all. The folder must be that of this sweep: nothing is begun here.
    fn write(&self, py: Python<'_>, folder: PathBuf, index: u64, bytes: &[u8]) -> PyResult<()> {
        let written =
            py.detach(|| Store::existing(&folder, &self.inner).and_then(|store| store.write(index, bytes)));
        written.map_err(|refusal| refused(py, &refusal, &self.file))
    }
}
