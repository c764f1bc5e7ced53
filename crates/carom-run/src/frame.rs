//! Every number the laws need at one state: W (or H_pp), A, b, γ, normals, gaps, rates, momenta, energies, and the
//! scales of gaps, rows and forces (`zero.rs` says what for).
//!
//! Every step also notes the *sizes* of gaps and rows, Σ|terms|: what their scale is at least, cheap enough to be evaluated
//! along with the series. Scales are swept where something is decided.

use crate::law::KktFactor;
use carom_expr::{Dag, Expr, Node, Rational};
use carom_jet::dense::{Matrix, dot};
use carom_jet::{Flow, Scales, Time};
use carom_mech::mechanics::{Dynamics, Mechanics};
use std::cell::RefCell;
use std::collections::HashMap;

/// Where each quantity sits among the values of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameLayout {
    pub n: usize,
    pub rows: usize,
    /// Equations of a degenerate model, 0 otherwise.
    pub equations: usize,
    pub conditions: usize,
    pub terms: usize,
    pub drives: usize,
    /// Does `mass` hold H_pp?
    pub inverse: bool,
    pub(crate) mass: usize,
    pub(crate) force: usize,
    pub(crate) row_normal: usize,
    pub(crate) row_drift: usize,
    pub(crate) row_bias: usize,
    pub(crate) row_position: usize,
    row_position_size: usize,
    pub(crate) row_rate: usize,
    row_rate_size: usize,
    row_norm: usize,
    pub(crate) normal: usize,
    pub(crate) gap_t: usize,
    pub(crate) gap: usize,
    gap_size: usize,
    pub(crate) gap_rate: usize,
    gap_rate_size: usize,
    pub(crate) wall_bias: usize,
    pub(crate) momentum: usize,
    pub(crate) energy: usize,
    energy_term: usize,
    matrix: usize,
    right_side: usize,
    pub(crate) condition: usize,
    condition_size: usize,
    drive_momentum: usize,
    drive_row: usize,
    drive_wall: usize,
    velocity_bias: usize,
    gradient: usize,
}

/// Appends expressions; where they begin.
fn put(out: &mut Vec<Expr>, list: impl IntoIterator<Item = Expr>) -> usize {
    let at = out.len();
    out.extend(list);
    at
}

impl FrameLayout {
    /// Lays out the frame and lists its expressions.
    pub fn of(m: &mut Mechanics) -> (FrameLayout, Vec<Expr>) {
        let mut out: Vec<Expr> = Vec::new();
        let mut layout = FrameLayout {
            n: m.free.len(),
            rows: m.rows.len(),
            terms: m.energy_terms.len(),
            drives: m.drives.len(),
            ..FrameLayout::default()
        };
        layout.put_dynamics(m, &mut out);
        layout.put_rows(m, &mut out);
        layout.put_walls(m, &mut out);
        layout.momentum = put(&mut out, m.free.iter().map(|&i| m.momenta[i]));
        layout.energy = put(&mut out, [m.hamiltonian]);
        layout.energy_term = put(&mut out, m.energy_terms.iter().copied());
        layout.drive_momentum = put(&mut out, m.drives.iter().map(|d| m.momenta[d.coordinate]));
        layout.drive_row = put(&mut out, m.rows.iter().flat_map(|r| r.driven_normal.iter().copied()));
        layout.drive_wall = put(&mut out, m.walls.iter().flat_map(|w| w.driven_normal.iter().copied()));
        (layout, out)
    }

