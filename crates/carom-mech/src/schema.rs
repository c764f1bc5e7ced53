//! Every table and key a model file may contain, with a line on each: one list for the reader, its suggestions and the
//! reference in the book.

/// One accepted key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The table: `""` is the top of the file, `wall.*` a table with a name of your own.
    pub table: &'static str,
    /// The key; `*` stands for any name of your own.
    pub key: &'static str,
    /// What to write.
    pub form: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

macro_rules! entries {
    ($($table:literal { $($key:literal $form:literal $meaning:literal)* })*) => {
        &[$($(Entry { table: $table, key: $key, form: $form, meaning: $meaning },)*)*]
    };
}

static SCHEMA: &[Entry] = entries! {
    "" {
        "name" "text" "title of the model; the file's name when missing"
        "coordinates" "list of names" "generalized coordinates; their order is part of the model"
        "lagrangian" "formula" "L(q, q', t), instead of [energy] and bodies"
        "hamiltonian" "formula" "H(q, p, t), instead of [energy] and bodies"
        "momenta" "list of names" "names of the momenta, one per coordinate; p_x for coordinate x when missing"
        "gravity" "list of formulas" "acceleration of gravity that acts on bodies, two or three components"
    }
    "parameters" {
        "*" "number or formula" "a constant; formulas may use other parameters"
    }
    "define" {
        "*" "formula" "a named formula, usable everywhere; a prime on its name is its total time derivative"
    }
    "input" {
        "*" "formula or { file, column, time, interpolate }" "an external signal u(t): a formula of t, or a column of a CSV table; interpolate is \"smooth\", \"spline\", \"linear\" or \"hold\""
    }
    "energy" {
        "kinetic" "formula" "kinetic energy T(q, q', t)"
        "potential" "formula" "potential energy V(q, t)"
        "dissipation" "formula" "Rayleigh function R; its generalized force is -∂R/∂q'"
    }
    "body.*" {
        "mass" "formula" "m: adds m|r'|²/2 to the kinetic energy and -m g·r to the potential"
        "at" "list of formulas" "position r(q, t) of the centre of mass, two or three components"
        "inertia" "formula, or list of three" "moment of inertia about the centre of mass, in 3-D the three principal ones"
        "angle" "formula" "orientation of a planar rigid body"
        "spin" "list of three formulas" "angular velocity of a rigid body in its own principal axes"
    }
    "force.*" {
        "at" "list of formulas" "the point r(q, t) where a force vector acts"
        "vector" "list of formulas" "the force vector F(q, q', t)"
        "generalized" "{ coordinate = formula }" "generalized force by coordinate, instead of at and vector"
    }
    "holonomic" {
        "*" "formula" "constraint c(q, t) = 0"
    }
    "nonholonomic" {
        "*" "formula" "constraint linear in the velocities, A(q, t) q' + b(q, t) = 0"
    }
    "driven" {
        "*" "formula" "prescribed motion f(t) of a coordinate"
    }
    "wall.*" {
        "gap" "formula" "φ(q, t); the motion keeps it >= 0"
        "restitution" "number or formula" "e in [0, 1]; 1 when missing"
        "draw" "formula of x and y" "curve in the plane of the picture that draws the wall, = 0"
    }
    "event.*" {
        "when" "formula" "the event happens when this crosses zero"
        "direction" "\"rising\", \"falling\" or \"both\"" "which crossings count; both when missing"
        "action" "\"record\", \"stop\" or \"set\"" "what happens; record when missing"
        "only_if" "formula" "the event happens only where this is > 0"
        "set" "{ x = formula, \"x'\" = formula }" "reset map: new values, all computed from the state before"
    }
    "output" {
        "*" "formula" "extra signal to sample, plot and export; may contain accelerations x''"
    }
    "units" {
        "*" "text" "unit of a name, for labels of plots and tables"
    }
    "view" {
        "links" "list of pairs of points" "points joined by a line; a point is \"origin\", a body, or a list of formulas"
        "springs" "list of pairs of points" "points joined by a spring"
        "traces" "list of points" "points that leave a trace"
        "range" "[left, right, bottom, top]" "visible part of the plane"
    }
    "start" {
        "position" "{ coordinate = value }" "positions at the start; 0 when missing"
        "velocity" "{ coordinate = value }" "velocities at the start; 0 when missing"
        "momentum" "{ momentum = value }" "momenta at the start of a Hamiltonian model; 0 when missing"
        "project" "true or false" "move a start that violates the constraints onto them; false when missing"
    }
    "run" {
        "until" "number or formula" "end time; 10 when missing"
        "from" "number or formula" "start time; 0 when missing"
        "tolerance" "number" "truncation error per step, 1e-16 to 1e-2; 1e-15 when missing"
        "method" "\"taylor\" or \"rk4\"" "how to step; taylor when missing"
        "step" "number" "step of method \"rk4\""
        "samples" "number" "number of evenly spaced samples; 201 when missing"
        "max_impacts" "number" "most impacts; one more is not applied and ends the motion; 1000000 when missing"
        "max_steps" "number" "most steps; one more is not taken and ends the motion; 100000000 when missing"
        "impact_order" "\"simultaneous\" or \"sequential\"" "rule for several walls hit at once; simultaneous when missing"
    }
};

/// The whole list, in the order a reader meets it.
pub fn schema() -> &'static [Entry] {
    SCHEMA
}

/// The keys of a table, `table` written as in [`Entry::table`].
pub fn keys(table: &str) -> impl Iterator<Item = &'static str> + '_ {
    SCHEMA.iter().filter(move |e| e.table == table).map(|e| e.key)
}

/// The first part of every table's name: `wall` for `wall.*`.
pub fn tables() -> Vec<&'static str> {
    let mut tables: Vec<&'static str> = Vec::new();
    for entry in SCHEMA {
        let table = entry.table.trim_end_matches(".*");
        if !table.is_empty() && !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}
