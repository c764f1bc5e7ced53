//! Mechanics → program.
//!
//! A [`Program`] holds the tapes a simulation runs: one for the motion of each set of closed walls (made when first
//! needed, then kept), one *frame* tape with every number the laws need at a state, one *output* tape for samples.
//!
//! The state is (q, v) or (q, p), followed by the work done by power,
//! drives and moving walls when there is any (the audit compares it with the change of E).

use crate::frame::FrameLayout;
use crate::input::Spline;
use crate::motion::Names;
use crate::rewrite::{insert_curves, insert_signs};
use crate::switching::Surface;
use crate::tangent::Variations;
use carom_expr::{Dag, Expr, Rational};
use carom_jet::{CompileError, Flow, Level, System, Tape};
use carom_mech::mechanics::{Dynamics, Mechanics};
use carom_mech::model::{Row, RowKind};
use carom_mech::{Diagnostic, Provenance};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Compiled mechanics.
#[derive(Debug)]
pub struct Program {
    /// The mechanics it was made from; piecewise functions and table inputs are replaced.
    pub(crate) mechanics: Mechanics,
    /// What the indices of results stand for.
    pub(crate) names: Arc<Names>,
    /// Of its model.
    pub(crate) provenance: Arc<Provenance>,
    pub(crate) layout: FrameLayout,
    /// What the frame evaluates.
    pub(crate) values: Vec<Expr>,
    /// Workspaces to copy: a simulation changes its own.
    pub(crate) frame: Flow,
    pub(crate) outputs: Flow,
    /// Restitution per wall, surfaces, then per event its `only_if` and reset values, then the functions of all events.
    pub(crate) settings: Flow,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) curves: Vec<Spline>,
    /// Symbols of the state.
    pub(crate) state: Vec<Expr>,
    /// Symbols of parameters, curves, signs: the order of a leg's parameter values.
    pub(crate) parameters: Vec<Expr>,
    /// Is there a work variable at the end of the state?
    pub(crate) has_work: bool,
    /// Does a sample need the accelerations or the reactions?
    pub(crate) shows_accelerations: bool,
    level: Level,
    pub(crate) legs: Mutex<Legs>,
    /// The row that is a wall held closed, if this is the program of such a contact.
    pub(crate) held_row: Option<usize>,
    /// Per wall of a degenerate model: the program in which it is a holonomic row, or why there is none.
    held: Vec<Result<Box<Program>, String>>,
}

#[derive(Debug)]
pub(crate) struct Legs {
    pub dag: Dag,
    tapes: BTreeMap<LegKey, Arc<Tape>>,
    /// By leg and order.
    flows: BTreeMap<(LegKey, usize), Flow>,
    pub variations: Variations,
}

/// What distinguishes the equations of one leg from those of another.
#[derive(Clone, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct LegKey {
    /// Equations kept: constraint rows, or rows of M for a degenerate model.
    pub rows: Vec<usize>,
    /// Multipliers kept (degenerate models; otherwise the same as `rows`).
    pub multipliers: Vec<usize>,
    /// Walls held closed.
    pub closed: Vec<usize>,
    /// Surfaces the motion slides on.
    pub sliding: Vec<usize>,
}

impl PartialEq for LegKey {
    fn eq(&self, other: &LegKey) -> bool {
        // Mostly empty lists: comparing them as memory, where they have none, is a hundred times slower.
        let same = |a: &[usize], b: &[usize]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y);
        same(&self.rows, &other.rows)
            && same(&self.multipliers, &other.multipliers)
            && same(&self.closed, &other.closed)
            && same(&self.sliding, &other.sliding)
    }
}

/// Where the watched functions of a leg are.
pub(crate) struct Watched {
    pub gap: usize,
    pub surface: usize,
    pub event: usize,
    pub force: usize,
    pub sliding: usize,
    pub held: usize,
}

impl Program {
    /// Compiles derived mechanics.
    ///
    /// # Errors
    /// When a formula cannot be compiled.
    pub fn compile(mechanics: &Mechanics) -> Result<Program, CompileError> {
        let mut program = Program::without_held_walls(mechanics)?;
        // Only where directions without inertia can exist may a wall have to be held by a force instead of an impulse.
        if matches!(mechanics.dynamics, Dynamics::Degenerate(_)) {
            program.held = (0..mechanics.walls.len()).map(|w| program.with_held_wall(w)).collect();
        }
        Ok(program)
    }

