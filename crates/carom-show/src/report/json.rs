//! The derived expressions as JSON, each as `{ "text": …, "latex": … }`; the text reads back as a formula.

use carom_expr::{Expr, Printer, Style};
use carom_mech::{ClosedForms, Dynamics, Form, LeftOut, Mechanics, Physics, Provenance, RowKind};

/// What `carom derive --json` prints. `derive_seconds` is how long the derivation took.
pub fn json(mechanics: &Mechanics, derive_seconds: f64) -> String {
    let found = carom_mech::invariants(mechanics);
    let mut extended = mechanics.clone();
    extended.model.dag = found.dag.clone();
    let writer = Writer::new(&extended);
    let mut out = String::new();
    let mut fields = writer.fields(derive_seconds);
    let seconds = fields.pop();
    fields.push(field(
        "cyclic",
        texts(found.cyclic.iter().map(|&i| mechanics.model.coordinates[i].name.as_str())),
    ));
    fields.push(field("invariants", Value::List(found.list.iter().map(invariant).collect())));
    fields.push(field("broken_symmetries", Value::List(found.broken.iter().map(invariant).collect())));
    fields.extend(seconds);
    fields.push(("provenance".to_owned(), provenance(&mechanics.model.provenance)));
    writer.object(&mut out, 0, fields);
    out.push('\n');
    out
}

fn invariant(invariant: &carom_mech::Invariant) -> Value {
    let broken: Vec<String> = invariant.broken_by.iter().map(ToString::to_string).collect();
    Value::Object(vec![
        field("name", Value::Text(invariant.name.clone())),
        field("J", Value::Formula(invariant.expr)),
        field("direction", formulas(&invariant.direction)),
        field("time_shift", Value::Formula(invariant.time_shift)),
        field("gauge", Value::Formula(invariant.gauge)),
        field("broken_by", texts(broken.iter().map(String::as_str))),
    ])
}

/// A JSON value, as far as it is needed here.
enum Value {
    Text(String),
    Number(f64),
    Null,
    Bool(bool),
    Formula(Expr),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// As in the JSON of a motion; no floating-point number was computed.
fn provenance(provenance: &Provenance) -> Value {
    let text = |text: &String| Value::Text(text.clone());
    let tables = provenance.tables.iter().map(|(file, hash)| (file.clone(), text(hash)));
    Value::Object(vec![
        ("carom".to_owned(), Value::Text(provenance.version.to_owned())),
        ("model_sha256".to_owned(), text(&provenance.model_sha256)),
        ("table_sha256".to_owned(), Value::Object(tables.collect())),
        ("options".to_owned(), Value::List(provenance.options.iter().map(text).collect())),
    ])
}

struct Writer<'a> {
    mechanics: &'a Mechanics,
    text: Printer<'a>,
    latex: Printer<'a>,
}

fn formulas(entries: &[Expr]) -> Value {
    Value::List(entries.iter().map(|&e| Value::Formula(e)).collect())
}

fn matrix(rows: &[Vec<Expr>]) -> Value {
    Value::List(rows.iter().map(|r| formulas(r)).collect())
}

fn option(e: Option<Expr>) -> Value {
    e.map_or(Value::Null, Value::Formula)
}

fn texts<'t>(items: impl Iterator<Item = &'t str>) -> Value {
    Value::List(items.map(|s| Value::Text(s.to_string())).collect())
}

fn field(name: &str, value: Value) -> (String, Value) {
    (name.to_string(), value)
}

