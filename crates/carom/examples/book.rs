//! What mdBook cannot do for the book of carom, as a preprocessor of it: formulas in TeX become MathML (with the printer and the
//! font of the derivation reports), blocks say which file they are, and the gallery gets its figures.
//!
//! ```text
//! cargo run -p carom --example book -- figures docs/book/src/figures    the figures of the gallery
//! mdbook build docs/book                                                runs this for every build
//! ```
//!
//! mdBook asks `book supports html`, then writes `[context, book]` to standard input and reads the book back.

use carom::gallery;
use carom_mech::{Draft, derive};
use carom_run::{Options, Program, Sampling, simulate};
use carom_show::{plot, report::chapter};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::{env, fs, io};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["supports", _] => Ok(()),
        ["figures", folder] => figures(Path::new(folder)),
        [] => preprocess(),
        _ => Err("usage: book [figures FOLDER]".into()),
    }
}

fn preprocess() -> Outcome<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut input: Value = serde_json::from_str(&text)?;
    let root = input[0]["root"].as_str().unwrap_or(".").to_owned();
    let source = Path::new(&root).join("src");
    let mut book = input[1].take();
    let mut wrong = Vec::new();
    let mut pages = String::new();
    visit(&mut book, &mut |path, content| match chapter(&source, path, content) {
        Ok(page) => {
            pages += &page;
            page
        }
        Err(problems) => {
            wrong.extend(problems.iter().map(|p| format!("{path}: {p}")));
            String::new()
        }
    });
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    // One font for all chapters, with the characters of all: the printed book is one page.
    let style = format!("<style>\n{}</style>\n", chapter::style(&pages));
    visit(&mut book, &mut |_, content| {
        if content.contains("<math") { format!("{content}\n\n{style}") } else { content.to_owned() }
    });
    println!("{}", serde_json::to_string(&book)?);
    Ok(())
}

/// Changes every chapter: an object with a content and a path.
fn visit(value: &mut Value, change: &mut impl FnMut(&str, &str) -> String) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|v| visit(v, change)),
        Value::Object(map) => {
            if let (Some(content), Some(path)) =
                (map.get("content").and_then(Value::as_str), map.get("path").and_then(Value::as_str))
            {
                let new = change(path, content);
                map.insert("content".to_owned(), Value::String(new));
            }
            map.values_mut().for_each(|v| visit(v, change));
        }
        _ => {}
    }
}

fn chapter(source: &Path, path: &str, content: &str) -> Result<String, Vec<String>> {
    let content = match path {
        "gallery.md" => with_figures(source, content),
        _ if path.starts_with("notebooks/") => drawn(source, content),
        _ => content.to_owned(),
    };
    chapter::formulas(&blocks(source, path, &content)?)
}

/// Fenced blocks: `file=NAME` becomes a line above, and without a body the file itself is shown.
fn blocks(source: &Path, path: &str, content: &str) -> Result<String, Vec<String>> {
    let mut out = String::new();
    let mut lines = content.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            out += &format!("{line}\n");
            continue;
        };
        let mut words = info.split_whitespace();
        let language = words.next().unwrap_or("");
        let mut body = String::new();
        while let Some(line) = lines.next_if(|l| !l.starts_with("```")) {
            body += &format!("{line}\n");
        }
        lines.next();
        if let Some(file) = words.find_map(|w| w.strip_prefix("file=")) {
            out += &format!("<div class=\"file-name\">{file}</div>\n\n");
            if body.trim().is_empty() {
                let beside = source.join(path).with_file_name(file);
                body = fs::read_to_string(&beside).map_err(|e| vec![format!("{}: {e}", beside.display())])?;
            }
        }
        out += &format!("```{language}\n{body}```\n");
    }
    Ok(out)
}

/// The gallery with a figure under every model, if they have been drawn.
fn with_figures(source: &Path, content: &str) -> String {
    let mut out = String::new();
    for line in content.lines() {
        out += &format!("{line}\n");
        let name = line.strip_prefix('`').and_then(|l| l.split_once('`')).map(|(name, _)| name);
        if let Some(entry) = name.and_then(gallery::find)
            && source.join(format!("figures/{}.svg", entry.name)).exists()
        {
            out += &format!("\n![{}](figures/{}.svg)\n", entry.title(), entry.name);
        }
    }
    out
}

/// A notebook with the pictures and animations that have been drawn, each on a line of its own; without the others.
fn drawn(source: &Path, content: &str) -> String {
    const FIGURE: &str = "src=\"../figures/notebooks/";
    let there = |line: &str| {
        let name = line.split_once(FIGURE).and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name);
        name.is_none_or(|name| source.join("figures/notebooks").join(name).exists())
    };
    let line = |line: &str| match there(line) {
        true => format!("{line}\n"),
        false => {
            "*(a picture, once the notebooks have been run: `python python/notebooks/build.py`)*\n".to_owned()
        }
    };
    content.lines().map(line).collect()
}

fn figures(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    for entry in gallery::all() {
        let figure = picture(entry).map_err(|problem| format!("{}: {problem}", entry.name))?;
        fs::write(folder.join(format!("{}.svg", entry.name)), figure)?;
    }
    Ok(())
}
/// The default plot of a gallery model.
fn picture(entry: &gallery::Entry) -> Result<String, String> {
    let lines = |problems: Vec<carom_mech::Diagnostic>| {
        problems.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let (draft, problems) = Draft::parse(entry.text, entry.name);
    if !problems.is_empty() {
        return Err(lines(problems));
    }
    let (model, _) = draft.check().map_err(lines)?;
    let mut options = Options::of(&model);
    let mechanics = derive(model).map_err(lines)?;
    let program = Program::compile(&mechanics).map_err(|problem| problem.to_string())?;
    options.sampling = Sampling::Even(1001);
    let motion = simulate(&program, &options).map_err(|problem| problem.to_string())?;
    plot::svg(&mechanics, &motion, &[], plot::PlotStyle::default()).map_err(lines)
}