    fn without_held_walls(mechanics: &Mechanics) -> Result<Program, CompileError> {
        let mut mechanics = mechanics.clone();
        let state = state_symbols(&mechanics);
        let (curve_parameters, curves) = insert_curves(&mut mechanics);
        let surfaces = insert_signs(&mut mechanics, &state);
        let mut parameters: Vec<Expr> = mechanics.model.parameters.iter().map(|p| p.symbol).collect();
        parameters.extend(curve_parameters);
        parameters.extend(surfaces.iter().map(|s| s.sign));

        let has_work = needs_work(&mechanics);
        let mut motion_state = state.clone();
        if has_work {
            motion_state.push(mechanics.model.dag.symbol("work done"));
        }
        let (layout, values) = FrameLayout::of(&mut mechanics);
        let time = mechanics.model.time;
        let evaluation = |dag: &Dag, extra: &[Expr], watched: Vec<Expr>| {
            let mut all = motion_state.clone();
            all.extend_from_slice(extra);
            let system = System {
                time,
                parameters: parameters.clone(),
                state: all,
                rate: vec![],
                blocks: vec![],
                watched,
                monitored: vec![],
            };
            Tape::compile(dag, &system).map(|tape| Flow::new(tape, 1))
        };
        let frame = evaluation(&mechanics.model.dag, &[], values.clone())?;
        let accelerations: Vec<Expr> =
            mechanics.free.iter().map(|&i| mechanics.model.coordinates[i].acceleration).collect();
        let mut extra = accelerations;
        extra.extend(momentum_rates(&mut mechanics));
        let shown = shown(&mut mechanics);
        let shows_accelerations = !mechanics.rows.is_empty()
            || shown.iter().any(|&e| extra.iter().any(|&a| mechanics.model.dag.contains(e, a)));
        let outputs = evaluation(&mechanics.model.dag, &extra, shown)?;
        let mut fixed: Vec<Expr> = mechanics.walls.iter().map(|w| w.restitution).collect();
        fixed.extend(surfaces.iter().map(|s| s.value));
        for event in &mechanics.events {
            fixed.extend(event.only_if.iter().copied());
            fixed.extend(event.set.iter().map(|s| s.1));
        }
        fixed.extend(mechanics.events.iter().map(|event| event.when));
        let settings = evaluation(&mechanics.model.dag, &[], fixed)?;
        let legs = Mutex::new(Legs {
            dag: mechanics.model.dag.clone(),
            tapes: BTreeMap::new(),
            flows: BTreeMap::new(),
            variations: Variations::default(),
        });
        Ok(Program {
            layout,
            values,
            frame,
            outputs,
            settings,
            surfaces,
            curves,
            state: motion_state,
            parameters,
            has_work,
            shows_accelerations,
            held: Vec::new(),
            held_row: None,
            level: Level::detect(),
            legs,
            names: Arc::new(Names::of(&mechanics)),
            provenance: Arc::new(mechanics.model.provenance.clone()),
            mechanics,
        })
    }

