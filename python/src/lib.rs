//! The native part of the Python package: models, motions, tables and ensembles for the classes of `python/carom`, which have
//! the names, the documentation and the types that people see.
//!
//! Promise: Python's lock is released while something is computed; arrays of a motion are views of its memory; a mistake is
//! an exception with all its diagnostics, and nothing that Python code passes in ends the process.

mod arrays;
mod attend;
mod error;
mod model;
mod motion;
mod sweep;
mod table;

use pyo3::prelude::*;

/// Runs the command line with these arguments (the first is its name) and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| carom_cli::run_command(arguments))
}

/// Names, titles and comments of the gallery.
#[pyfunction]
fn gallery() -> Vec<(&'static str, &'static str, &'static str)> {
    carom::gallery::all().iter().map(|entry| (entry.name, entry.title(), entry.text)).collect()
}

#[pymodule]
fn _carom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<arrays::Array>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<motion::Motion>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<sweep::Ensemble>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(gallery, module)?)
}
