//! `carom lsp` in a real session: a client starts the program, speaks the protocol over its standard streams, and types.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const URI: &str = "file:///tmp/pendulum.toml";
const MODEL: &str = r#"coordinates = ["theta"]
[parameters]
m = "2 kg"
l = 1.5
g = 9.81
[define]
x = "l*sin(theta)"
[energy]
kinetic = "m/2*l^2*theta'^2"
potential = "-m*g*l*cos(theta)"
[wall.left]
gap = "x + l/2"
[start]
position = { theta = 0.5 }
[units]
l = "m"
"#;

/// An editor.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
    /// Notifications that came while waiting for an answer.
    notes: VecDeque<Value>,
}

impl Client {
    fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client { child, input, output, next: 0, notes: VecDeque::new() };
        let answer =
            client.ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            if line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("Content-Length:") {
                length = number.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// The whole answer, result or error.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(json!({ "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notes.push_back(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn open(&mut self, text: &str) -> Vec<Value> {
        let document = json!({ "uri": URI, "languageId": "toml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics()
    }

    /// Replaces a range by typing.
    fn edit(&mut self, version: i64, start: (usize, usize), end: (usize, usize), text: &str) -> Vec<Value> {
        let at = |(line, character): (usize, usize)| json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": at(start), "end": at(end) }, "text": text });
        let document = json!({ "uri": URI, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        self.diagnostics()
    }

    fn diagnostics(&mut self) -> Vec<Value> {
        let message = self.notes.pop_front().unwrap_or_else(|| self.receive());
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        assert_eq!(message["params"]["uri"], URI);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(&mut self, method: &str, (line, character): (usize, usize)) -> Value {
        let position = json!({ "line": line, "character": character });
        self.ask(method, json!({ "textDocument": { "uri": URI }, "position": position }))
    }

    fn stop(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// Line and UTF-16 column of the `n`th character after the first occurrence of a piece of text.
fn place(text: &str, piece: &str, after: usize) -> (usize, usize) {
    let at = text.find(piece).unwrap_or_else(|| panic!("{piece}")) + after;
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    (line, text[start..at].encode_utf16().count())
}

fn labels(items: &Value) -> Vec<String> {
    items.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap().to_owned()).collect()
}

/// The text with the edits of a rename applied.
fn renamed(text: &str, answer: &Value) -> String {
    let mut edits: Vec<(usize, usize, String)> = answer["changes"][URI]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let byte = |p: &Value| {
                let (line, column) = (p["line"].as_u64().unwrap(), p["character"].as_u64().unwrap());
                let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
                let mut units = 0;
                let rest = &text[start..];
                let inside = rest.char_indices().find(|(_, c)| {
                    let here = units >= column;
                    units += c.len_utf16() as u64;
                    here
                });
                start + inside.map_or(rest.len(), |(i, _)| i)
            };
            (
                byte(&edit["range"]["start"]),
                byte(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, &new);
    }
    out
}

#[test]
fn a_session_of_typing_completing_asking_and_renaming() {
    let mut editor = Client::start();
    assert_eq!(editor.open(MODEL), Vec::<Value>::new());

    // A mistake appears where it is typed, with its way out, and goes away again.
    let (line, column) = place(MODEL, "theta'^2", 0);
    let found = editor.edit(2, (line, column), (line, column + 5), "thetta");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["range"]["start"], json!({ "line": line, "character": column }));
    assert_eq!(found[0]["range"]["end"], json!({ "line": line, "character": column + 7 }));
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean the coordinate `theta`?"));
    assert!(editor.edit(3, (line, column), (line, column + 6), "theta").is_empty());

    // Units that do not fit are told as everything else.
    let (line, column) = place(MODEL, "x + l/2", 4);
    let found = editor.edit(4, (line, column), (line, column + 1), "m");
    assert_eq!(found[0]["message"].as_str().unwrap().lines().next(), Some("adds m and kg"));
    editor.edit(5, (line, column), (line, column + 1), "l");

    // Completion of names, keys, tables and functions.
    let (line, column) = place(MODEL, "m/2*l^2", 4);
    let names = labels(&editor.at("textDocument/completion", (line, column)));
    for wanted in ["theta", "m", "l", "g", "x", "sin", "sqrt", "t", "pi"] {
        assert!(names.iter().any(|n| n == wanted), "{wanted}: {names:?}");
    }
    let keys = labels(&editor.at("textDocument/completion", place(MODEL, "gap = ", 0)));
    assert!(keys.contains(&"restitution".to_owned()), "{keys:?}");

    // Hover: value, unit and derivative.
    let text = |hover: Value| hover["contents"]["value"].as_str().unwrap().to_owned();
    let hover = text(editor.at("textDocument/hover", place(MODEL, "*g*l", 1)));
    assert!(hover.contains("parameter") && hover.contains("value 9.81") && hover.contains("m/s²"), "{hover}");
    let hover = text(editor.at("textDocument/hover", place(MODEL, "x + l/2", 0)));
    assert!(hover.contains("l*sin(theta)") && hover.contains("in m"), "{hover}");
    assert!(
        hover.contains("x' = theta'*l*cos(theta)") || hover.contains("x' = l*theta'*cos(theta)"),
        "{hover}"
    );
    let hover = text(editor.at("textDocument/hover", place(MODEL, "left]", 1)));
    assert!(hover.contains("wall") && hover.contains("gap rate ="), "{hover}");
    let hover = text(editor.at("textDocument/hover", place(MODEL, "cos(theta)", 1)));
    assert!(hover.contains("-sin(x)"), "{hover}");
    let hover = text(editor.at("textDocument/hover", place(MODEL, "potential", 3)));
    assert!(hover.contains("potential energy"), "{hover}");

    // Definition and references.
    let (line, column) = place(MODEL, "x = \"l", 0);
    let found = editor.at("textDocument/definition", place(MODEL, "x + l/2", 1));
    assert_eq!(found["range"]["start"], json!({ "line": line, "character": column }));
    let found = editor.at("textDocument/references", place(MODEL, "l = 1.5", 0));
    assert_eq!(found.as_array().unwrap().len(), 6, "{found}");

    // Rename, everywhere at once: in lists, formulas and keys; the renamed model is right.
    for (name, new) in [("theta\"]", "phi"), ("l = 1.5", "len"), ("x = \"l", "pos"), ("left]", "west")] {
        let (line, character) = place(MODEL, name, 0);
        let params = json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character }, "newName": new });
        let text = renamed(MODEL, &editor.ask("textDocument/rename", params));
        assert!(text.contains(new));
        carom_mech_accepts(&text);
    }
    for (new, why) in
        [("sin", "is a function"), ("g", "already the name"), ("2x", "is not a name"), ("", "is not a name")]
    {
        let (line, character) = place(MODEL, "l = 1.5", 0);
        let params = json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character }, "newName": new });
        let answer = editor.answer("textDocument/rename", params);
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{answer}");
    }
    editor.stop();
}

