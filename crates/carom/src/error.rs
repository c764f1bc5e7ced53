//! The one error: what is wrong, everything at once, each with a place (if it has one), a sentence and a way out.

use carom_mech::{Diagnostic, diagnostic};
use carom_run::SimulateError;
use std::fmt;
use std::sync::Arc;

/// Why there is no model, no motion or no such name. `?` works from text to motion.
///
/// Everything that is wrong is reported at once: [`Error::diagnostics`] for programs, `Display` for people. Ending a motion
/// early is no error but a result, see [`Stop`](crate::Stop).
///
/// ```
/// let error = carom::Model::from_toml("coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - k*x^2\"").unwrap_err();
/// assert!(error.is_model());
/// assert_eq!(error.diagnostics()[0].message, "unknown name `k`");
/// assert_eq!(error.diagnostics()[0].place.as_ref().unwrap().line, 2);
/// assert!(error.to_string().contains("2 | lagrangian = \"x'^2/2 - k*x^2\""));
/// ```
#[derive(Clone)]
pub struct Error {
    inner: Arc<ErrorInner>,
}

struct ErrorInner {
    kind: ErrorKind,
    /// What the places are in.
    file: String,
    diagnostics: Vec<Diagnostic>,
    cause: Option<std::io::Error>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorKind {
    Model,
    Start,
    Request,
    File,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, file: &str, mut diagnostics: Vec<Diagnostic>) -> Error {
        diagnostic::tidy(&mut diagnostics);
        Error { inner: Arc::new(ErrorInner { kind, file: file.to_owned(), diagnostics, cause: None }) }
    }

    /// What was asked for does not exist or has no meaning.
    pub(crate) fn request(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::new(ErrorKind::Request, "", vec![Diagnostic::error(message).with_hint(hint)])
    }

    /// The same from a sentence that may end with its way out.
    pub(crate) fn sentence(text: &str) -> Error {
        let (message, hint) = match text.split_once("\n  hint: ") {
            Some((message, hint)) => (message, Some(hint.to_owned())),
            None => (text, None),
        };
        Error::new(ErrorKind::Request, "", vec![Diagnostic { hint, ..Diagnostic::error(message) }])
    }

    /// A name that is not one of these.
    pub(crate) fn unknown<'a>(what: &str, name: &str, names: impl IntoIterator<Item = &'a str>) -> Error {
        let names: Vec<&str> = names.into_iter().collect();
        let hint = match carom_expr::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("this model has no {what}"),
            None => format!("there is {}", names.join(", ")),
        };
        Error::request(format!("unknown {what} `{name}`"), hint)
    }

    pub(crate) fn file(path: &str, cause: std::io::Error) -> Error {
        let diagnostics = vec![Diagnostic::error(format!("cannot read or write {path}: {cause}"))];
        let inner =
            ErrorInner { kind: ErrorKind::File, file: String::new(), diagnostics, cause: Some(cause) };
        Error { inner: Arc::new(inner) }
    }

    pub(crate) fn simulate(error: &SimulateError, file: &str) -> Error {
        let kind = match error {
            SimulateError::Option(_) => ErrorKind::Request,
            SimulateError::Compile(_) => ErrorKind::Model,
            _ => ErrorKind::Start,
        };
        let mut all: Vec<Diagnostic> = error.messages().into_iter().map(Diagnostic::error).collect();
        if let (Some(last), Some(hint)) = (all.last_mut(), error.hint()) {
            last.hint = Some(hint.to_owned());
        }
        Error::new(kind, file, all)
    }

    /// Everything there is to say, errors and warnings, in the order of the model file.
    ///
    /// ```
    /// let error = carom::Model::builder().coordinates(["x"]).kinetic("y'^2").wall("left", "z").build().unwrap_err();
    /// assert_eq!(error.diagnostics().len(), 2);
    /// ```
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.inner.diagnostics
    }

    /// Is something wrong with the model itself?
    ///
    /// ```
    /// assert!(carom::Model::from_toml("coordinates = []").unwrap_err().is_model());
    /// ```
    pub fn is_model(&self) -> bool {
        self.inner.kind == ErrorKind::Model
    }

    /// Is the start behind a wall, off a constraint or singular?
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let mut options = model.options();
    /// options.set("y", -1.0)?;
    /// assert!(model.simulate(&options).unwrap_err().is_start());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn is_start(&self) -> bool {
        self.inner.kind == ErrorKind::Start
    }

    /// Was something asked for that does not exist or has no meaning: a name, a time, a setting?
    ///
    /// ```
    /// let mut options = carom::Model::gallery("double_pendulum")?.options();
    /// let error = options.set("gg", 1.62).unwrap_err();
    /// assert!(error.is_request());
    /// assert_eq!(error.to_string(), "error: unknown parameter or start value `gg`\n    | hint: did you mean `g`?");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn is_request(&self) -> bool {
        self.inner.kind == ErrorKind::Request
    }

    /// Could a file not be read or written? Its cause is the [`source`](std::error::Error::source).
    ///
    /// ```
    /// use std::error::Error;
    /// let error = carom::Model::read("no/such/file.toml").unwrap_err();
    /// assert!(error.is_file() && error.source().is_some());
    /// ```
    pub fn is_file(&self) -> bool {
        self.inner.kind == ErrorKind::File
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.inner.diagnostics.iter().enumerate() {
            let text = diagnostic.render(&self.inner.file);
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            write!(f, "{}{}", if i > 0 { "\n" } else { "" }, lines.join("\n"))?;
        }
        Ok(())
    }
}

/// The same text as `Display`: what `main` prints when it returns this error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.cause.as_ref().map(|cause| cause as _)
    }
}
