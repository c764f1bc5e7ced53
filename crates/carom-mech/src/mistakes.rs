//! What is said about wrong models, by families: what a sentence means, and what to do.
//!
//! Every message has a hint of its own, made for its place; this is the page behind it. A family is recognised by words of
//! its messages, so what was printed can be asked about: `carom help "unknown name"`. A test finds every message of the
//! bad models in some family.

/// A family of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Its name, to ask for.
    pub name: &'static str,
    /// Words that its messages contain.
    pub says: &'static [&'static str],
    /// What is wrong.
    pub meaning: &'static str,
    /// What to do.
    pub way_out: &'static str,
}

macro_rules! mistakes {
    ($($name:literal says $($says:literal)* means $meaning:literal do $way_out:literal)*) => {
        &[$(Mistake { name: $name, says: &[$($says),*], meaning: $meaning, way_out: $way_out },)*]
    };
}

static MISTAKES: &[Mistake] = mistakes! {
    "unknown_name"
    says "unknown name" "unknown parameter" "unknown start value" "unknown run setting" "unknown point" "is not a function" "is not a coordinate" "is not a momentum" "is not a velocity" "is not a position"
    means "A name that the model does not have, or does not have here: misspelt, not declared, or declared as something else. Capital letters count."
    do "Declare it: coordinates at the top of the file, constants in `[parameters]`, formulas in `[define]`, signals in `[input]`. Labels of walls, rows and bodies are not values."

    "unknown_key"
    says "unknown key" "unknown table" "stands inside a table" "is a table" "needs a name"
    means "A key or table that a model file does not have at this place. What follows a `[table]` belongs to it, to the next header."
    do "`carom help model` lists all tables and keys. Keys of the whole model (`name`, `coordinates`, …) stand above the first table; walls, forces, bodies and events have a name of their own: `[wall.floor]`."

    "wrong_kind"
    says "should stand here" "is not a number" "is a whole number from" "cannot be \"" "is not `"
    means "Another kind of value belongs here: a number, a formula in quotes, a list, a table, or one of a few words."
    do "`carom help KEY` says what to write."

    "quotes"
    says "in double quotes" "quotes are for books" "in single quotes" "the text is not closed"
    means "Text and formulas stand between straight double quotes. Single quotes end at the first prime of a velocity; curly ones come from word processors."
    do "Write `\"x'\"`, with the double quotes of the keyboard; a key with a prime too: `\"x'\" = 1.0`."

    "toml"
    says "this line is neither" "each entry stands" "a value is missing after" "a value follows" "appears twice" "contains no spaces" "is missing" "is not a decimal sign" "is not a number in TOML" "is no whole number that fits" "nested too deeply" "lists of tables" "is not UTF" "has no value"
    means "The line is not TOML: `key = value`, one to a line, below `[table]` headers that each appear once."
    do "The hint says what to write. Decimal points are points, numbers have a digit before it, text is saved as UTF-8."

    "control_character"
    says "is a control character"
    means "In double quotes a backslash means something: `\"\\theta\"` is a tab and `heta`."
    do "Write names without backslashes: `theta` prints as θ."

    "formula_syntax"
    says "an operator is missing" "is not an operator" "is never closed" "formula is empty" "is not a comparison" "a formula has no" "superscripts" "cannot stand in a formula" "without its unit" "division by zero" "an operand is missing" "expected"
    means "The formula cannot be read."
    do "`carom help formulas`: every product has its `*`, powers are `x^2`, functions have parentheses. A constraint or gap is a formula that is compared with zero; the sign is not written."

    "names"
    says "is not a name" "cannot be a coordinate" "cannot be a parameter" "cannot be a definition" "cannot be an output" "cannot be an input" "is already the name" "is listed twice" "is also called" "names for" "is a name, no longer"
    means "Names are letters (Greek ones too), digits and `_`. Coordinates, momenta, parameters, definitions, inputs and outputs share one namespace; `t`, `pi`, `origin` and the functions are taken."
    do "Choose another name. Velocities need none: the velocity of `x` is `x'`."

    "not_allowed_here"
    says "cannot contain" "has no meaning" "cannot be used in formulas" "contains no velocity" "contains no momentum" "is not linear in the velocity" "contains the velocity"
    means "What a formula may contain depends on what it is: a gap has no velocities, a parameter nothing that moves, a Hamiltonian momenta instead of velocities, and accelerations exist in `[output]` only."
    do "The hint says where such a formula belongs; `carom help KEY` what the key takes."

    "made_of_itself"
    says "is made of itself"
    means "The definition or parameter leads back to itself, perhaps through others."
    do "Break the circle: state one of them as a number."

    "no_value"
    says "must be finite" "no real value" "is infinite at the start"
    means "With these parameters, or at this start, the formula has no finite real value."
    do "Look for a division by zero, the root or logarithm of a negative number, or a start on a singularity."

    "physics"
    says "nothing says how" "the physics is given twice" "the kinetic energy is missing" "has no coordinates"
    means "A model states its coordinates and, in exactly one way, its physics: `[energy]` and/or bodies, or `lagrangian`, or `hamiltonian`."
    do "Add what is missing or remove one of two. A Rayleigh function `dissipation` may stand beside a Lagrangian."

    "bodies"
    says "has no mass" "a body has two or three" "a spin needs an inertia" "moments of inertia" "gravity has" "gravity acts on" "has no position"
    means "A body has a mass and two or three coordinates in space, as many as gravity has components. A rigid one has an inertia and an angle, in space three inertias and a spin."
    do "`carom help body` shows a whole one."

    "forces"
    says "is given twice" "is empty" "but no point" "but no vector" "components, the vector" "the point has"
    means "A force is a vector at a point (`at` and `vector`, equally many components) or generalized (`generalized = { … }`)."
    do "`carom help force` shows both."

    "rows"
    says "contains nothing but" "is always zero" "is never zero" "contradicts the others" "is redundant" "its reaction has no direction"
    means "Constraint rows must say something about coordinates that are free to move, agree with each other, and be smooth."
    do "Remove rows that follow from others or say nothing; a redundant one is only a warning, the reaction is then shared."

    "start_off_constraints"
    says "violates row"
    means "The start does not satisfy the constraints: a position off `c(q, t) = 0`, or a velocity off `A q' + b = 0`."
    do "Correct the start, or let carom move it: `project = true` in `[start]`, or `--project`."

    "behind_wall"
    says "is behind wall"
    means "The start is on the wrong side: the gap is negative there."
    do "Move the start, or turn the sign of the gap around: free space is where it is positive."

    "walls"
    says "the gap of wall" "has no gap" "are the same" "a restitution lies"
    means "A gap is a distance-like formula of coordinates and time: positive in free space, with a slope where it is zero. A restitution lies between 0 and 1."
    do "Write `x - x_wall`, not its square. For `min(a, b)` nothing is to be done: it is two walls; for a re-entrant corner (`max`) there is no normal, unless value and slope agree across it (`max(x, 0)^2`)."

    "events"
    says "never happens" "event `" "does not set anything" "cannot be set"
    means "An event needs a formula `when` that can cross zero, and `set` exactly when its action is `\"set\"`. What constraints or drives determine cannot be set."
    do "`carom help event` shows both kinds."

    "driven"
    says "the driven coordinate" "has no acceleration"
    means "A driven coordinate follows a given function of time: it has no start of its own, cannot be set, and its function needs two derivatives."
    do "Remove its start; use a smooth function, or a table with `interpolate = \"spline\"`."

    "tables"
    says "there is no table" "does not exist" "has no column" "has no file" "is not after the one before" "no way to interpolate" "cannot follow a signal" "is a spline everywhere"
    means "An `[input]` from a CSV table: the file stands beside the model, its first line names the columns, times increase. What moves walls or coordinates must be smooth, or velocities would jump without an impulse."
    do "`carom help input`."

    "run_settings"
    says "the end time" "the tolerance" "the step" "chooses its own steps" "needs a step"
    means "A setting of `[run]` that cannot be."
    do "`carom help \"[run]\"`. `until` is a time, not a duration; `step` belongs to `method = \"rk4\"`."

    "view"
    says "the visible range" "a point has two or three"
    means "What is drawn: points are `\"origin\"`, the name of a body, or a list of two or three formulas; `range` has four numbers, left < right and bottom < top."
    do "`carom help view`."

    "velocity_or_momentum"
    says "starts from a" "has momenta, not velocities"
    means "The state of a Lagrangian model is made of positions and velocities, that of a Hamiltonian one of positions and momenta."
    do "Use `velocity = { … }` or `momentum = { … }` in `[start]`, and in `--start` and `set` the names that belong to the model."

    "units"
    says "unknown unit" "adds " "subtracts " "but should be " "takes an angle" "takes a number" "compares " "divides " "a unit is missing" "cannot stand in a unit" "a unit contains" "counts from another zero" "is read as a unit"
    means "Units are stated, in `[units]` or after a value, and here two things do not fit: a sum of a length and a force, the sine of a mass, a value in another unit than its name; or a unit that nobody knows."
    do "The hint says which factor is missing, or which line determines a unit. A number in a formula has no unit: give it a name in `[parameters]`, as `a = \"10 m\"`. `carom help \"[units]\"` lists all units."

    "inertia"
    says "the mass matrix is"
    means "For these parameters some direction of motion has no inertia, or a negative one."
    do "Give it a mass, constrain it, or take the parameter for a mistake. A model that is meant to be degenerate works; it is a warning."
};

