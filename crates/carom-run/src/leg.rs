//! The leg in force: which equations, with which numbers, and the workspaces in which their series are made.
//!
//! Workspaces are made when a kind of leg is first met, and kept: a ball that bounces and rests meets the same two again
//! and again.

use crate::figures::figures;
use crate::motion::StopReason;
use crate::program::{LegKey, Program};
use crate::run::Halt;
use crate::stepper::Now;
use carom_jet::{CompileError, Flow, LaneStep, Rk4, Singular, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The equations in force.
#[derive(Default)]
pub(crate) struct ActiveLeg {
    /// What distinguishes them from those of other legs.
    pub key: LegKey,
    /// Parameters, pieces of table inputs, signs of surfaces.
    pub parameters: Vec<f64>,
    /// When the next row of a table takes over.
    pub next_knot: Option<f64>,
    workspaces: Vec<Workspace>,
    places: BTreeMap<LegKey, usize>,
    current: usize,
}

/// The workspaces of one kind of leg.
struct Workspace {
    key: LegKey,
    flow: Flow,
    /// Of the fixed-step method, when it is used, and the length of its last step.
    fixed: Option<(Rk4, f64)>,
}

impl ActiveLeg {
    /// Another program takes over: no workspace fits any more.
    pub fn forget_workspaces(&mut self) {
        self.workspaces.clear();
        self.places.clear();
        self.current = 0;
    }

    fn workspace(&self) -> &Workspace {
        &self.workspaces[self.current]
    }

    /// The series in use.
    pub fn flow(&self) -> &Flow {
        &self.workspace().flow
    }

    /// The same, if there was a leg yet.
    pub fn series(&self) -> Option<&Flow> {
        self.workspaces.get(self.current).map(|space| &space.flow)
    }

    pub fn flow_mut(&mut self) -> &mut Flow {
        &mut self.workspaces[self.current].flow
    }

    /// The end of a motion because its equations have no pivot left.
    pub fn singular(&self, singular: &Singular) -> Halt {
        let names = self.flow().tape().block_names(singular.block);
        let row = names.get(singular.row).cloned().unwrap_or_default();
        let pivot = figures(singular.pivot, 2);
        let detail = format!("the equations of motion became singular: {row} has no pivot left ({pivot})");
        Halt::new(StopReason::Singular, detail)
    }

    /// The values its equations are evaluated with.
    pub fn own_parameters(&self, program: &Program) -> Vec<f64> {
        parameters_of(&self.key, &self.parameters, first_sign(program))
    }

    /// Gives the parameters to every workspace.
    pub fn set_flow_parameters(&mut self, program: &Program) {
        for space in &mut self.workspaces {
            let own = parameters_of(&space.key, &self.parameters, first_sign(program));
            space.flow.set_parameters(&own);
            if let Some((rk, _)) = &mut space.fixed {
                rk.set_parameters(&own);
            }
        }
    }

    /// Puts the workspace of these equations in use, made on first use.
    pub fn prepare(&mut self, program: &Program, order: usize) -> Result<(), CompileError> {
        if self.workspaces.get(self.current).is_some_and(|space| space.key == self.key) {
            return Ok(());
        }
        if let Some(&place) = self.places.get(&self.key) {
            self.current = place;
            return Ok(());
        }
        let mut flow = program.workspace(&self.key, order)?;
        flow.set_parameters(&self.own_parameters(program));
        self.current = self.workspaces.len();
        self.places.insert(self.key.clone(), self.current);
        self.workspaces.push(Workspace { key: self.key.clone(), flow, fixed: None });
        Ok(())
    }

    /// Takes over the series of a step made elsewhere; returns their unit.
    pub fn adopt(&mut self, step: &LaneStep<'_>) -> f64 {
        let flow = self.flow_mut();
        step.give(flow);
        flow.unit()
    }

    /// Evaluates the equations; false when they are singular.
    pub fn evaluate(&mut self, now: &Now, unit: f64) -> bool {
        let flow = self.flow_mut();
        flow.set_unit(unit);
        flow.evaluate(now.time, &now.state).is_ok()
    }

    /// Completes the series after [`ActiveLeg::evaluate`].
    pub fn expand(&mut self, now: &Now) -> bool {
        self.flow_mut().expand(now.time, &now.state).is_ok()
    }

    /// The series of the next step carry what the doubles of the state leave out.
    pub fn carry_remainder(&mut self, now: &Now) {
        self.flow_mut().carry(now.remainder.of(&now.state));
    }

    /// A step of h units by the fixed-step method: afterwards polynomials and states within it belong to it.
    pub fn fixed_step(&mut self, program: &Program, now: &Now, unit: f64, h: f64) -> Result<(), Singular> {
        let space = &mut self.workspaces[self.current];
        let (rk, last) = space.fixed.get_or_insert_with(|| {
            let mut rk = Rk4::new(Arc::clone(space.flow.tape())).with(space.flow.level());
            rk.set_parameters(&parameters_of(&space.key, &self.parameters, first_sign(program)));
            (rk, 0.0)
        });
        *last = h;
        rk.set_unit(unit);
        rk.step(now.time, &now.state, h * unit)
    }

    /// Does the next row of a table take over now?
    pub fn is_at_knot(&self, time: Time) -> bool {
        self.next_knot.is_some_and(|knot| Time::new(knot).minus(time) <= 0.0)
    }

    /// The polynomial of a watched function during the present step.
    pub fn polynomial(&self, i: usize) -> &[f64] {
        let space = self.workspace();
        match &space.fixed {
            Some((rk, _)) => rk.watched(i),
            None => space.flow.watched(i),
        }
    }

    /// The coefficients of so many state variables during the present step, one after the other; returns how many each has.
    pub fn coefficients_into(&self, variables: usize, numbers: &mut Vec<f64>) -> usize {
        let space = self.workspace();
        match &space.fixed {
            Some((rk, _)) => {
                (0..variables).for_each(|i| numbers.extend(rk.state(i)));
                rk.state(0).len()
            }
            None => {
                let width = space.flow.order() + 1;
                for i in 0..variables {
                    numbers.extend((0..width).map(|k| space.flow.coefficient(i, k)));
                }
                width
            }
        }
    }

    /// The state s units after the start of the present step.
    pub fn state_within(&self, s: f64, into: &mut [f64]) {
        let space = self.workspace();
        match &space.fixed {
            Some((rk, last)) if s == *last => into.copy_from_slice(rk.end()),
            Some((rk, _)) => rk.state_at(s, into),
            None => space.flow.state_at(s, into),
        }
    }
}

/// The first of the parameters that is the sign of a surface.
pub(crate) fn first_sign(program: &Program) -> usize {
    program.parameters.len() - program.surfaces.len()
}

/// Parameter values of a leg: signs of surfaces it slides on are unknowns there.
fn parameters_of(key: &LegKey, parameters: &[f64], first_sign: usize) -> Vec<f64> {
    let slides = |i: usize| i >= first_sign && key.sliding.contains(&(i - first_sign));
    parameters.iter().enumerate().filter(|(i, _)| !slides(*i)).map(|(_, x)| *x).collect()
}
