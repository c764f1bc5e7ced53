//! TOML as a tree in which every key and value remembers its bytes.
//!
//! Promise: reading goes on after a mistake, so that all mistakes are found in one go; a key whose value could not be
//! read is in the tree as [`TomlValue::Broken`], so that nothing later complains about its absence.

use crate::diagnostic::{Diagnostic, Source};
use std::collections::HashMap;
use std::ops::Range;
use toml_parser::decoder::{Encoding, IntegerRadix, ScalarKind};
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ErrorSink, ParseError};

/// Deepest nesting of arrays and inline tables.
const DEEPEST: u32 = 60;
/// Most parts of a dotted key; models need two.
const MOST_PARTS: usize = 10;

/// A key and its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub text: String,
    pub range: Range<usize>,
}

/// A value and its bytes.
#[derive(Clone, Debug)]
pub(crate) enum TomlValue {
    /// The decoded text; the range includes the quotes.
    String(String, Range<usize>),
    /// A number as written, without underscores; hexadecimal and the like as decimal.
    Number(String, Range<usize>),
    Boolean(bool, Range<usize>),
    Date(Range<usize>),
    Array(Vec<TomlValue>, Range<usize>),
    Table(TomlTable),
    /// Already reported.
    Broken(Range<usize>),
}

/// Keys and values in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TomlTable {
    pub entries: Vec<(Key, TomlValue)>,
    /// Header or braces.
    pub range: Range<usize>,
    /// Made by a header of its own or by braces, not on the way to something deeper.
    explicit: bool,
    /// Made by braces: complete, nothing can be added.
    closed: bool,
    index: HashMap<String, usize>,
}

impl TomlValue {
    /// Its bytes.
    pub fn range(&self) -> Range<usize> {
        match self {
            TomlValue::String(_, range)
            | TomlValue::Number(_, range)
            | TomlValue::Boolean(_, range)
            | TomlValue::Date(range)
            | TomlValue::Array(_, range)
            | TomlValue::Broken(range) => range.clone(),
            TomlValue::Table(table) => table.range.clone(),
        }
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            TomlValue::String(..) => "text",
            TomlValue::Number(..) => "a number",
            TomlValue::Boolean(..) => "true or false",
            TomlValue::Date(..) => "a date",
            TomlValue::Array(..) => "a list",
            TomlValue::Table(..) => "a table",
            TomlValue::Broken(..) => "broken",
        }
    }
}

impl TomlTable {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&TomlValue> {
        self.index.get(key).map(|&i| &self.entries[i].1)
    }

    fn insert(&mut self, key: Key, value: TomlValue) -> Result<usize, usize> {
        match self.index.get(&key.text) {
            Some(&i) => Err(i),
            None => {
                self.index.insert(key.text.clone(), self.entries.len());
                self.entries.push((key, value));
                Ok(self.entries.len() - 1)
            }
        }
    }
}

/// Reads a TOML text.
pub(crate) fn read(source: &Source) -> (TomlTable, Vec<Diagnostic>) {
    let toml = toml_parser::Source::new(&source.text);
    let tokens = toml.lex().into_vec();
    let mut errors: Vec<ParseError> = Vec::new();
    let mut events: Vec<Event> = Vec::with_capacity(tokens.len());
    {
        let mut whitespace = ValidateWhitespace::new(&mut events, toml);
        let mut guard = RecursionGuard::new(&mut whitespace, DEEPEST);
        parse_document(&tokens, &mut guard, &mut errors);
    }
    let mut builder = TreeBuilder {
        source,
        toml,
        events: &events,
        at: 0,
        errors,
        problems: Vec::new(),
        bad_lines: Vec::new(),
        repeated: false,
    };
    builder.bad_lines = builder.errors.iter().map(|e| source.line(place_of(e).start)).collect();
    builder.bad_lines.sort_unstable();
    let root = builder.document();
    let TreeBuilder { errors, mut problems, .. } = builder;
    problems.extend(super::syntax::explain(source, &errors));
    (root, problems)
}

