//! Orders of large systems: equations of a class side by side in one vector, eight (AVX-512) or four (AVX2).
//!
//! Straight-line code per equation would be read from the second-level cache, at a fraction of the speed. Here the newest
//! coefficients of all rows have *slots* side by side, ordered by class, so that the sources of neighbouring equations are often
//! neighbours, too, and one load; else they are collected one by one. At the end of an order the slots are copied to the octets of
//! the pairs. Groups are of eight equations whatever the vector: with four doubles each is two vectors, the second of which is
//! left out when there are no more than four equations.

use super::assembler::{Base, Mem, Rm, VectorOp as Do};
use super::orders::OrderKind;
use super::{EmitTarget, Emitter, base};
use crate::ir::layout::WIDTH;
use crate::ir::recurrence::{NONE, OrderEquation, OrderScale, OrderStage, Weight};
use crate::ir::tape::{ONE, RowIndex};

/// The sum of an equation, one of its terms, and an operand; registers 0 and 1 are taken by parts of operands.
const SUM: u8 = 2;
const TERM: u8 = 3;
const OPERAND: u8 = 4;
/// The scale of an order (τ/k, k or 1/k), and 1/2.
const SCALE: u8 = 5;
const HALF: u8 = 6;

impl Emitter<'_> {
    /// Are equations evaluated group by group?
    pub(crate) fn is_grouped(&self) -> bool {
        self.target == EmitTarget::Single && !self.layout.slots.is_empty()
    }

    pub(crate) fn grouped_order(&mut self, kind: OrderKind) {
        self.asm.forget();
        self.grouped_state(kind);
        let (r, layout) = (self.r, self.layout);
        let stages = if kind == OrderKind::Last { r.last_stages } else { r.stages.len() };
        let mut groups = layout.tables.groups.iter().peekable();
        for stage in &r.stages[..stages] {
            match stage {
                OrderStage::Equations(equations) => {
                    while let Some(group) = groups.next_if(|g| g.equations.end <= equations.end) {
                        let equations = &r.equations[group.equations.clone()];
                        match group.vector {
                            Some(at) => self.equations(kind, equations, at),
                            None => equations.iter().for_each(|e| self.equation(kind, e)),
                        }
                        self.asm.forget();
                    }
                }
                &OrderStage::Solve { block, right_side, unknowns } => {
                    for row in self.solve_block(block, right_side, unknowns) {
                        self.keep_series(row);
                    }
                    self.asm.forget();
                }
            }
        }
        if kind != OrderKind::Last {
            self.grouped_publish();
        }
    }

    /// Code that works on vectors.
    fn wide(&mut self, emit: impl FnOnce(&mut Self)) {
        let scalar = std::mem::replace(&mut self.asm.width, self.octet);
        emit(self);
        self.asm.width = scalar;
    }

    /// The first lane of every vector that so many lanes take.
    fn vectors(&self, lanes: usize) -> impl Iterator<Item = usize> + use<> {
        (0..lanes).step_by(self.octet.doubles())
    }

    /// What belongs to the vector that begins at this lane.
    fn of_vector<'a, T>(&self, lanes: &'a [T], first: usize) -> &'a [T] {
        &lanes[first..lanes.len().min(first + self.octet.doubles())]
    }

    /// The elements at these places: all the same, or side by side, one load; else they are collected.
    fn fetch(&mut self, x: u8, places: &[usize]) {
        if places.iter().all(|at| *at == places[0]) {
            self.asm.broadcast(x, self.at(places[0]));
        } else if let Some(first) = neighbours(places) {
            self.asm.load_anywhere(x, self.at(first));
        } else {
            let places: Vec<Mem> = places.iter().map(|&place| self.at(place)).collect();
            self.asm.collect(x, &places);
        }
    }

    fn slots(&self, rows: impl Iterator<Item = RowIndex>) -> Vec<usize> {
        rows.map(|row| self.layout.slots[row as usize] as usize).collect()
    }

    /// Stores the newest coefficient of a row in its series, if that is asked for.
    pub(crate) fn keep_series(&mut self, row: RowIndex) {
        if self.kept[row as usize] {
            let x = self.asm.get(self.now(row), &[]);
            let series = self.series(row);
            self.asm.store(series, x);
        }
    }

    /// Where coefficient k of a row with a series is.
    fn series(&self, row: RowIndex) -> Mem {
        let place = self.place(row);
        Mem(base(place), 8 * place.at as i64)
    }

    /// x_k = rate_{k−1} τ/k
    fn grouped_state(&mut self, kind: OrderKind) {
        let (tape, layout) = (self.tape, self.layout);
        let rates: Vec<RowIndex> = tape
            .rate
            .iter()
            .map(|rate| rate.row().unwrap_or_else(|| unreachable!("rates are rows")))
            .collect();
        let step = self.scale(3);
        self.wide(|this| this.asm.broadcast(SCALE, step));
        for start in self.vectors(rates.len()) {
            let rates = self.of_vector(&rates, start);
            // A rate that is a state variable is overwritten with its vector.
            if kind != OrderKind::First && rates.iter().any(|&rate| (rate as usize) < start) {
                for (row, &rate) in (start as RowIndex..).zip(rates) {
                    let old =
                        if (rate as usize) < tape.dimension { self.before(rate) } else { self.now(rate) };
                    self.asm.load(0, old);
                    let (slot, series) = (self.now(row), self.series(row));
                    self.asm.operate(Do::Multiply, 0, 0, Rm::Memory(step));
                    self.asm.store(slot, 0);
                    self.asm.store(series, 0);
                }
                continue;
            }
            let places: Vec<usize> = match kind {
                OrderKind::First => rates.iter().map(|&r| layout.places[r as usize].index(0)).collect(),
                _ => self.slots(rates.iter().copied()),
            };
            self.wide(|this| {
                let (slots, series) = (this.now(start as RowIndex), this.series(start as RowIndex));
                this.fetch(SUM, &places);
                this.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(SCALE));
                this.asm.store(slots, SUM);
                this.asm.store(series, SUM);
            });
        }
        let (clock, slot) = (self.scale(2), self.now(tape.dimension as RowIndex));
        self.asm.load(0, clock);
        self.asm.store(slot, 0);
        self.asm.forget();
        self.keep_series(tape.dimension as RowIndex);
        self.asm.forget();
    }

    /// Up to eight equations of one class, whose pairs and edges are at these places of the tables.
    fn equations(&mut self, kind: OrderKind, equations: &[OrderEquation], at: [usize; 2]) {
        let r = self.r;
        let form = &equations[0];
        self.wide(|this| {
            let scale = match form.scale {
                OrderScale::One => None,
                OrderScale::Order => Some(this.scale(0)),
                OrderScale::Inverse => Some(this.scale(1)),
            };
            if let Some(scale) = scale {
                this.asm.broadcast(SCALE, scale);
            }
            if kind == OrderKind::Second && r.pairs[form.pairs.clone()].iter().any(|pair| pair.is_square()) {
                this.asm.broadcast(HALF, this.at(this.layout.numbers));
            }
            for first in this.vectors(equations.len()) {
                this.vector_of_equations(kind, this.of_vector(equations, first), at, first);
            }
        });
        for e in equations {
            self.keep_series(e.out);
        }
    }

    /// One vector of equations, whose first is in this lane of its group.
    fn vector_of_equations(
        &mut self,
        kind: OrderKind,
        equations: &[OrderEquation],
        [pairs_at, edges_at]: [usize; 2],
        first: usize,
    ) {
        let (r, layout) = (self.r, self.layout);
        let form = &equations[0];
        let mut begun = false;
        if kind != OrderKind::First {
            for q in 0..form.pairs.len() {
                let square = r.pairs[form.pairs.start + q].is_square();
                let term = if begun { TERM } else { SUM };
                self.vector_of_pairs(kind, [pairs_at + q * WIDTH, first], square, term);
                if begun {
                    self.asm.operate(Do::Add, SUM, SUM, Rm::Register(TERM));
                }
                begun = true;
            }
            if begun && form.scale == OrderScale::Inverse {
                self.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(SCALE));
            }
        }
        for q in 0..form.edges.len() {
            let edge = |e: &OrderEquation| r.edges[e.edges.start + q];
            let sources = self.slots(equations.iter().map(|e| edge(e).source));
            let weight = Rm::Memory(self.at(layout.edge_weights + edges_at + q * WIDTH + first));
            let one = edge(form).weight.is_one();
            if !begun {
                self.fetch(SUM, &sources);
                if !one {
                    self.asm.operate(Do::Multiply, SUM, SUM, weight);
                }
            } else {
                match neighbours(&sources) {
                    Some(at) if one => {
                        let source = Rm::Memory(self.at(at));
                        self.asm.operate(Do::Add, SUM, SUM, source);
                    }
                    _ => {
                        self.fetch(OPERAND, &sources);
                        if one {
                            self.asm.operate(Do::Add, SUM, SUM, Rm::Register(OPERAND));
                        } else {
                            self.asm.operate(Do::Fused, SUM, OPERAND, weight);
                        }
                    }
                }
            }
            begun = true;
        }
        if !begun {
            self.asm.zero(SUM);
        }
        if form.pairs.is_empty() && form.scale != OrderScale::One {
            self.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(SCALE));
        }
        self.asm.store(self.now(form.out), SUM);
    }

    /// w C of the pairs at a place of the tables, from a lane on.
    fn vector_of_pairs(&mut self, kind: OrderKind, [place, first]: [usize; 2], square: bool, x: u8) {
        let layout = self.layout;
        let newest = layout.octets.map(|octets| {
            let octet = octets + place * layout.stride + first;
            Mem(Base::Octets, 8 * octet as i64 - 64)
        });
        let boundary = layout.boundary.map(|boundary| Rm::Memory(self.at(boundary + place + first)));
        if kind == OrderKind::Second {
            self.asm.load(x, newest[0]);
            if square {
                self.asm.operate(Do::Multiply, x, x, Rm::Register(HALF));
            }
            return self.asm.operate(Do::Multiply, x, x, boundary[0]);
        }
        self.asm.load(x, Mem(Base::Sums, 8 * (layout.sums + place + first) as i64));
        for (newest, boundary) in newest.into_iter().zip(boundary) {
            self.asm.load(OPERAND, newest);
            self.asm.operate(Do::Fused, x, OPERAND, boundary);
        }
    }

    /// The operands of all pairs, from the slots to the octets.
    fn grouped_publish(&mut self) {
        let octets = self.octet_rows();
        let layout = self.layout;
        self.wide(|this| {
            for (c, sides) in octets.iter().enumerate() {
                for first in this.vectors(WIDTH) {
                    let sides = sides.each_ref().map(|rows| this.of_vector(rows, first));
                    for (side, rows) in sides.into_iter().enumerate() {
                        if side == 0 || rows != sides[0] {
                            let slots = this.slots(rows.iter().copied());
                            this.fetch(SUM, &slots);
                        }
                        let octet = layout.octets[side] + c * WIDTH * layout.stride + first;
                        this.asm.store(Mem(Base::Octets, 8 * octet as i64), SUM);
                    }
                }
            }
        });
    }

    /// The operands of each octet's pairs; free lanes repeat the one before.
    fn octet_rows(&self) -> Vec<[[RowIndex; WIDTH]; 2]> {
        let layout = self.layout;
        let mut pairs: Vec<Option<usize>> = vec![None; layout.room];
        for p in 0..self.r.pairs.len() {
            pairs[layout.pair(p)] = Some(p);
        }
        pairs
            .chunks(WIDTH)
            .map(|octet| {
                let mut last = [0; 2];
                let mut rows = [[0; WIDTH]; 2];
                for (lane, p) in octet.iter().enumerate() {
                    if let Some(p) = p {
                        last = [self.r.pairs[*p].a, self.r.pairs[*p].b];
                    }
                    (rows[0][lane], rows[1][lane]) = (last[0], last[1]);
                }
                rows
            })
            .collect()
    }

    /// w b_1 and w a_1, octet by octet.
    pub(crate) fn grouped_boundary_weights(&mut self) {
        let (layout, r) = (self.layout, self.r);
        let mut squares: Vec<[Vec<usize>; 2]> = vec![Default::default(); layout.room / WIDTH];
        for (p, pair) in r.pairs.iter().enumerate() {
            squares[layout.pair(p) / WIDTH][usize::from(pair.is_square())].push(p);
        }
        for (c, [products, squares]) in squares.into_iter().enumerate() {
            if !products.is_empty() && !squares.is_empty() {
                self.asm.forget();
                for p in products.into_iter().chain(squares) {
                    self.boundary_weight(p);
                }
                continue;
            }
            let sides = 1 + usize::from(squares.is_empty());
            self.wide(|this| {
                for first in this.vectors(WIDTH) {
                    let at = c * WIDTH + first;
                    let weights = this.at(layout.pair_weights + at);
                    for (side, other) in [1, 0].into_iter().enumerate().take(sides) {
                        let octet = layout.octets[other] + c * WIDTH * layout.stride + first;
                        this.asm.load(SUM, Mem(Base::Octets, 8 * octet as i64));
                        this.asm.operate(Do::Multiply, SUM, SUM, Rm::Memory(weights));
                        if !squares.is_empty() {
                            this.asm.operate(Do::Add, SUM, SUM, Rm::Register(SUM));
                        }
                        this.asm.store(this.at(layout.boundary[side] + at), SUM);
                    }
                }
            });
        }
        self.asm.forget();
    }

    /// The weights of edges that change with the state.
    pub(crate) fn grouped_edge_weights(&mut self) {
        let (r, layout) = (self.r, self.layout);
        for group in &layout.tables.groups {
            let equations = &r.equations[group.equations.clone()];
            let Some([_, at]) = group.vector else {
                equations.iter().flat_map(|e| e.edges.clone()).for_each(|e| self.edge_weight_alone(e));
                continue;
            };
            self.asm.forget();
            for q in 0..equations[0].edges.len() {
                let weights: Vec<Weight> =
                    equations.iter().map(|e| r.edges[e.edges.start + q].weight).collect();
                if weights[0].moves() {
                    self.wide(|this| {
                        for first in this.vectors(weights.len()) {
                            let into = layout.edge_weights + at + q * WIDTH + first;
                            this.vector_of_weights(this.of_vector(&weights, first), into);
                        }
                    });
                }
            }
        }
        self.asm.forget();
    }

    /// factor · constant · times₀ / over₀
    fn vector_of_weights(&mut self, weights: &[Weight], into: usize) {
        let layout = self.layout;
        let w = weights[0];
        let first = |row: RowIndex| layout.places[row as usize].index(0);
        let times: Vec<usize> = weights.iter().filter(|w| w.times != NONE).map(|w| first(w.times)).collect();
        let over: Vec<usize> = weights.iter().filter(|w| w.over != NONE).map(|w| first(w.over)).collect();
        if w.row().is_some() {
            self.fetch(SUM, &times);
        } else {
            let literal = layout.literals.iter().position(|x| *x == w.factor).unwrap_or(0);
            let literal = self.at(layout.numbers + literal);
            if w.constant == ONE {
                self.asm.broadcast(SUM, literal);
            } else {
                self.asm.broadcast(SUM, self.constant(w.constant));
                if w.factor != 1.0 {
                    self.asm.broadcast(OPERAND, literal);
                    self.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(OPERAND));
                }
            }
            for (places, op) in [(times, Do::Multiply), (over, Do::Divide)] {
                if !places.is_empty() {
                    self.fetch(OPERAND, &places);
                    self.asm.operate(op, SUM, SUM, Rm::Register(OPERAND));
                }
            }
        }
        self.asm.store(self.at(into), SUM);
    }
}

/// The first of places side by side.
fn neighbours(places: &[usize]) -> Option<usize> {
    places.iter().enumerate().all(|(i, &at)| at == places[0] + i).then_some(places[0])
}