    /// The instructions its workspaces use; the best the processor has unless set.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Uses these instructions from now on: the same bits, if the arithmetic is the same.
    ///
    /// ```
    /// # use carom_mech::{Draft, derive};
    /// # use carom_run::{Arithmetic, Instructions, Level, Options, Program, simulate};
    /// # let (model, _) = Draft::parse(
    /// #     "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
    /// #      [start]\nposition = { x = 1 }\n",
    /// #     "model.toml",
    /// # ).0.check().unwrap();
    /// # let mechanics = derive(model).unwrap();
    /// let mut program = Program::compile(&mechanics).unwrap();
    /// program.set_level(Level::choose(Some(Instructions::Interpreter), Some(Arithmetic::Plain)).unwrap());
    /// let motion = simulate(&program, &Options::of(&mechanics.model)).unwrap();
    /// assert_eq!(motion.audit.arithmetic, Arithmetic::Plain);
    /// ```
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
        for flow in [&mut self.frame, &mut self.outputs, &mut self.settings] {
            *flow = flow.clone().with(level);
        }
        let legs = self.legs.get_mut().unwrap_or_else(PoisonError::into_inner);
        legs.flows.clear();
        legs.variations.clear();
        self.held.iter_mut().flatten().for_each(|held| held.set_level(level));
    }

    /// The mechanics this program was compiled from, piecewise functions and table inputs replaced.
    pub fn mechanics(&self) -> &Mechanics {
        &self.mechanics
    }

    /// The program in which a wall is a holonomic row.
    fn with_held_wall(&self, wall: usize) -> Result<Box<Program>, String> {
        let mut model = self.mechanics.model.clone();
        let name = format!("contact with {}", model.walls[wall].name);
        model.rows.push(Row { name, kind: RowKind::Holonomic, expr: model.walls[wall].gap });
        let sentences =
            |list: Vec<Diagnostic>| list.into_iter().map(|d| d.message).collect::<Vec<_>>().join("; ");
        let mechanics = carom_mech::derive_equations(model).map_err(sentences)?;
        let mut program = Program::without_held_walls(&mechanics).map_err(|error| error.to_string())?;
        if program.parameters != self.parameters {
            return Err("it switches the motion between pieces".into());
        }
        program.held_row = Some(mechanics.rows.len() - 1);
        Ok(Box::new(program))
    }

    /// The program in which a wall is held closed, or why there is none.
    pub(crate) fn held(&self, wall: usize) -> Result<&Program, &str> {
        match self.held.get(wall) {
            Some(program) => program.as_deref().map_err(String::as_str),
            None => Err("every direction has inertia"),
        }
    }

    /// Number of free coordinates.
    pub(crate) fn size(&self) -> usize {
        self.mechanics.free.len()
    }

    pub(crate) fn watched(&self, key: &LegKey) -> Watched {
        let gap = 0;
        let surface = gap + self.mechanics.walls.len();
        let event = surface + self.surfaces.len();
        let force = event + self.mechanics.events.len();
        let sliding = force + key.closed.len();
        Watched { gap, surface, event, force, sliding, held: sliding + key.sliding.len() }
    }

    /// How many watched functions are the same in all legs.
    pub(crate) fn followed(&self) -> usize {
        self.watched(&LegKey::default()).force
    }

    /// A workspace for a leg; its tape and code are made on first use.
    pub(crate) fn workspace(&self, key: &LegKey, order: usize) -> Result<Flow, CompileError> {
        let place = (key.clone(), order);
        if let Some(flow) = self.legs.lock().unwrap_or_else(PoisonError::into_inner).flows.get(&place) {
            return Ok(flow.clone());
        }
        let flow = Flow::new(self.leg(key)?, order).with(self.level);
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        legs.flows.insert(place, flow.clone());
        Ok(flow)
    }

    /// The tape of a leg, compiled on first use.
    pub(crate) fn leg(&self, key: &LegKey) -> Result<Arc<Tape>, CompileError> {
        // A panic elsewhere cannot leave the map half written: insertion is the last thing done.
        let mut legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tape) = legs.tapes.get(key) {
            return Ok(Arc::clone(tape));
        }
        let system = self.system(&mut legs.dag, key)?;
        let tape = Tape::compile(&legs.dag, &system)?;
        legs.tapes.insert(key.clone(), Arc::clone(&tape));
        Ok(tape)
    }

    /// Everything compiled so far, that of every contact met included, each tape with the order of its series: what the
    /// engine makes code of.
    pub fn compiled(&self) -> Vec<(Arc<Tape>, usize)> {
        let legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        let own = [&self.frame, &self.outputs, &self.settings].into_iter().chain(legs.flows.values());
        let mut all: Vec<_> =
            own.chain(legs.variations.flows()).map(|flow| (Arc::clone(flow.tape()), flow.order())).collect();
        all.extend(self.held.iter().flatten().flat_map(|held| held.compiled()));
        all
    }
}

/// The state symbols: (q, v) or (q, p) of the free coordinates.
fn state_symbols(m: &Mechanics) -> Vec<Expr> {
    let coordinates = || m.free.iter().map(|&i| &m.model.coordinates[i]);
    let rates: Vec<Expr> = match m.dynamics {
        Dynamics::Hamiltonian(_) => coordinates().map(|c| c.momentum).collect(),
        _ => coordinates().map(|c| c.velocity).collect(),
    };
    coordinates().map(|c| c.position).chain(rates).collect()
}

