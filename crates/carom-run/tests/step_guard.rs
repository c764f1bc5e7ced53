//! Forces that are nothing to all orders here and everything a little further: none is passed unseen.

mod common;

use common::{close, run_at, signal};

/// A particle of mass 1 in a potential, started at x with velocity v: (x, v) at a time.
fn particle(potential: &str, x: f64, v: f64, time: f64) -> (f64, f64) {
    let text = format!(
        "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"{potential}\"\n[start]\nposition = {{ x = {x:?} }}\nvelocity = {{ x = {v:?} }}\n[run]\nuntil = {time:?}\n"
    );
    let motion = run_at(&text, &[time]);
    (signal(&motion.position, "x")[0], signal(&motion.velocity, "x")[0])
}

#[test]
fn what_comes_from_far_is_thrown_back_with_its_speed() {
    for (potential, x, v, time) in [
        ("1/x^12", 100.0, -1.0, 200.0),
        ("1/x^24", 100.0, -1.0, 200.0),
        ("1/x^4", 1e5, -1.0, 2e5),
        ("exp(30*x)", -50.0, 1.0, 100.0),
        ("2^(20*x)", -50.0, 1.0, 100.0),
        ("0.8/cosh(5*x)^2", -40.0, 1.0, 80.0),
        ("0.3*tanh(50*x)", -40.0, 1.0, 80.0),
        ("2/(1 + exp(-20*x))", -30.0, 1.0, 60.0),
        ("2*exp(-100*x^2)", -40.0, 1.0, 80.0),
    ] {
        // tanh is −1 in front of the step: the height is what counts, and 0.6 > v²/2.
        let (end, speed) = particle(potential, x, v, time);
        assert!(end * x > 0.0, "{potential}: passed, {end}");
        close(speed, -v, 2e-13);
    }
}

#[test]
fn a_particle_between_steep_powers_keeps_its_energy() {
    for n in [16, 20, 50, 200] {
        for time in [3.0, 20.0] {
            let (x, v) = particle(&format!("x^{n}"), 0.1, 1.0, time);
            // A rounding of x at a turn is n-fold in the energy; there are ten turns.
            let allowed = 1e-13 + 10.0 * f64::EPSILON * f64::from(n);
            close(v * v / 2.0 + x.powi(n), 0.5 + 0.1f64.powi(n), allowed);
        }
    }
}

#[test]
fn smoothed_friction_stops_a_block_where_the_closed_form_does() {
    // v' = −μ tanh(v/ε):  sinh(v/ε) = sinh(v₀/ε) exp(−μ t/ε).
    let (mu, v0) = (0.3, 1.0);
    for epsilon in [0.1, 1e-2, 1e-3] {
        let text = format!(
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[force.friction]\ngeneralized = {{ x = \"-{mu}*tanh(x'/{epsilon})\" }}\n[start]\nvelocity = {{ x = {v0:?} }}\n[run]\nuntil = 5.0\n"
        );
        // Sliding, nearly at rest, at rest.
        let times = [2.0, (v0 - epsilon) / mu, 5.0];
        let motion = run_at(&text, &times);
        for (t, v) in times.iter().zip(signal(&motion.velocity, "x")) {
            let log = v0 / epsilon + (0.5 * (1.0 - (-2.0 * v0 / epsilon).exp())).ln() - mu * t / epsilon;
            let wanted = if log > 30.0 { log + 2f64.ln() } else { log.exp().asinh() };
            close(*v, epsilon * wanted, 1e-13);
        }
    }
}

#[test]
fn an_oscillator_with_smoothed_friction_agrees_with_small_steps_of_another_method() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[force.friction]\ngeneralized = { x = \"-0.3*tanh(x'/0.01)\" }\n[start]\nposition = { x = 2 }\n[run]\nuntil = 20.0\n";
    let series = run_at(text, &[20.0]);
    let fixed = run_at(&format!("{text}method = \"rk4\"\nstep = 2e-4\n"), &[20.0]);
    let at = |motion: &carom_run::Motion| signal(&motion.position, "x")[0];
    // An implicit method of another program, to its own tolerance of 1e-10.
    close(at(&series), -0.134_638_503, 1e-8);
    close(at(&series), at(&fixed), 1e-9);
}
