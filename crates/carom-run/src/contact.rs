//! The start of a leg: which walls hold, which open, on which side of every surface the motion continues.
//!
//! For the walls with φ = φ̇ = 0:  0 ≤ f ⊥ φ̈ ≥ 0,  φ̈ = φ̈_free + N S Nᵀ f.  A wall with f = 0 and φ̈ = 0 is decided by the
//! first coefficient of its gap's series that is not rounding: it opens, or it is held; identically zero: it is held
//! with force zero.

use crate::events::KnownSign;
use crate::law::{KktFactor, Touching};
use crate::lcp::Complementarity;
use crate::motion::{Contact, StopReason};
use crate::run::{Halt, Run};
use crate::stepper::NextSeries;
use crate::zero::CLEAR;
use carom_jet::dense::{Factored, dot};

/// Coefficients of a series smaller than this part of its summands are rounding.
pub(crate) const SERIES_ROUNDING: f64 = crate::zero::SOLVED;

/// The first coefficient from order `from` on that is not rounding: (order, sign).
pub(crate) fn leading(c: &[f64], from: usize, h: f64, size: f64) -> Option<(usize, f64)> {
    let mut power = 1.0;
    let mut scale = size;
    for &ck in c {
        scale += (ck * power).abs();
        power *= h;
    }
    let mut power = h.powi(from as i32);
    for (k, &ck) in c.iter().enumerate().skip(from) {
        if (ck * power).abs() > SERIES_ROUNDING * scale {
            return Some((k, ck.signum()));
        }
        power *= h;
    }
    None
}

