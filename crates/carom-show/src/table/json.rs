//! A motion as one JSON object: the contract of `carom run --json`. Field names and their order are fixed, numbers are the
//! shortest that read back to the same double, and what is not finite is `null`.

use carom_mech::Model;
use carom_run::{Motion, Signal};
use std::fmt::Write;

/// The motion as JSON, ending in a newline.
pub fn json(motion: &Motion, model: &Model) -> String {
    let mut o = String::new();
    _ = write!(
        o,
        "{{ \"model\": {},\n  \"stop\": {{ \"reason\": {}",
        string(&motion.model),
        string(motion.stop.reason.name())
    );
    let detail = motion.stop.detail.as_deref().map_or_else(|| "null".to_string(), string);
    _ = write!(o, ", \"time\": {}, \"detail\": {detail} }}", number(motion.stop.time));
    field(&mut o, "time", &list(&motion.time));
    field(&mut o, "position", &signals(&motion.position, |_, s| s.name.clone()));
    field(&mut o, "velocity", &signals(&motion.velocity, |_, s| s.name.clone()));
    let momentum_name = |i: usize, s: &Signal| {
        model.coordinates.get(i).map_or_else(|| s.name.clone(), |c| c.momentum_name.clone())
    };
    field(&mut o, "momentum", &signals(&motion.momentum, momentum_name));
    field(&mut o, "hamiltonian", &list(&motion.hamiltonian));
    field(&mut o, "energy", &list(&motion.energy));
    field(&mut o, "multiplier", &signals(&motion.multiplier, |_, s| s.name.clone()));
    field(&mut o, "contact_force", &signals(&motion.contact_force, |_, s| s.name.clone()));
    field(&mut o, "driving_force", &signals(&motion.driving_force, |_, s| s.name.clone()));
    field(&mut o, "output", &signals(&motion.output, |_, s| s.name.clone()));
    field(&mut o, "impacts", &records(motion.impacts.iter().map(|i| impact(i, model))));
    field(&mut o, "contacts", &records(motion.contacts.iter().map(|c| contact(c, model))));
    let graze = |g: &carom_run::Graze| {
        format!("{{ \"time\": {}, \"wall\": {} }}", number(g.time), string(wall(model, g.wall)))
    };
    field(&mut o, "grazes", &records(motion.grazes.iter().map(graze)));
    field(&mut o, "events", &records(motion.events.iter().map(|e| event(e, model))));
    let warnings: Vec<String> = motion.warnings.iter().map(|w| string(w)).collect();
    field(&mut o, "warnings", &format!("[{}]", warnings.join(", ")));
    let a = &motion.audit;
    let audit = format!(
        "{{ \"hamiltonian_drift\": {}, \"constraint_drift\": {}, \"impact_law_residual\": {}, \
         \"deepest_penetration\": {}, \"verdict\": \"{}\",\n             \"amplification\": {}, \"steps\": {}, \"derive_seconds\": {}, \
         \"compile_seconds\": {}, \"simulate_seconds\": {} }}",
        number(a.hamiltonian_drift),
        number(a.constraint_drift),
        number(a.impact_law_residual),
        number(a.deepest_penetration),
        a.verdict.name(),
        a.amplification.map_or_else(|| "null".to_string(), number),
        a.steps,
        number(a.derive_seconds),
        number(a.compile_seconds),
        number(a.simulate_seconds),
    );
    field(&mut o, "audit", &audit);
    o.push_str(" }\n");
    o
}

/// A number in the shortest form that reads back to the same double; `null` when it is not finite.
pub(crate) fn number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { "null".to_string() }
}

/// A JSON string. `<` is escaped too, so that it can stand inside a page's script.
pub(crate) fn string(s: &str) -> String {
    let mut o = String::with_capacity(s.len() + 2);
    o.push('"');
    for c in s.chars() {
        match c {
            '"' => o.push_str("\\\""),
            '\\' => o.push_str("\\\\"),
            '\n' => o.push_str("\\n"),
            '\r' => o.push_str("\\r"),
            '\t' => o.push_str("\\t"),
            '<' | '\u{2028}' | '\u{2029}' => _ = write!(o, "\\u{:04x}", u32::from(c)),
            c if c < ' ' => _ = write!(o, "\\u{:04x}", u32::from(c)),
            c => o.push(c),
        }
    }
    o.push('"');
    o
}

