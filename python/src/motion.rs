//! A motion: samples as views, everything else as tables.

use crate::arrays::{Array, ArrowArrayStream, ArrowSchema, Source};
use crate::error::raised;
use crate::table::Table;
use carom::Side;
use carom_show::table::Table as Columns;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A motion.
#[pyclass(frozen, module = "carom._carom")]
pub struct Motion {
    pub inner: Arc<carom::Motion>,
    /// How long the simulation took.
    pub seconds: f64,
    /// How often its progress had been told when it was interrupted.
    pub interrupted_after: Option<u64>,
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// When, what, of which walls.
type WhyNot = (f64, String, Vec<String>);

#[pymethods]
impl Motion {
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    #[getter]
    fn interrupted_after(&self) -> Option<u64> {
        self.interrupted_after
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.columns().into_iter().map(|(name, _)| name).collect()
    }

    /// A column of the samples, as a view.
    fn column(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        let values = self.inner.get(name).map_err(|error| raised(py, &error))?;
        Ok(Array::of_motion(&self.inner, values))
    }

    /// Where the numbers of a column are, to show that arrays are views.
    fn address(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.inner.get(name).map(|values| values.as_ptr() as usize).map_err(|error| raised(py, &error))
    }

    /// Every column at some times: a row per time. Only of a motion that kept its steps.
    fn at(&self, py: Python<'_>, times: Vec<f64>, before: bool) -> PyResult<Array> {
        let side = if before { Side::Before } else { Side::After };
        let width = self.inner.columns().len();
        let rows = py.detach(|| {
            let mut all = Vec::with_capacity(times.len() * width);
            for time in &times {
                all.extend(self.inner.at_side(*time, side)?.columns().into_iter().map(|(_, value)| value));
            }
            Ok(all)
        });
        let rows = rows.map_err(|error: carom::Error| raised(py, &error))?;
        Ok(Array::rows(rows, times.len(), width))
    }

    #[getter]
    fn stop(&self) -> PyResult<String> {
        json(self.inner.stop())
    }

    #[getter]
    fn audit(&self) -> PyResult<String> {
        json(self.inner.audit())
    }

