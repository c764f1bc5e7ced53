//! A model in other units: every coordinate, time, energy, gap and row multiplied by a factor of its own. The factors are
//! parameters, so that one program serves all units.
//!
//! ```text
//! q̃ = λ q + o    t̃ = β t    ṽ = λ/β v    L̃ = κ L    p̃ = κβ/λ p    Q̃ = κ/λ Q    R̃ = κ/β R    gap, row: δ times
//! ```

use carom_expr::Expr;
use carom_mech::derive;
use carom_mech::model::{Action, ForceKind, Model, Parameter, Physics, RowKind};
use carom_run::{Motion, Options, Program, Sampling};

/// A model whose units are parameters.
pub struct Scalable {
    pub program: Program,
    /// As the author wrote it.
    pub options: Options,
    given: usize,
    coordinates: usize,
    /// Is a row holonomic?
    holonomic: Vec<bool>,
    walls: usize,
    events: usize,
}

/// The factors.
#[derive(Clone, Debug)]
pub struct Units {
    pub lengths: Vec<f64>,
    pub time: f64,
    pub energy: f64,
    pub gaps: Vec<f64>,
    pub rows: Vec<f64>,
    pub events: Vec<f64>,
    /// Where the old zero of each coordinate is.
    pub origins: Vec<f64>,
}

impl Units {
    /// The author's, each coordinate counted from elsewhere.
    pub fn shifted(of: &Scalable, origin: f64) -> Units {
        Units { origins: vec![origin; of.coordinates], ..Units::each(of, |_| 1.0) }
    }

    /// The same factor for all coordinates, another for time, energy, and everything else.
    pub fn common(of: &Scalable, length: f64, time: f64, energy: f64, gap: f64) -> Units {
        Units {
            lengths: vec![length; of.coordinates],
            time,
            energy,
            gaps: vec![gap; of.walls],
            rows: vec![gap; of.holonomic.len()],
            events: vec![gap; of.events],
            origins: vec![0.0; of.coordinates],
        }
    }

    /// A factor for each, from its number.
    pub fn each(of: &Scalable, mut factor: impl FnMut(usize) -> f64) -> Units {
        let mut next = 0;
        let mut take = |count: usize| -> Vec<f64> {
            next += count;
            (next - count..next).map(&mut factor).collect()
        };
        Units {
            lengths: take(of.coordinates),
            time: take(1)[0],
            energy: take(1)[0],
            gaps: take(of.walls),
            rows: take(of.holonomic.len()),
            events: take(of.events),
            origins: vec![0.0; of.coordinates],
        }
    }

    fn list(&self) -> impl Iterator<Item = f64> {
        let one = [self.time, self.energy];
        let others = self.gaps.iter().chain(&self.rows).chain(&self.events);
        self.lengths.iter().chain(&self.origins).chain(others).copied().chain(one)
    }
}

