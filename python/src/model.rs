//! A model and the simulators that wait for it.

use crate::attend::{PATIENCE, attend};
use crate::error::{diagnostics, raised, refused};
use crate::motion::Motion;
use carom::{Format, Simulator};
use carom_cli::SignalWeights;
use carom_cli::host::{self, HostModel};
use carom_mech::Mechanics;
use carom_run::{Direction, Objective, Sampling};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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
    /// The model with quantities that gradients were asked of, the last ones: an optimiser asks again and again.
    quantities: Mutex<Vec<Quantity>>,
}

/// A quantity that someone asked for, and the model that has it.
#[derive(Clone)]
struct Quantity {
    /// As it was asked for.
    typed: String,
    /// What the model calls it.
    name: String,
    model: Arc<Model>,
}

/// So many quantities are remembered.
const QUANTITIES: usize = 8;

impl Model {
    fn new(inner: carom::Model, text: String, file: String) -> Model {
        Model { inner, text, file, waiting: Mutex::default(), quantities: Mutex::default() }
    }

    /// The tables it reads.
    pub fn owned_tables(&self) -> Vec<(String, String)> {
        self.inner.tables().map(|(file, text)| (file.to_owned(), text.to_owned())).collect()
    }

    /// The model in which a quantity has a name.
    fn quantity(&self, typed: &str) -> Result<Quantity, carom::Error> {
        let known = || self.quantities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().iter().find(|quantity| quantity.typed == typed) {
            return Ok(found.clone());
        }
        let mut draft = carom::doors::draft(&self.inner).clone();
        let name = carom_cli::named_quantity(&mut draft, typed);
        let inner = carom::doors::of_draft(draft)?;
        let model = Arc::new(Model::new(inner, self.text.clone(), self.file.clone()));
        let made = Quantity { typed: typed.to_owned(), name, model };
        let mut known = known();
        known.truncate(QUANTITIES - 1);
        known.insert(0, made.clone());
        Ok(made)
    }

    /// Simulates in a workspace that waits, or in a new one.
    fn simulate(&self, question: &Question, raised: &mut Option<PyErr>) -> Result<Motion, carom::Error> {
        if let Some(typed) = &question.gradient {
            let found = self.quantity(typed)?;
            return found.model.simulate_of(question, Some(&found.name), raised);
        }
        self.simulate_of(question, None, raised)
    }

    fn simulate_of(
        &self,
        question: &Question,
        quantity: Option<&str>,
        raised: &mut Option<PyErr>,
    ) -> Result<Motion, carom::Error> {
        let options = question.options(&self.inner)?;
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let known = waiting().pop();
        let mut simulator = known.map_or_else(|| self.inner.simulator(), Ok)?;
        let (begin, mut asked, mut told) = (Instant::now(), Instant::now(), 0);
        let mut interrupted_after = None;
        let more = |mechanics: &Mechanics, options: &mut carom_run::Options| {
            question.derivatives(quantity, mechanics, options)
        };
        let outcome = carom::doors::simulate(&mut simulator, &options, more, |_| {
            told += 1;
            if asked.elapsed() >= PATIENCE {
                asked = Instant::now();
                *raised = Python::attach(|py| py.check_signals()).err();
            }
            let ends = raised.is_some() || question.interrupt_after == Some(told);
            interrupted_after = ends.then_some(told);
            !ends
        });
        waiting().push(simulator);
        let seconds = begin.elapsed().as_secs_f64();
        outcome.map(|motion| Motion { inner: Arc::new(motion), seconds, interrupted_after })
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
    /// Of which number there shall be a gradient …
    gradient: Option<String>,
    /// … or of which weighted sum …
    weights: Option<Vec<SignalWeights>>,
    /// … and by what; alone, by what everything is differentiated.
    by: Option<String>,
    /// End, interrupted, when progress is told so often: where an earlier run of the same question was interrupted.
    interrupt_after: Option<u64>,
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

    /// Asks for derivatives.
    fn derivatives(
        &self,
        quantity: Option<&str>,
        mechanics: &Mechanics,
        options: &mut carom_run::Options,
    ) -> Result<(), String> {
        let by = self.by.as_deref();
        match (quantity, &self.weights) {
            (Some(name), _) => {
                options.objective = Some(Objective::named(name, by.unwrap_or(""), mechanics)?);
            }
            (None, Some(weights)) => {
                let (objective, times) = carom_cli::weighted(weights, by.unwrap_or(""), mechanics)?;
                options.objective = Some(objective);
                options.sampling = Sampling::At(times);
            }
            (None, None) => {
                if let Some(list) = by {
                    options.directions = Direction::named(list, mechanics)?;
                    options.sensitivity = options.directions.is_empty();
                }
            }
        }
        Ok(())
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
        let text = carom::doors::draft(&inner).sources.first().map_or("", |source| &source.text).to_owned();
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
        let mut raised_by_signal = None;
        let outcome = py.detach(|| self.simulate(&question, &mut raised_by_signal));
        let motion = outcome.map_err(|error| raised(py, &error))?;
        let interrupt = raised_by_signal.map(|error| error.into_value(py).into_any());
        Ok((motion, interrupt))
    }

    /// What a command answers about this model, which it calls `-`: what it prints. A signal whose handler raises ends it.
    fn ask(&self, py: Python<'_>, words: Vec<String>) -> PyResult<Vec<u8>> {
        let model =
            HostModel { text: self.text.clone(), file: self.file.clone(), tables: self.owned_tables() };
        let (answer, raised) = attend(py, None, |attended| host::answer(&words, model, &attended.stop))?;
        match raised {
            Some(error) => Err(error),
            None => answer.map_err(|refusal| refused(py, &refusal, &self.file)),
        }
    }
}