fn field(o: &mut String, name: &str, value: &str) {
    _ = write!(o, ",\n  \"{name}\": {value}");
}

fn list(values: &[f64]) -> String {
    let mut o = String::with_capacity(values.len() * 20 + 2);
    o.push('[');
    for (i, &x) in values.iter().enumerate() {
        if i > 0 {
            o.push_str(", ");
        }
        if x.is_finite() {
            _ = write!(o, "{x:?}");
        } else {
            o.push_str("null");
        }
    }
    o.push(']');
    o
}

fn object(entries: impl Iterator<Item = (String, String)>) -> String {
    let entries: Vec<String> = entries.map(|(name, value)| format!("{}: {value}", string(&name))).collect();
    if entries.is_empty() { "{}".to_string() } else { format!("{{ {} }}", entries.join(", ")) }
}

fn signals(signals: &[Signal], name: impl Fn(usize, &Signal) -> String) -> String {
    object(signals.iter().enumerate().map(|(i, s)| (name(i, s), list(&s.values))))
}

fn records(records: impl Iterator<Item = String>) -> String {
    let records: Vec<String> = records.collect();
    if records.is_empty() { "[]".to_string() } else { format!("[ {} ]", records.join(",\n    ")) }
}

fn wall(model: &Model, index: usize) -> &str {
    model.walls.get(index).map_or("", |w| &w.name)
}

fn by_coordinate(model: &Model, values: &[f64]) -> String {
    object(model.coordinates.iter().zip(values).map(|(c, &x)| (c.name.clone(), number(x))))
}

fn impact(i: &carom_run::Impact, model: &Model) -> String {
    let walls: Vec<String> = i.walls.iter().map(|&w| string(wall(model, w))).collect();
    let rows = model.rows.iter().zip(&i.reaction_impulse).map(|(r, &x)| (r.name.clone(), number(x)));
    let driven = model.coordinates.iter().filter(|c| c.driven.is_some());
    let drives = driven.zip(&i.driving_impulse).map(|(c, &x)| (c.name.clone(), number(x)));
    format!(
        "{{ \"time\": {}, \"walls\": [{}], \"impulse\": {}, \"reaction_impulse\": {}, \"driving_impulse\": {}, \
         \"gap_rate_before\": {}, \"gap_rate_after\": {}, \"position\": {}, \"velocity_before\": {}, \
         \"velocity_after\": {}, \"hamiltonian_before\": {}, \"hamiltonian_after\": {} }}",
        number(i.time),
        walls.join(", "),
        list(&i.impulse),
        object(rows),
        object(drives),
        list(&i.gap_rate_before),
        list(&i.gap_rate_after),
        by_coordinate(model, &i.position),
        by_coordinate(model, &i.velocity_before),
        by_coordinate(model, &i.velocity_after),
        number(i.hamiltonian_before),
        number(i.hamiltonian_after),
    )
}

fn contact(c: &carom_run::Contact, model: &Model) -> String {
    format!(
        "{{ \"wall\": {}, \"from\": {}, \"to\": {}, \"zeno\": {}, \"force_at_start\": {} }}",
        string(wall(model, c.wall)),
        number(c.from),
        c.to.map_or_else(|| "null".to_string(), number),
        c.zeno,
        number(c.force_at_start),
    )
}

fn event(e: &carom_run::EventRecord, model: &Model) -> String {
    format!(
        "{{ \"time\": {}, \"name\": {}, \"position\": {}, \"velocity\": {} }}",
        number(e.time),
        string(model.events.get(e.event).map_or("", |m| &m.name)),
        by_coordinate(model, &e.position),
        by_coordinate(model, &e.velocity),
    )
}
