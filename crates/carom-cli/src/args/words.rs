//! Words that an option takes.

/// What `carom derive` writes.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    #[value(aliases = ["txt", "terminal", "unicode"])]
    Text,
    #[value(alias = "tex")]
    Latex,
    #[value(alias = "md")]
    Markdown,
    Html,
    Json,
    #[value(aliases = ["python", "py"])]
    Sympy,
    #[value(alias = "rs")]
    Rust,
    C,
}

/// What `carom schema` describes.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemaOf {
    Model,
    Run,
    Derive,
    Check,
    Sweep,
    Orbit,
    Follow,
    Scan,
    Lyapunov,
    Fit,
}

/// Forms of a citation.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Citation {
    /// A sentence and BibTeX
    All,
    Text,
    Bibtex,
    Cff,
}
