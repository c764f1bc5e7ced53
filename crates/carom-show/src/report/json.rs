//! The derived expressions as JSON, each as `{ "text": …, "latex": … }`; the text reads back as a formula.

use carom_expr::{Expr, Printer, Style};
use carom_mech::{ClosedForm, ClosedForms, Dynamics, LeftOut, Mechanics, Physics, Provenance, RowKind};

/// What `carom derive --json` prints. `derive_seconds` is how long the derivation took.
pub fn json(mechanics: &Mechanics, derive_seconds: f64) -> String {
    let found = carom_mech::invariants(mechanics);
    let mut extended = mechanics.clone();
    extended.model.dag = found.dag.clone();
    let writer = JsonWriter::new(&extended);
    let mut out = String::new();
    let mut fields = writer.fields(derive_seconds);
    let seconds = fields.pop();
    fields.push(field(
        "cyclic",
        texts(found.cyclic.iter().map(|&i| mechanics.model.coordinates[i].name.as_str())),
    ));
    fields.push(field("invariants", JsonValue::List(found.list.iter().map(invariant).collect())));
    fields.push(field("broken_symmetries", JsonValue::List(found.broken.iter().map(invariant).collect())));
    fields.extend(seconds);
    fields.push(("provenance".to_owned(), provenance(&mechanics.model.provenance)));
    writer.object(&mut out, 0, fields);
    out.push('\n');
    out
}

fn invariant(invariant: &carom_mech::Invariant) -> JsonValue {
    let broken: Vec<String> = invariant.broken_by.iter().map(ToString::to_string).collect();
    JsonValue::Object(vec![
        field("name", JsonValue::Text(invariant.name.clone())),
        field("J", JsonValue::Formula(invariant.expr)),
        field("direction", formulas(&invariant.direction)),
        field("time_shift", JsonValue::Formula(invariant.time_shift)),
        field("gauge", JsonValue::Formula(invariant.gauge)),
        field("broken_by", texts(broken.iter().map(String::as_str))),
    ])
}

/// A JSON value, as far as it is needed here.
enum JsonValue {
    Text(String),
    Number(f64),
    Null,
    Bool(bool),
    Formula(Expr),
    List(Vec<JsonValue>),
    Object(Vec<(String, JsonValue)>),
}

/// As in the JSON of a motion; no floating-point number was computed.
fn provenance(provenance: &Provenance) -> JsonValue {
    let text = |text: &String| JsonValue::Text(text.clone());
    let tables = provenance.tables.iter().map(|(file, hash)| (file.clone(), text(hash)));
    JsonValue::Object(vec![
        ("carom".to_owned(), JsonValue::Text(provenance.version.to_owned())),
        ("model_sha256".to_owned(), text(&provenance.model_sha256)),
        ("table_sha256".to_owned(), JsonValue::Object(tables.collect())),
        ("options".to_owned(), JsonValue::List(provenance.options.iter().map(text).collect())),
    ])
}

struct JsonWriter<'a> {
    mechanics: &'a Mechanics,
    text: Printer<'a>,
    latex: Printer<'a>,
}

fn formulas(entries: &[Expr]) -> JsonValue {
    JsonValue::List(entries.iter().map(|&e| JsonValue::Formula(e)).collect())
}

fn matrix(rows: &[Vec<Expr>]) -> JsonValue {
    JsonValue::List(rows.iter().map(|r| formulas(r)).collect())
}

fn option(e: Option<Expr>) -> JsonValue {
    e.map_or(JsonValue::Null, JsonValue::Formula)
}

fn texts<'t>(items: impl Iterator<Item = &'t str>) -> JsonValue {
    JsonValue::List(items.map(|s| JsonValue::Text(s.to_string())).collect())
}

fn field(name: &str, value: JsonValue) -> (String, JsonValue) {
    (name.to_string(), value)
}

