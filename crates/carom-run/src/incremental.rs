//! Other numbers for a model that stays the same: what a varied parameter or start changes, without checking the draft again.
//!
//! ```text
//! p ← its value for varied p;   p ← formula(p)  for parameters made of varied ones, in order;   start ← formula(p)
//! ```
//!
//! Only where checking again could say nothing new. Not for constraint rows whose start must be completed or whose
//! parameters change, nor for run settings made of varied parameters; and values that divide by zero, or leave the domain
//! of a function of parameters, are left to the draft, which knows how to say so.

use crate::options::Options;
use carom_expr::{Dag, Expr, Name, Node, Problem, Symbol, parse};
use carom_mech::draft::Assignment;
use carom_mech::{Draft, Model};

/// A number of a model that can be varied, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varied {
    /// A parameter.
    Parameter(usize),
    /// The start of a coordinate.
    Position(usize),
    /// The start of its velocity.
    Velocity(usize),
    /// The start of its momentum, in a Hamiltonian model.
    Momentum(usize),
}

impl Varied {
    /// Gives it another value; nothing follows.
    pub fn put(self, options: &mut Options, value: f64) {
        match self {
            Varied::Parameter(i) => options.parameters[i] = value,
            Varied::Position(i) => options.start.position[i] = Some(value),
            Varied::Velocity(i) => options.start.velocity[i] = Some(value),
            Varied::Momentum(i) => options.start.momentum[i] = Some(value),
        }
    }
}

/// What follows when some numbers of a model are varied.
///
/// ```
/// # use carom_mech::Draft;
/// use carom_run::{Incremental, Options, Varied};
/// let text = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2 - k*x^2/2\"\n[parameters]\na = 1\nk = \"2*a\"\n[start]\nposition = { x = \"1/k\" }";
/// let draft = Draft::parse(text, "m.toml").0;
/// let (model, _) = draft.check().unwrap();
/// let varied = [Varied::Parameter(0)];
/// let follows = Incremental::new(&model, &draft, &varied).unwrap();
/// let options = follows.options(&Options::of(&model), &varied, &[4.0]).unwrap();
/// assert_eq!((options.parameters, options.start.position), (vec![4.0, 8.0], vec![Some(0.125)]));
/// ```
#[derive(Clone, Debug)]
pub struct Incremental {
    dag: Dag,
    /// Index of the parameter that a symbol is, by the symbol's index.
    parameter_of: Vec<Option<usize>>,
    /// Parameters made of varied ones, each after those it is made of.
    follow: Vec<(usize, Expr)>,
    /// Starts made of varied parameters.
    starts: Vec<(Varied, Expr)>,
    /// Expressions of varied parameters that may have no value.
    delicate: Vec<Expr>,
    /// Their exponents.
    exponents: Vec<f64>,
}

impl Incremental {
    /// Finds out what to compute; `None` if the draft must be asked for all values.
    pub fn new(model: &Model, draft: &Draft, targets: &[Varied]) -> Option<Incremental> {
        let mut dag = model.dag.clone();
        let varied: Vec<usize> = targets
            .iter()
            .filter_map(|t| if let Varied::Parameter(i) = t { Some(*i) } else { None })
            .collect();
        let free = model.rows.is_empty() || (varied.is_empty() && starts_named(model, draft, targets));
        if !free {
            return None;
        }
        let mut affected = vec![false; model.parameters.len()];
        varied.iter().for_each(|&i| affected[i] = true);
        let mut follow = Vec::new();
        // A parameter is made of earlier ones in some order: as many rounds as there are suffice.
        let symbol = |i: usize| model.parameters[i].symbol;
        let made_of = |dag: &Dag, e: Expr, affected: &[bool]| {
            let inside = dag.reachable(&[e]);
            (0..affected.len()).any(|i| affected[i] && inside.binary_search(&symbol(i)).is_ok())
        };
        for (i, parameter) in model.parameters.iter().enumerate() {
            if !affected[i] && depends(model, parameter.formula, &varied) {
                follow.push((i, parameter.formula));
            }
        }
        follow.iter().for_each(|(i, _)| affected[*i] = true);
        follow = ordered(model, follow)?;
        let mut starts = Vec::new();
        for (list, target) in [
            (&draft.start.position, Varied::Position as fn(usize) -> Varied),
            (&draft.start.velocity, Varied::Velocity),
            (&draft.start.momentum, Varied::Momentum),
        ] {
            for (word, formula) in list {
                let e = constant(&mut dag, model, &formula.text)?;
                if made_of(&dag, e, &affected) {
                    let bare = word.text.trim_end_matches(['\'', '′', '’']);
                    let named = |c: &carom_mech::Coordinate| {
                        c.name == bare || c.momentum_name == bare || bare.strip_prefix("p_") == Some(&c.name)
                    };
                    let target = target(model.coordinates.iter().position(named)?);
                    if !targets.contains(&target) {
                        starts.push((target, e));
                    }
                }
            }
        }
        for (word, formula) in &draft.run {
            if !["method", "impact_order"].contains(&word.text.as_str()) {
                let e = constant(&mut dag, model, &formula.text)?;
                if made_of(&dag, e, &affected) {
                    return None;
                }
            }
        }
        let (delicate, exponents) = delicate(&dag, model, &affected).into_iter().unzip();
        let mut parameter_of = Vec::new();
        for (i, parameter) in model.parameters.iter().enumerate() {
            let symbol = dag.as_symbol(parameter.symbol)?.index();
            parameter_of.resize(parameter_of.len().max(symbol + 1), None);
            parameter_of[symbol] = Some(i);
        }
        Some(Incremental { dag, parameter_of, follow, starts, delicate, exponents })
    }

