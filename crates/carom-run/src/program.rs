//! Mechanics → program.
//!
//! A [`Program`] holds the tapes a simulation runs: one for the motion of each set of closed walls (made when first
//! needed, then kept), one *frame* tape with every number the laws need at a state, one *output* tape for samples.
//!
//! ```text
//! Lagrangian   ⎡ W  Aᵀ ⎤ ⎡  a ⎤   ⎡ Q − h ⎤          Hamiltonian   ⎡ I      Aᵀ ⎤ ⎡  ṗ ⎤   ⎡ Q − H_q ⎤
//!              ⎣ A  0  ⎦ ⎣ −μ ⎦ = ⎣  −γ   ⎦                        ⎣ A H_pp  0 ⎦ ⎣ −μ ⎦ = ⎣   −γ    ⎦
//! ```
//!
//! with the rows of closed walls appended to A. The state is (q, v) or (q, p), followed by the work done by power,
//! drives and moving walls when there is any (the audit compares it with the change of E).

use crate::frame::FrameLayout;
use crate::input::Curve;
use crate::motion::Names;
use crate::rewrite::{insert_curves, insert_signs};
use crate::switching::Surface;
use crate::tangent::{DifferentialLayout, TangentKey};
use carom_expr::{Dag, Expr, Rational};
use carom_jet::{CompileError, Flow, Level, LinearBlock, System, Tape};
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
    pub(crate) curves: Vec<Curve>,
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
    /// Of variations.
    pub tangents: BTreeMap<TangentKey, Flow>,
    pub differential: Option<(Flow, DifferentialLayout)>,
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
            tangents: BTreeMap::new(),
            differential: None,
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
        legs.tangents.clear();
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

    /// The equations compiled so far, those of every contact met included, for the engine itself.
    pub fn tapes(&self) -> Vec<Arc<Tape>> {
        let legs = self.legs.lock().unwrap_or_else(PoisonError::into_inner);
        let held = self.held.iter().flatten().flat_map(|held| held.tapes());
        legs.tapes.values().cloned().chain(held).collect()
    }

    pub(crate) fn system(&self, dag: &mut Dag, key: &LegKey) -> Result<System, CompileError> {
        let m = &self.mechanics;
        let n = self.size();
        let accelerations: Vec<Expr> = m.free.iter().map(|&i| m.model.coordinates[i].acceleration).collect();
        // z = −μ and −f: with them the matrix is symmetric.
        let reactions: Vec<Expr> =
            key.multipliers.iter().map(|&r| dag.symbol(&format!("reaction {}", m.rows[r].name))).collect();
        let forces: Vec<Expr> =
            key.closed.iter().map(|&w| dag.symbol(&format!("contact {}", m.walls[w].name))).collect();
        let signs: Vec<Expr> = key.sliding.iter().map(|&s| self.surfaces[s].sign).collect();
        let mut unknowns = accelerations.clone();
        unknowns.extend(&reactions);
        unknowns.extend(&forces);
        unknowns.extend(&signs);
        let lines: Vec<(&[Expr], Expr, &str)> = match &m.dynamics {
            Dynamics::Degenerate(_) => Vec::new(),
            _ => key
                .rows
                .iter()
                .map(|&r| (&m.rows[r].normal[..], m.rows[r].bias, &m.rows[r].name[..]))
                .collect(),
        };
        let closed: Vec<(&[Expr], Expr, &str)> = key
            .closed
            .iter()
            .map(|&w| (&m.walls[w].normal[..], m.walls[w].bias, &m.walls[w].name[..]))
            .collect();
        let mut matrix: Vec<Vec<Expr>> = Vec::new();
        let mut right_side: Vec<Expr> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let zero = dag.zero();
        let coordinate = |i: usize| m.model.coordinates[m.free[i]].name.clone();
        let (state, mut rate);
        match &m.dynamics {
            Dynamics::Lagrangian(l) => {
                let all: Vec<_> = lines.iter().chain(&closed).copied().collect();
                for i in 0..n {
                    let mut row = l.mass_matrix[i].clone();
                    row.extend(all.iter().map(|line| line.0[i]));
                    matrix.push(row);
                    right_side.push(dag.sub(l.generalized_force[i], l.bias[i]));
                    names.push(format!("the equation of `{}`", coordinate(i)));
                }
                for &(normal, bias, name) in &all {
                    let mut row = normal.to_vec();
                    row.resize(n + all.len(), zero);
                    matrix.push(row);
                    right_side.push(dag.neg(bias));
                    names.push(format!("`{name}`"));
                }
                rate = self.velocities();
                rate.extend(&accelerations);
            }
            Dynamics::Degenerate(d) => {
                for &e in &key.rows {
                    let mut row: Vec<Expr> = d.matrix[e][..n].to_vec();
                    row.extend(key.multipliers.iter().map(|&r| {
                        // Columns of M multiply μ = −z.
                        dag.neg(d.matrix[e][n + r])
                    }));
                    matrix.push(row);
                    right_side.push(d.right_side[e]);
                    names.push(self.equation_name(e));
                }
                rate = self.velocities();
                rate.extend(&accelerations);
            }
            Dynamics::Hamiltonian(h) => {
                let all: Vec<_> = lines.iter().chain(&closed).copied().collect();
                rate = h.velocity.clone();
                if all.is_empty() {
                    unknowns.clear();
                    rate.extend(&h.force);
                } else {
                    let one = dag.one();
                    for i in 0..n {
                        let mut row = vec![zero; n];
                        row[i] = one;
                        row.extend(all.iter().map(|line| line.0[i]));
                        matrix.push(row);
                        right_side.push(h.force[i]);
                        names.push(format!(
                            "the equation of `{}`",
                            m.model.coordinates[m.free[i]].momentum_name
                        ));
                    }
                    for &(normal, bias, name) in &all {
                        let mut row: Vec<Expr> = (0..n)
                            .map(|j| {
                                let products: Vec<Expr> =
                                    (0..n).map(|i| dag.mul(normal[i], h.inverse_mass[i][j])).collect();
                                dag.sum(&products)
                            })
                            .collect();
                        row.resize(n + all.len(), zero);
                        matrix.push(row);
                        right_side.push(dag.neg(bias));
                        names.push(format!("`{name}`"));
                    }
                    // Here the unknowns called accelerations stand for ṗ.
                    rate.extend(&accelerations);
                }
            }
        }
        state = self.state.clone();
        self.slide(dag, key, &signs, &mut matrix, &mut right_side, &mut names)?;
        if self.has_work {
            let mut power = vec![(Rational::ONE, m.power)];
            for (z, &r) in reactions.iter().zip(&key.multipliers) {
                let product = dag.mul(*z, m.rows[r].drift);
                power.push((Rational::ONE, product));
            }
            for (z, &w) in forces.iter().zip(&key.closed) {
                let product = dag.mul(*z, m.walls[w].gap_t);
                power.push((Rational::ONE, product));
            }
            let total = dag.linear(Rational::ZERO, &power);
            rate.push(total);
        }
        let mut watched: Vec<Expr> = m.walls.iter().map(|w| w.gap).collect();
        watched.extend(self.surfaces.iter().map(|s| s.value));
        watched.extend(m.events.iter().map(|e| e.when));
        for &z in &forces {
            watched.push(dag.neg(z));
        }
        watched.extend(&signs);
        if let Some(held) = self.held_row {
            // The wall's force; a multiplier that is not kept is implied by others.
            let at = key.multipliers.iter().position(|&r| r == held);
            watched.push(at.map_or(zero, |i| dag.neg(reactions[i])));
        }
        // Sliding adds a column that is not a row.
        let augmentation_rows = match &m.dynamics {
            Dynamics::Lagrangian(l) => key
                .rows
                .iter()
                .zip(n..)
                .filter(|(r, _)| l.augmentation_rows.contains(r))
                .map(|(_, at)| at)
                .collect(),
            _ => Vec::new(),
        };
        let blocks = if unknowns.is_empty() {
            vec![]
        } else {
            vec![LinearBlock { unknowns, matrix, right_side, names, augmentation_rows, definitions: vec![] }]
        };
        let parameters = self.parameters.iter().copied().filter(|p| !signs.contains(p)).collect();
        let monitored = self.layout.monitored(m.walls.len(), !key.closed.is_empty());
        let monitored = monitored.iter().map(|&i| self.values[i]).collect();
        Ok(System { time: m.model.time, parameters, state, rate, blocks, watched, monitored })
    }

    fn velocities(&self) -> Vec<Expr> {
        self.mechanics.free.iter().map(|&i| self.mechanics.velocities[i]).collect()
    }

    /// Sliding on a surface u = 0: Filippov's combination R = (R₊ + R₋)/2 + s (R₊ − R₋)/2 of the two sides, s an unknown
    /// in [−1, 1] whose equation is u̇ = 0 (ü = 0 when u contains no velocity). Refused when W or A depend on the side.
    fn slide(
        &self,
        dag: &mut Dag,
        key: &LegKey,
        signs: &[Expr],
        matrix: &mut Vec<Vec<Expr>>,
        right_side: &mut Vec<Expr>,
        names: &mut Vec<String>,
    ) -> Result<(), CompileError> {
        if signs.is_empty() {
            return Ok(());
        }
        if matrix.is_empty() || matrix.iter().flatten().any(|&e| signs.iter().any(|&s| dag.contains(e, s))) {
            return Err(CompileError::Piecewise("sign"));
        }
        let n = self.size();
        let (zero, one, minus) = (dag.zero(), dag.one(), dag.integer(-1));
        for (row, right) in matrix.iter_mut().zip(right_side.iter_mut()) {
            let mut slopes = Vec::new();
            for &s in signs {
                let sides = [one, minus].map(|side| dag.substitute(*right, &[(s, side)]));
                let difference = dag.sub(sides[0], sides[1]);
                let slope = dag.scale(Rational::HALF, difference);
                // Two surfaces at once: their effects must add up.
                if signs.iter().any(|&other| dag.contains(slope, other)) {
                    return Err(CompileError::Piecewise("sign"));
                }
                slopes.push(slope);
                let sum = dag.add(sides[0], sides[1]);
                *right = dag.scale(Rational::HALF, sum);
            }
            for slope in slopes {
                row.push(dag.neg(slope));
            }
        }
        let width = matrix[0].len();
        let (position, velocity) = self.state[..2 * n].split_at(n);
        let off: Vec<(Expr, Expr)> = signs.iter().map(|&s| (s, zero)).collect();
        for &surface in &key.sliding {
            let mut u = dag.substitute(self.surfaces[surface].value, &off);
            let rate = |dag: &mut Dag, u: Expr| {
                let mut terms = vec![dag.derivative(u, self.mechanics.model.time)];
                for (&q, v) in position.iter().zip(self.velocities()) {
                    let slope = dag.derivative(u, q);
                    terms.push(dag.mul(slope, v));
                }
                dag.sum(&terms)
            };
            if !velocity.iter().any(|&v| dag.contains(u, v)) {
                u = rate(dag, u);
            }
            let mut row: Vec<Expr> = velocity.iter().map(|&v| dag.derivative(u, v)).collect();
            row.resize(width, zero);
            let rest = rate(dag, u);
            matrix.push(row);
            right_side.push(dag.neg(rest));
            names.push("the switching surface".to_string());
        }
        Ok(())
    }

    /// Name of an equation of a degenerate model.
    pub(crate) fn equation_name(&self, equation: usize) -> String {
        let n = self.size();
        match &self.mechanics.dynamics {
            _ if equation < n => {
                format!(
                    "the equation of `{}`",
                    self.mechanics.model.coordinates[self.mechanics.free[equation]].name
                )
            }
            Dynamics::Degenerate(d) => {
                d.conditions.get(equation - n).map_or_else(|| format!("row {equation}"), |c| c.name.clone())
            }
            _ => format!("row {equation}"),
        }
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