    /// W or H_pp, the forces, and what degenerate models are solved with.
    fn put_dynamics(&mut self, m: &mut Mechanics, out: &mut Vec<Expr>) {
        let dag = &mut m.model.dag;
        let lagrangian = match &m.dynamics {
            Dynamics::Lagrangian(l) => l,
            Dynamics::Degenerate(d) => &d.lagrangian,
            Dynamics::Hamiltonian(h) => {
                self.inverse = true;
                self.mass = put(out, h.inverse_mass.iter().flatten().copied());
                self.force = put(out, h.force.iter().copied());
                self.velocity_bias = put(out, h.velocity_bias.iter().copied());
                return;
            }
        };
        self.mass = put(out, lagrangian.mass_matrix.iter().flatten().copied());
        let force = lagrangian.generalized_force.iter().zip(&lagrangian.bias);
        self.force = put(out, force.map(|(&q, &h)| dag.sub(q, h)));
        let Dynamics::Degenerate(d) = &m.dynamics else { return };
        self.equations = d.matrix.len();
        self.matrix = put(out, d.matrix.iter().flatten().copied());
        self.right_side = put(out, d.right_side.iter().copied());
        self.conditions = d.conditions.len();
        self.condition = put(out, d.conditions.iter().map(|c| c.expr));
        self.condition_size = put(out, d.conditions.iter().map(|c| size_of(dag, c.expr)));
        let coordinates: Vec<_> = m.free.iter().map(|&i| &m.model.coordinates[i]).collect();
        let state = coordinates.iter().map(|c| c.position).chain(coordinates.iter().map(|c| c.velocity));
        let state: Vec<Expr> = state.collect();
        let pairs = d.conditions.iter().flat_map(|c| state.iter().map(|&x| (c.expr, x)));
        self.gradient = put(out, pairs.map(|(g, x)| dag.derivative(g, x)));
    }

    /// A, b, γ, c and ċ of the constraint rows, with their sizes.
    fn put_rows(&mut self, m: &mut Mechanics, out: &mut Vec<Expr>) {
        let velocities: Vec<Expr> = m.free.iter().map(|&i| m.velocities[i]).collect();
        let dag = &mut m.model.dag;
        let zero = dag.zero();
        self.row_normal = put(out, m.rows.iter().flat_map(|r| r.normal.iter().copied()));
        self.row_drift = put(out, m.rows.iter().map(|r| r.drift));
        self.row_bias = put(out, m.rows.iter().map(|r| r.bias));
        let positions: Vec<Expr> = m.rows.iter().map(|r| r.position.unwrap_or(zero)).collect();
        self.row_position = put(out, positions.iter().copied());
        self.row_position_size = put(out, positions.iter().map(|&c| size_of(dag, c)));
        let rates: Vec<Expr> = m
            .rows
            .iter()
            .map(|r| {
                let mut terms = vec![(Rational::ONE, r.drift)];
                for (&a, &v) in r.normal.iter().zip(&velocities) {
                    let product = dag.mul(a, v);
                    terms.push((Rational::ONE, product));
                }
                dag.linear(Rational::ZERO, &terms)
            })
            .collect();
        self.row_rate = put(out, rates.iter().copied());
        self.row_rate_size = put(out, rates.iter().map(|&r| size_of(dag, r)));
        let coordinates = m.free.iter().map(|&i| &m.model.coordinates[i]);
        let mut moving: Vec<Expr> = coordinates.flat_map(|c| [c.position, c.velocity, c.momentum]).collect();
        moving.push(m.model.time);
        let norms = row_norms(dag, m.rows.iter().map(|r| &r.normal[..]), &m.dynamics, &moving);
        self.row_norm = put(out, norms);
    }

    /// n, φ_t, φ, φ̇ and the bias of every wall, with the sizes of gaps and their rates.
    fn put_walls(&mut self, m: &mut Mechanics, out: &mut Vec<Expr>) {
        let dag = &mut m.model.dag;
        self.normal = put(out, m.walls.iter().flat_map(|w| w.normal.iter().copied()));
        self.gap_t = put(out, m.walls.iter().map(|w| w.gap_t));
        self.gap = put(out, m.walls.iter().map(|w| w.gap));
        self.gap_size = put(out, m.walls.iter().map(|w| size_of(dag, w.gap)));
        self.gap_rate = put(out, m.walls.iter().map(|w| w.gap_rate));
        self.gap_rate_size = put(out, m.walls.iter().map(|w| size_of(dag, w.gap_rate)));
        self.wall_bias = put(out, m.walls.iter().map(|w| w.bias));
    }

