//! Branches and special points of the linear impact oscillator against its closed forms, the gaits' period doublings.

mod common;

use carom_insight::{Branch, Request, Return, SpecialKind, follow};
use common::{ask, gallery};
use std::f64::consts::PI;

fn branch(
    model: &str,
    set: &[&str],
    start: &str,
    period: &str,
    vary: &str,
    range: [f64; 2],
    doubled: bool,
) -> Branch {
    ask(&gallery(model), set, start, |subject| {
        let request = Request::new(Return::period(subject.mechanics, period).unwrap());
        follow(subject, &request, vary, range, doubled).unwrap_or_else(|r| panic!("{r}"))
    })
}

fn value(branch: &Branch, kind: SpecialKind) -> f64 {
    let found = branch.special.iter().find(|s| s.kind == kind);
    found.unwrap_or_else(|| panic!("no {} among {:?}", kind.name(), branch.special)).value
}

/// ρ and k of one impact per period T = 2πn/ω, with σ = 1, and G/F.
fn closed(zeta: f64, omega: f64, e: f64, n: f64) -> (f64, f64, f64, f64) {
    let t = 2.0 * PI * n / omega;
    let (decay, own) = ((-zeta * t).exp(), (1.0 - zeta * zeta).sqrt());
    let (s, c) = (own * t).sin_cos();
    let r = (1.0 - decay * c) / (decay * s);
    let bend = decay * own * (r * c - s);
    let k = (bend - own * r) / (1.0 + e);
    let rho = k + zeta - bend;
    let gain = 1.0 / (1.0 - omega * omega).hypot(2.0 * zeta * omega);
    // Where the trace is −1 − det.
    let xi = ((-1.0 - (e * decay).powi(2)) / decay + 2.0 * e * c) * own / s;
    let doubling =
        (1.0 + e) * omega * omega / (-xi * k + (1.0 + e) * (omega * omega - 1.0 + 2.0 * zeta * rho));
    (k, rho, gain, doubling)
}

#[test]
fn the_impact_oscillator_folds_onto_its_saddle_and_grazes_where_the_closed_forms_say() {
    let found = branch("impact_oscillator", &[], "", "2*pi/omega", "F", [1.1, 0.5], false);
    let (_, rho, gain, _) = closed(0.05, 1.6, 0.8, 1.0);
    let fold = rho.abs() / 1.6_f64.hypot(rho) / gain;
    assert!(
        (value(&found, SpecialKind::Fold) - fold).abs() < 1e-10,
        "{} {fold}",
        value(&found, SpecialKind::Fold)
    );
    let found = branch("impact_oscillator", &[], "", "2*pi/omega", "F", [1.7, 0.5], false);
    let grazing = value(&found, SpecialKind::Grazing);
    assert!((grazing - 1.0 / gain).abs() < 1e-10, "{grazing} {}", 1.0 / gain);
    // Stable before the fold, a saddle after it: orbits of both kinds at one force.
    let at =
        |stable: bool| found.points.iter().any(|p| p.orbit.stable == stable && (0.6..1.1).contains(&p.value));
    assert!(at(true) && at(false));
}

#[test]
fn the_impact_oscillator_doubles_where_the_closed_form_says_and_goes_on_with_two_impacts() {
    let set = ["omega=2.63", "e_n=0.7", "F=2"];
    let start = "x=0.66,x'=1.2";
    let found = branch("impact_oscillator", &set, start, "4*pi/omega", "F", [2.0, 3.0], false);
    let (_, rho, gain, a) = closed(0.05, 2.63, 0.7, 2.0);
    let doubling = (1.0 - a).hypot(a * rho / 2.63) / gain;
    let located = value(&found, SpecialKind::PeriodDoubling);
    assert!((located - doubling).abs() < 1e-10, "{located} {doubling}");
    let twice = branch("impact_oscillator", &set, start, "4*pi/omega", "F", [2.0, 3.0], true);
    let last = twice
        .points
        .iter()
        .find(|p| (p.value - doubling).abs() > 0.005)
        .expect("the doubled branch is followed");
    assert_eq!(last.orbit.impacts.len(), 2);
    assert!((last.orbit.period - 8.0 * PI / 2.63).abs() < 1e-12);
    assert!(last.orbit.warnings.is_empty(), "{:?}", last.orbit.warnings);
}

/// x'' + 2ζx' + x = F cos ωt in closed form from (x, v) at t, and the next impact at x = 1: nothing of carom.
struct Oscillator {
    zeta: f64,
    omega: f64,
    force: f64,
}

impl Oscillator {
    fn forced(&self, t: f64) -> (f64, f64) {
        let (a, b) = (1.0 - self.omega * self.omega, 2.0 * self.zeta * self.omega);
        let (s, c) = (self.omega * t).sin_cos();
        let size = self.force / (a * a + b * b);
        (size * (a * c + b * s), size * self.omega * (-a * s + b * c))
    }

