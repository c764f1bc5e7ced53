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
    pub kind: FieldKind,
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
pub enum FieldKind {
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

impl FieldKind {
    /// In a few words.
    pub fn form(self) -> String {
        match self {
            FieldKind::Text => "text".to_owned(),
            FieldKind::Word(words) => format!("\"{}\"", words.join("\", \"")),
            FieldKind::Texts => "list of texts".to_owned(),
            FieldKind::TextByName(whose) => format!("text by {whose}"),
            FieldKind::Number => "number".to_owned(),
            FieldKind::Count => "whole number".to_owned(),
            FieldKind::Flag => "true or false".to_owned(),
            FieldKind::Numbers => "list of numbers".to_owned(),
            FieldKind::NumberRows => "list of rows of numbers".to_owned(),
            FieldKind::NumberTables => "list of lists of rows of numbers".to_owned(),
            FieldKind::NumberByName(whose) => format!("number by {whose}"),
            FieldKind::NumbersByName(whose) => format!("list of numbers by {whose}"),
            FieldKind::CountByName(whose) => format!("whole number by {whose}"),
            FieldKind::Object => "object".to_owned(),
            FieldKind::Records => "list of objects".to_owned(),
            FieldKind::Formula => "formula".to_owned(),
            FieldKind::Formulas => "list of formulas".to_owned(),
            FieldKind::Matrix => "list of rows of formulas".to_owned(),
            FieldKind::FormulaByName(whose) => format!("formula by {whose}"),
        }
    }
}

impl Field {
    /// A field that always has a value.
    pub const fn new(path: &'static str, kind: FieldKind, meaning: &'static str) -> Field {
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

/// Names of both classes of bits.
pub const ARITHMETICS: [&str; 2] = [Arithmetic::Fused.name(), Arithmetic::Plain.name()];
const VERDICTS: [&str; 2] = [Verdict::Ok.name(), Verdict::Drift.name()];

/// The fields of a motion (`carom run --json`), in the order in which they are written.
#[rustfmt::skip]
pub static MOTION: &[Field] = &[
    Field::new("model", FieldKind::Text, "name of the model"),
    Field::new("stop", FieldKind::Object, "how the motion ended"),
    Field::new("stop.reason", FieldKind::Word(&STOPS), "why it ended"),
    Field::new("stop.time", FieldKind::Number, "when it ended"),
    Field::new("stop.detail", FieldKind::Text, "what exactly: a wall, a row, an event, what became singular").null("when the reason says all"),
    Field::new("time", FieldKind::Numbers, "sample times; what follows has one value for each"),
    Field::new("position", FieldKind::NumbersByName("coordinate"), "q: every coordinate in the order of the model, driven ones included"),
    Field::new("velocity", FieldKind::NumbersByName("coordinate"), "q': their rates; at an impact, the value after it"),
    Field::new("momentum", FieldKind::NumbersByName("momentum"), "p = ∂L/∂q', by the name of the momentum"),
    Field::new("hamiltonian", FieldKind::Numbers, "E = p·q' - L, or H of a Hamiltonian model"),
    Field::new("energy", FieldKind::Numbers, "T + V; differs from the Hamiltonian where coordinates are driven"),
    Field::new("multiplier", FieldKind::NumbersByName("constraint row"), "μ: the reaction is Aᵀμ"),
    Field::new("contact_force", FieldKind::NumbersByName("wall"), "f: force of a wall that is held closed, 0 elsewhere"),
    Field::new("driving_force", FieldKind::NumbersByName("driven coordinate"), "force that makes the coordinate follow its prescribed motion"),
    Field::new("output", FieldKind::NumbersByName("output"), "the signals of [output]"),
    Field::new("impacts", FieldKind::Records, "every application of the impact law, in order of time"),
    Field::new("impacts[].time", FieldKind::Number, "when"),
    Field::new("impacts[].walls", FieldKind::Texts, "walls that received an impulse, in the order of the model"),
    Field::new("impacts[].impulse", FieldKind::Numbers, "λ ≥ 0, one for each of `walls`; the physical impulse where the gap is a distance"),
    Field::new("impacts[].reaction_impulse", FieldKind::NumberByName("constraint row"), "impulses of the constraints that take part"),
    Field::new("impacts[].driving_impulse", FieldKind::NumberByName("driven coordinate"), "impulses of the drives"),
    Field::new("impacts[].gap_rate_before", FieldKind::Numbers, "dφ/dt just before, one for each of `walls`"),
    Field::new("impacts[].gap_rate_after", FieldKind::Numbers, "dφ/dt just after, one for each of `walls`"),
    Field::new("impacts[].position", FieldKind::NumberByName("coordinate"), "q at the impact"),
    Field::new("impacts[].velocity_before", FieldKind::NumberByName("coordinate"), "q' just before"),
    Field::new("impacts[].velocity_after", FieldKind::NumberByName("coordinate"), "q' just after"),
    Field::new("impacts[].hamiltonian_before", FieldKind::Number, "E just before"),
    Field::new("impacts[].hamiltonian_after", FieldKind::Number, "E just after; differs where walls move or restitution is below 1"),
    Field::new("contacts", FieldKind::Records, "walls held closed, in order of their beginning"),
    Field::new("contacts[].wall", FieldKind::Text, "which wall"),
    Field::new("contacts[].from", FieldKind::Number, "since when"),
    Field::new("contacts[].to", FieldKind::Number, "until when").null("while still closed at the end"),
    Field::new("contacts[].zeno", FieldKind::Flag, "did it begin after infinitely many impacts?"),
    Field::new("contacts[].force_at_start", FieldKind::Number, "contact force when it began"),
    Field::new("grazes", FieldKind::Records, "walls touched without an impulse"),
    Field::new("grazes[].time", FieldKind::Number, "when"),
    Field::new("grazes[].wall", FieldKind::Text, "which wall"),
    Field::new("events", FieldKind::Records, "events of the model that fired, in order of time"),
    Field::new("events[].time", FieldKind::Number, "when"),
    Field::new("events[].name", FieldKind::Text, "which event"),
    Field::new("events[].position", FieldKind::NumberByName("coordinate"), "q, after a reset"),
    Field::new("events[].velocity", FieldKind::NumberByName("coordinate"), "q', after a reset"),
    Field::new("sensitivity", FieldKind::Object, "derivatives of the motion").absent("unless --sensitivity=… names something"),
    Field::new("sensitivity.of", FieldKind::Texts, "rows of the matrix: free coordinates, then their velocities or momenta"),
    Field::new("sensitivity.with_respect_to", FieldKind::Texts, "columns: start values, parameters, restitutions"),
    Field::new("sensitivity.matrix", FieldKind::NumberRows, "∂ state(end)/∂θ at the fixed end time").null("when it does not exist"),
    Field::new("sensitivity.impact_times", FieldKind::NumberRows, "∂ time/∂θ, one row per impact"),
    Field::new("sensitivity.impulses", FieldKind::NumberTables, "∂ impulse/∂θ, one row per wall of each impact"),
    Field::new("sensitivity.event_times", FieldKind::NumberRows, "∂ time/∂θ, one row per event"),
    Field::new("sensitivity.contact_times", FieldKind::NumberRows, "∂ from/∂θ, one row per contact"),
    Field::new("sensitivity.not_differentiable", FieldKind::Object, "the first instant across which there is no derivative").null("when there is none"),
    Field::new("sensitivity.not_differentiable.what", FieldKind::Word(&OBSTACLES), "what happened there"),
    Field::new("sensitivity.not_differentiable.walls", FieldKind::Texts, "the walls that took part"),
    Field::new("sensitivity.not_differentiable.event", FieldKind::Text, "the event that took part").null("when there is none"),
    Field::new("sensitivity.not_differentiable.time", FieldKind::Number, "when"),
    Field::new("sensitivity.one_sided", FieldKind::Records, "instants at which derivatives are one-sided"),
    Field::new("sensitivity.one_sided[].what", FieldKind::Word(&OBSTACLES), "what happened there"),
    Field::new("sensitivity.one_sided[].walls", FieldKind::Texts, "the walls that took part"),
    Field::new("sensitivity.one_sided[].event", FieldKind::Text, "the event that took part").null("when there is none"),
    Field::new("sensitivity.one_sided[].time", FieldKind::Number, "when"),
    Field::new("sensitivity.checks", FieldKind::Object, "identities of the true motion, and how well they hold"),
    Field::new("sensitivity.checks.symplectic", FieldKind::Number, "largest entry of ΦᵀJΦ - J in (q, p), relative to its terms").null("unless all starts are asked for, e = 1, without rows and other forces"),
    Field::new("sensitivity.checks.determinant", FieldKind::Number, "|det Φ/(Π e² det W(0)/det W(end)) - 1|, relative to the sum of all |Φ_ij (Φ⁻¹)_ji|").null("unless all starts are asked for, without rows and other forces"),
    Field::new("gradient", FieldKind::Object, "the gradient of one number, by the adjoint equations").absent("unless --gradient asks for it"),
    Field::new("gradient.of", FieldKind::Text, "what it is of, as typed"),
    Field::new("gradient.value", FieldKind::Number, "its value").null("when what it is of did not happen"),
    Field::new("gradient.with_respect_to", FieldKind::Texts, "start values, parameters, restitutions"),
    Field::new("gradient.gradient", FieldKind::Numbers, "one derivative for each of them").null("when it does not exist"),
    Field::new("gradient.not_differentiable", FieldKind::Object, "the first instant across which there is no derivative").null("when there is none"),
    Field::new("gradient.not_differentiable.what", FieldKind::Word(&OBSTACLES), "what happened there"),
    Field::new("gradient.not_differentiable.walls", FieldKind::Texts, "the walls that took part"),
    Field::new("gradient.not_differentiable.event", FieldKind::Text, "the event that took part").null("when there is none"),
    Field::new("gradient.not_differentiable.time", FieldKind::Number, "when"),
    Field::new("gradient.one_sided", FieldKind::Records, "instants at which derivatives are one-sided"),
    Field::new("gradient.one_sided[].what", FieldKind::Word(&OBSTACLES), "what happened there"),
    Field::new("gradient.one_sided[].walls", FieldKind::Texts, "the walls that took part"),
    Field::new("gradient.one_sided[].event", FieldKind::Text, "the event that took part").null("when there is none"),
    Field::new("gradient.one_sided[].time", FieldKind::Number, "when"),
    Field::new("gradient.duality", FieldKind::Number, "largest disagreement of a jump's transposed law with the law itself, relative to its terms").null("without jumps"),
    Field::new("warnings", FieldKind::Texts, "what a reader of this result should know"),
    Field::new("audit", FieldKind::Object, "how well the laws were kept, and at what cost"),
    Field::new("audit.hamiltonian_drift", FieldKind::Number, "largest |E(t) - E(0) - ∫ power - allowed jumps|, relative to the largest |T| + |V|"),
    Field::new("audit.constraint_drift", FieldKind::Number, "largest residual of a constraint row or its rate, relative to its largest term"),
    Field::new("audit.impact_law_residual", FieldKind::Number, "largest residual of the impact law, relative to momenta and energies"),
    Field::new("audit.deepest_penetration", FieldKind::Number, "largest -φ at the end of a step"),
    Field::new("audit.verdict", FieldKind::Word(&VERDICTS), "\"drift\" if a law was kept worse than the tolerance explains; `warnings` say which"),
    Field::new("audit.arithmetic", FieldKind::Word(&ARITHMETICS), "how multiply and add were rounded: once, or twice; within a class the bits are the same on every machine"),
    Field::new("audit.amplification", FieldKind::Number, "norm of ∂state(end)/∂state(start)").null("unless --sensitivity asks for it, or it is cheap"),
    Field::new("audit.steps", FieldKind::Count, "steps taken"),
    Field::new("audit.invariants", FieldKind::Records, "what the model conserves (symmetries), and how well it was kept"),
    Field::new("audit.invariants[].name", FieldKind::Text, "energy, p_x, angular momentum, ..."),
    Field::new("audit.invariants[].text", FieldKind::Text, "its formula"),
    Field::new("audit.invariants[].drift", FieldKind::Number, "largest change between two instants that break it, relative to the scale of its terms").null("when no two states between them were seen"),
    Field::new("audit.invariants[].survives_impacts", FieldKind::Flag, "is it the same before and after every impact and reset?"),
    Field::new("audit.derive_seconds", FieldKind::Number, "time for deriving the equations"),
    Field::new("audit.compile_seconds", FieldKind::Number, "time for compiling them"),
    Field::new("audit.simulate_seconds", FieldKind::Number, "time for the motion; with --repeat the shortest"),
    Field::new("provenance", FieldKind::Object, "what must be in hand to compute it again"),
    Field::new("provenance.carom", FieldKind::Text, "version of carom"),
    Field::new("provenance.model_sha256", FieldKind::Text, "SHA-256 of the model text, as sha256sum prints it"),
    Field::new("provenance.table_sha256", FieldKind::TextByName("table"), "SHA-256 of the tables that the model reads"),
    Field::new("provenance.options", FieldKind::Texts, "options that change the model, its start or its run, as typed"),
    Field::new("provenance.arithmetic", FieldKind::Word(&ARITHMETICS), "are multiply and add rounded once or twice? Results are the same bits within each"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_stands_below_an_object_or_a_list_of_objects() {
        for field in MOTION {
            let Some((parent, _)) = field.path.rsplit_once('.') else { continue };
            let wanted = if parent.ends_with("[]") { FieldKind::Records } else { FieldKind::Object };
            let parent = parent.trim_end_matches("[]");
            assert!(MOTION.iter().any(|f| f.path == parent && f.kind == wanted), "{}", field.path);
        }
    }
}
