//! What is wrong, as Python exceptions: `carom.ModelError` with all diagnostics, `OSError` where a file is the reason.

use carom_cli::host::HostRefusal;
use carom_mech::{Diagnostic, Severity};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Diagnostics as a list of dictionaries.
pub fn diagnostics<'py>(py: Python<'py>, all: &[Diagnostic]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for diagnostic in all {
        let entry = PyDict::new(py);
        entry.set_item("message", &diagnostic.message)?;
        entry.set_item("line", diagnostic.place.as_ref().map(|place| place.line))?;
        entry.set_item("column", diagnostic.place.as_ref().map(|place| place.column))?;
        entry.set_item("hint", &diagnostic.hint)?;
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        entry.set_item("severity", severity)?;
        entry.set_item("source_line", diagnostic.place.as_ref().map(|place| place.source_line.clone()))?;
        list.append(entry)?;
    }
    Ok(list)
}

/// A `carom.ModelError`.
pub fn model_error(py: Python<'_>, text: &str, all: &[Diagnostic]) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("carom._errors")?.getattr("ModelError")?;
        Ok(PyErr::from_value(class.call1((text, diagnostics(py, all)?))?))
    };
    made().unwrap_or_else(|error| error)
}

/// The exception for an error of the library.
pub fn raised(py: Python<'_>, error: &carom::Error) -> PyErr {
    if error.is_file() {
        let text = error.to_string();
        let source = std::error::Error::source(error).and_then(|s| s.downcast_ref::<std::io::Error>());
        return match source.and_then(std::io::Error::raw_os_error) {
            Some(code) => PyOSError::new_err((code, text)),
            None => PyOSError::new_err(text),
        };
    }
    model_error(py, &error.to_string(), error.diagnostics())
}

/// The exception for a refused sweep or question. Places are in a model called `file`.
pub fn refused(py: Python<'_>, refusal: &HostRefusal, file: &str) -> PyErr {
    match refusal {
        HostRefusal::Wrong(all) => {
            let text: Vec<String> = all.iter().map(|d| d.render(file).trim_end().to_owned()).collect();
            model_error(py, &text.join("\n"), all)
        }
        HostRefusal::File(message, None) => PyOSError::new_err(message.clone()),
        HostRefusal::File(message, Some(code)) => PyOSError::new_err((*code, message.clone())),
        HostRefusal::Broken => broken(),
    }
}

/// The exception for a mistake in carom.
pub fn broken() -> PyErr {
    PyRuntimeError::new_err("carom failed here: please report it")
}
