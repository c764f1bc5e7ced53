//! Every field of the JSON of a motion, and what it means: one list for the reference, for `carom help json` and for the
//! JSON Schema of results. A test holds it against what is written, both ways.
//!
//! A path is written as one would reach for it: `stop.reason`, `impacts[].time`.

use crate::motion::{StopReason, Verdict};
use crate::variation::Obstacle;
use carom_jet::Arithmetic;

/// One field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Field {
    /// Where it is: names joined by dots, `[]` for every element of a list.
    pub path: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// When it is not there, or null; empty if it always has a value.
    pub missing: Missing,
    /// What it means.
    pub meaning: &'static str,
}

/// When a field has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Never.
    Never,
    /// It is null in the case that the text names.
    Null(&'static str),
    /// It is left out in the case that the text names.
    Absent(&'static str),
}

/// What a field holds. Numbers that are not finite are null.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Words.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of words.
    Texts,
    /// A word for each of what the text names.
    TextByName(&'static str),
    /// A number.
    Number,
    /// A whole number.
    Count,
    /// `true` or `false`.
    Flag,
    /// A list of numbers.
    Numbers,
    /// A list of lists of numbers, row by row.
    NumberRows,
    /// A list of such lists.
    NumberTables,
    /// A number for each of what the text names.
    NumberByName(&'static str),
    /// A list of numbers for each of what the text names.
    NumbersByName(&'static str),
    /// A whole number for each of what the text names.
    CountByName(&'static str),
    /// An object with fields of its own.
    Object,
    /// A list of objects with fields of their own.
    Records,
    /// `{ "text": …, "latex": … }`
    Formula,
    /// A list of formulas.
    Formulas,
    /// A list of lists of formulas, row by row.
    Matrix,
    /// A formula for each of what the text names.
    FormulaByName(&'static str),
}

impl Kind {
    /// In a few words.
    pub fn form(self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Word(words) => format!("\"{}\"", words.join("\", \"")),
            Kind::Texts => "list of texts".to_owned(),
            Kind::TextByName(whose) => format!("text by {whose}"),
            Kind::Number => "number".to_owned(),
            Kind::Count => "whole number".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Numbers => "list of numbers".to_owned(),
            Kind::NumberRows => "list of rows of numbers".to_owned(),
            Kind::NumberTables => "list of lists of rows of numbers".to_owned(),
            Kind::NumberByName(whose) => format!("number by {whose}"),
            Kind::NumbersByName(whose) => format!("list of numbers by {whose}"),
            Kind::CountByName(whose) => format!("whole number by {whose}"),
            Kind::Object => "object".to_owned(),
            Kind::Records => "list of objects".to_owned(),
            Kind::Formula => "formula".to_owned(),
            Kind::Formulas => "list of formulas".to_owned(),
            Kind::Matrix => "list of rows of formulas".to_owned(),
            Kind::FormulaByName(whose) => format!("formula by {whose}"),
        }
    }
}

impl Field {
    /// A field that always has a value.
    pub const fn new(path: &'static str, kind: Kind, meaning: &'static str) -> Field {
        Field { path, kind, missing: Missing::Never, meaning }
    }

    /// The same, null in some case.
    pub const fn null(mut self, when: &'static str) -> Field {
        self.missing = Missing::Null(when);
        self
    }

    /// The same, left out in some case.
    pub const fn absent(mut self, when: &'static str) -> Field {
        self.missing = Missing::Absent(when);
        self
    }

    /// Meaning, and when there is none.
    pub fn sentence(&self) -> String {
        match self.missing {
            Missing::Never => self.meaning.to_owned(),
            Missing::Null(when) => format!("{}; null {when}", self.meaning),
            Missing::Absent(when) => format!("{}; left out {when}", self.meaning),
        }
    }
}

const STOPS: [&str; StopReason::ALL.len()] = {
    let mut names = [""; StopReason::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = StopReason::ALL[i].name();
        i += 1;
    }
    names
};

const OBSTACLES: [&str; Obstacle::ALL.len()] = {
    let mut names = [""; Obstacle::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Obstacle::ALL[i].name();
        i += 1;
    }
    names
};

const ARITHMETICS: [&str; 2] = [Arithmetic::Fused.name(), Arithmetic::Plain.name()];
const VERDICTS: [&str; 2] = [Verdict::Ok.name(), Verdict::Drift.name()];

/// The fields of a motion (`carom run --json`), in the order in which they are written.
#[rustfmt::skip]
pub static MOTION: &[Field] = &[
    Field::new("model", Kind::Text, "name of the model"),
    Field::new("stop", Kind::Object, "how the motion ended"),
    Field::new("stop.reason", Kind::Word(&STOPS), "why it ended"),
    Field::new("stop.time", Kind::Number, "when it ended"),
    Field::new("stop.detail", Kind::Text, "what exactly: a wall, a row, an event, what became singular").null("when the reason says all"),
    Field::new("time", Kind::Numbers, "sample times; what follows has one value for each"),
    Field::new("position", Kind::NumbersByName("coordinate"), "q: every coordinate in the order of the model, driven ones included"),
    Field::new("velocity", Kind::NumbersByName("coordinate"), "q': their rates; at an impact, the value after it"),
    Field::new("momentum", Kind::NumbersByName("momentum"), "p = ∂L/∂q', by the name of the momentum"),
    Field::new("hamiltonian", Kind::Numbers, "E = p·q' - L, or H of a Hamiltonian model"),
    Field::new("energy", Kind::Numbers, "T + V; differs from the Hamiltonian where coordinates are driven"),
    Field::new("multiplier", Kind::NumbersByName("constraint row"), "μ: the reaction is Aᵀμ"),
    Field::new("contact_force", Kind::NumbersByName("wall"), "f: force of a wall that is held closed, 0 elsewhere"),
    Field::new("driving_force", Kind::NumbersByName("driven coordinate"), "force that makes the coordinate follow its prescribed motion"),
    Field::new("output", Kind::NumbersByName("output"), "the signals of [output]"),
    Field::new("impacts", Kind::Records, "every application of the impact law, in order of time"),
    Field::new("impacts[].time", Kind::Number, "when"),
    Field::new("impacts[].walls", Kind::Texts, "walls that received an impulse, in the order of the model"),
    Field::new("impacts[].impulse", Kind::Numbers, "λ ≥ 0, one for each of `walls`; the physical impulse where the gap is a distance"),
    Field::new("impacts[].reaction_impulse", Kind::NumberByName("constraint row"), "impulses of the constraints that take part"),
    Field::new("impacts[].driving_impulse", Kind::NumberByName("driven coordinate"), "impulses of the drives"),
    Field::new("impacts[].gap_rate_before", Kind::Numbers, "dφ/dt just before, one for each of `walls`"),
    Field::new("impacts[].gap_rate_after", Kind::Numbers, "dφ/dt just after, one for each of `walls`"),
    Field::new("impacts[].position", Kind::NumberByName("coordinate"), "q at the impact"),
    Field::new("impacts[].velocity_before", Kind::NumberByName("coordinate"), "q' just before"),
    Field::new("impacts[].velocity_after", Kind::NumberByName("coordinate"), "q' just after"),
    Field::new("impacts[].hamiltonian_before", Kind::Number, "E just before"),
    Field::new("impacts[].hamiltonian_after", Kind::Number, "E just after; differs where walls move or restitution is below 1"),
    Field::new("contacts", Kind::Records, "walls held closed, in order of their beginning"),
    Field::new("contacts[].wall", Kind::Text, "which wall"),
    Field::new("contacts[].from", Kind::Number, "since when"),
    Field::new("contacts[].to", Kind::Number, "until when").null("while still closed at the end"),
    Field::new("contacts[].zeno", Kind::Flag, "did it begin after infinitely many impacts?"),
    Field::new("contacts[].force_at_start", Kind::Number, "contact force when it began"),
    Field::new("grazes", Kind::Records, "walls touched without an impulse"),
    Field::new("grazes[].time", Kind::Number, "when"),
    Field::new("grazes[].wall", Kind::Text, "which wall"),
    Field::new("events", Kind::Records, "events of the model that fired, in order of time"),
    Field::new("events[].time", Kind::Number, "when"),
    Field::new("events[].name", Kind::Text, "which event"),
    Field::new("events[].position", Kind::NumberByName("coordinate"), "q, after a reset"),
    Field::new("events[].velocity", Kind::NumberByName("coordinate"), "q', after a reset"),
    Field::new("sensitivity", Kind::Object, "derivatives of the motion").absent("unless --sensitivity=… names something"),
    Field::new("sensitivity.of", Kind::Texts, "rows of the matrix: free coordinates, then their velocities or momenta"),
    Field::new("sensitivity.with_respect_to", Kind::Texts, "columns: start values, parameters, restitutions"),
    Field::new("sensitivity.matrix", Kind::NumberRows, "∂ state(end)/∂θ at the fixed end time").null("when it does not exist"),
    Field::new("sensitivity.impact_times", Kind::NumberRows, "∂ time/∂θ, one row per impact"),
    Field::new("sensitivity.impulses", Kind::NumberTables, "∂ impulse/∂θ, one row per wall of each impact"),
    Field::new("sensitivity.event_times", Kind::NumberRows, "∂ time/∂θ, one row per event"),
    Field::new("sensitivity.contact_times", Kind::NumberRows, "∂ from/∂θ, one row per contact"),
    Field::new("sensitivity.not_differentiable", Kind::Object, "the first instant across which there is no derivative").null("when there is none"),
    Field::new("sensitivity.not_differentiable.what", Kind::Word(&OBSTACLES), "what happened there"),
    Field::new("sensitivity.not_differentiable.walls", Kind::Texts, "the walls that took part"),
    Field::new("sensitivity.not_differentiable.event", Kind::Text, "the event that took part").null("when there is none"),
    Field::new("sensitivity.not_differentiable.time", Kind::Number, "when"),
    Field::new("sensitivity.one_sided", Kind::Records, "instants at which derivatives are one-sided"),
    Field::new("sensitivity.one_sided[].what", Kind::Word(&OBSTACLES), "what happened there"),
    Field::new("sensitivity.one_sided[].walls", Kind::Texts, "the walls that took part"),
    Field::new("sensitivity.one_sided[].event", Kind::Text, "the event that took part").null("when there is none"),
    Field::new("sensitivity.one_sided[].time", Kind::Number, "when"),
    Field::new("sensitivity.checks", Kind::Object, "identities of the true motion, and how well they hold"),
    Field::new("sensitivity.checks.symplectic", Kind::Number, "largest entry of ΦᵀJΦ - J in (q, p), relative to its terms").null("unless all starts are asked for, e = 1, without rows and other forces"),
    Field::new("sensitivity.checks.determinant", Kind::Number, "|det Φ/(Π e² det W(0)/det W(end)) - 1|").null("unless all starts are asked for, without rows and other forces"),
    Field::new("warnings", Kind::Texts, "what a reader of this result should know"),
    Field::new("audit", Kind::Object, "how well the laws were kept, and at what cost"),
    Field::new("audit.hamiltonian_drift", Kind::Number, "largest |E(t) - E(0) - ∫ power - allowed jumps|, relative to the largest |T| + |V|"),
    Field::new("audit.constraint_drift", Kind::Number, "largest residual of a constraint row or its rate, relative to its largest term"),
    Field::new("audit.impact_law_residual", Kind::Number, "largest residual of the impact law, relative to momenta and energies"),
    Field::new("audit.deepest_penetration", Kind::Number, "largest -φ at the end of a step"),
    Field::new("audit.verdict", Kind::Word(&VERDICTS), "\"drift\" if a law was kept worse than the tolerance explains; `warnings` say which"),
    Field::new("audit.arithmetic", Kind::Word(&ARITHMETICS), "how multiply and add were rounded: once, or twice; within a class the bits are the same on every machine"),
    Field::new("audit.amplification", Kind::Number, "norm of ∂state(end)/∂state(start)").null("unless --sensitivity asks for it, or it is cheap"),
    Field::new("audit.steps", Kind::Count, "steps taken"),
    Field::new("audit.invariants", Kind::Records, "what the model conserves (symmetries), and how well it was kept"),
    Field::new("audit.invariants[].name", Kind::Text, "energy, p_x, angular momentum, ..."),
    Field::new("audit.invariants[].text", Kind::Text, "its formula"),
    Field::new("audit.invariants[].drift", Kind::Number, "largest change between two instants that break it, relative to the scale of its terms"),
    Field::new("audit.invariants[].survives_impacts", Kind::Flag, "is it the same before and after every impact and reset?"),
    Field::new("audit.derive_seconds", Kind::Number, "time for deriving the equations"),
    Field::new("audit.compile_seconds", Kind::Number, "time for compiling them"),
    Field::new("audit.simulate_seconds", Kind::Number, "time for the motion; with --repeat the shortest"),
    Field::new("provenance", Kind::Object, "what must be in hand to compute it again"),
    Field::new("provenance.carom", Kind::Text, "version of carom"),
    Field::new("provenance.model_sha256", Kind::Text, "SHA-256 of the model text, as sha256sum prints it"),
    Field::new("provenance.table_sha256", Kind::TextByName("table"), "SHA-256 of the tables that the model reads"),
    Field::new("provenance.options", Kind::Texts, "options that change the model, its start or its run, as typed"),
    Field::new("provenance.arithmetic", Kind::Word(&["fused", "plain"]), "are multiply and add rounded once or twice? Results are the same bits within each"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_stands_below_an_object_or_a_list_of_objects() {
        for field in MOTION {
            let Some((parent, _)) = field.path.rsplit_once('.') else { continue };
            let wanted = if parent.ends_with("[]") { Kind::Records } else { Kind::Object };
            let parent = parent.trim_end_matches("[]");
            assert!(MOTION.iter().any(|f| f.path == parent && f.kind == wanted), "{}", field.path);
        }
    }
}