/// All families, in the order of the page.
pub fn mistakes() -> &'static [Mistake] {
    MISTAKES
}

/// The families whose messages contain these words, or that have this name.
///
/// ```
/// # use carom_mech::mistakes::explain;
/// assert_eq!(explain("unknown name `thetta`")[0].name, "unknown_name");
/// assert_eq!(explain("behind_wall")[0].name, "behind_wall");
/// assert!(explain("banana").is_empty());
/// ```
pub fn explain(words: &str) -> Vec<&'static Mistake> {
    if let Some(named) = MISTAKES.iter().find(|m| m.name == words) {
        return vec![named];
    }
    let words = words.to_lowercase();
    MISTAKES.iter().filter(|m| m.says.iter().any(|says| words.contains(&says.to_lowercase()))).collect()
}

/// The chapter “Messages” of the reference.
pub fn page() -> String {
    let mut out = String::from(
        "# Messages\n\n\
         What `carom check` says about a wrong model has a place, a sentence and a way out. This page groups the sentences; \
         `carom help \"unknown name\"` finds a group by words of the message, `carom help unknown_name` by its name.\n",
    );
    for mistake in MISTAKES {
        out += &format!("\n{}", mistake.section(2));
    }
    out
}

impl Mistake {
    /// Its part of the page.
    pub fn section(&self, level: usize) -> String {
        let says: Vec<String> = self.says.iter().map(|s| format!("“… {} …”", s.replace('`', ""))).collect();
        format!(
            "{} {}\n\n{}\n\n{}\n\nMessages: {}\n",
            "#".repeat(level),
            self.name,
            self.meaning,
            self.way_out,
            says.join(", ")
        )
    }
}