impl Scalable {
    /// The model with factors for units.
    pub fn new(mut model: Model) -> Scalable {
        assert!(model.inputs.is_empty(), "tables have units of their own");
        let options = Options::of(&model);
        let given = model.parameters.len();
        let parameter = |model: &mut Model, name: String| -> Expr {
            let symbol = model.dag.symbol(&name);
            let formula = model.dag.one();
            model.parameters.push(Parameter { name, symbol, formula, value: 1.0 });
            symbol
        };
        let several = |model: &mut Model, name: &str, count: usize| -> Vec<Expr> {
            (0..count).map(|i| parameter(model, format!("unit_{name}_{i}"))).collect()
        };
        let (coordinates, walls, events) = (model.coordinates.len(), model.walls.len(), model.events.len());
        let rows = model.rows.len();
        let lambda = several(&mut model, "length", coordinates);
        let origins = several(&mut model, "origin", coordinates);
        let gaps = several(&mut model, "gap", walls);
        let row_units = several(&mut model, "row", rows);
        let whens = several(&mut model, "event", events);
        let [beta, kappa] = [several(&mut model, "time", 1)[0], several(&mut model, "energy", 1)[0]];
        let dag = &mut model.dag;
        // Old symbols in new ones.
        let mut old = vec![(model.time, dag.div(model.time, beta))];
        let (mut rate, mut momentum) = (Vec::new(), Vec::new());
        for ((c, &l), &origin) in model.coordinates.iter().zip(&lambda).zip(&origins) {
            let per = dag.div(beta, l);
            let second = dag.mul(per, beta);
            let turned = dag.mul(kappa, beta);
            let p = dag.div(l, turned);
            let from_origin = dag.sub(c.position, origin);
            old.push((c.position, dag.div(from_origin, l)));
            old.push((c.velocity, dag.mul(c.velocity, per)));
            old.push((c.acceleration, dag.mul(c.acceleration, second)));
            old.push((c.momentum, dag.mul(c.momentum, p)));
            rate.push(dag.div(l, beta));
            momentum.push(dag.div(turned, l));
        }
        let one = dag.one();
        let beta_inverse = dag.div(one, beta);
        let force: Vec<Expr> = lambda.iter().map(|&l| dag.div(kappa, l)).collect();
        let power = dag.mul(kappa, beta_inverse);
        let second: Vec<Expr> = rate.iter().map(|&r| dag.mul(r, beta_inverse)).collect();
        let zero = dag.zero();
        let mut moved = |e: &mut Expr, factor: Expr, origin: Expr| {
            let inner = dag.substitute(*e, &old);
            let product = dag.mul(inner, factor);
            *e = dag.add(product, origin);
        };
        match &mut model.physics {
            Physics::Energies { kinetic, potential } => {
                moved(kinetic, kappa, zero);
                moved(potential, kappa, zero);
            }
            Physics::Lagrangian(e) | Physics::Hamiltonian(e) => moved(e, kappa, zero),
        }
        model.walls.iter_mut().zip(&gaps).for_each(|(wall, d)| moved(&mut wall.gap, *d, zero));
        model.rows.iter_mut().zip(&row_units).for_each(|(row, d)| moved(&mut row.expr, *d, zero));
        for (event, d) in model.events.iter_mut().zip(&whens) {
            moved(&mut event.when, *d, zero);
            event.only_if.iter_mut().for_each(|e| moved(e, *d, zero));
            let Action::Set(list) = &mut event.action else { continue };
            for (symbol, value) in list {
                for (i, c) in model.coordinates.iter().enumerate() {
                    let own = [
                        (c.position, lambda[i], origins[i]),
                        (c.velocity, rate[i], zero),
                        (c.momentum, momentum[i], zero),
                    ];
                    own.into_iter().filter(|o| o.0 == *symbol).for_each(|(_, f, o)| moved(value, f, o));
                }
            }
        }
        for f in &mut model.forces {
            match &mut f.kind {
                ForceKind::Point { at, vector } => {
                    at.iter_mut().for_each(|r| moved(r, one, zero));
                    vector.iter_mut().for_each(|f| moved(f, kappa, zero));
                }
                ForceKind::Generalized(parts) => {
                    parts.iter_mut().zip(&force).for_each(|(q, f)| moved(q, *f, zero))
                }
            }
        }
        model.dissipation.iter_mut().for_each(|r| moved(r, power, zero));
        for (i, c) in model.coordinates.iter_mut().enumerate() {
            if let Some(driven) = &mut c.driven {
                moved(&mut driven.position, lambda[i], origins[i]);
                moved(&mut driven.velocity, rate[i], zero);
                moved(&mut driven.acceleration, second[i], zero);
            }
        }
        model.outputs.iter_mut().for_each(|o| moved(&mut o.expr, one, zero));
        let holonomic = model.rows.iter().map(|r| r.kind == RowKind::Holonomic).collect();
        let mechanics = derive(model).unwrap_or_else(|e| panic!("{e:?}"));
        let program = Program::compile(&mechanics).unwrap();
        Scalable { program, options, given, coordinates, holonomic, walls, events }
    }

    /// The same question in these units.
    pub fn in_units(&self, units: &Units) -> Options {
        let mut options = self.options.clone();
        options.parameters.truncate(self.given);
        options.parameters.extend(units.list());
        options.until *= units.time;
        options.start.time *= units.time;
        if let Sampling::At(times) = &mut options.sampling {
            times.iter_mut().for_each(|t| *t *= units.time);
        }
        for (i, l) in units.lengths.iter().enumerate() {
            let times = |list: &mut Vec<Option<f64>>, factor: f64| {
                if let Some(Some(x)) = list.get_mut(i) {
                    *x *= factor;
                }
            };
            times(&mut options.start.position, *l);
            if let Some(Some(x)) = options.start.position.get_mut(i) {
                *x += units.origins[i];
            }
            times(&mut options.start.velocity, l / units.time);
            times(&mut options.start.momentum, units.energy * units.time / l);
        }
        options
    }