impl Run<'_> {
    /// A step that says which coefficients matter: the one the series allow, within the time left.
    pub fn natural_step(&self) -> f64 {
        let h = self.stepper.taylor.step_size(self.leg.flow(), &self.stepper.extent);
        let left = self.stepper.in_units(self.stepper.until.minus(self.now.time));
        if h.is_finite() && h > 0.0 {
            return h.min(left.max(h * 1e-3));
        }
        // A polynomial has no length of its own: the motion so far has.
        let so_far = self.stepper.in_units(self.elapsed());
        if so_far > 0.0 { so_far } else { left.max(f64::MIN_POSITIVE) }
    }

    /// Decides everything about the leg that starts now. `released`: walls whose force has just reached zero.
    pub fn begin_leg(&mut self, released: &[usize], crossed: &[usize]) -> Result<(), Halt> {
        if self.rank.within_step {
            self.settle_events();
            return Ok(());
        }
        self.evaluate_frame();
        if !self.frame.is_finite() {
            return Err(self.not_finite());
        }
        self.note_largest_terms();
        if self.leg.key.rows.is_empty() {
            self.choose_rows()?;
        }
        let resting: Vec<usize> = (0..self.contact.walls.len())
            .filter(|&w| {
                self.contact.walls[w].touching && self.contact.walls[w].resting && !released.contains(&w)
            })
            .collect();
        if resting.is_empty() && self.begin_open_leg() {
            return Ok(());
        }
        let mut closed = if resting.is_empty() { Vec::new() } else { self.pushing_walls(&resting)? };
        let crossed_now: Vec<usize> = crossed.to_vec();
        for round in 0.. {
            if round > 2 * self.contact.walls.len() + 4 {
                return Err(Halt::new(
                    StopReason::Singular,
                    format!("which of the walls {} hold cannot be decided", self.wall_names(&resting)),
                ));
            }
            self.leg.key.closed = self.frame.independent_walls(&self.leg.key, &closed);
            self.settle_surfaces(&crossed_now)?;
            self.jet()?;
            if self.leg.key.closed.len() < closed.len() && !self.basis_pushes() {
                self.choose_basis(&closed)?;
            }
            match self.wall_that_must_hold(&closed) {
                Some(w) => {
                    self.refuse_hopeless(w)?;
                    closed.push(w);
                    closed.sort_unstable();
                }
                None => break,
            }
        }
        if let Some(held) = self.contact.held {
            closed.push(held);
            closed.sort_unstable();
        }
        self.keep_contact_records(&closed);
        self.settle_held()?;
        self.settle_forces();
        self.settle_events();
        Ok(())
    }

    /// A leg of which all is known without its series, where those may be left to whoever takes its first step: nothing is held,
    /// followed or switched, and what touches opens beyond doubt. False, and nothing decided, where it is another.
    fn begin_open_leg(&mut self) -> bool {
        let plain = self.stepper.postpones
            && self.stepper.steps > 0
            && self.stepping_by_series()
            && self.tangent.is_none()
            && !self.is_constrained()
            && self.contact.held.is_none()
            && self.events.surfaces.is_empty()
            && self.events.sides.is_empty();
        let opens = |w: usize| self.frame.gap_rate(w) > CLEAR * self.frame.gap_rate_size(w);
        let open = (0..self.contact.walls.len()).all(|w| !self.contact.walls[w].touching || opens(w));
        if !(plain && open) {
            return false;
        }
        for wall in &mut self.contact.walls {
            wall.zeros = usize::from(wall.touching);
        }
        self.keep_contact_records(&[]);
        self.stepper.series = NextSeries::Postponed;
        true
    }

    /// Which resting walls push, by the complementarity problem.
    fn pushing_walls(&mut self, resting: &[usize]) -> Result<Vec<usize>, Halt> {
        if self.is_degenerate() {
            return Err(Halt::new(
                StopReason::WallNotEnforceable,
                format!(
                    "wall {}: the degenerate equations do not determine its force",
                    self.wall_names(resting)
                ),
            ));
        }
        let kkt = self.frame.kkt();
        let (forces, _) = self.contact_problem(&kkt, resting)?;
        Ok(resting.iter().zip(&forces).filter(|(_, f)| **f > 0.0).map(|(&w, _)| w).collect())
    }

    /// (f, φ̈) for walls with φ = φ̇ = 0.
    pub fn contact_problem(&self, kkt: &KktFactor, resting: &[usize]) -> Result<(Vec<f64>, Vec<f64>), Halt> {
        let (free, _) = self.frame.free_acceleration(kkt);
        let normals: Vec<Vec<f64>> = resting.iter().map(|&w| self.frame.normal(w).to_vec()).collect();
        let touching = Touching::new(kkt, &normals);
        let mut q: Vec<f64> =
            resting.iter().zip(&normals).map(|(&w, n)| dot(n, &free) + self.frame.wall_bias(w)).collect();
        let mut scale = vec![0.0; q.len()];
        for (i, &w) in resting.iter().enumerate() {
            scale[i] = normals[i].iter().zip(&free).map(|(n, a)| (n * a).abs()).sum::<f64>()
                + self.frame.wall_bias_scale(w);
            if q[i].abs() <= SERIES_ROUNDING * scale[i] {
                q[i] = 0.0;
            }
            if q[i] < 0.0 && !touching.enforceable(i) {
                return Err(self.not_enforceable(w));
            }
        }
        let problem = Complementarity {
            matrix: &touching.delassus,
            matrix_scale: &touching.scale,
            offset: &q,
            offset_scale: &scale,
        };
        let solution = problem.solve().map_err(|closing| {
            let walls: Vec<usize> =
                (0..q.len()).filter(|&i| closing.weights[i] > 0.0).map(|i| resting[i]).collect();
            self.squeezed_by(&walls)
        })?;
        Ok((solution.multipliers, solution.rates))
    }

    pub fn squeezed_by(&self, walls: &[usize]) -> Halt {
        Halt::new(StopReason::Squeezed, format!("the walls {} close on each other", self.wall_names(walls)))
    }

    /// The gap does not change to first order: no impulse exists.
    pub fn flat(&self, wall: usize) -> Halt {
        let detail = format!(
            "wall `{}`: the gap does not depend on any free coordinate here (∇gap = 0); \
             use a gap that grows like a distance",
            self.wall_name(wall)
        );
        Halt::new(StopReason::WallNotEnforceable, detail)
    }

    pub fn not_enforceable(&self, wall: usize) -> Halt {
        let rows: Vec<String> = self.program.mechanics.rows.iter().map(|r| format!("`{}`", r.name)).collect();
        let normal = self.frame.normal(wall);
        let name = self.wall_name(wall);
        let detail = if normal.iter().all(|n| *n == 0.0) {
            return self.flat(wall);
        } else if rows.is_empty() {
            format!("wall `{name}`: no impulse along its normal can stop the motion")
        } else {
            format!(
                "wall `{name}`: no impulse can stop the motion, its normal depends on the constraint rows {}",
                rows.join(", ")
            )
        };
        Halt::new(StopReason::WallNotEnforceable, detail)
    }

    /// Do the forces of the walls that stand for the closed ones start out pushing?
    fn basis_pushes(&self) -> bool {
        let h = self.natural_step();
        let first = self.program.watched(&self.leg.key).force;
        (0..self.leg.key.closed.len()).all(|i| {
            let size = self.frame.force_rounding(self.leg.key.closed[i]) / SERIES_ROUNDING;
            leading(self.leg.flow().watched(first + i), 0, h, size).is_none_or(|(_, sign)| sign > 0.0)
        })
    }

    /// Dependent normals: any independent subset gives the same motion, but the leg needs one whose own forces push,
    /// since their zeros announce releases. Subsets are tried in model order; if none pushes the first stays, and its
    /// release is found at once.
    fn choose_basis(&mut self, closed: &[usize]) -> Result<(), Halt> {
        let first = self.leg.key.closed.clone();
        let k = closed.len();
        // Beyond this many walls the search would cost more than it is worth.
        if k <= 12 {
            for mask in 0..1u32 << k {
                if mask.count_ones() as usize != first.len() {
                    continue;
                }
                let subset: Vec<usize> = (0..k).filter(|i| mask >> i & 1 == 1).map(|i| closed[i]).collect();
                if self.frame.independent_walls(&self.leg.key, &subset).len() < first.len() {
                    continue;
                }
                self.leg.key.closed = subset;
                self.jet()?;
                if self.basis_pushes() {
                    return Ok(());
                }
            }
        }
        self.leg.key.closed = first;
        self.jet()
    }

    /// A touching wall that is not held although its gap would close; sets the known zeros of those that open.
    fn wall_that_must_hold(&mut self, closed: &[usize]) -> Option<usize> {
        for w in 0..self.contact.walls.len() {
            self.contact.walls[w].zeros = 0;
            if !self.contact.walls[w].touching || closed.contains(&w) {
                continue;
            }
            let series = self.leg.flow().watched(w);
            let opening = !self.contact.walls[w].resting && series[1] > 0.0;
            if opening {
                self.contact.walls[w].zeros = 1;
                continue;
            }
            match leading(series, 2, self.natural_step(), self.frame.gap_size(w)) {
                Some((k, sign)) if sign > 0.0 => self.contact.walls[w].zeros = k,
                _ => return Some(w),
            }
        }
        None
    }

    /// A wall that must hold but whose normal vanishes cannot push at all; one whose normal depends on the rows can
    /// only be held by them, so its gap must not close.
    fn refuse_hopeless(&self, wall: usize) -> Result<(), Halt> {
        let normal = self.frame.normal(wall);
        let closes =
            leading(self.leg.flow().watched(wall), 2, self.natural_step(), self.frame.gap_size(wall))
                .is_some();
        let kkt = self.frame.kkt();
        let (inverse_mass_normal, _) = kkt.inverse_mass_times(normal);
        if normal.iter().all(|n| *n == 0.0) || (closes && !kkt.enforceable(normal, &inverse_mass_normal)) {
            return Err(self.not_enforceable(wall));
        }
        Ok(())
    }

    /// Opens and closes the records of contacts.
    fn keep_contact_records(&mut self, closed: &[usize]) {
        let now = self.now.time.value();
        let forces = if closed.is_empty() { Vec::new() } else { self.forces_now(closed) };
        for w in 0..self.contact.walls.len() {
            let held = closed.iter().position(|&c| c == w);
            self.contact.walls[w].closed = held.is_some();
            match (held, self.contact.walls[w].contact) {
                (Some(i), None) => {
                    let zeno_at = self.contact.walls[w].zeno_at.take();
                    self.recorder.motion.contacts.push(Contact {
                        wall: w,
                        from: zeno_at.map_or(now, |t| t.value()),
                        to: None,
                        zeno: zeno_at.is_some(),
                        force_at_start: forces[i],
                    });
                    self.contact.walls[w].contact = Some(self.recorder.motion.contacts.len() - 1);
                }
                (None, Some(record)) => {
                    let contact = &mut self.recorder.motion.contacts[record];
                    contact.to = Some(now.max(contact.from));
                    self.contact.walls[w].contact = None;
                }
                _ => {}
            }
            if held.is_none() {
                self.contact.walls[w].resting = false;
                self.contact.walls[w].touching = false;
            }
        }
    }

    /// Contact forces of closed walls at the present frame; where normals depend on each other, of least Σ f² n·S n.
    pub fn forces_now(&self, closed: &[usize]) -> Vec<f64> {
        let (_, _, forces) = self.reactions(closed);
        forces
    }

    /// (x, μ, f): acceleration without velocity bias, multipliers, forces of the closed walls, at the present frame.
    pub fn reactions(&self, closed: &[usize]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        if let Some(held) = self.contact.held {
            // The force of a held wall is the multiplier of its row.
            let others: Vec<usize> = closed.iter().copied().filter(|&w| w != held).collect();
            let (x, mut multipliers, pushing) = self.free_reactions(&others);
            let force = multipliers.pop().unwrap_or(0.0);
            let mut pushing = pushing.into_iter();
            let forces = closed
                .iter()
                .map(|&w| if w == held { force } else { pushing.next().unwrap_or(0.0) })
                .collect();
            return (x, multipliers, forces);
        }
        self.free_reactions(closed)
    }

    fn free_reactions(&self, closed: &[usize]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (n, m) = (self.frame.layout.n, self.frame.layout.rows);
        if self.is_degenerate() {
            let factored = Factored::new(&self.frame.matrix());
            let mut x = factored.solve(self.frame.right_side());
            let multipliers = x.split_off(n);
            return (x, multipliers, vec![0.0; closed.len()]);
        }
        let (kkt, _) = self.frame.kkt_with(closed);
        let rate: Vec<f64> = self
            .frame
            .row_bias()
            .iter()
            .map(|g| -g)
            .chain(closed.iter().map(|&w| -self.frame.wall_bias(w)))
            .collect();
        let (x, y) = kkt.solve(self.frame.force(), &rate);
        let multipliers = y[..m].iter().map(|z| -z).collect();
        let mut forces: Vec<f64> = y[m..].iter().map(|z| -z).collect();
        if closed.len() > self.leg.key.closed.len() && forces.iter().any(|f| *f < 0.0) {
            // Dependent normals: of all forces that give this motion the smallest that push.
            if let Ok((pushing, _)) = self.contact_problem(&self.frame.kkt(), closed) {
                forces = pushing;
            }
        }
        (x, multipliers, forces)
    }

    /// Forces that start at zero: how many leading coefficients are known.
    fn settle_forces(&mut self) {
        if self.leg.key.closed.is_empty() {
            return;
        }
        let h = self.natural_step();
        let first = self.program.watched(&self.leg.key).force;
        for (i, w) in self.leg.key.closed.clone().into_iter().enumerate() {
            let series = self.leg.flow().watched(first + i);
            let size = self.frame.force_rounding(w) / SERIES_ROUNDING;
            self.contact.walls[w].force_zeros = match leading(series, 0, h, size) {
                Some((k, sign)) if sign > 0.0 => k,
                _ => 0,
            };
        }
    }

    /// A held wall must push: its force starts positive, or at zero and grows.
    fn settle_held(&mut self) -> Result<(), Halt> {
        let Some(held) = self.contact.held else { return Ok(()) };
        let at = self.program.watched(&self.leg.key).held;
        match leading(self.leg.flow().watched(at), 0, self.natural_step(), 0.0) {
            Some((_, sign)) if sign < 0.0 => Err(self.not_enforceable(held)),
            Some((k, _)) => {
                self.contact.held_force_zeros = k;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The sign of every surface; `crossed` are those whose function is zero now. The others go on from the side they were on,
    /// unless their function has a value on the other one.
    fn settle_surfaces(&mut self, crossed: &[usize]) -> Result<(), Halt> {
        for s in 0..self.events.surfaces.len() {
            if self.leg.key.sliding.contains(&s) {
                continue;
            }
            let _ = self.events.settings.evaluate(self.now.time, &self.now.state);
            let (value, side) =
                (self.events.surface_value(self.contact.walls.len(), s), self.events.surfaces[s]);
            let decided = side.sign != 0.0 && side.zeros > 0 && self.events.surface_seen(s) == Some(value);
            if !crossed.contains(&s) {
                if decided {
                    continue;
                }
                let stays = value * side.sign > 0.0;
                if stays || !self.is_on_surface(s) {
                    self.set_sign(s, value.signum());
                    self.events.surfaces[s] = KnownSign { sign: value.signum(), zeros: 0 };
                    continue;
                }
            }
            let old = if side.sign == 0.0 { -1.0 } else { side.sign };
            self.choose_side(s, old)?;
        }
        Ok(())
    }

    /// The function of surface `s` is zero: continue on the other side, stay on this one, or slide.
    fn choose_side(&mut self, s: usize, old: f64) -> Result<(), Halt> {
        let at = self.program.watched(&self.leg.key).surface + s;
        let mut flat = true;
        for sign in [-old, old] {
            self.set_sign(s, sign);
            self.jet()?;
            let h = self.natural_step();
            match leading(self.leg.flow().watched(at), 1, h, 0.0) {
                Some((zeros, after)) if after == sign => {
                    self.events.surfaces[s] = KnownSign { sign, zeros };
                    return Ok(());
                }
                Some(_) => flat = false,
                None => {}
            }
        }
        if flat {
            // It stays zero by itself: either side will do.
            self.events.surfaces[s] = KnownSign { sign: old, zeros: 0 };
            return Ok(());
        }
        self.leg.key.sliding.push(s);
        self.leg.key.sliding.sort_unstable();
        let stuck = |_| {
            Halt::new(
                StopReason::SlidingMode,
                "both sides of a switching surface push towards it, and no combination of them stays on it",
            )
        };
        self.prepare_leg().map_err(stuck)?;
        self.jet().map_err(stuck)?;
        let watched = self.program.watched(&self.leg.key);
        let position = self.leg.key.sliding.iter().position(|&x| x == s).unwrap_or(0);
        let value = self.leg.flow().watched(watched.sliding + position)[0];
        if value.abs() > 1.0 + SERIES_ROUNDING {
            return Err(stuck(self.not_finite()));
        }
        self.events.surfaces[s] = KnownSign { sign: 0.0, zeros: 0 };
        Ok(())
    }

    /// A surface is left on the side where the sign has reached ±1.
    pub fn leave_surface(&mut self, s: usize, sign: f64) {
        self.leg.key.sliding.retain(|&x| x != s);
        self.set_sign(s, sign);
        // u = u̇ = 0 here.
        self.events.surfaces[s] = KnownSign { sign, zeros: 2 };
    }
}
