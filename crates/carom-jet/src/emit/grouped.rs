//! Orders of large systems: eight equations of a class as one vector.
//!
//! Straight-line code per equation would be read from the second-level cache, at a fraction of the speed. Here the newest
//! coefficients of all rows have *slots* side by side, ordered by class, so that the sources of eight equations are often
//! neighbours, too, and one load; else one gather. At the end of an order the slots are copied to the octets of the pairs.

use super::assembler::{Base, Mem, Op as Do, Rm, Width};
use super::orders::OrderKind;
use super::{Emitter, Target, base};
use crate::ir::layout::WIDTH;
use crate::ir::recurrence::{Equation, NONE, Scale, Stage, Weight};
use crate::ir::tape::{ONE, Row};

/// Registers that hold τ/k, k, 1/k and 1/2 throughout an order; scalar code does not use them.
const STEP: u8 = 28;
const ORDER: u8 = 29;
const INVERSE: u8 = 30;
const HALF: u8 = 31;
/// The sum of an equation, one of its terms, and an operand; register 1 is taken by indices.
const SUM: u8 = 2;
const TERM: u8 = 3;
const OPERAND: u8 = 4;

impl Emitter<'_> {
    /// Are equations evaluated by eights?
    pub(crate) fn by_eights(&self) -> bool {
        self.target == Target::Single && self.octet == Width::Eight && !self.layout.slots.is_empty()
    }

    pub(crate) fn order_by_eights(&mut self, kind: OrderKind) {
        self.asm.forget();
        for (x, place) in [
            (STEP, self.scale(3)),
            (ORDER, self.scale(0)),
            (INVERSE, self.scale(1)),
            (HALF, self.at(self.layout.numbers)),
        ] {
            self.asm.broadcast(x, place);
        }
        self.state_by_eights(kind);
        let (r, layout) = (self.r, self.layout);
        let stages = if kind == OrderKind::Last { r.last_stages } else { r.stages.len() };
        let mut groups = layout.tables.groups.iter().peekable();
        for stage in &r.stages[..stages] {
            match stage {
                Stage::Equations(equations) => {
                    while let Some(group) = groups.next_if(|g| g.equations.end <= equations.end) {
                        let equations = &r.equations[group.equations.clone()];
                        match group.vector {
                            Some(at) => self.equations(kind, equations, at),
                            None => equations.iter().for_each(|e| self.equation(kind, e)),
                        }
                        self.asm.forget();
                    }
                }
                &Stage::Solve { block, right_side, unknowns } => {
                    for row in self.solve_block(block, right_side, unknowns) {
                        self.keep_series(row);
                    }
                    self.asm.forget();
                }
            }
        }
        if kind != OrderKind::Last {
            self.publish_by_eights();
        }
    }

    /// Code that works on eight doubles.
    fn wide(&mut self, emit: impl FnOnce(&mut Self)) {
        let scalar = std::mem::replace(&mut self.asm.width, Width::Eight);
        emit(self);
        self.asm.width = scalar;
    }

    /// The elements at these places: side by side, one load; else a gather.
    fn fetch(&mut self, x: u8, places: &[usize]) {
        match neighbours(places) {
            Some(first) => self.asm.load_anywhere(x, self.at(first)),
            None => self.asm.gather(x, Base::Arena, indices(places)),
        }
    }

    fn slots(&self, rows: impl Iterator<Item = Row>) -> Vec<usize> {
        rows.map(|row| self.layout.slots[row as usize] as usize).collect()
    }

    /// Stores the newest coefficient of a row in its series, if that is asked for.
    pub(crate) fn keep_series(&mut self, row: Row) {
        if self.kept[row as usize] {
            let x = self.asm.get(self.now(row), &[]);
            let series = self.series(row);
            self.asm.store(series, x);
        }
    }

    /// Where coefficient k of a row with a series is.
    fn series(&self, row: Row) -> Mem {
        let place = self.place(row);
        Mem(base(place), 8 * place.at as i64)
    }

    /// x_k = rate_{k−1} τ/k
    fn state_by_eights(&mut self, kind: OrderKind) {
        let (tape, layout) = (self.tape, self.layout);
        let rates: Vec<Row> = tape
            .rate
            .iter()
            .map(|rate| rate.row().unwrap_or_else(|| unreachable!("rates are rows")))
            .collect();
        for (g, rates) in rates.chunks(WIDTH).enumerate() {
            let start = g * WIDTH;
            // A rate that is a state variable is overwritten with its group.
            if kind != OrderKind::First && rates.iter().any(|&rate| (rate as usize) < start) {
                for (row, &rate) in (start as Row..).zip(rates) {
                    let old =
                        if (rate as usize) < tape.dimension { self.before(rate) } else { self.now(rate) };
                    self.asm.load(0, old);
                    let (step, slot, series) = (self.scale(3), self.now(row), self.series(row));
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
                let (slots, series) = (this.now(start as Row), this.series(start as Row));
                this.fetch(SUM, &places);
                this.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(STEP));
                this.asm.store(slots, SUM);
                this.asm.store(series, SUM);
            });
        }
        let (clock, slot) = (self.scale(2), self.now(tape.dimension as Row));
        self.asm.load(0, clock);
        self.asm.store(slot, 0);
        self.asm.forget();
        self.keep_series(tape.dimension as Row);
        self.asm.forget();
    }

    /// Up to eight equations of one class, whose pairs and edges are at these places of the tables.
    fn equations(&mut self, kind: OrderKind, equations: &[Equation], at: [usize; 2]) {
        let (r, layout) = (self.r, self.layout);
        let form = &equations[0];
        self.wide(|this| {
            let mut begun = false;
            if kind != OrderKind::First {
                for q in 0..form.pairs.len() {
                    let place = at[0] + q * WIDTH;
                    let square = r.pairs[form.pairs.start + q].is_square();
                    let term = if begun { TERM } else { SUM };
                    this.pairs_of_eight(kind, place, square, term);
                    if begun {
                        this.asm.operate(Do::Add, SUM, SUM, Rm::Register(TERM));
                    }
                    begun = true;
                }
                if begun && form.scale == Scale::Inverse {
                    this.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(INVERSE));
                }
            }
            for q in 0..form.edges.len() {
                let edge = |e: &Equation| r.edges[e.edges.start + q];
                let sources = this.slots(equations.iter().map(|e| edge(e).source));
                let weight = Rm::Memory(this.at(layout.edge_weights + at[1] + q * WIDTH));
                let one = edge(form).weight.is_one();
                if !begun {
                    this.fetch(SUM, &sources);
                    if !one {
                        this.asm.operate(Do::Multiply, SUM, SUM, weight);
                    }
                } else {
                    match neighbours(&sources) {
                        Some(first) if one => {
                            let source = Rm::Memory(this.at(first));
                            this.asm.operate(Do::Add, SUM, SUM, source);
                        }
                        _ => {
                            this.fetch(OPERAND, &sources);
                            if one {
                                this.asm.operate(Do::Add, SUM, SUM, Rm::Register(OPERAND));
                            } else {
                                this.asm.operate(Do::Fused, SUM, OPERAND, weight);
                            }
                        }
                    }
                }
                begun = true;
            }
            if !begun {
                this.asm.zero(SUM);
            }
            if form.pairs.is_empty() && form.scale != Scale::One {
                let scale = if form.scale == Scale::Inverse { INVERSE } else { ORDER };
                this.asm.operate(Do::Multiply, SUM, SUM, Rm::Register(scale));
            }
            this.asm.store(this.now(form.out), SUM);
        });
        for e in equations {
            self.keep_series(e.out);
        }
    }

    /// w C of the eight pairs at a place of the tables.
    fn pairs_of_eight(&mut self, kind: OrderKind, place: usize, square: bool, x: u8) {
        let layout = self.layout;
        let newest = layout.octets.map(|octets| {
            let octet = octets + place * layout.stride;
            Mem(Base::Octets, 8 * octet as i64 - 64)
        });
        let near = layout.near.map(|near| Rm::Memory(self.at(near + place)));
        if kind == OrderKind::Second {
            self.asm.load(x, newest[0]);
            if square {
                self.asm.operate(Do::Multiply, x, x, Rm::Register(HALF));
            }
            return self.asm.operate(Do::Multiply, x, x, near[0]);
        }
        self.asm.load(x, Mem(Base::Sums, 8 * (layout.sums + place) as i64));
        for (newest, near) in newest.into_iter().zip(near) {
            self.asm.load(OPERAND, newest);
            self.asm.operate(Do::Fused, x, OPERAND, near);
        }
    }

    /// The operands of all pairs, from the slots to the octets.
    fn publish_by_eights(&mut self) {
        let octets = self.octet_rows();
        let layout = self.layout;
        self.wide(|this| {
            for (c, sides) in octets.iter().enumerate() {
                for (side, rows) in sides.iter().enumerate() {
                    if side == 0 || *rows != sides[0] {
                        let slots = this.slots(rows.iter().copied());
                        this.fetch(SUM, &slots);
                    }
                    let octet = layout.octets[side] + c * WIDTH * layout.stride;
                    this.asm.store(Mem(Base::Octets, 8 * octet as i64), SUM);
                }
            }
        });
    }

    /// The operands of each octet's pairs; free lanes repeat the one before.
    fn octet_rows(&self) -> Vec<[[Row; WIDTH]; 2]> {
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
    pub(crate) fn near_weights_by_eights(&mut self) {
        let (layout, r) = (self.layout, self.r);
        let mut squares: Vec<[Vec<usize>; 2]> = vec![Default::default(); layout.room / WIDTH];
        for (p, pair) in r.pairs.iter().enumerate() {
            squares[layout.pair(p) / WIDTH][usize::from(pair.is_square())].push(p);
        }
        for (c, [products, squares]) in squares.into_iter().enumerate() {
            if !products.is_empty() && !squares.is_empty() {
                self.asm.forget();
                for p in products.into_iter().chain(squares) {
                    self.near_weight(p);
                }
                continue;
            }
            let at = c * WIDTH;
            self.wide(|this| {
                let weights = this.at(layout.pair_weights + at);
                for (side, other) in [1, 0].into_iter().enumerate().take(1 + usize::from(squares.is_empty()))
                {
                    this.asm
                        .load(SUM, Mem(Base::Octets, 8 * (layout.octets[other] + at * layout.stride) as i64));
                    this.asm.operate(Do::Multiply, SUM, SUM, Rm::Memory(weights));
                    if !squares.is_empty() {
                        this.asm.operate(Do::Add, SUM, SUM, Rm::Register(SUM));
                    }
                    this.asm.store(this.at(layout.near[side] + at), SUM);
                }
            });
        }
        self.asm.forget();
    }

    /// The weights of edges that change with the state.
    pub(crate) fn edge_weights_by_eights(&mut self) {
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
                    self.wide(|this| this.weights_of_eight(&weights, layout.edge_weights + at + q * WIDTH));
                }
            }
        }
        self.asm.forget();
    }

    /// factor · constant · times₀ / over₀
    fn weights_of_eight(&mut self, weights: &[Weight], into: usize) {
        let layout = self.layout;
        let w = weights[0];
        let first = |row: Row| layout.places[row as usize].index(0);
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

/// Eight indices; the last place is repeated if there are fewer.
fn indices(places: &[usize]) -> [i64; WIDTH] {
    std::array::from_fn(|lane| places[lane.min(places.len() - 1)] as i64)
}