    /// Every number of a motion, turned back into the author's units, with its name.
    pub fn numbers(&self, motion: &Motion, units: &Units) -> Vec<(String, f64)> {
        let Units { lengths, time, energy, gaps, rows, origins, .. } = units;
        let mut all: Vec<(String, f64)> = vec![("stop".into(), motion.stop.time / time)];
        all.extend(motion.time.iter().map(|t| ("time".to_owned(), t / time)));
        let mut signals = |list: &[carom_run::Signal], what: &str, factor: &dyn Fn(usize) -> f64| {
            for (i, signal) in list.iter().enumerate() {
                for (k, x) in signal.values.iter().enumerate() {
                    all.push((format!("{what} {} at sample {k}", signal.name), x / factor(i)));
                }
            }
        };
        let row = |i: usize| if self.holonomic[i] { rows[i] } else { rows[i] * time };
        let position: Vec<carom_run::Signal> = motion
            .position
            .iter()
            .cloned()
            .zip(origins)
            .map(|(mut s, o)| {
                s.values.iter_mut().for_each(|x| *x -= o);
                s
            })
            .collect();
        signals(&position, "position", &|i| lengths[i]);
        signals(&motion.velocity, "velocity", &|i| lengths[i] / time);
        signals(&motion.momentum, "momentum", &|i| energy * time / lengths[i]);
        signals(&motion.multiplier, "multiplier", &|i| energy / row(i));
        signals(&motion.contact_force, "contact force", &|i| energy / gaps[i]);
        signals(&motion.output, "output", &|_| 1.0);
        signals(&motion.gap, "gap", &|i| gaps[i]);
        all.extend(motion.hamiltonian.iter().map(|e| ("hamiltonian".to_owned(), e / energy)));
        all.extend(motion.energy.iter().map(|e| ("energy".to_owned(), e / energy)));
        for (n, impact) in motion.impacts.iter().enumerate() {
            let mut add = |what: &str, x: f64| all.push((format!("{what} of impact {n}"), x));
            add("time", impact.time / time);
            for (k, &w) in impact.walls.iter().enumerate() {
                add("impulse", impact.impulse[k] / (energy * time / gaps[w]));
                add("gap rate before", impact.gap_rate_before[k] / (gaps[w] / time));
                add("gap rate after", impact.gap_rate_after[k] / (gaps[w] / time));
            }
            for (i, x) in impact.reaction_impulse.iter().enumerate() {
                add("reaction impulse", x / (energy * time / row(i)));
            }
            for (i, l) in lengths.iter().enumerate() {
                add("position", (impact.position[i] - origins[i]) / l);
                add("velocity before", impact.velocity_before[i] / (l / time));
                add("velocity after", impact.velocity_after[i] / (l / time));
            }
            add("hamiltonian before", impact.hamiltonian_before / energy);
            add("hamiltonian after", impact.hamiltonian_after / energy);
        }
        for (n, c) in motion.contacts.iter().enumerate() {
            all.push((format!("beginning of contact {n}"), c.from / time));
            all.push((format!("end of contact {n}"), c.to.map_or(-1.0, |t| t / time)));
            all.push((format!("force of contact {n}"), c.force_at_start / (energy / gaps[c.wall])));
        }
        all.extend(motion.grazes.iter().map(|g| ("graze".to_owned(), g.time / time)));
        for (n, e) in motion.events.iter().enumerate() {
            all.push((format!("time of event {n}"), e.time / time));
            for (i, l) in lengths.iter().enumerate() {
                all.push((format!("position at event {n}"), (e.position[i] - origins[i]) / l));
                all.push((format!("velocity at event {n}"), e.velocity[i] / (l / time)));
            }
        }
        all
    }
}

/// What happened, without numbers.
pub fn story(motion: &Motion) -> Vec<String> {
    let mut all = vec![format!("{:?}", motion.stop.reason)];
    all.extend(motion.impacts.iter().map(|i| format!("impact {:?}", i.walls)));
    all.extend(motion.contacts.iter().map(|c| format!("contact {} {} {}", c.wall, c.to.is_some(), c.zeno)));
    all.extend(motion.grazes.iter().map(|g| format!("graze {}", g.wall)));
    all.extend(motion.events.iter().map(|e| format!("event {}", e.event)));
    all
}