/// Where a syntax error is.
pub(crate) fn place_of(error: &ParseError) -> Range<usize> {
    match error.unexpected().or(error.context()) {
        Some(span) => span.start()..span.end(),
        None => 0..0,
    }
}

struct TreeBuilder<'a> {
    source: &'a Source,
    toml: toml_parser::Source<'a>,
    events: &'a [Event],
    at: usize,
    errors: Vec<ParseError>,
    problems: Vec<Diagnostic>,
    /// Lines with a syntax error, ascending: values there are not trusted.
    bad_lines: Vec<usize>,
    /// Inside a table that was reported as a repetition.
    repeated: bool,
}

impl<'a> TreeBuilder<'a> {
    fn next(&mut self) -> Option<&'a Event> {
        let event = self.events.get(self.at);
        self.at += 1;
        event
    }

    fn peek(&self) -> Option<EventKind> {
        self.events.get(self.at).map(Event::kind)
    }

    fn skip_blank(&mut self) {
        while matches!(self.peek(), Some(EventKind::Whitespace | EventKind::Comment | EventKind::Newline)) {
            self.at += 1;
        }
    }

    fn document(&mut self) -> TomlTable {
        let mut root = TomlTable { explicit: true, ..TomlTable::default() };
        let mut path: Vec<Key> = Vec::new();
        let mut lost = false; // below a header that could not be opened
        while let Some(event) = self.next() {
            match event.kind() {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    let list = event.kind() == EventKind::ArrayTableOpen;
                    let start = event.span().start();
                    (path, lost) = self.header(&mut root, start, list);
                }
                EventKind::SimpleKey => {
                    self.at -= 1;
                    let Some((key, value)) = self.pair() else { continue };
                    if lost {
                        continue;
                    }
                    if let Some(table) = self.open(&mut root, &path, false) {
                        self.store(table, key, value);
                    }
                }
                _ => {}
            }
        }
        root
    }

    /// After `[` or `[[`: the path, and whether it could not be opened.
    fn header(&mut self, root: &mut TomlTable, start: usize, list: bool) -> (Vec<Key>, bool) {
        let mut path = Vec::new();
        let mut end = start + 1;
        while let Some(event) = self.next() {
            end = end.max(event.span().end());
            match event.kind() {
                EventKind::SimpleKey => path.push(self.key(event)),
                EventKind::KeySep | EventKind::Whitespace => {}
                EventKind::StdTableClose | EventKind::ArrayTableClose => break,
                _ => {
                    self.at -= 1;
                    break;
                }
            }
        }
        self.repeated = false;
        if path.is_empty() || !self.short_enough(&path) {
            return (Vec::new(), true); // reported by the parser, or just now
        }
        let bad = self.bad_lines.binary_search(&self.source.line(start)).is_ok();
        if bad && matches!(dotted(&path).as_str(), "wall" | "force" | "body" | "event") {
            return (path, true); // `[wall left]`
        }
        if list {
            let name = dotted(&path);
            let place = self.source.place(start..end);
            let hint = match name.as_str() {
                "wall" | "force" | "body" | "event" => {
                    format!("write [{name}.first], [{name}.second]: each has a name of its own")
                }
                _ => format!("write [{name}]"),
            };
            let message = format!("lists of tables are not used: `[[{name}]]`");
            self.problems.push(Diagnostic::error(message).at(place).with_hint(hint));
            return (path, true);
        }
        let Some(table) = self.open(root, &path, true) else { return (path, true) };
        if table.explicit {
            let first = self.source.line(table.range.start);
            let place = self.source.place(start..end);
            self.problems.push(
                Diagnostic::error(format!("table [{}] appears twice", dotted(&path))).at(place).with_hint(
                    match path.len() {
                        1 => format!("put its entries into the first one, line {first}"),
                        _ => format!("give it another name; the first one is on line {first}"),
                    },
                ),
            );
            // Its entries still count: they are read into the first table.
            self.repeated = true;
            return (path, false);
        }
        table.explicit = true;
        table.range = start..end;
        (path, false)
    }

    /// The table at a path, made where it is missing; `None` (reported) when something else is there.
    fn open<'t>(&mut self, root: &'t mut TomlTable, path: &[Key], report: bool) -> Option<&'t mut TomlTable> {
        let mut table = root;
        for (depth, key) in path.iter().enumerate() {
            let i = match table.index.get(&key.text) {
                Some(&i) => i,
                None => {
                    let new = TomlTable { range: key.range.clone(), ..TomlTable::default() };
                    table.insert(key.clone(), TomlValue::Table(new)).ok()?
                }
            };
            let (first, value) = &mut table.entries[i];
            match value {
                TomlValue::Table(inner) if !inner.closed => table = inner,
                TomlValue::Broken(_) => return None,
                _ => {
                    if report {
                        self.twice(key.range.clone(), &dotted(&path[..=depth]), first.range.start);
                    }
                    return None;
                }
            }
        }
        Some(table)
    }

    fn twice(&mut self, range: Range<usize>, name: &str, first: usize) {
        if self.repeated {
            return;
        }
        let line = self.source.line(first);
        self.problems.push(
            Diagnostic::error(format!("`{name}` appears twice"))
                .at(self.source.place(range))
                .with_hint(format!("the first one is on line {line}; keep one of them")),
        );
    }

    /// `key = value`, the key possibly dotted; `None` when there is no key.
    fn pair(&mut self) -> Option<(Vec<Key>, TomlValue)> {
        let mut path = Vec::new();
        let mut end = 0;
        loop {
            match self.peek() {
                Some(EventKind::SimpleKey) => {
                    let event = self.next()?;
                    end = event.span().end();
                    path.push(self.key(event));
                }
                Some(EventKind::KeySep | EventKind::Whitespace) => self.at += 1,
                _ => break,
            }
        }
        let whole = path.first()?.range.start..end;
        let short = self.short_enough(&path);
        let mut value = TomlValue::Broken(whole);
        if self.peek() == Some(EventKind::KeyValSep) {
            self.at += 1;
            while self.peek() == Some(EventKind::Whitespace) {
                self.at += 1;
            }
            value = self.value(end);
        }
        let lines = self.source.line(path.first()?.range.start)..=self.source.line(value.range().end);
        let from = self.bad_lines.partition_point(|l| l < lines.start());
        if self.bad_lines.get(from).is_some_and(|l| l <= lines.end()) && !matches!(value, TomlValue::Table(_))
        {
            value = TomlValue::Broken(value.range());
        }
        short.then_some((path, value))
    }

    fn short_enough(&mut self, path: &[Key]) -> bool {
        if path.len() <= MOST_PARTS {
            return true;
        }
        let range = path[0].range.start..path[path.len() - 1].range.end;
        self.problems.push(
            Diagnostic::error(format!("a key of {} parts", path.len()))
                .at(self.source.place(range))
                .with_hint("a model needs two at most, such as wall.left"),
        );
        false
    }

    fn value(&mut self, from: usize) -> TomlValue {
        let Some(event) = self.events.get(self.at) else { return TomlValue::Broken(from..from) };
        let start = event.span().start();
        match event.kind() {
            EventKind::Scalar => {
                self.at += 1;
                self.scalar(event)
            }
            EventKind::ArrayOpen => {
                self.at += 1;
                self.array(start)
            }
            EventKind::InlineTableOpen => {
                self.at += 1;
                self.inline_table(start)
            }
            _ => TomlValue::Broken(from..start.max(from)),
        }
    }

    fn array(&mut self, start: usize) -> TomlValue {
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            let Some(event) = self.events.get(self.at) else {
                return TomlValue::Broken(start..self.source.text.len());
            };
            match event.kind() {
                EventKind::ArrayClose => {
                    self.at += 1;
                    return TomlValue::Array(items, start..event.span().end());
                }
                EventKind::Scalar | EventKind::ArrayOpen | EventKind::InlineTableOpen => {
                    items.push(self.value(start));
                }
                EventKind::ValueSep | EventKind::Error => self.at += 1,
                _ => return TomlValue::Broken(start..event.span().start().max(start)),
            }
        }
    }

    fn inline_table(&mut self, start: usize) -> TomlValue {
        let mut table = TomlTable { explicit: true, range: start..start, ..TomlTable::default() };
        loop {
            self.skip_blank();
            let Some(event) = self.events.get(self.at) else {
                return TomlValue::Broken(start..self.source.text.len());
            };
            match event.kind() {
                EventKind::InlineTableClose => {
                    self.at += 1;
                    table.range = start..event.span().end();
                    table.closed = true;
                    return TomlValue::Table(table);
                }
                EventKind::SimpleKey => {
                    if let Some((key, value)) = self.pair() {
                        self.store(&mut table, key, value);
                    }
                }
                EventKind::ValueSep | EventKind::Error | EventKind::KeyValSep | EventKind::KeySep => {
                    self.at += 1
                }
                _ => return TomlValue::Broken(start..event.span().start().max(start)),
            }
        }
    }

    /// Puts `a.b.c = value` into a table.
    fn store(&mut self, table: &mut TomlTable, mut path: Vec<Key>, value: TomlValue) {
        let Some(leaf) = path.pop() else { return };
        let Some(table) = self.open(table, &path, true) else { return };
        let (name, range) = (leaf.text.clone(), leaf.range.clone());
        if let Err(first) = table.insert(leaf, value) {
            let start = table.entries[first].0.range.start;
            self.twice(range, &name, start);
        }
    }

    fn key(&mut self, event: &Event) -> Key {
        let span = event.span();
        let mut text = String::new();
        let known = self.errors.len();
        if let Some(raw) = self.toml.get(event) {
            raw.decode_key(&mut text, &mut self.errors);
        }
        if self.errors.len() > known {
            let line = self.source.line(span.start());
            self.bad_lines.insert(self.bad_lines.partition_point(|&l| l < line), line);
        }
        Key { text, range: span.start()..span.end() }
    }

    fn scalar(&mut self, event: &Event) -> TomlValue {
        let span = event.span();
        let range = span.start()..span.end();
        let Some(raw) = self.toml.get(event) else { return TomlValue::Broken(range) };
        let mut text = String::new();
        let mut errors: Vec<ParseError> = Vec::new();
        let kind = raw.decode_scalar(&mut text, &mut errors);
        if !errors.is_empty() {
            for error in errors {
                self.errors.report_error(error);
            }
            return TomlValue::Broken(range);
        }
        match kind {
            ScalarKind::String => {
                debug_assert!(event.encoding() != Some(Encoding::MlBasicString) || raw.len() >= 6);
                TomlValue::String(text, range)
            }
            ScalarKind::Boolean(value) => TomlValue::Boolean(value, range),
            ScalarKind::DateTime => TomlValue::Date(range),
            ScalarKind::Float | ScalarKind::Integer(IntegerRadix::Dec) => TomlValue::Number(text, range),
            ScalarKind::Integer(radix) => match u64::from_str_radix(&text, radix.value()) {
                Ok(value) => TomlValue::Number(value.to_string(), range),
                Err(_) => {
                    let what = self.source.text.get(range.clone()).unwrap_or_default();
                    self.problems.push(
                        Diagnostic::error(format!("`{what}` is no whole number that fits 64 bits"))
                            .at(self.source.place(range.clone()))
                            .with_hint("write it in decimal digits"),
                    );
                    TomlValue::Broken(range)
                }
            },
        }
    }
}

/// `a.b.c`
fn dotted(path: &[Key]) -> String {
    path.iter().map(|key| key.text.as_str()).collect::<Vec<_>>().join(".")
}
