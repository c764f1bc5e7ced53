//! A wall on a direction without inertia.
//!
//! If some z has W z = 0, A z = 0, n·z ≠ 0, no impulse of the wall can act. The wall may still hold with a finite force:
//! f n joins the equations and φ = 0 the conditions, which is the model with the gap as a holonomic row, derived when the
//! program is compiled. p is continuous, velocities along z follow the new conditions. If the conditions ask for more
//! than that (first-order flows), or f would pull, the wall cannot be enforced.

use crate::frame::Frame;
use crate::program::{LegKey, Program};
use crate::project::LargestTerms;
use crate::run::{Halt, Run};
use carom_jet::dense::{Factored, Matrix, dot};

/// Conditions left violated by more than this cannot be met by velocities without inertia.
const CONSISTENT: f64 = 1e-9;
/// Newton steps for those velocities.
const MOST_STEPS: usize = 50;

impl<'p> Run<'p> {
    /// Tries to hold the wall with a finite force.
    pub fn hold_by_force(&mut self, wall: usize) -> Result<(), Halt> {
        let refused = self.not_enforceable(wall);
        if self.contact.held.is_some() {
            return Err(refused);
        }
        let program = self.program.held(wall).map_err(|why| refused.clone().because(why))?;
        let massless = self.frame.massless();
        self.switch_program(program, Some(wall));
        self.follow_conditions(&massless);
        if !self.frame.is_finite() || self.drift() > CONSISTENT {
            return Err(refused);
        }
        self.choose_rows()?;
        self.contact.walls[wall].touching = false;
        self.contact.walls[wall].resting = false;
        self.contact.walls[wall].closed = true;
        Ok(())
    }

    /// The force has fallen to zero: the wall lets go.
    pub fn let_go(&mut self) -> Result<(), Halt> {
        let Some(wall) = self.contact.held else { return Ok(()) };
        self.switch_program(self.base, None);
        let massless = self.frame.massless();
        self.follow_conditions(&massless);
        self.choose_rows()?;
        self.contact.walls[wall].closed = false;
        self.contact.walls[wall].touching = true;
        self.contact.walls[wall].resting = false;
        self.begin_leg(&[], &[])
    }

    fn switch_program(&mut self, program: &'p Program, held: Option<usize>) {
        self.audit.expected_energy += self.work();
        self.now.state.truncate(2 * self.size());
        if program.has_work {
            self.now.state.push(0.0);
        }
        self.program = program;
        self.stepper.extent.keep(2 * program.size(), program.state.len(), program.followed());
        self.contact.held = held;
        let n = self.size();
        let mut frame = Frame::new(&program.frame, &program.layout);
        let (from, into) = (self.frame.reach(), frame.reach_mut());
        into[..2 * n].copy_from_slice(&from[..2 * n]);
        if let (Some(from), Some(into)) = (from.last(), into.last_mut()) {
            *into = *from;
        }
        self.frame = frame;
        self.recorder.outputs = program.outputs.clone();
        self.events.follow(program);
        self.leg.forget_workspaces();
        self.leg.key = LegKey::default();
        self.audit.largest_terms = LargestTerms::default();
        self.set_flow_parameters();
        self.evaluate_frame();
        self.note_scales();
    }

    /// Velocities that the conditions determine follow, along these directions only: [p] stays what the law says.
    pub fn follow_conditions(&mut self, massless: &[Vec<f64>]) {
        let n = self.size();
        for _ in 0..MOST_STEPS {
            self.evaluate_frame();
            if massless.is_empty() || self.drift() <= f64::EPSILON {
                return;
            }
            let (gradient, values) = if self.is_degenerate() {
                (self.frame.condition_gradient(), self.frame.conditions().to_vec())
            } else {
                let rows = self.frame.rows();
                let mut gradient = Matrix::zeros(rows.rows, 2 * n);
                for i in 0..rows.rows {
                    gradient.entries[i * 2 * n + n..(i + 1) * 2 * n].copy_from_slice(rows.row(i));
                }
                (gradient, self.frame.row_rate().to_vec())
            };
            let mut reduced = Matrix::zeros(gradient.rows, massless.len());
            for i in 0..gradient.rows {
                for (j, z) in massless.iter().enumerate() {
                    reduced[(i, j)] = dot(&gradient.row(i)[n..], z);
                }
            }
            let target: Vec<f64> = values.iter().map(|g| -g).collect();
            let c = Factored::new(&reduced).solve(&target);
            let before = self.now.state.clone();
            for (c, z) in c.iter().zip(massless) {
                self.now.state[n..2 * n].iter_mut().zip(z).for_each(|(v, z)| *v += c * z);
            }
            if before == self.now.state {
                return;
            }
        }
        self.evaluate_frame();
    }
}
