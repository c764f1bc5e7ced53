//! A motion as data: `serde::Serialize` with names in place of indices.
//!
//! ```text
//! { model, stop, time, position: { NAME: [..] }, …, impacts: [{ time, walls: [NAME], …, position: { NAME: x } }], …, audit, provenance }
//! ```
//!
//! Promise: fields come in this order and under these names in every format; what `carom run --json` prints is this, laid
//! out for reading. Numbers that are not finite are left to the format (JSON has only `null` for them).

use crate::gradient::Gradient;
use crate::motion::{
    Audit, Contact, EventRecord, Graze, Impact, InvariantDrift, Motion, Names, Signal, Stop, StopReason,
    Verdict,
};
use crate::variation::{NotDifferentiable, Variation, VariationChecks};
use carom_jet::dense::Matrix;
use carom_mech::Provenance;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Names and values, as a map.
struct NamedValues<'a, T>(&'a [String], &'a [T]);

impl<T: Serialize> Serialize for NamedValues<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}

/// Signals by name, as a map of lists.
struct Signals<'a>(&'a [Signal]);

impl Serialize for Signals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|signal| (&signal.name, &signal.values)))
    }
}

/// A record with the names its indices stand for.
struct With<'a, R>(&'a Names, &'a R);

/// Records with their names, as a list.
struct Records<'a, R>(&'a Names, &'a [R]);

impl<'a, R> Serialize for Records<'a, R>
where
    With<'a, R>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|record| With(self.0, record)))
    }
}

fn name(names: &[String], index: usize) -> &str {
    names.get(index).map_or("", String::as_str)
}

impl Serialize for Motion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = &*self.names;
        let fields = 19 + usize::from(self.variation.is_some()) + usize::from(self.gradient.is_some());
        let mut s = serializer.serialize_struct("Motion", fields)?;
        s.serialize_field("model", &self.model)?;
        s.serialize_field("stop", &self.stop)?;
        s.serialize_field("time", &self.time)?;
        s.serialize_field("position", &Signals(&self.position))?;
        s.serialize_field("velocity", &Signals(&self.velocity))?;
        s.serialize_field("momentum", &Signals(&self.momentum))?;
        s.serialize_field("hamiltonian", &self.hamiltonian)?;
        s.serialize_field("energy", &self.energy)?;
        s.serialize_field("multiplier", &Signals(&self.multiplier))?;
        s.serialize_field("contact_force", &Signals(&self.contact_force))?;
        s.serialize_field("driving_force", &Signals(&self.driving_force))?;
        s.serialize_field("output", &Signals(&self.output))?;
        s.serialize_field("impacts", &Records(names, &self.impacts))?;
        s.serialize_field("contacts", &Records(names, &self.contacts))?;
        s.serialize_field("grazes", &Records(names, &self.grazes))?;
        s.serialize_field("events", &Records(names, &self.events))?;
        match &self.variation {
            Some(variation) => s.serialize_field("sensitivity", &With(names, variation))?,
            None => s.skip_field("sensitivity")?,
        }
        match &self.gradient {
            Some(gradient) => s.serialize_field("gradient", &With(names, gradient))?,
            None => s.skip_field("gradient")?,
        }
        s.serialize_field("warnings", &self.warnings)?;
        s.serialize_field("audit", &self.audit)?;
        s.serialize_field("provenance", &Origin(&self.provenance, self.audit.arithmetic.name()))?;
        s.end()
    }
}

/// A record of another crate, which does not know `serde`.
struct Origin<'a>(&'a Provenance, &'a str);

impl Serialize for Origin<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Provenance", 5)?;
        s.serialize_field("carom", self.0.version)?;
        s.serialize_field("model_sha256", &self.0.model_sha256)?;
        s.serialize_field("table_sha256", &Texts(&self.0.tables))?;
        s.serialize_field("options", &self.0.options)?;
        s.serialize_field("arithmetic", self.1)?;
        s.end()
    }
}

/// Texts by name, as a map.
struct Texts<'a>(&'a [(String, String)]);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, text)| (name, text)))
    }
}

impl Serialize for Stop {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Stop", 3)?;
        s.serialize_field("reason", &self.reason)?;
        s.serialize_field("time", &self.time)?;
        s.serialize_field("detail", &self.detail)?;
        s.end()
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for With<'_, Impact> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, i) = self;
        let walls: Vec<&str> = i.walls.iter().map(|&w| name(&names.walls, w)).collect();
        let mut s = serializer.serialize_struct("Impact", 12)?;
        s.serialize_field("time", &i.time)?;
        s.serialize_field("walls", &walls)?;
        s.serialize_field("impulse", &i.impulse)?;
        s.serialize_field("reaction_impulse", &NamedValues(&names.rows, &i.reaction_impulse))?;
        s.serialize_field("driving_impulse", &NamedValues(&names.driven, &i.driving_impulse))?;
        s.serialize_field("gap_rate_before", &i.gap_rate_before)?;
        s.serialize_field("gap_rate_after", &i.gap_rate_after)?;
        s.serialize_field("position", &NamedValues(&names.coordinates, &i.position))?;
        s.serialize_field("velocity_before", &NamedValues(&names.coordinates, &i.velocity_before))?;
        s.serialize_field("velocity_after", &NamedValues(&names.coordinates, &i.velocity_after))?;
        s.serialize_field("hamiltonian_before", &i.hamiltonian_before)?;
        s.serialize_field("hamiltonian_after", &i.hamiltonian_after)?;
        s.end()
    }
}