    /// The values whose scales decisions need.
    fn scaled(&self) -> Vec<usize> {
        let walls = self.gap_size - self.gap;
        let lists = [
            (self.force, self.n),
            (self.row_position, self.rows),
            (self.row_rate, self.rows),
            (self.gap, walls),
            (self.gap_rate, walls),
            (self.wall_bias, walls),
            (self.condition, self.conditions),
            (self.energy, 1),
        ];
        lists.into_iter().flat_map(|(at, count)| at..at + count).collect()
    }

    /// Where among the values is what every step notes of its start, in this order: E and its terms; the sizes of gaps;
    /// rows and conditions with their sizes; where walls are closed, the sizes of gap rates.
    pub fn monitored(&self, walls: usize, contact: bool) -> Vec<usize> {
        let mut all = vec![self.energy];
        let mut put = |at: usize, count: usize| all.extend(at..at + count);
        put(self.energy_term, self.terms);
        put(self.gap_size, walls);
        put(self.row_position, self.rows);
        put(self.row_position_size, self.rows);
        put(self.row_rate, self.rows);
        put(self.row_rate_size, self.rows);
        put(self.row_norm, self.rows);
        put(self.condition, self.conditions);
        put(self.condition_size, self.conditions);
        put(self.gap_rate_size, if contact { walls } else { 0 });
        all
    }
}

/// Σ_j A_ij²/W_jj (or A_ij² H_pp,jj) per row: what is left of its normal, whatever the units. Coordinates whose inertia
/// changes (and may vanish) do not count, unless there are no others; then all do, as they are.
fn row_norms<'a>(
    dag: &mut Dag,
    rows: impl Iterator<Item = &'a [Expr]>,
    dynamics: &Dynamics,
    state: &[Expr],
) -> Vec<Expr> {
    let (mass, exponent) = match dynamics {
        Dynamics::Lagrangian(l) => (&l.mass_matrix, -1),
        Dynamics::Degenerate(d) => (&d.lagrangian.mass_matrix, -1),
        Dynamics::Hamiltonian(h) => (&h.inverse_mass, 1),
    };
    let norm = |normal: &[Expr]| {
        let (mut weighed, mut all) = (Vec::new(), Vec::new());
        for (j, &a) in normal.iter().enumerate() {
            let square = dag.powi(a, 2);
            all.push(square);
            let inertia = mass[j][j];
            if !dag.is_zero(inertia) && !state.iter().any(|&x| dag.contains(inertia, x)) {
                let weight = dag.powi(inertia, exponent);
                weighed.push(dag.mul(square, weight));
            }
        }
        let sum = dag.sum(&weighed);
        if dag.is_zero(sum) { dag.sum(&all) } else { sum }
    };
    rows.map(norm).collect()
}

/// The absolute sum of the terms `e` is made of; its rounding error is a few units of this.
fn size_of(dag: &mut Dag, e: Expr) -> Expr {
    let mut sizes: HashMap<Expr, Expr> = HashMap::new();
    // Only sums and products are taken apart; anything else is |e| = √(e²).
    for node in dag.reachable(&[e]) {
        let size = match dag.node(node).clone() {
            Node::Number(r) => dag.number(r.abs()),
            Node::Sum(c, terms) => {
                let mut all: Vec<(Rational, Expr)> = Vec::with_capacity(terms.len());
                for &(k, t) in terms.iter() {
                    all.push((k.abs(), sizes[&t]));
                }
                dag.linear(c.abs(), &all)
            }
            Node::Product(c, factors) => {
                let mut powers: Vec<(Expr, Rational)> = Vec::with_capacity(factors.len());
                for &(base, exponent) in factors.iter() {
                    let size = if exponent.is_negative() { magnitude(dag, base) } else { sizes[&base] };
                    powers.push((size, exponent));
                }
                dag.monomials(c.abs(), &powers)
            }
            _ => magnitude(dag, node),
        };
        sizes.insert(node, size);
    }
    sizes[&e]
}

