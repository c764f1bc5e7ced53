//! Every model of the gallery is read without errors.

use carom_mech::{Diagnostic, Draft};

#[path = "../../../tests/gallery.rs"]
mod gallery;
use gallery::all as models;

#[test]
fn every_model_of_the_gallery_is_read_without_errors() {
    let mut told = String::new();
    for (file, text) in models() {
        let (draft, mut problems) = Draft::parse(&text, &file);
        match draft.check() {
            Ok((_, warnings)) => problems.extend(warnings),
            Err(errors) => problems.extend(errors),
        }
        for problem in problems.iter().filter(|p: &&Diagnostic| p.is_error()) {
            told += &format!("{}\n", problem.render(&file));
        }
    }
    assert!(told.is_empty(), "{told}");
}

#[test]
fn line_endings_and_byte_order_mark_do_not_change_a_model() {
    for (file, text) in models() {
        let windows = format!("\u{feff}{}", text.replace("\r\n", "\n").replace('\n', "\r\n"));
        let count = |text: &str| {
            let (draft, problems) = Draft::parse(text, &file);
            let checked = draft.check();
            (
                problems.len(),
                checked.is_ok(),
                checked.map_or_else(|e| e.len(), |(m, w)| m.dag.len() + w.len()),
            )
        };
        assert_eq!(count(&text), count(&windows), "{file}");
    }
}
