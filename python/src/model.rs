//! A model and the simulators that wait for it.

use crate::error::{diagnostics, raised};
use crate::motion::Motion;
use carom::{Format, Simulator};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a computation asks Python for signals.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// A checked model.
#[pyclass(frozen, module = "carom._carom")]
pub struct Model {
    pub inner: carom::Model,
    /// The model file.
    pub text: String,
    /// What it is called in messages.
    pub file: String,
    /// Workspaces of earlier runs: a fresh one costs as much as a short run.
    waiting: Mutex<Vec<Simulator>>,
}

impl Model {
    fn new(inner: carom::Model, text: String, file: String) -> Model {
        Model { inner, text, file, waiting: Mutex::default() }
    }
}

/// How to simulate: what is not given is as the model says.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Question {
    values: Vec<(String, f64)>,
    until: Option<f64>,
    since: Option<f64>,
    tolerance: Option<f64>,
    rk4: Option<f64>,
    samples: Option<usize>,
    at: Option<Vec<f64>>,
    project: Option<bool>,
    max_impacts: Option<u64>,
    max_steps: Option<u64>,
    sequential: Option<bool>,
    sensitivity: bool,
    dense: bool,
}

impl Question {
    fn options(&self, model: &carom::Model) -> Result<carom::Options, carom::Error> {
        let mut options = model.options();
        for (name, value) in &self.values {
            options.set(name, *value)?;
        }
        if let Some(x) = self.until {
            options.until(x);
        }
        if let Some(x) = self.since {
            options.from(x);
        }
        if let Some(x) = self.tolerance {
            options.tolerance(x);
        }
        if let Some(step) = self.rk4 {
            options.rk4(step);
        }
        if let Some(count) = self.samples {
            options.samples(count);
        }
        if let Some(times) = &self.at {
            options.at(times.clone());
        }
        if let Some(project) = self.project {
            options.project_start(project);
        }
        if let Some(most) = self.max_impacts {
            options.max_impacts(most);
        }
        if let Some(most) = self.max_steps {
            options.max_steps(most);
        }
        if let Some(sequential) = self.sequential {
            options.sequential_impacts(sequential);
        }
        options.sensitivity(self.sensitivity).dense(self.dense);
        Ok(options)
    }
}

#[pymethods]
impl Model {
    /// From a model file's text; `tables` are the tables it names.
    #[new]
    fn from_text(
        py: Python<'_>,
        text: String,
        file: String,
        tables: Vec<(String, String)>,
    ) -> PyResult<Model> {
        let made = py.detach(|| carom::doors::model(&text, &file, tables));
        made.map(|inner| Model::new(inner, text, file)).map_err(|error| raised(py, &error))
    }

    /// From a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let inner = py.detach(|| carom::Model::read(&path)).map_err(|error| raised(py, &error))?;
        let text = std::fs::read_to_string(&path)?;
        Ok(Model::new(inner, text, path.display().to_string()))
    }

    /// From the gallery.
    #[staticmethod]
    fn gallery(py: Python<'_>, name: &str) -> PyResult<Model> {
        let inner = py.detach(|| carom::Model::gallery(name)).map_err(|error| raised(py, &error))?;
        let text = carom::gallery::find(name).map_or("", |entry| entry.text);
        Ok(Model::new(inner, text.to_owned(), format!("{name}.toml")))
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    #[getter]
    fn tables(&self) -> Vec<(&str, &str)> {
        self.inner.tables().collect()
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn coordinates(&self) -> Vec<&str> {
        self.inner.coordinates().collect()
    }

    #[getter]
    fn parameters(&self) -> Vec<(&str, f64)> {
        self.inner.parameters().collect()
    }

    #[getter]
    fn walls(&self) -> Vec<&str> {
        self.inner.walls().collect()
    }

    #[getter]
    fn rows(&self) -> Vec<&str> {
        self.inner.rows().collect()
    }

    #[getter]
    fn events(&self) -> Vec<&str> {
        self.inner.events().collect()
    }

    #[getter]
    fn outputs(&self) -> Vec<&str> {
        self.inner.outputs().collect()
    }

    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics(py, self.inner.warnings())
    }

    /// What a parameter or a start value is.
    fn value(&self, py: Python<'_>, name: &str) -> PyResult<Option<f64>> {
        self.inner.options().get(name).map_err(|error| raised(py, &error))
    }

    /// The derivation.
    fn report(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format = match format {
            "text" => Format::Text,
            "latex" => Format::Latex,
            "markdown" => Format::Markdown,
            "html" => Format::Html,
            "json" => Format::Json,
            "sympy" => Format::Sympy,
            "rust" => Format::Rust,
            "c" => Format::C,
            other => return Err(PyValueError::new_err(format!("unknown format {other:?}"))),
        };
        py.detach(|| self.inner.report(format)).map_err(|error| raised(py, &error))
    }

    /// Derives and compiles, as the first run would.
    fn compile(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.simulator().map(drop)).map_err(|error| raised(py, &error))
    }

    /// Simulates. A signal whose handler raises ends the motion; the exception comes with what was computed.
    fn run(&self, py: Python<'_>, question: &Bound<'_, PyDict>) -> PyResult<(Motion, Option<Py<PyAny>>)> {
        let question: Question = question.extract()?;
        let count = question.at.as_ref().map(Vec::len).or(question.samples).unwrap_or(0);
        let columns = 4 * self.inner.coordinates().count() + 8;
        carom_cli::room_for_samples(count, columns).map_err(PyMemoryError::new_err)?;
        let options = question.options(&self.inner).map_err(|error| raised(py, &error))?;
        let mut raised_by_signal = None;
        let (outcome, seconds) = py.detach(|| {
            let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let known = waiting().pop();
            let mut simulator = match known.map_or_else(|| self.inner.simulator(), Ok) {
                Ok(simulator) => simulator,
                Err(error) => return (Err(error), 0.0),
            };
            let (begin, mut asked) = (Instant::now(), Instant::now());
            let outcome = simulator.simulate_with(&options, |_| {
                if asked.elapsed() < PATIENCE {
                    return true;
                }
                asked = Instant::now();
                match Python::attach(|py| py.check_signals()) {
                    Ok(()) => true,
                    Err(error) => {
                        raised_by_signal = Some(error);
                        false
                    }
                }
            });
            waiting().push(simulator);
            (outcome, begin.elapsed().as_secs_f64())
        });
        let motion = outcome.map_err(|error| raised(py, &error))?;
        let interrupt = raised_by_signal.map(|error| error.into_value(py).into_any());
        Ok((Motion { inner: Arc::new(motion), seconds }, interrupt))
    }
}