    /// The options for these values; `None` if the draft must be asked.
    pub fn options(&self, base: &Options, targets: &[Varied], row: &[f64]) -> Option<Options> {
        let mut options = base.clone();
        for (target, value) in targets.iter().zip(row) {
            if let Varied::Parameter(i) = *target {
                options.parameters[i] = *value;
            }
        }
        let of = |s: Symbol, parameters: &[f64]| {
            self.parameter_of.get(s.index()).copied().flatten().map_or(f64::NAN, |i| parameters[i])
        };
        let value = |e: Expr, parameters: &[f64]| {
            Some(self.dag.evaluate(e, |s| of(s, parameters))).filter(|x| x.is_finite())
        };
        for (i, formula) in &self.follow {
            options.parameters[*i] = value(*formula, &options.parameters)?;
        }
        for (target, formula) in &self.starts {
            let value = value(*formula, &options.parameters)?;
            target.put(&mut options, value);
        }
        if !self.delicate.is_empty() {
            let bases = self.dag.evaluate_all(&self.delicate, |s| of(s, &options.parameters));
            let mut powers = bases.iter().zip(&self.exponents).map(|(base, n)| base.powf(*n));
            if !powers.all(f64::is_finite) {
                return None;
            }
        }
        targets.iter().zip(row).for_each(|(target, value)| target.put(&mut options, *value));
        Some(options)
    }
}

/// Is a parameter's formula made of varied ones, directly or through others?
fn depends(model: &Model, formula: Expr, varied: &[usize]) -> bool {
    let inside = model.dag.reachable(&[formula]);
    model.parameters.iter().enumerate().any(|(i, p)| {
        inside.binary_search(&p.symbol).is_ok()
            && (varied.contains(&i) || (p.formula != formula && depends(model, p.formula, varied)))
    })
}

/// Each after those it is made of.
fn ordered(model: &Model, mut rest: Vec<(usize, Expr)>) -> Option<Vec<(usize, Expr)>> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let ready = rest.iter().position(|(_, formula)| {
            let inside = model.dag.reachable(&[*formula]);
            rest.iter().all(|(i, _)| inside.binary_search(&model.parameters[*i].symbol).is_err())
        })?;
        out.push(rest.remove(ready));
    }
    Some(out)
}

/// Does the start name every free coordinate and velocity (or momentum), here or in the plan?
fn starts_named(model: &Model, draft: &Draft, targets: &[Varied]) -> bool {
    let given = |list: &[Assignment], names: [&str; 2]| {
        list.iter().any(|(word, _)| names.contains(&word.text.trim_end_matches(['\'', '′', '’'])))
    };
    model.coordinates.iter().enumerate().filter(|(_, c)| c.driven.is_none()).all(|(i, c)| {
        let names = [c.name.as_str(), c.momentum_name.as_str()];
        let position = targets.contains(&Varied::Position(i)) || given(&draft.start.position, names);
        let rate = targets.contains(&Varied::Velocity(i)) || given(&draft.start.velocity, names);
        let momentum = targets.contains(&Varied::Momentum(i)) || given(&draft.start.momentum, names);
        position && (rate || momentum)
    })
}

/// A formula of parameters.
fn constant(dag: &mut Dag, model: &Model, text: &str) -> Option<Expr> {
    if let Some(quantity) = carom_mech::units::quantity(text) {
        return Some(quantity.value(dag, quantity.unit.clone().ok()?));
    }
    let mut resolve = |_: &mut Dag, name: Name<'_>| {
        let found = model.parameters.iter().find(|p| p.name == name.text && name.primes == 0);
        found.map(|p| p.symbol).ok_or_else(|| Problem {
            span: name.span,
            message: "not a parameter".to_owned(),
            hint: None,
        })
    };
    parse(dag, text, &mut resolve).ok()
}

/// Powers of what is made of changing parameters and nothing that moves, which may have no value for some of them: base and
/// exponent. A function of parameters is the first power of itself.
fn delicate(dag: &Dag, model: &Model, affected: &[bool]) -> Vec<(Expr, f64)> {
    // Per node: made of parameters and numbers only; made of changing ones.
    let (mut fixed, mut changing) = (vec![false; dag.len()], vec![false; dag.len()]);
    let mut out = Vec::new();
    for e in dag.all() {
        let (mut only, mut any) = (true, false);
        dag.for_each_child(e, |child| {
            only &= fixed[child.index()];
            any |= changing[child.index()];
        });
        match dag.node(e) {
            Node::Symbol(_) => {
                let found = model.parameters.iter().position(|p| p.symbol == e);
                (only, any) = (found.is_some(), found.is_some_and(|i| affected[i]));
            }
            Node::Product(_, factors) => {
                for &(base, n) in factors.iter() {
                    let harmless = n.to_integer().is_some_and(|n| n > 0);
                    if fixed[base.index()] && changing[base.index()] && !harmless {
                        out.push((base, n.to_f64()));
                    }
                }
            }
            Node::Power(..) | Node::Function(..) if only && any => out.push((e, 1.0)),
            _ => {}
        }
        (fixed[e.index()], changing[e.index()]) = (only, any);
    }
    out
}
