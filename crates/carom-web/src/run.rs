//! One motion: records, samples, what the stage draws.

use crate::ask::Ask;
use crate::{Answer, Engine, Host, problems};
use carom::{Error, Motion, Options, doors};
use carom_show::{page, table};
use serde_json::{Value, json};

/// Progress is told at most this often, in seconds.
const TELL: f64 = 0.05;

/// Start values that differ by less, relative to themselves or to 1, are those that were asked for.
const TYPED: f64 = 1e-9;

/// A motion and how long its making took.
pub struct TimedMotion {
    pub motion: Motion,
    pub simulate_seconds: f64,
}

impl Engine {
    /// Simulates what a question asks for.
    pub fn simulate(
        &mut self,
        ask: &Ask<'_>,
        host: &dyn Host,
        change: impl FnOnce(&mut Options),
    ) -> Result<TimedMotion, Error> {
        self.simulate_within(ask, host, ask.limits().seconds, change)
    }

    /// The same, within so many seconds.
    pub fn simulate_within(
        &mut self,
        ask: &Ask<'_>,
        host: &dyn Host,
        seconds: f64,
        change: impl FnOnce(&mut Options),
    ) -> Result<TimedMotion, Error> {
        let known = self.known(ask);
        let model = known.model.clone()?;
        let mut options = ask.options(&model)?;
        change(&mut options);
        if known.simulator.is_none() {
            let begin = host.now();
            doors::equations(&model)?;
            let derived = host.now();
            known.simulator = Some(model.simulator()?);
            known.seconds = (derived - begin, host.now() - derived);
        }
        let Some(simulator) = &mut known.simulator else {
            return model.simulate(&options).map(|motion| TimedMotion { motion, simulate_seconds: 0.0 });
        };
        let begin = host.now();
        let mut told = begin;
        let motion = simulator.simulate_with(&options, |progress| {
            let now = host.now();
            if now - told >= TELL {
                told = now;
                let span = progress.until - progress.from;
                let part = if span > 0.0 { (progress.time - progress.from) / span } else { 1.0 };
                if !host.progress(progress, part.clamp(0.0, 1.0)) {
                    return false;
                }
            }
            now - begin < seconds
        })?;
        Ok(TimedMotion { motion, simulate_seconds: host.now() - begin })
    }

    /// A motion with everything a page shows of it.
    pub fn run(&mut self, ask: &Ask<'_>, host: &dyn Host) -> Result<Answer, String> {
        let made = match self.simulate(ask, host, |_| ()) {
            Ok(made) => made,
            Err(error) => return Ok(refused(&error, ask)),
        };
        let (derive, compile) =
            self.known.as_mut().map_or((0.0, 0.0), |known| std::mem::take(&mut known.seconds));
        let TimedMotion { motion, simulate_seconds } = made;
        let model = doors::checked(motion.model());
        let mut answer = Answer::default();
        let columns: Vec<String> = motion
            .columns()
            .into_iter()
            .map(|(name, values)| {
                let (unit, factor) = shown(model, &name);
                let values = answer.doubles(values);
                format!(
                    "{{\"name\":{},\"unit\":{unit},\"factor\":{factor},\"values\":{values}}}",
                    json!(name)
                )
            })
            .collect();
        let mut records = doors::motion(&motion).clone();
        records.audit.derive_seconds = derive;
        records.audit.compile_seconds = compile;
        records.audit.simulate_seconds = simulate_seconds;
        let begin = host.now();
        let scene = doors::mechanics(&motion)
            .ok()
            .and_then(|mechanics| page::scene_json(&mechanics, doors::motion(&motion)).ok());
        let scene_seconds = host.now() - begin;
        let arithmetic = records.audit.arithmetic.name();
        records.warnings.extend(moved(ask, motion.model(), &records));
        empty(&mut records);
        let warnings = problems::list(motion.model().warnings(), ask);
        answer.json = format!(
            "{{\"ok\":true,\"diagnostics\":{},\"motion\":{},\"columns\":[{}],\"scene\":{},\"arithmetic\":{},\"seconds\":{}}}",
            Value::from(warnings),
            table::json(&records).trim_end(),
            columns.join(","),
            scene.as_deref().unwrap_or("null"),
            json!(arithmetic),
            json!({ "derive": derive, "compile": compile, "simulate": simulate_seconds, "scene": scene_seconds })
        );
        Ok(answer)
    }
}

/// The unit in which people read a signal, and what its values in coherent units are divided by for that.
pub fn shown(model: &carom_mech::Model, signal: &str) -> (Value, Value) {
    let unit = model.shown_unit(signal);
    (json!(unit.as_ref().map(|u| &u.label)), json!(unit.map_or(1.0, |u| u.factor)))
}

/// What is said of a start that had to be moved onto the constraints.
fn moved(ask: &Ask<'_>, model: &carom::Model, motion: &carom_run::Motion) -> Option<String> {
    if !ask.is_projected(model) {
        return None;
    }
    let (checked, values) = (doors::checked(model), ask.values());
    let mut said = Vec::new();
    for (prime, given, shown) in
        [("", &checked.start.position, &motion.position), ("'", &checked.start.velocity, &motion.velocity)]
    {
        for (i, c) in checked.coordinates.iter().enumerate().filter(|(_, c)| c.driven.is_none()) {
            let name = format!("{}{prime}", c.name);
            let set = values.iter().find(|(n, _)| *n == name).map(|(_, x)| *x);
            let there = shown.get(i).and_then(|signal| signal.values.first().copied());
            let (Some(asked), Some(there)) = (set.or(given[i]), there) else { continue };
            if (asked - there).abs() > TYPED * asked.abs().max(1.0) {
                said.push(format!("{name} = {there:.4} in place of {asked:.4}"));
            }
        }
    }
    (!said.is_empty()).then(|| format!("the start was moved onto the constraints: {}", said.join(", ")))
}

/// The samples are columns: they need not be in the records too.
fn empty(motion: &mut carom_run::Motion) {
    motion.time.clear();
    motion.hamiltonian.clear();
    motion.energy.clear();
    let signals = [
        &mut motion.position,
        &mut motion.velocity,
        &mut motion.momentum,
        &mut motion.multiplier,
        &mut motion.contact_force,
        &mut motion.driving_force,
        &mut motion.output,
    ];
    signals.into_iter().for_each(Vec::clear);
}

/// Nothing was simulated.
fn refused(error: &Error, ask: &Ask<'_>) -> Answer {
    Answer::of(&json!({
        "ok": false, "diagnostics": problems::list(error.diagnostics(), ask),
        "motion": null, "columns": [], "scene": null,
        "arithmetic": carom_run::Level::detect().arithmetic().name(),
        "seconds": { "derive": 0.0, "compile": 0.0, "simulate": 0.0, "scene": 0.0 },
    }))
}
