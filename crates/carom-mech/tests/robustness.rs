//! Whatever is in the file: no panic, no hang.

use carom_mech::{Draft, load};
use proptest::prelude::*;

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = gallery::all().into_iter().map(|(_, text)| text).collect();
    texts.push(
        "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - x^2/2\"\n[wall.left]\ngap = \"x + 1\"\n".to_owned(),
    );
    texts
}

/// Reads, checks and renders; the answer does not matter.
fn survive(text: &str) {
    let (draft, problems) = Draft::parse(text, "any.toml");
    let more = match draft.check() {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    };
    let mut said = std::collections::HashSet::new();
    for problem in problems.iter().chain(&more) {
        let place = problem.place.as_ref().map(|p| (p.origin.clone(), p.line, p.column));
        assert!(said.insert((place, problem.message.clone())), "said twice: {}", problem.render("any.toml"));
        let rendered = problem.render("any.toml");
        assert!(rendered.len() < 10_000, "{} bytes: {}", rendered.len(), problem.message.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_survived(text in any::<String>()) {
        survive(&text);
    }

    #[test]
    fn text_made_of_toml_pieces_is_survived(pieces in prop::collection::vec(prop::sample::select(vec![
        "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\"", "'", "\"\"\"", "'''", "\n", "\r", "\r\n", "\\", "\\u03b8", "#", " ",
        "coordinates", "lagrangian", "[energy]", "kinetic", "wall", "[wall.a]", "gap", "start", "position", "x", "x'", "1", "0x1f",
        "1e999", "-", "inf", "nan", "true", "1979-05-27", "min(", "(", ")", "^", "*", "\u{feff}", "\0", "é", "中", "[define]", "a = \"a\"",
    ]), 0..60)) {
        survive(&pieces.concat());
    }

    #[test]
    fn a_gallery_model_with_a_piece_cut_out_is_survived(which in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(), length in 0usize..200) {
        let all = texts();
        let text = &all[which.index(all.len())];
        let bounds: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
        let start = from.index(bounds.len());
        let end = (start + length).min(bounds.len() - 1);
        survive(&format!("{}{}", &text[..bounds[start]], &text[bounds[end.max(start)]..]));
        survive(&text[..bounds[start]]);
    }

    #[test]
    fn a_gallery_model_with_bytes_changed_is_survived(which in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let all = texts();
        let mut bytes = all[which.index(all.len())].clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_gallery_model_with_numbers_and_names_exchanged_is_survived(which in any::<prop::sample::Index>(), seed in any::<u64>()) {
        // Every word may become another word of the same file.
        let all = texts();
        let text = &all[which.index(all.len())];
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').filter(|w| !w.is_empty()).collect();
        let mut state = seed;
        let mut out = String::new();
        let mut rest = text.as_str();
        for word in &words {
            let at = rest.find(word).unwrap();
            out.push_str(&rest[..at]);
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let pick = if (state >> 33) % 8 == 0 { words[(state >> 40) as usize % words.len()] } else { word };
            out.push_str(pick);
            rest = &rest[at + word.len()..];
        }
        out.push_str(rest);
        survive(&out);
    }
}

#[test]
fn deep_nesting_and_large_files_are_answered() {
    survive(&format!("coordinates = {}", "[".repeat(100_000)));
    survive(&format!("a = {}", "{ b = ".repeat(50_000)));
    survive(&format!("{} = 1", vec!["a"; 50_000].join(".")));
    survive(&format!("[{}]\nx = 1", vec!["a"; 50_000].join(".")));
    survive(&format!(
        "coordinates = [\"x\"]\nlagrangian = \"{}x{}\"",
        "(".repeat(10_000),
        ")".repeat(10_000)
    ));
    survive(&format!("coordinates = [\"x\"]\nlagrangian = \"{}\"", "x*".repeat(500_000)));
    survive(&format!("coordinates = [\"x\"]\nlagrangian = \"x'^2{}\"", " + y".repeat(200_000)));
    survive(&"x".repeat(1_000_000));
    survive(&"[a]\n".repeat(100_000));
    survive(&"k = 1\n".repeat(100_000));
    survive(&"\\".repeat(100_000));
    survive(&"a = \"\\q\"\n".repeat(20_000));
}

#[test]
fn many_mistakes_in_a_large_file_are_told_in_reasonable_time() {
    // Thousands of unknown names among thousands of known ones.
    let mut text = String::from("coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[parameters]\n");
    for i in 0..5000 {
        text += &format!("parameter_{i} = \"paramter_{i} + 1\"\n");
    }
    survive(&text);
    // All of them on one line.
    let values: Vec<String> = (0..5000).map(|i| format!("x{i} = \"unknown_{i}\"")).collect();
    survive(&format!(
        "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[start]\nposition = {{ {} }}\n",
        values.join(", ")
    ));
    // A large definition, used often.
    let large = (0..3000).map(|i| format!("x^{i}")).collect::<Vec<_>>().join(" + ");
    let often = vec!["d"; 20_000].join(" + ");
    survive(&format!(
        "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 + {often}\"\n[define]\nd = \"sin({large})\"\n"
    ));
    survive(&format!(
        "coordinates = [\"x\"]\nlagrangian = \"d'^2/2 + {often}\"\n[define]\nd = \"{large}\"\n"
    ));
}

#[test]
fn long_chains_of_definitions_and_parameters_are_followed_without_recursion() {
    let mut text = String::from("coordinates = [\"x\"]\nlagrangian = \"a0'^2/2 + p0\"\n[parameters]\n");
    for i in 0..10_000 {
        text += &format!("p{i} = \"p{}\"\n", i + 1);
    }
    text += "p10000 = 1.0\n[define]\n";
    for i in 0..10_000 {
        text += &format!("a{i} = \"a{}\"\n", i + 1);
    }
    text += "a10000 = \"x\"\n";
    let (model, _) = load(&text, "chain.toml").unwrap();
    assert_eq!(model.parameters[0].value, 1.0);
    let cycle = text.replace("a10000 = \"x\"", "a10000 = \"a0\"").replace("p10000 = 1.0", "p10000 = \"p0\"");
    let problems = load(&cycle, "cycle.toml").unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
}
