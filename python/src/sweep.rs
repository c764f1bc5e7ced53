//! Ensembles: rows of a sweep, whole or chunk by chunk, into memory or into a folder.

use crate::error::refused;
use crate::model::{Model, PATIENCE};
use crate::table::Table;
use carom_cli::ensemble::{Inputs, Question, Refusal};
use carom_cli::store::{Store, parquet};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};

/// A sweep, ready to be simulated.
#[pyclass(frozen, module = "carom._carom")]
pub struct Ensemble {
    inner: carom_cli::ensemble::Ensemble,
}

impl Ensemble {
    fn simulate(
        &self,
        py: Python<'_>,
        range: std::ops::Range<u64>,
        threads: Option<u32>,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<carom_show::table::Table> {
        if range.start > range.end || range.end > self.inner.count() {
            return Err(PyValueError::new_err("no such rows"));
        }
        let (stop, rows) = (AtomicBool::new(false), AtomicU64::new(0));
        let (result, raised) = py.detach(|| {
            std::thread::scope(|scope| {
                let (sender, receiver) = channel();
                let (stop, rows) = (&stop, &rows);
                scope.spawn(move || {
                    let go_on = || !stop.load(Ordering::Relaxed);
                    let result =
                        self.inner.rows(range, threads, &go_on, &mut |n| rows.store(n, Ordering::Relaxed));
                    let _ = sender.send(result);
                });
                // Signals come to the calling thread: it asks for them while others work.
                let mut raised = None;
                loop {
                    match receiver.recv_timeout(PATIENCE) {
                        Ok(result) => return (Some(result), raised),
                        Err(RecvTimeoutError::Disconnected) => return (None, raised),
                        Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                        Err(RecvTimeoutError::Timeout) => {
                            let heard = Python::attach(|py| {
                                py.check_signals()?;
                                let rows = rows.load(Ordering::Relaxed);
                                progress.map_or(Ok(()), |progress| progress.call1(py, (rows,)).map(drop))
                            });
                            raised = heard.err();
                            stop.store(raised.is_some(), Ordering::Relaxed);
                        }
                    }
                }
            })
        });
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => result.map_err(|refusal| refused(py, &refusal)),
            (None, None) => Err(PyRuntimeError::new_err("carom failed here: please report it")),
        }
    }

    fn store(&self, py: Python<'_>, folder: PathBuf, chunk: Option<u64>) -> PyResult<Store> {
        let opened = py.detach(|| Store::open(&folder, &self.inner, chunk));
        opened.map_err(|refusal| refused(py, &refusal))
    }
}

/// Names and ranges, how many draws, the seed.
type Random = (Vec<(String, f64, f64)>, u64, u64);

#[pymethods]
impl Ensemble {
    /// Checks and compiles. `lists` are names and values; `random` names and ranges.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        model: &Model,
        lists: Vec<(String, Vec<f64>)>,
        product: bool,
        random: Option<Random>,
        set: Vec<(String, f64)>,
        start: Vec<(String, f64)>,
        run: Vec<(String, String)>,
        project: bool,
        columns: Option<String>,
        events: Option<String>,
    ) -> PyResult<Ensemble> {
        let inputs = match random {
            Some((ranges, count, seed)) => Inputs::Random { ranges, count, seed },
            None if product => Inputs::Product(lists),
            None => Inputs::Rows(lists),
        };
        let tables = model.inner.tables().map(|(file, text)| (file.to_owned(), text.to_owned())).collect();
        let (text, file) = (model.text.clone(), model.file.clone());
        let question = Question { text, file, tables, set, start, run, project, columns, events, inputs };
        let made = py.detach(|| carom_cli::ensemble::Ensemble::new(question));
        made.map(|inner| Ensemble { inner }).map_err(|refusal: Refusal| refused(py, &refusal))
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.inner.count()).unwrap_or(usize::MAX)
    }

    #[getter]
    fn key(&self) -> String {
        self.inner.key()
    }

    /// Some rows in memory. `progress` hears how many there are.
    fn rows(
        &self,
        py: Python<'_>,
        first: u64,
        last: u64,
        threads: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Table> {
        self.simulate(py, first..last, threads, progress.as_ref()).map(Table::new)
    }

    /// Begins or opens the folder of this sweep: rows per chunk, number of chunks, indices of the missing ones.
    fn open(&self, py: Python<'_>, folder: PathBuf, chunk: Option<u64>) -> PyResult<(u64, u64, Vec<u64>)> {
        let store = self.store(py, folder, chunk)?;
        Ok((store.range(0).end, store.chunks(), store.missing()))
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
        let table = self.simulate(py, first..last, threads, progress.as_ref())?;
        py.detach(|| parquet(&table)).map_err(|refusal| refused(py, &refusal))
    }

    /// Writes the bytes of a chunk into its folder, whole or not at all.
    fn write(&self, py: Python<'_>, folder: PathBuf, index: u64, bytes: &[u8]) -> PyResult<()> {
        let store = self.store(py, folder, None)?;
        py.detach(|| store.write(index, bytes)).map_err(|refusal| refused(py, &refusal))
    }
}