fn magnitude(dag: &mut Dag, e: Expr) -> Expr {
    let square = dag.powi(e, 2);
    dag.sqrt(square)
}

/// The values at one state, with the evaluator that fills them.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub layout: FrameLayout,
    flow: Flow,
    values: Vec<f64>,
    /// Which of them move; the others change with the parameters only.
    moving: Vec<u32>,
    /// Are those finite that do not?
    finite: bool,
    /// Where it was evaluated last: time and state, empty if nowhere.
    place: Vec<u64>,
    /// The time of that place to all its digits.
    time: Time,
    /// Scales at that place, once asked for.
    scales: RefCell<Swept>,
    /// How far every state variable has moved in the step that led here, and how long that took.
    reach: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Swept {
    scales: Scales,
    fresh: bool,
}

impl Frame {
    pub fn new(flow: &Flow, layout: &FrameLayout) -> Frame {
        let (tape, layout) = (flow.tape(), layout.clone());
        let moving = (0..tape.watched_count() as u32).filter(|&i| tape.moves(i as usize)).collect();
        let values = vec![0.0; tape.watched_count()];
        let scales = Scales::of(tape, layout.scaled().into_iter());
        let mut frame = Frame {
            layout,
            flow: flow.clone(),
            values,
            moving,
            finite: true,
            place: Vec::new(),
            time: Time::new(0.0),
            scales: RefCell::new(Swept { scales, fresh: false }),
            reach: vec![0.0; tape.dimension() + 1],
        };
        frame.read_all();
        frame
    }

    fn read_all(&mut self) {
        for (i, value) in self.values.iter_mut().enumerate() {
            *value = self.flow.watched(i)[0];
        }
        let moves = |i: usize| self.flow.tape().moves(i);
        self.finite = self.values.iter().enumerate().all(|(i, x)| x.is_finite() || moves(i));
    }