impl<'a> JsonWriter<'a> {
    fn new(mechanics: &'a Mechanics) -> JsonWriter<'a> {
        let dag = &mechanics.model.dag;
        JsonWriter { mechanics, text: Printer::new(dag, Style::Text), latex: Printer::new(dag, Style::Latex) }
    }

    fn fields(&self, derive_seconds: f64) -> Vec<(String, JsonValue)> {
        let mechanics = self.mechanics;
        let model = &mechanics.model;
        let coordinates = &model.coordinates;
        let mut fields = vec![
            field("name", JsonValue::Text(model.name.clone())),
            field("coordinates", texts(coordinates.iter().map(|c| c.name.as_str()))),
            field("free", texts(mechanics.free.iter().map(|&i| coordinates[i].name.as_str()))),
            field("driven", self.driven()),
            field(
                "parameters",
                JsonValue::Object(
                    model.parameters.iter().map(|p| (p.name.clone(), JsonValue::Number(p.value))).collect(),
                ),
            ),
        ];
        if let (Physics::Energies { .. }, &[kinetic, potential]) =
            (&model.physics, &mechanics.energy_terms[..])
        {
            fields.push(field("kinetic", JsonValue::Formula(kinetic)));
            fields.push(field("potential", JsonValue::Formula(potential)));
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
            JsonValue::Object(
                momenta.map(|(c, &p)| (c.momentum_name.clone(), JsonValue::Formula(p))).collect(),
            ),
        ));
        fields.push(field("hamiltonian", JsonValue::Formula(mechanics.hamiltonian)));
        if !matches!(mechanics.dynamics, Dynamics::Hamiltonian(_)) {
            // H(q, p, t); `hamiltonian` is the same quantity as a function of the velocities.
            fields.push(field("hamiltonian_of_momenta", option(forms.other_side)));
        }
        fields.push(field("energy", JsonValue::Formula(mechanics.energy)));
        fields.push(field("energy_rate", JsonValue::Formula(mechanics.power)));
        fields.extend(self.dynamics());
        fields.push(field("quadratic", JsonValue::Bool(mechanics.quadratic)));
        fields.push(field("hyperregular", option(forms.hyperregular)));
        fields.push(field("constraints", self.rows()));
        fields
            .push(field("distribution", forms.distribution.as_ref().map_or(JsonValue::Null, |d| matrix(d))));
        fields.push(field(
            "accelerations",
            forms.accelerations.as_ref().map_or(JsonValue::Null, |a| formulas(a)),
        ));
        fields.push(field("walls", self.walls(forms)));
        let outputs = model.outputs.iter().zip(&mechanics.outputs);
        fields.push(field(
            "outputs",
            JsonValue::Object(outputs.map(|(o, &e)| (o.name.clone(), JsonValue::Formula(e))).collect()),
        ));
        fields.push(field("left_out", self.left_out()));
        fields.push(field("warnings", texts(mechanics.warnings.iter().map(|w| w.message.as_str()))));
        fields.push(field("derive_seconds", JsonValue::Number(derive_seconds)));
        fields
    }

    /// Forms that are null above, and why.
    fn left_out(&self) -> JsonValue {
        let entry = |what: String, reason: &str| {
            JsonValue::Object(vec![
                field("what", JsonValue::Text(what)),
                field("reason", JsonValue::Text(reason.to_string())),
            ])
        };
        let forms = &self.mechanics.forms;
        let other = match self.mechanics.dynamics {
            Dynamics::Hamiltonian(_) => "lagrangian",
            _ => "hamiltonian_of_momenta",
        };
        let mut all: Vec<JsonValue> = forms.obstacle.iter().map(|o| entry(other.to_string(), o)).collect();
        for LeftOut { form, reason } in &forms.left_out {
            let what = match form {
                ClosedForm::Distribution => "distribution".to_string(),
                ClosedForm::Accelerations => "accelerations".to_string(),
                ClosedForm::Determinant => "hyperregular".to_string(),
                ClosedForm::Impact(wall) => format!("walls[{wall}].impact_solution"),
            };
            all.push(entry(what, reason));
        }
        JsonValue::List(all)
    }