impl<'a> Writer<'a> {
    fn new(mechanics: &'a Mechanics) -> Writer<'a> {
        let dag = &mechanics.model.dag;
        Writer { mechanics, text: Printer::new(dag, Style::Text), latex: Printer::new(dag, Style::Latex) }
    }

    fn fields(&self, derive_seconds: f64) -> Vec<(String, Value)> {
        let mechanics = self.mechanics;
        let model = &mechanics.model;
        let coordinates = &model.coordinates;
        let mut fields = vec![
            field("name", Value::Text(model.name.clone())),
            field("coordinates", texts(coordinates.iter().map(|c| c.name.as_str()))),
            field("free", texts(mechanics.free.iter().map(|&i| coordinates[i].name.as_str()))),
            field("driven", self.driven()),
            field(
                "parameters",
                Value::Object(
                    model.parameters.iter().map(|p| (p.name.clone(), Value::Number(p.value))).collect(),
                ),
            ),
        ];
        if let (Physics::Energies { .. }, &[kinetic, potential]) =
            (&model.physics, &mechanics.energy_terms[..])
        {
            fields.push(field("kinetic", Value::Formula(kinetic)));
            fields.push(field("potential", Value::Formula(potential)));
        }
        let forms = &mechanics.forms;
        let lagrangian = match &mechanics.dynamics {
            Dynamics::Lagrangian(l) => Some(l.lagrangian),
            Dynamics::Degenerate(d) => Some(d.lagrangian.lagrangian),
            Dynamics::Hamiltonian(_) => forms.other_side,
        };
        fields.push(field("lagrangian", option(lagrangian)));
        let momenta = coordinates.iter().zip(&mechanics.momenta);
        fields.push(field(
            "momenta",
            Value::Object(momenta.map(|(c, &p)| (c.momentum_name.clone(), Value::Formula(p))).collect()),
        ));
        fields.push(field("hamiltonian", Value::Formula(mechanics.hamiltonian)));
        if !matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) {
            // H(q, p, t); `hamiltonian` is the same quantity as a function of the velocities.
            fields.push(field("hamiltonian_of_momenta", option(forms.other_side)));
        }
        fields.push(field("energy", Value::Formula(mechanics.energy)));
        fields.push(field("energy_rate", Value::Formula(mechanics.power)));
        fields.extend(self.dynamics());
        fields.push(field("quadratic", Value::Bool(mechanics.quadratic)));
        fields.push(field("hyperregular", option(forms.hyperregular)));
        fields.push(field("constraints", self.rows()));
        fields.push(field("distribution", forms.distribution.as_ref().map_or(Value::Null, |d| matrix(d))));
        fields
            .push(field("accelerations", forms.accelerations.as_ref().map_or(Value::Null, |a| formulas(a))));
        fields.push(field("walls", self.walls(forms)));
        let outputs = model.outputs.iter().zip(&mechanics.outputs);
        fields.push(field(
            "outputs",
            Value::Object(outputs.map(|(o, &e)| (o.name.clone(), Value::Formula(e))).collect()),
        ));
        fields.push(field("left_out", self.left_out()));
        fields.push(field("warnings", texts(mechanics.warnings.iter().map(|w| w.message.as_str()))));
        fields.push(field("derive_seconds", Value::Number(derive_seconds)));
        fields
    }

    /// Forms that are null above, and why.
    fn left_out(&self) -> Value {
        let entry = |what: String, reason: &str| {
            Value::Object(vec![
                field("what", Value::Text(what)),
                field("reason", Value::Text(reason.to_string())),
            ])
        };
        let forms = &self.mechanics.forms;
        let other = match self.mechanics.dynamics {
            Dynamics::Hamiltonian(_) => "lagrangian",
            _ => "hamiltonian_of_momenta",
        };
        let mut all: Vec<Value> = forms.obstacle.iter().map(|o| entry(other.to_string(), o)).collect();
        for LeftOut { form, reason } in &forms.left_out {
            let what = match form {
                Form::Distribution => "distribution".to_string(),
                Form::Accelerations => "accelerations".to_string(),
                Form::Determinant => "hyperregular".to_string(),
                Form::Impact(wall) => format!("walls[{wall}].impact_solution"),
            };
            all.push(entry(what, reason));
        }
        Value::List(all)
    }

    fn driven(&self) -> Value {
        let coordinates = &self.mechanics.model.coordinates;
        let driven = coordinates.iter().filter_map(|c| {
            let d = c.driven.as_ref()?;
            Some((c.name.clone(), Value::Formula(d.position)))
        });
        Value::Object(driven.collect())
    }

    fn dynamics(&self) -> Vec<(String, Value)> {
        let of_lagrangian = |l: &carom_mech::LagrangianDynamics| {
            vec![
                field("mass_matrix", matrix(&l.mass_matrix)),
                field("bias", formulas(&l.bias)),
                field("generalized_force", formulas(&l.generalized_force)),
            ]
        };
        match &self.mechanics.dynamics {
            Dynamics::Lagrangian(l) => of_lagrangian(l),
            Dynamics::Degenerate(d) => {
                let mut fields = of_lagrangian(&d.lagrangian);
                let conditions = d.conditions.iter().map(|c| {
                    Value::Object(vec![
                        field("name", Value::Text(c.name.clone())),
                        field("condition", Value::Formula(c.expr)),
                    ])
                });
                fields.push(field("conditions", Value::List(conditions.collect())));
                fields
            }
            Dynamics::Hamiltonian(h) => vec![
                field("velocity", formulas(&h.velocity)),
                field("force", formulas(&h.force)),
                field("inverse_mass_matrix", matrix(&h.inverse_mass)),
                field("generalized_force", formulas(&h.generalized_force)),
            ],
        }
    }