    /// Other parameters at the same place: values and scales are theirs from now on.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.flow.set_parameters(parameters);
        self.read_all();
        self.scales.get_mut().scales.forget();
        if !self.place.is_empty() {
            let state: Vec<f64> = self.place[1..].iter().map(|x| f64::from_bits(*x)).collect();
            self.evaluate(self.time, &state);
        }
    }

    /// How far every state variable, and time, has moved in the step that led here.
    pub fn reach_mut(&mut self) -> &mut [f64] {
        self.scales.get_mut().fresh = false;
        &mut self.reach
    }

    /// The same, to read.
    pub fn reach(&self) -> &[f64] {
        &self.reach
    }

    /// |x_j| + how far it has moved.
    pub fn state_scale(&self, j: usize) -> f64 {
        f64::from_bits(self.place[1 + j]).abs() + self.reach[j]
    }

    /// The scale of a value of the frame, by a sweep that is made when first asked for.
    fn scale(&self, i: usize) -> f64 {
        let mut swept = self.scales.borrow_mut();
        if !swept.fresh {
            let inputs = self.place[1..].iter().chain(&self.place[..1]).zip(&self.reach);
            swept.scales.sweep(&self.flow, inputs.map(|(x, r)| f64::from_bits(*x).abs() + r));
            swept.fresh = true;
        }
        swept.scales.watched(&self.flow, i)
    }

    /// Evaluates everything at a state, unless it was evaluated there last.
    pub fn at(&mut self, time: Time, state: &[f64]) {
        let place = || [time.value()].into_iter().chain(state.iter().copied()).map(f64::to_bits);
        if self.place.iter().copied().eq(place()) {
            return;
        }
        self.place.clear();
        self.place.extend(place());
        self.time = time;
        self.evaluate(time, state);
    }

    fn evaluate(&mut self, time: Time, state: &[f64]) {
        self.scales.get_mut().fresh = false;
        // No blocks, so nothing can be singular.
        let _ = self.flow.evaluate(time, state);
        for &i in &self.moving {
            self.values[i as usize] = self.flow.watched(i as usize)[0];
        }
    }

    pub fn is_finite(&self) -> bool {
        self.finite && self.moving.iter().all(|&i| self.values[i as usize].is_finite())
    }

    fn slice(&self, at: usize, length: usize) -> &[f64] {
        &self.values[at..at + length]
    }

    /// W or H_pp.
    pub fn mass(&self) -> Matrix {
        let n = self.layout.n;
        Matrix { rows: n, columns: n, entries: self.slice(self.layout.mass, n * n).to_vec() }
    }

    /// W or H_pp, row by row.
    pub fn mass_entries(&self) -> &[f64] {
        self.slice(self.layout.mass, self.layout.n * self.layout.n)
    }

    /// A
    pub fn rows(&self) -> Matrix {
        let (n, m) = (self.layout.n, self.layout.rows);
        Matrix { rows: m, columns: n, entries: self.slice(self.layout.row_normal, m * n).to_vec() }
    }

    /// S at this state.
    pub fn kkt(&self) -> KktFactor {
        self.kkt_with(&[]).0
    }

    /// The same with these walls held like rows, after the constraint rows; and all those rows.
    pub fn kkt_with(&self, walls: &[usize]) -> (KktFactor, Matrix) {
        let all = self.stacked_rows(walls);
        let mass = self.mass();
        let kkt = if self.layout.inverse {
            KktFactor::of_inverse(&mass, &all)
        } else {
            KktFactor::new(&mass, &all)
        };
        (kkt, all)
    }

    /// Q − h, or Q − H_q.
    pub fn force(&self) -> &[f64] {
        self.slice(self.layout.force, self.layout.n)
    }

    /// b
    pub fn row_drift(&self) -> &[f64] {
        self.slice(self.layout.row_drift, self.layout.rows)
    }

    /// γ
    pub fn row_bias(&self) -> &[f64] {
        self.slice(self.layout.row_bias, self.layout.rows)
    }

    /// c, zero for nonholonomic rows.
    pub fn row_position(&self) -> &[f64] {
        self.slice(self.layout.row_position, self.layout.rows)
    }

    /// Σ|terms|, as every step notes it.
    pub fn row_position_size(&self) -> &[f64] {
        self.slice(self.layout.row_position_size, self.layout.rows)
    }

    pub fn row_position_scale(&self, row: usize) -> f64 {
        self.scale(self.layout.row_position + row)
    }

    /// A v + b
    pub fn row_rate(&self) -> &[f64] {
        self.slice(self.layout.row_rate, self.layout.rows)
    }

    /// Σ|terms|, as every step notes it.
    pub fn row_rate_size(&self) -> &[f64] {
        self.slice(self.layout.row_rate_size, self.layout.rows)
    }

    pub fn row_rate_scale(&self, row: usize) -> f64 {
        self.scale(self.layout.row_rate + row)
    }

    /// Scale of Q − h, or of Q − H_q.
    pub fn force_scale(&self, coordinate: usize) -> f64 {
        self.scale(self.layout.force + coordinate)
    }

    /// What is left of the normal of every row.
    pub fn row_norm(&self) -> &[f64] {
        self.slice(self.layout.row_norm, self.layout.rows)
    }

    /// n of a wall.
    pub fn normal(&self, wall: usize) -> &[f64] {
        self.slice(self.layout.normal + wall * self.layout.n, self.layout.n)
    }

    pub fn gap_t(&self, wall: usize) -> f64 {
        self.values[self.layout.gap_t + wall]
    }

    /// Does this gap know nothing of time?
    pub fn stands(&self, wall: usize) -> bool {
        let at = self.layout.gap_t + wall;
        self.values[at] == 0.0 && !self.flow.tape().moves(at)
    }

    pub fn gap(&self, wall: usize) -> f64 {
        self.values[self.layout.gap + wall]
    }

    /// Σ|terms|: less than the scale, and known without a sweep.
    pub fn gap_size(&self, wall: usize) -> f64 {
        self.values[self.layout.gap_size + wall]
    }

    pub fn gap_scale(&self, wall: usize) -> f64 {
        self.scale(self.layout.gap + wall)
    }

    pub fn gap_rate(&self, wall: usize) -> f64 {
        self.values[self.layout.gap_rate + wall]
    }

    /// Σ|terms|, as every step notes it.
    pub fn gap_rate_size(&self, wall: usize) -> f64 {
        self.values[self.layout.gap_rate_size + wall]
    }

    pub fn gap_rate_scale(&self, wall: usize) -> f64 {
        self.scale(self.layout.gap_rate + wall)
    }

    /// Scale of what φ̈ contains besides n·a.
    pub fn wall_bias_scale(&self, wall: usize) -> f64 {
        self.scale(self.layout.wall_bias + wall)
    }

    pub fn wall_bias(&self, wall: usize) -> f64 {
        self.values[self.layout.wall_bias + wall]
    }

    /// p of the free coordinates.
    pub fn momentum(&self) -> &[f64] {
        self.slice(self.layout.momentum, self.layout.n)
    }

    /// The scale of E: the sum of what it is made of.
    pub fn energy_sweep(&self) -> f64 {
        self.scale(self.layout.energy)
    }

    /// E
    pub fn energy(&self) -> f64 {
        self.values[self.layout.energy]
    }

    /// |T| + |V|
    pub fn energy_scale(&self) -> f64 {
        self.slice(self.layout.energy_term, self.layout.terms).iter().map(|e| e.abs()).sum()
    }

    /// M of a degenerate model.
    pub fn matrix(&self) -> Matrix {
        let (rows, columns) = (self.layout.equations, self.layout.n + self.layout.rows);
        Matrix { rows, columns, entries: self.slice(self.layout.matrix, rows * columns).to_vec() }
    }

    /// r of a degenerate model.
    pub fn right_side(&self) -> &[f64] {
        self.slice(self.layout.right_side, self.layout.equations)
    }

    /// g of every condition of a degenerate model.
    pub fn conditions(&self) -> &[f64] {
        self.slice(self.layout.condition, self.layout.conditions)
    }

    /// Σ|terms|, as every step notes it.
    pub fn condition_sizes(&self) -> &[f64] {
        self.slice(self.layout.condition_size, self.layout.conditions)
    }

    pub fn condition_scale(&self, condition: usize) -> f64 {
        self.scale(self.layout.condition + condition)
    }

    /// ∂g/∂(q, v) of every condition.
    pub fn condition_gradient(&self) -> Matrix {
        let (rows, columns) = (self.layout.conditions, 2 * self.layout.n);
        Matrix { rows, columns, entries: self.slice(self.layout.gradient, rows * columns).to_vec() }
    }

    /// What the acceleration contains besides H_pp ṗ (Hamiltonian models).
    pub fn velocity_bias(&self) -> &[f64] {
        self.slice(self.layout.velocity_bias, self.layout.n)
    }

    /// Momenta of the driven coordinates.
    pub fn drive_momentum(&self) -> &[f64] {
        self.slice(self.layout.drive_momentum, self.layout.drives)
    }

    /// (Aᵀμ)_k + Σ f n_k for driven coordinate k.
    pub fn drive_reaction(&self, drive: usize, multipliers: &[f64], forces: &[(usize, f64)]) -> f64 {
        let d = self.layout.drives;
        let column: Vec<f64> =
            (0..self.layout.rows).map(|r| self.values[self.layout.drive_row + r * d + drive]).collect();
        let walls: f64 =
            forces.iter().map(|&(w, f)| f * self.values[self.layout.drive_wall + w * d + drive]).sum();
        dot(&column, multipliers) + walls
    }
}
