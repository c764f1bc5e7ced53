//! `carom --version --verbose`: what someone who repeats a computation, or answers a report, needs to know of the program.

use std::ffi::OsString;

/// Is it what was asked for?
pub fn wanted(arguments: &[OsString]) -> bool {
    let is =
        |argument: &OsString, names: &[&str]| argument.to_str().is_some_and(|text| names.contains(&text));
    let version = |argument: &OsString| is(argument, &["--version", "-V"]);
    let verbose = |argument: &OsString| is(argument, &["--verbose", "-v"]);
    matches!(arguments, [_, a, b] if (version(a) && verbose(b)) || (verbose(a) && version(b)))
}

/// The version, and what else tells one program from another.
pub fn verbose() -> String {
    let features = if cfg!(feature = "tables") { "tables" } else { "none" };
    let carried = [
        ("target", env!("CAROM_TARGET")),
        ("compiler", env!("CAROM_COMPILER")),
        ("profile", if cfg!(debug_assertions) { "debug" } else { "release" }),
        ("features", features),
        ("arithmetic", carom_run::Level::detect().arithmetic().name()),
        ("licence", env!("CARGO_PKG_LICENSE")),
    ];
    let mut text = format!("carom {}\n", env!("CARGO_PKG_VERSION"));
    carried.iter().for_each(|(what, value)| text += &format!("{:11} {value}\n", format!("{what}:")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_verbose_come_in_either_order_and_alone() {
        let wanted = |text: &str| wanted(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(wanted("carom --version --verbose") && wanted("carom -v -V"));
        assert!(
            !wanted("carom --version")
                && !wanted("carom --verbose")
                && !wanted("carom run --version --verbose")
        );
    }
}