    fn rows(&self) -> Value {
        let rows = self.mechanics.rows.iter().map(|row| {
            let kind = match row.kind {
                RowKind::Holonomic => "holonomic",
                RowKind::Nonholonomic => "nonholonomic",
            };
            Value::Object(vec![
                field("name", Value::Text(row.name.clone())),
                field("kind", Value::Text(kind.to_string())),
                field("c", option(row.position)),
                field("A", formulas(&row.normal)),
                field("b", Value::Formula(row.drift)),
                field("gamma", Value::Formula(row.bias)),
            ])
        });
        Value::List(rows.collect())
    }

    fn walls(&self, forms: &ClosedForms) -> Value {
        let mechanics = self.mechanics;
        let walls = mechanics.walls.iter().enumerate().map(|(k, wall)| {
            let law = match forms.impacts.get(k).and_then(Option::as_ref) {
                Some(form) => Value::Object(vec![
                    field("inverse_mass", Value::Formula(form.inverse_mass)),
                    field("direction", formulas(&form.direction)),
                    field("impulse", Value::Formula(form.impulse)),
                    field("reaction_impulse", formulas(&form.reaction_impulse)),
                    field("velocity_after", formulas(&form.velocity_after)),
                    field("momentum_after", formulas(&form.momentum_after)),
                ]),
                None => Value::Null,
            };
            Value::Object(vec![
                field("name", Value::Text(wall.name.clone())),
                field("gap", Value::Formula(wall.gap)),
                field("normal", formulas(&wall.normal)),
                field("gap_t", Value::Formula(wall.gap_t)),
                field("gap_rate", Value::Formula(wall.gap_rate)),
                field("restitution", Value::Formula(wall.restitution)),
                field("impact_law", self.law()),
                field("impact_solution", law),
            ])
        });
        Value::List(walls.collect())
    }

    /// The law in symbols: the same for every wall of a model.
    fn law(&self) -> Value {
        let rows = !self.mechanics.rows.is_empty();
        let (text, latex) = if rows {
            (
                "[p] = λ n + Aᵀμ,  [E] = −λ φ_t − μ·b,  A v⁺ + b = 0,  λ > 0",
                r"[p] = \lambda n + A^{\top}\mu,\quad [E] = -\lambda\varphi_t - \mu\cdot b,\quad A v^{+} + b = 0,\quad \lambda > 0",
            )
        } else {
            (
                "[p] = λ n,  [E] = −λ φ_t,  λ > 0",
                r"[p] = \lambda n,\quad [E] = -\lambda\varphi_t,\quad \lambda > 0",
            )
        };
        Value::Object(vec![
            field("text", Value::Text(text.to_string())),
            field("latex", Value::Text(latex.to_string())),
        ])
    }

    fn value(&self, out: &mut String, depth: usize, value: Value) {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(b) => out.push_str(if b { "true" } else { "false" }),
            Value::Number(x) if x.is_finite() => out.push_str(&format!("{x:?}")),
            Value::Number(_) => out.push_str("null"),
            Value::Text(text) => string(out, &text),
            Value::Formula(e) => {
                out.push_str("{ \"text\": ");
                string(out, &self.text.print(e));
                out.push_str(", \"latex\": ");
                string(out, &self.latex.print(e));
                out.push_str(" }");
            }
            Value::List(items) if items.is_empty() => out.push_str("[]"),
            Value::List(items) => {
                out.push_str("[\n");
                let count = items.len();
                for (i, item) in items.into_iter().enumerate() {
                    indent(out, depth + 1);
                    self.value(out, depth + 1, item);
                    out.push_str(if i + 1 < count { ",\n" } else { "\n" });
                }
                indent(out, depth);
                out.push(']');
            }
            Value::Object(fields) => self.object(out, depth, fields),
        }
    }

    fn object(&self, out: &mut String, depth: usize, fields: Vec<(String, Value)>) {
        if fields.is_empty() {
            out.push_str("{}");
            return;
        }
        out.push_str("{\n");
        let count = fields.len();
        for (i, (name, value)) in fields.into_iter().enumerate() {
            indent(out, depth + 1);
            string(out, &name);
            out.push_str(": ");
            self.value(out, depth + 1, value);
            out.push_str(if i + 1 < count { ",\n" } else { "\n" });
        }
        indent(out, depth);
        out.push('}');
    }
}

fn indent(out: &mut String, depth: usize) {
    out.push_str(&"  ".repeat(depth));
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}