impl Serialize for With<'_, Contact> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, c) = self;
        let mut s = serializer.serialize_struct("Contact", 5)?;
        s.serialize_field("wall", name(&names.walls, c.wall))?;
        s.serialize_field("from", &c.from)?;
        s.serialize_field("to", &c.to)?;
        s.serialize_field("zeno", &c.zeno)?;
        s.serialize_field("force_at_start", &c.force_at_start)?;
        s.end()
    }
}

impl Serialize for With<'_, Graze> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, g) = self;
        let mut s = serializer.serialize_struct("Graze", 2)?;
        s.serialize_field("time", &g.time)?;
        s.serialize_field("wall", name(&names.walls, g.wall))?;
        s.end()
    }
}

impl Serialize for With<'_, EventRecord> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, e) = self;
        let mut s = serializer.serialize_struct("Event", 4)?;
        s.serialize_field("time", &e.time)?;
        s.serialize_field("name", name(&names.events, e.event))?;
        s.serialize_field("position", &NamedValues(&names.coordinates, &e.position))?;
        s.serialize_field("velocity", &NamedValues(&names.coordinates, &e.velocity))?;
        s.end()
    }
}

/// A matrix, row by row.
struct MatrixRows<'a>(&'a Matrix);

impl Serialize for MatrixRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0.rows).map(|i| self.0.row(i)))
    }
}

impl Serialize for With<'_, Variation> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, v) = self;
        let mut s = serializer.serialize_struct("Sensitivity", 10)?;
        s.serialize_field("of", &v.of)?;
        s.serialize_field("with_respect_to", &v.with_respect_to)?;
        s.serialize_field("matrix", &v.not_differentiable.is_none().then_some(MatrixRows(&v.end)))?;
        s.serialize_field("impact_times", &v.impacts.iter().map(|i| &i.time).collect::<Vec<_>>())?;
        s.serialize_field("impulses", &v.impacts.iter().map(|i| &i.impulse).collect::<Vec<_>>())?;
        s.serialize_field("event_times", &v.events.iter().map(|e| &e.time).collect::<Vec<_>>())?;
        s.serialize_field("contact_times", &v.contacts)?;
        s.serialize_field("not_differentiable", &v.not_differentiable.as_ref().map(|n| With(names, n)))?;
        s.serialize_field("one_sided", &Records(names, &v.one_sided))?;
        s.serialize_field("checks", &v.checks)?;
        s.end()
    }
}

impl Serialize for With<'_, Gradient> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, g) = self;
        let mut s = serializer.serialize_struct("Gradient", 7)?;
        s.serialize_field("of", &g.of)?;
        s.serialize_field("value", &g.value)?;
        s.serialize_field("with_respect_to", &g.with_respect_to)?;
        let exists = g.not_differentiable.is_none() && g.value.is_finite();
        s.serialize_field("gradient", &exists.then_some(&g.gradient))?;
        s.serialize_field("not_differentiable", &g.not_differentiable.as_ref().map(|n| With(names, n)))?;
        s.serialize_field("one_sided", &Records(names, &g.one_sided))?;
        s.serialize_field("duality", &g.duality)?;
        s.end()
    }
}

impl Serialize for With<'_, NotDifferentiable> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let With(names, n) = self;
        let walls: Vec<&str> = n.walls.iter().map(|&w| name(&names.walls, w)).collect();
        let mut s = serializer.serialize_struct("NotDifferentiable", 4)?;
        s.serialize_field("what", n.what.name())?;
        s.serialize_field("walls", &walls)?;
        s.serialize_field("event", &n.event.map(|e| name(&names.events, e)))?;
        s.serialize_field("time", &n.time)?;
        s.end()
    }
}

impl Serialize for VariationChecks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Checks", 2)?;
        s.serialize_field("symplectic", &self.symplectic)?;
        s.serialize_field("determinant", &self.determinant)?;
        s.end()
    }
}

impl Serialize for Audit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Audit", 12)?;
        s.serialize_field("hamiltonian_drift", &self.hamiltonian_drift)?;
        s.serialize_field("constraint_drift", &self.constraint_drift)?;
        s.serialize_field("impact_law_residual", &self.impact_law_residual)?;
        s.serialize_field("deepest_penetration", &self.deepest_penetration)?;
        s.serialize_field("verdict", &self.verdict)?;
        s.serialize_field("arithmetic", self.arithmetic.name())?;
        s.serialize_field("amplification", &self.amplification)?;
        s.serialize_field("steps", &self.steps)?;
        s.serialize_field("invariants", &self.invariants)?;
        s.serialize_field("derive_seconds", &self.derive_seconds)?;
        s.serialize_field("compile_seconds", &self.compile_seconds)?;
        s.serialize_field("simulate_seconds", &self.simulate_seconds)?;
        s.end()
    }
}

impl Serialize for InvariantDrift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("InvariantDrift", 4)?;
        s.serialize_field("name", &self.name)?;
        s.serialize_field("text", &self.text)?;
        s.serialize_field("drift", &self.drift)?;
        s.serialize_field("survives_impacts", &self.survives_impacts)?;
        s.end()
    }
}