    fn leg(&self, x: f64, v: f64, from: f64, to: f64) -> (f64, f64) {
        let own = (1.0 - self.zeta * self.zeta).sqrt();
        let (xp, vp) = self.forced(from);
        let a = x - xp;
        let b = (v - vp + self.zeta * a) / own;
        let (s, c) = (own * (to - from)).sin_cos();
        let decay = (-self.zeta * (to - from)).exp();
        let (xp, vp) = self.forced(to);
        let y = decay * (a * c + b * s);
        (xp + y, vp - self.zeta * y + decay * own * (b * c - a * s))
    }

    /// The state after a while, with impacts.
    fn after(&self, mut state: (f64, f64), from: f64, to: f64, e: f64) -> (f64, f64) {
        let (mut t, step) = (from, 1e-3);
        loop {
            let (start, begin) = (state, t);
            let mut next = t;
            let gap = |at: f64| 1.0 - self.leg(start.0, start.1, begin, at).0;
            while next < to && (gap(next) > 0.0 || next == begin) {
                next += step;
            }
            if next >= to && gap(to) > 0.0 {
                return self.leg(start.0, start.1, begin, to);
            }
            let (mut low, mut high) = (next - step, next.min(to));
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if gap(middle) > 0.0 { low = middle } else { high = middle }
            }
            let hit = self.leg(start.0, start.1, begin, low);
            (state, t) = ((hit.0, -e * hit.1), low);
        }
    }
}

#[test]
fn orbits_of_the_doubled_branch_return_after_two_rounds_and_not_after_one() {
    let set = ["omega=2.63", "e_n=0.7", "F=2"];
    let twice = branch("impact_oscillator", &set, "x=0.66,x'=1.2", "4*pi/omega", "F", [2.0, 3.0], true);
    let mut checked = 0;
    for point in &twice.points {
        let by_hand = Oscillator { zeta: 0.05, omega: 2.63, force: point.value };
        let state = (point.orbit.state[0].1, point.orbit.state[1].1);
        let round = point.orbit.period / 2.0;
        assert!((round - 4.0 * PI / 2.63).abs() < 1e-12);
        let once = by_hand.after(state, point.orbit.at_time, point.orbit.at_time + round, 0.7);
        let back = by_hand.after(state, point.orbit.at_time, point.orbit.at_time + 2.0 * round, 0.7);
        let distance = |a: (f64, f64)| (a.0 - state.0).hypot(a.1 - state.1);
        assert!(distance(back) < 1e-9, "F = {}: {state:?} {back:?}", point.value);
        assert!(distance(once) > 1e-3, "F = {}: {state:?} {once:?}", point.value);
        checked += 1;
    }
    assert!(checked >= 5, "{checked} of {}", twice.points.len());
}

fn gait(model: &str, range: [f64; 2]) -> f64 {
    let found = ask(&gallery(model), &[], "", |subject| {
        let request = Request::new(Return::section(subject.mechanics, "heelstrike").unwrap());
        follow(subject, &request, "gamma", range, false).unwrap_or_else(|r| panic!("{r}"))
    });
    value(&found, SpecialKind::PeriodDoubling)
}

#[test]
fn the_simplest_walker_limps_beyond_its_published_slope() {
    let found = gait("simplest_walker", [0.009, 0.0165]);
    assert!((found - 0.0151).abs() < 1e-4, "{found}");
}

#[test]
fn the_compass_gait_limps_beyond_its_published_slope() {
    let found = gait("compass_gait", [0.0524, 0.078]);
    assert!((found - 0.0766).abs() < 2e-4, "{found}");
}

#[test]
fn a_branch_goes_to_the_end_of_the_range_where_nothing_lies_beyond_it() {
    // Restitutions beyond 1 are refused, and 1 itself is not.
    let found = branch("impact_oscillator", &[], "", "2*pi/omega", "e_n", [0.5, 1.0], false);
    assert!(found.special.iter().all(|s| s.kind != SpecialKind::End), "{:?}", found.special);
    assert_eq!(found.points[found.points.len() - 1].value, 1.0);
}

/// After a step ω² = cot²2α (4g/l) sin α sin γ is left, and 2(g/l)(1 − cos(γ − α)) is needed to pass the top.
#[test]
fn a_rimless_wheel_that_cannot_pass_its_top_ends_the_branch_and_the_orbits_before_are_kept() {
    let found = ask(&gallery("rimless_wheel"), &[], "", |subject| {
        let request = Request::new(Return::section(subject.mechanics, "forward").unwrap());
        follow(subject, &request, "gamma", [0.4, 0.05], false).unwrap_or_else(|r| panic!("{r}"))
    });
    let (alpha, mut slopes) = (PI / 8.0, [0.0, PI / 8.0]);
    for _ in 0..60 {
        let gamma: f64 = 0.5 * (slopes[0] + slopes[1]);
        let left = 2.0 * (2.0 * alpha).tan().powi(-2) * alpha.sin() * gamma.sin();
        slopes[usize::from(left > 1.0 - (gamma - alpha).cos())] = gamma;
    }
    let end = value(&found, SpecialKind::End);
    assert!(end >= slopes[0] && end - slopes[0] < 1e-4, "{end} {}", slopes[0]);
    assert_eq!(found.points[0].value, 0.4);
    assert!(found.points.len() > 20);
}