/// The program itself finds nothing wrong.
fn carom_mech_accepts(text: &str) {
    if let Err(problems) = carom_mech::load(text, "m.toml") {
        panic!("{text}\n{problems:?}");
    }
}

#[test]
fn positions_are_utf16_whatever_stands_before() {
    let mut editor = Client::start();
    let text = "coordinates = [\"θ\"]\n# 𝜃𝜃 🙂\nlagrangian = \"θ'^2/2 - θ*q\" # 🙂\n";
    let found = editor.open(text);
    let (line, column) = place(text, "q\"", 0);
    assert_eq!(found[0]["range"]["start"], json!({ "line": line, "character": column }));
    let params = json!({ "textDocument": { "uri": URI }, "position": { "line": 2, "character": column - 2 }, "newName": "φ" });
    let answer = editor.ask("textDocument/rename", params);
    assert_eq!(renamed(text, &answer), text.replace('θ', "φ"));
    editor.stop();
}

#[test]
fn every_prefix_of_a_model_gets_answers() {
    let mut editor = Client::start();
    editor.open("");
    // As it is typed, letter by letter; every seventh state is asked about everything.
    let letters: Vec<char> = MODEL.chars().collect();
    let mut typed = String::new();
    for (i, c) in letters.iter().enumerate() {
        let end = place(&format!("{typed}|"), "|", 0);
        editor.edit(i as i64 + 2, end, end, &c.to_string());
        typed.push(*c);
        if i % 7 == 0 {
            let end = place(&format!("{typed}|"), "|", 0);
            for method in ["completion", "hover", "definition", "references", "prepareRename"] {
                editor.at(&format!("textDocument/{method}"), end);
            }
        }
    }
    assert!(!labels(&editor.at("textDocument/completion", (1, 0))).is_empty());
    editor.stop();
}

#[test]
fn other_files_wrong_requests_and_closed_documents_do_no_harm() {
    let mut editor = Client::start();
    assert!(editor.open("[package]\nname = \"not a model\"\n").is_empty());
    let answer = editor.answer("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(answer["error"]["code"], -32601);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert!(editor.diagnostics().is_empty());
    assert_eq!(editor.at("textDocument/hover", (0, 0)), Value::Null);
    assert_eq!(editor.at("textDocument/completion", (900, 900)), Value::Null);
    editor.tell("$/setTrace", json!({ "value": "off" }));
    editor.tell("textDocument/didChange", json!({ "textDocument": {}, "contentChanges": 3 }));
    editor.stop();
}