    fn driven(&self) -> JsonValue {
        let coordinates = &self.mechanics.model.coordinates;
        let driven = coordinates.iter().filter_map(|c| {
            let d = c.driven.as_ref()?;
            Some((c.name.clone(), JsonValue::Formula(d.position)))
        });
        JsonValue::Object(driven.collect())
    }

    fn dynamics(&self) -> Vec<(String, JsonValue)> {
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
                    JsonValue::Object(vec![
                        field("name", JsonValue::Text(c.name.clone())),
                        field("condition", JsonValue::Formula(c.expr)),
                    ])
                });
                fields.push(field("conditions", JsonValue::List(conditions.collect())));
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

    fn rows(&self) -> JsonValue {
        let rows = self.mechanics.rows.iter().map(|row| {
            let kind = match row.kind {
                RowKind::Holonomic => "holonomic",
                RowKind::Nonholonomic => "nonholonomic",
            };
            JsonValue::Object(vec![
                field("name", JsonValue::Text(row.name.clone())),
                field("kind", JsonValue::Text(kind.to_string())),
                field("c", option(row.position)),
                field("A", formulas(&row.normal)),
                field("b", JsonValue::Formula(row.drift)),
                field("gamma", JsonValue::Formula(row.bias)),
            ])
        });
        JsonValue::List(rows.collect())
    }

    fn walls(&self, forms: &ClosedForms) -> JsonValue {
        let mechanics = self.mechanics;
        let walls = mechanics.walls.iter().enumerate().map(|(k, wall)| {
            let law = match forms.impacts.get(k).and_then(Option::as_ref) {
                Some(form) => JsonValue::Object(vec![
                    field("inverse_mass", JsonValue::Formula(form.inverse_mass)),
                    field("direction", formulas(&form.direction)),
                    field("impulse", JsonValue::Formula(form.impulse)),
                    field("reaction_impulse", formulas(&form.reaction_impulse)),
                    field("velocity_after", formulas(&form.velocity_after)),
                    field("momentum_after", formulas(&form.momentum_after)),
                ]),
                None => JsonValue::Null,
            };
            JsonValue::Object(vec![
                field("name", JsonValue::Text(wall.name.clone())),
                field("gap", JsonValue::Formula(wall.gap)),
                field("normal", formulas(&wall.normal)),
                field("gap_t", JsonValue::Formula(wall.gap_t)),
                field("gap_rate", JsonValue::Formula(wall.gap_rate)),
                field("restitution", JsonValue::Formula(wall.restitution)),
                field("impact_law", self.law()),
                field("impact_solution", law),
            ])
        });
        JsonValue::List(walls.collect())
    }

    /// The law in symbols: the same for every wall of a model.
    fn law(&self) -> JsonValue {
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
        JsonValue::Object(vec![
            field("text", JsonValue::Text(text.to_string())),
            field("latex", JsonValue::Text(latex.to_string())),
        ])
    }

    fn value(&self, out: &mut String, depth: usize, value: JsonValue) {
        match value {
            JsonValue::Null => out.push_str("null"),
            JsonValue::Bool(b) => out.push_str(if b { "true" } else { "false" }),
            JsonValue::Number(x) if x.is_finite() => out.push_str(&format!("{x:?}")),
            JsonValue::Number(_) => out.push_str("null"),
            JsonValue::Text(text) => string(out, &text),
            JsonValue::Formula(e) => {
                out.push_str("{ \"text\": ");
                string(out, &self.text.print(e));
                out.push_str(", \"latex\": ");
                string(out, &self.latex.print(e));
                out.push_str(" }");
            }
            JsonValue::List(items) if items.is_empty() => out.push_str("[]"),
            JsonValue::List(items) => {
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
            JsonValue::Object(fields) => self.object(out, depth, fields),
        }
    }

    fn object(&self, out: &mut String, depth: usize, fields: Vec<(String, JsonValue)>) {
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
