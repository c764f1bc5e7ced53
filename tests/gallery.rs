//! The models of the gallery as the tests of every room read them (`#[path]`). A folder without models fails.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// There are more: a gallery that is not found must not pass for one that is right.
const FEWEST: usize = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// The file of a model.
pub fn path(name: &str) -> PathBuf {
    folder().join(format!("{name}.toml"))
}

/// The text of a model.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names of all models, in order.
pub fn names() -> Vec<String> {
    let files =
        std::fs::read_dir(folder()).expect("the gallery").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= FEWEST, "only {} models", names.len());
    names
}

/// Names and texts of all models, in order.
pub fn all() -> Vec<(String, String)> {
    names().into_iter().map(|name| (name.clone(), text(&name))).collect()
}
