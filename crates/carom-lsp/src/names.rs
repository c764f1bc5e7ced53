//! Every name of a draft: where it is made, and everywhere it stands.

use carom_expr::names_in;
use carom_mech::draft::{At, Draft, Point, Word};
use std::ops::Range;

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    Coordinate,
    Momentum,
    Parameter,
    Definition,
    Input,
    Output,
    Body,
    Wall,
    Row,
    Force,
    Event,
}

impl NameKind {
    /// In a sentence.
    pub fn word(self) -> &'static str {
        match self {
            NameKind::Coordinate => "coordinate",
            NameKind::Momentum => "momentum",
            NameKind::Parameter => "parameter",
            NameKind::Definition => "definition",
            NameKind::Input => "input",
            NameKind::Output => "output",
            NameKind::Body => "body",
            NameKind::Wall => "wall",
            NameKind::Row => "row",
            NameKind::Force => "force",
            NameKind::Event => "event",
        }
    }

    /// Can formulas use it?
    pub fn in_formulas(self) -> bool {
        matches!(
            self,
            NameKind::Coordinate
                | NameKind::Momentum
                | NameKind::Parameter
                | NameKind::Definition
                | NameKind::Input
        )
    }
}

/// A name and where it is made.
#[derive(Clone, Debug)]
pub struct NameMade {
    pub name: String,
    pub kind: NameKind,
    /// The name itself, without quotes.
    pub at: Range<usize>,
}

/// All names of a draft.
pub fn made(draft: &Draft) -> Vec<NameMade> {
    let mut out = Vec::new();
    let mut add = |word: &Word, kind: NameKind| {
        if word.at.source == 0 && !word.text.is_empty() {
            out.push(NameMade { name: word.text.clone(), kind, at: inside(draft, word) });
        }
    };
    draft.coordinates.iter().for_each(|w| add(w, NameKind::Coordinate));
    draft.momenta.iter().flat_map(|(list, _)| list).for_each(|w| add(w, NameKind::Momentum));
    draft.parameters.iter().for_each(|(w, _)| add(w, NameKind::Parameter));
    draft.definitions.iter().for_each(|(w, _)| add(w, NameKind::Definition));
    draft.inputs.iter().for_each(|u| add(&u.name, NameKind::Input));
    draft.outputs.iter().for_each(|(w, _)| add(w, NameKind::Output));
    draft.bodies.iter().for_each(|b| add(&b.name, NameKind::Body));
    draft.walls.iter().for_each(|w| add(&w.name, NameKind::Wall));
    draft.forces.iter().for_each(|f| add(&f.name, NameKind::Force));
    draft.events.iter().for_each(|e| add(&e.name, NameKind::Event));
    draft.holonomic.iter().chain(&draft.nonholonomic).for_each(|(w, _)| add(w, NameKind::Row));
    out
}

/// Every place where a name stands: in formulas, as a key of other tables, in lists; the place where it is made first.
pub fn places(draft: &Draft, name: &NameMade) -> Vec<Range<usize>> {
    let mut out = vec![name.at.clone()];
    for (text, range) in standing(draft) {
        let fits = match text {
            Standing::Formula(text) => name.kind.in_formulas() && text == name.name,
            Standing::Key(text) => name.kind.in_formulas() && text == name.name,
            Standing::Unit(text) => text == name.name,
            Standing::Point(text) => name.kind == NameKind::Body && text == name.name,
        };
        if fits && !out.contains(&range) {
            out.push(range);
        }
    }
    out[1..].sort_by_key(|r| r.start);
    out
}

/// Where a name may stand.
enum Standing {
    /// In a formula.
    Formula(String),
    /// As a key that names a coordinate or momentum: `[driven]`, `[start]`, `set`, `generalized`.
    Key(String),
    /// As a key of `[units]`, which also knows outputs and labels.
    Unit(String),
    /// As a point to draw.
    Point(String),
}

fn standing(draft: &Draft) -> Vec<(Standing, Range<usize>)> {
    let mut out = Vec::new();
    for formula in draft.formulas() {
        if formula.at.source != 0 {
            continue;
        }
        for (name, span) in names_in(&formula.text) {
            let At { start, end, .. } = draft.part_of(formula, span.start, span.end);
            out.push((Standing::Formula(name), start..end));
        }
    }
    let mut key = |word: &Word, make: fn(String) -> Standing| {
        if word.at.source == 0 {
            let range = inside(draft, word);
            let bare = word.text.trim_end_matches(['\'', '′', '’']);
            out.push((make(bare.to_owned()), range.start..range.start + bare.len().min(range.len())));
        }
    };
    let start = &draft.start;
    let lists = [&draft.driven, &start.position, &start.velocity, &start.momentum];
    lists.into_iter().flatten().for_each(|(w, _)| key(w, Standing::Key));
    draft.forces.iter().flat_map(|f| f.generalized.iter().flatten()).for_each(|(w, _)| key(w, Standing::Key));
    draft.events.iter().flat_map(|e| e.set.iter().flatten()).for_each(|(w, _)| key(w, Standing::Key));
    draft.units.iter().for_each(|(w, _)| key(w, Standing::Unit));
    let ends = draft.view.links.iter().chain(&draft.view.springs).flat_map(|(a, b)| [a, b]);
    for point in ends.chain(&draft.view.traces) {
        if let Point::Named(word) = point {
            key(word, Standing::Point);
        }
    }
    out
}

/// The range of a word without the quotes around it.
fn inside(draft: &Draft, word: &Word) -> Range<usize> {
    let whole = word.at.start..word.at.end;
    let text = draft.sources.first().and_then(|s| s.text.get(whole.clone())).unwrap_or("");
    // A header such as [wall.left] may be the whole place: the label is its last part.
    match text.rfind(&word.text) {
        Some(at) => whole.start + at..whole.start + at + word.text.len(),
        None => whole,
    }
}

/// The name that stands at a byte, and its own range.
pub fn at(draft: &Draft, offset: usize) -> Option<(NameMade, Range<usize>)> {
    let all = made(draft);
    let touches = |r: &Range<usize>| r.start <= offset && offset <= r.end;
    if let Some(found) = all.iter().find(|m| touches(&m.at)) {
        return Some((found.clone(), found.at.clone()));
    }
    let (stands, range) = standing(draft).into_iter().find(|(_, r)| touches(r))?;
    let found = all.into_iter().find(|m| match &stands {
        Standing::Formula(text) | Standing::Key(text) => m.kind.in_formulas() && m.name == *text,
        Standing::Unit(text) => m.name == *text,
        Standing::Point(text) => m.kind == NameKind::Body && m.name == *text,
    });
    Some((found?, range))
}