/// Symbols for ṗ in outputs of Hamiltonian models.
fn momentum_rates(m: &mut Mechanics) -> Vec<Expr> {
    if !matches!(m.dynamics, Dynamics::Hamiltonian(_)) {
        return Vec::new();
    }
    let names: Vec<String> =
        m.free.iter().map(|&i| format!("rate of {}", m.model.coordinates[i].momentum_name)).collect();
    names.iter().map(|name| m.model.dag.symbol(name)).collect()
}

fn needs_work(m: &Mechanics) -> bool {
    let dag = &m.model.dag;
    !dag.is_zero(m.power)
        || m.rows.iter().any(|r| !dag.is_zero(r.drift))
        || m.walls.iter().any(|w| !dag.is_zero(w.gap_t))
}

/// What a sample shows: positions, velocities, momenta, E, T + V, outputs, drives without reactions, gaps.
fn shown(m: &mut Mechanics) -> Vec<Expr> {
    let mut all = m.positions.clone();
    all.extend(&m.velocities);
    all.extend(&m.momenta);
    all.push(m.hamiltonian);
    all.push(m.energy);
    all.extend(&m.outputs);
    let mut accelerations: Vec<Expr> = m.free.iter().map(|&i| m.model.coordinates[i].acceleration).collect();
    if matches!(m.dynamics, Dynamics::Hamiltonian(_)) {
        accelerations = momentum_rates(m);
    }
    let dag = &mut m.model.dag;
    for drive in &m.drives {
        let mut terms = vec![(Rational::ONE, drive.bias), (Rational::MINUS_ONE, drive.generalized_force)];
        for (&w, &a) in drive.mass.iter().zip(&accelerations) {
            let product = dag.mul(w, a);
            terms.push((Rational::ONE, product));
        }
        all.push(dag.linear(Rational::ZERO, &terms));
    }
    all.extend(m.walls.iter().map(|w| w.gap));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient::{Objective, ObjectiveTerm, Observable};
    use crate::{Arithmetic, Direction, Instructions, Options, simulate};

    /// A ball on a floor: legs, impacts, contact.
    const BALL: &str = "coordinates = [\"x\"]\n[parameters]\ng = 9.81\n[energy]\nkinetic = \"x'^2/2\"\n\
                        potential = \"g*x\"\n[wall.floor]\ngap = \"x\"\n[start]\nposition = { x = 1 }\n\
                        [run]\nuntil = 1\n";

    fn levels(program: &Program) -> Vec<Level> {
        let legs = program.legs.lock().unwrap();
        let own = [&program.frame, &program.outputs, &program.settings].into_iter();
        own.chain(legs.flows.values()).chain(legs.variations.flows()).map(Flow::level).collect()
    }

    #[test]
    fn a_level_that_is_set_is_that_of_every_workspace() {
        let (model, _) = carom_mech::Draft::parse(BALL, "ball.toml").0.check().unwrap();
        let mechanics = carom_mech::derive(model).unwrap();
        let plain = Level::choose(Some(Instructions::Interpreter), Some(Arithmetic::Plain)).unwrap();
        let directions = Direction::all(&mechanics);
        let terms = vec![ObjectiveTerm::End(Observable::Position(0), 1.0)];
        let forward = Options { directions: directions.clone(), ..Options::of(&mechanics.model) };
        let objective = Some(Objective { name: "x".into(), terms, directions });
        let backward = Options { objective, ..Options::of(&mechanics.model) };
        let mut program = Program::compile(&mechanics).unwrap();
        // Workspaces of one level must not be left over in another.
        for level in [plain, Level::detect(), plain] {
            program.set_level(level);
            for options in [&forward, &backward] {
                simulate(&program, options).unwrap();
            }
            let all = levels(&program);
            // Frame, outputs, settings, the leg, its tangent, the differential; the adjoint, its slopes, its laws, its signal.
            assert!(all.len() >= 10, "{}", all.len());
            assert!(all.iter().all(|l| *l == level), "{all:?}");
        }
    }
}
