//! Results do not depend on the units: everything in other ones is the same, to rounding.

mod common;

use carom_insight::fit::{Data, Fit};
use carom_insight::{Request, Return, SpecialKind, follow};
use carom_mech::{Draft, derive_equations};
use carom_run::{Options, Program};
use common::{ask, forced_orbit, section_orbit};

/// The impact oscillator with lengths in units 1/l and times in units 1/t.
fn oscillator(l: f64, t: f64) -> String {
    format!(
        "coordinates = [\"x\"]\n[parameters]\nzeta = {}\nk = {}\nomega = {}\nF = {}\nsigma = {l}\ne_n = 0.8\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n\
         dissipation = \"zeta*x'^2\"\n[force.drive]\ngeneralized = {{ x = \"F*cos(omega*t)\" }}\n[wall.stop]\ngap = \"sigma - x\"\nrestitution = \"e_n\"\n\
         [start]\nposition = {{ x = {} }}\nvelocity = {{ x = {} }}\n[run]\nuntil = {}\n",
        0.05 / t,
        1.0 / (t * t),
        1.6 / t,
        l / (t * t),
        -0.96 * l,
        3.48 * l / t,
        40.0 * t
    )
}

/// A pendulum and a ball beside it, off its wall: energy held, two kinds of coordinates.
fn billiard(l: f64, t: f64) -> String {
    format!(
        "coordinates = [\"x\", \"y\"]\n[parameters]\na = {l}\nb = {}\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[wall.rim]\ngap = \"1 - x^2/a^2 - y^2/b^2\"\n\
         [start]\nposition = {{ x = {}, y = {} }}\nvelocity = {{ x = {}, y = {} }}\n[run]\nuntil = {}\n",
        0.8 * l,
        0.1 * l,
        0.001 * l,
        l / t,
        0.0005 * l / t,
        20.0 * t
    )
}

const UNITS: [(f64, f64); 3] =
    [(1.0, 1.0), (1_048_576.0, 0.000_976_562_5), (9.313_225_746_154_785e-10, 4096.0)];

#[test]
fn orbits_and_their_multipliers_do_not_depend_on_the_units() {
    let orbits: Vec<_> = UNITS
        .iter()
        .map(|&(l, t)| {
            forced_orbit(&oscillator(l, t), &[], "", "2*pi/omega", false)
                .unwrap_or_else(|r| panic!("{l} {t}: {r}"))
        })
        .collect();
    for (orbit, (l, t)) in orbits.iter().zip(UNITS) {
        let expected = &orbits[0];
        assert!((orbit.state[0].1 / l - expected.state[0].1).abs() < 1e-11, "{l} {t}");
        assert!((orbit.state[1].1 * t / l - expected.state[1].1).abs() < 1e-11, "{l} {t}");
        for (a, b) in orbit.multipliers.iter().zip(&expected.multipliers) {
            assert!((a[0] - b[0]).abs() < 1e-10 && (a[1] - b[1]).abs() < 1e-10, "{l} {t}");
        }
    }
    let orbits: Vec<_> = UNITS
        .iter()
        .map(|&(l, t)| {
            ask(&billiard(l, t), &[], "", |subject| {
                let mut request = Request::new(Return::section(subject.mechanics, "rim").unwrap());
                request.count = 2;
                carom_insight::orbit(subject, &request).unwrap_or_else(|r| panic!("{l} {t}: {r}"))
            })
        })
        .collect();
    for (orbit, (l, t)) in orbits.iter().zip(UNITS) {
        assert_eq!(orbit.invariants, ["energy"]);
        assert!((orbit.period / t - orbits[0].period).abs() < 1e-10, "{l} {t}");
        let sum: f64 = orbit.multipliers.iter().map(|z| z[0]).sum();
        let trace = 4.0 * (1.0 - 2.0 / 0.64_f64).powi(2) - 2.0;
        assert!((sum / trace - 1.0).abs() < 1e-9, "{l} {t}: {sum} {trace}");
    }
    assert!(section_orbit(&billiard(1.0, 1.0), &[], "", "rim", false).is_err(), "one bounce is no orbit");
}

#[test]
fn branches_do_not_depend_on_the_units() {
    for (l, t) in UNITS {
        let unit = l / (t * t);
        let found = ask(&oscillator(l, t), &[], "", |subject| {
            let request = Request::new(Return::period(subject.mechanics, "2*pi/omega").unwrap());
            follow(subject, &request, "F", [1.1 * unit, 0.5 * unit], false)
                .unwrap_or_else(|r| panic!("{l} {t}: {r}"))
        });
        let fold = found.special.iter().find(|s| s.kind == SpecialKind::Fold).expect("a fold");
        assert!((fold.value / unit - 0.553_304_085_500_901_4).abs() < 1e-9, "{l} {t}: {}", fold.value / unit);
    }
}

#[test]
fn fits_do_not_depend_on_the_units() {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for (l, t) in UNITS {
        let text = oscillator(l, t);
        let (model, _) = Draft::parse(&text, "model.toml").0.check().unwrap_or_else(|e| panic!("{e:?}"));
        let mechanics = derive_equations(model).unwrap();
        let program = Program::compile(&mechanics).unwrap();
        let names = ["F".to_owned(), "zeta".to_owned()];
        let place = |name: &str| mechanics.model.parameters.iter().position(|p| p.name == name).unwrap();
        let options = |theta: &[f64]| {
            let mut o = Options::of(&mechanics.model);
            (o.parameters[place("F")], o.parameters[place("zeta")]) = (theta[0], theta[1]);
            Ok::<Options, String>(o)
        };
        // Not quite the motion: residuals stay.
        let values: Vec<(f64, f64)> = (1..=30)
            .map(|k| 0.13 * f64::from(k))
            .map(|s| (s * t, l * (-0.9 * (1.6 * s).cos() + 0.01 * (7.0 * s).sin())))
            .collect();
        let data = Data { signals: vec![("x".to_owned(), values)], impacts: Vec::new() };
        let fit = Fit::new(&mechanics, &program, &names, &data, &options).unwrap();
        let found = fit.run(&[l / (t * t), 0.05 / t]).unwrap_or_else(|r| panic!("{l} {t}: {r}"));
        let unit = [l / (t * t), 1.0 / t];
        let scaled = |values: &[f64]| -> Vec<f64> { values.iter().zip(unit).map(|(x, u)| x / u).collect() };
        all.push(
            [scaled(&found.parameters), scaled(&found.standard_errors), vec![found.cost / (l * l)]].concat(),
        );
    }
    for other in &all[1..] {
        for (a, b) in all[0].iter().zip(other) {
            assert!((a / b - 1.0).abs() < 1e-7, "{all:?}");
        }
    }
}