    /// The gradient that was asked for: value, derivatives, and why there are none (when, what, of which walls).
    fn gradient(&self) -> Option<(f64, Array, Option<WhyNot>)> {
        let found = self.inner.gradient()?;
        let walls: Vec<&str> = self.inner.model().walls().collect();
        let why = found.not_differentiable.as_ref().map(|why| {
            let names = why.walls.iter().filter_map(|&w| walls.get(w)).map(|name| (*name).to_owned());
            (why.time, why.what.name().to_owned(), names.collect())
        });
        Some((found.value, Array::numbers(found.gradient.clone()), why))
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// The samples.
    fn samples(&self) -> Table {
        let mut table = Columns::default();
        for (name, values) in self.inner.columns() {
            table.numbers("sample", &name, values.to_vec());
        }
        Table::new(table)
    }

    /// The samples for any consumer of Arrow: the memory of the motion, not a copy.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // As for a table.
        drop(requested_schema);
        let stream = ArrowArrayStream::of(Source::Motion(Arc::clone(&self.inner)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of(&Source::Motion(Arc::clone(&self.inner)));
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// One row per impact.
    fn impacts(&self) -> Table {
        let motion = &*self.inner;
        let all: Vec<_> = motion.impacts().collect();
        let mut table = Columns::default();
        table.numbers("", "time", all.iter().map(|i| i.time()).collect());
        table.texts("", "walls", all.iter().map(|i| i.walls().collect::<Vec<_>>().join("+")).collect());
        let model = motion.model();
        for name in model.coordinates() {
            table.numbers(
                "position",
                name,
                all.iter().map(|i| i.position(name).unwrap_or(f64::NAN)).collect(),
            );
        }
        for name in model.coordinates() {
            let before = all.iter().map(|i| i.velocity_before(name).unwrap_or(f64::NAN)).collect();
            table.numbers("velocity", &format!("{name}'.before"), before);
        }
        for name in model.coordinates() {
            let after = all.iter().map(|i| i.velocity_after(name).unwrap_or(f64::NAN)).collect();
            table.numbers("velocity", &format!("{name}'"), after);
        }
        type OfWall = fn(&carom::Impact<'_>, &str) -> Result<f64, carom::Error>;
        let per_wall: [(&str, OfWall); 3] = [
            ("impulse", |i, wall| i.impulse(wall)),
            ("gap_rate_before", |i, wall| i.gap_rate_before(wall)),
            ("gap_rate_after", |i, wall| i.gap_rate_after(wall)),
        ];
        for (word, of) in per_wall {
            for wall in model.walls() {
                let value = |i: &carom::Impact<'_>| match i.walls().any(|w| w == wall) {
                    true => of(i, wall).unwrap_or(f64::NAN),
                    false => f64::NAN,
                };
                table.numbers("wall", &format!("{word}.{wall}"), all.iter().map(value).collect());
            }
        }
        for row in model.rows() {
            let reaction = all.iter().map(|i| i.reaction_impulse(row).unwrap_or(f64::NAN)).collect();
            table.numbers("reaction", &format!("reaction_impulse.{row}"), reaction);
        }
        let coordinates = &carom::doors::checked(model).coordinates;
        for name in coordinates.iter().filter(|c| c.driven.is_some()).map(|c| &c.name) {
            let impulses = all.iter().map(|i| i.driving_impulse(name).unwrap_or(f64::NAN)).collect();
            table.numbers("driving", &format!("driving_impulse.{name}"), impulses);
        }
        table.numbers("", "hamiltonian_before", all.iter().map(|i| i.hamiltonian_before()).collect());
        table.numbers("", "hamiltonian_after", all.iter().map(|i| i.hamiltonian_after()).collect());
        Table::new(table)
    }

    /// One row per contact; `to` is missing while it lasts.
    fn contacts(&self) -> Table {
        let all: Vec<_> = self.inner.contacts().collect();
        let mut table = Columns::default();
        table.texts("", "wall", all.iter().map(|c| c.wall().to_owned()).collect());
        table.numbers("", "from", all.iter().map(|c| c.from()).collect());
        table.numbers("", "to", all.iter().map(|c| c.to().unwrap_or(f64::NAN)).collect());
        table.integers("", "zeno", all.iter().map(|c| i64::from(c.zeno())).collect());
        table.numbers("", "force_at_start", all.iter().map(|c| c.force_at_start()).collect());
        Table::new(table)
    }

    /// One row per touch without impulse.
    fn grazes(&self) -> Table {
        let mut table = Columns::default();
        table.numbers("", "time", self.inner.grazes().map(|g| g.time()).collect());
        table.texts("", "wall", self.inner.grazes().map(|g| g.wall().to_owned()).collect());
        Table::new(table)
    }

    /// One row per event.
    fn events(&self) -> Table {
        let all: Vec<_> = self.inner.events().collect();
        let mut table = Columns::default();
        table.numbers("", "time", all.iter().map(|e| e.time()).collect());
        table.texts("", "event", all.iter().map(|e| e.name().to_owned()).collect());
        for name in self.inner.model().coordinates() {
            table.numbers(
                "position",
                name,
                all.iter().map(|e| e.position(name).unwrap_or(f64::NAN)).collect(),
            );
        }
        for name in self.inner.model().coordinates() {
            let velocity = all.iter().map(|e| e.velocity(name).unwrap_or(f64::NAN)).collect();
            table.numbers("velocity", &format!("{name}'"), velocity);
        }
        Table::new(table)
    }

    /// What an animation page draws, as JSON.
    fn scene(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mechanics = carom::doors::mechanics(&self.inner)?;
            Ok(carom_show::page::scene_json(&mechanics, carom::doors::motion(&self.inner)))
        })
        .map_err(|error: carom::Error| raised(py, &error))?
        .map_err(|problems| {
            let sentences: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            crate::error::model_error(py, &sentences.join("\n"), &problems)
        })
    }

    /// As a file: `svg`, `png`, `html`, `json`, `csv`, `parquet`.
    fn render(&self, py: Python<'_>, format: &str, what: Vec<String>) -> PyResult<Vec<u8>> {
        let what: Vec<&str> = what.iter().map(String::as_str).collect();
        let made = py.detach(|| match format {
            "svg" => self.inner.to_svg(&what).map(String::into_bytes),
            "png" => self.inner.to_png(&what),
            "html" => self.inner.to_html(&what).map(String::into_bytes),
            "csv" => Ok(self.inner.to_csv()),
            "parquet" => Ok(self.inner.to_parquet()),
            _ => Ok(self.inner.to_json().into_bytes()),
        });
        made.map_err(|error| raised(py, &error))
    }
}
