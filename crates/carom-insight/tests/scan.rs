//! Scans against closed forms.

use carom_insight::scan::{KeptCrossings, Scan, attractors};
use carom_insight::{Return, Section};
use carom_mech::{Draft, Mechanics, derive_equations};
use carom_run::{Options, Program};

fn prepared(text: &str) -> (Mechanics, Program, Options) {
    let (model, _) = Draft::parse(text, "test.toml").0.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive_equations(model).unwrap();
    let program = Program::compile(&mechanics).unwrap();
    let options = Options::of(&mechanics.model);
    (mechanics, program, options)
}

fn run(scan: &Scan, program: &Program, options: &[Options]) -> Vec<KeptCrossings> {
    scan.run(program, options, &|| true, &|| None)
}

/// A ball on the table A sin ωt in its stable orbit of one bounce per period: it leaves with g π/ω, at the phase
/// cos ωt = π (1 − e)/((1 + e) Γ), Γ = A ω²/g.
#[test]
fn a_ball_on_a_vibrating_table_settles_into_one_bounce_per_period() {
    let text = include_str!("../../../models/vibrating_table.toml");
    let (mechanics, program, base) = prepared(text);
    let (g, a, e) = (9.81, 0.05, 0.8);
    let place = |name: &str| mechanics.model.parameters.iter().position(|p| p.name == name).unwrap();
    let mut options = Vec::new();
    let mut expected = Vec::new();
    for k in 0..24 {
        let omega: f64 = 9.0 + 0.2 * f64::from(k);
        let gamma = a * omega * omega / g;
        let phase = (std::f64::consts::PI * (1.0 - e) / ((1.0 + e) * gamma)).acos();
        let mut o = base.clone();
        o.parameters[place("omega")] = omega;
        o.start.time = phase / omega;
        // A little off the orbit; multipliers of at most 0.8 in size forget that within 200 bounces.
        o.start.position = vec![Some(a * phase.sin() + 1e-6)];
        o.start.velocity = vec![Some(g * std::f64::consts::PI / omega * 1.0001)];
        o.until = o.start.time + 10.0;
        options.push(o);
        expected.push((phase, g * std::f64::consts::PI / omega, 2.0 * std::f64::consts::PI / omega));
    }
    let wall = Return::section(&mechanics, "table").unwrap();
    let kept = run(&Scan::new(&mechanics, wall, 300, 5).unwrap(), &program, &options);
    for (kept, (phase, speed, period)) in kept.iter().zip(&expected) {
        let kept = kept.as_ref().unwrap();
        assert_eq!(kept.len(), 5);
        for crossing in kept {
            assert!((crossing.velocity[0] - speed).abs() < 1e-9 * speed, "{crossing:?} {speed}");
            assert!((crossing.position[0] - a * phase.sin()).abs() < 1e-9, "{crossing:?} {phase}");
        }
        for pair in kept.windows(2) {
            assert!((pair[1].time - pair[0].time - period).abs() < 1e-9);
        }
    }
    // Once a period the same motions are where they were a period ago.
    let strobe = Return::period(&mechanics, "2*pi/omega").unwrap();
    let kept = run(&Scan::new(&mechanics, strobe, 300, 4).unwrap(), &program, &options);
    for (kept, (_, _, period)) in kept.iter().zip(&expected) {
        let kept = kept.as_ref().unwrap();
        assert_eq!(kept.len(), 4);
        for pair in kept.windows(2) {
            assert!((pair[1].time - pair[0].time - period).abs() < 1e-10);
            assert!((pair[1].position[0] - pair[0].position[0]).abs() < 1e-8);
        }
    }
}

/// x″ = x − x³ − c x′ has two wells: where a start ends is where its energy leaves it.
#[test]
fn two_wells_are_two_attractors() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^4/4 - x^2/2\"\ndissipation = \"x'^2/2\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 10\n";
    let (mechanics, program, base) = prepared(text);
    let starts = [-1.2, -0.6, 0.4, 0.9, 1.3, -0.1];
    let options: Vec<Options> = starts
        .iter()
        .map(|&x| {
            let mut o = base.clone();
            o.start.position = vec![Some(x)];
            o
        })
        .collect();
    let strobe = Return::period(&mechanics, "1").unwrap();
    let kept = run(&Scan::new(&mechanics, strobe, 60, 4).unwrap(), &program, &options);
    for (x, kept) in starts.iter().zip(&kept) {
        let end = kept.as_ref().unwrap()[3].position[0];
        assert!((end - x.signum()).abs() < 1e-6, "{x} ended at {end}");
    }
    assert_eq!(attractors(&kept, &[]), [Some(0), Some(0), Some(1), Some(1), Some(1), Some(0)]);
}

#[test]
fn what_cannot_be_scanned_is_refused_with_a_way_out() {
    let (mechanics, program, base) = prepared(include_str!("../../../models/vibrating_table.toml"));
    for (name, hint) in [("tabel", "did you mean `table`?"), ("nothing", "the model has table")] {
        let refusal = Return::section(&mechanics, name).unwrap_err();
        assert!(refusal.is_wrong_request() && refusal.hint == hint, "{refusal:?}");
    }
    for (text, says) in [
        ("2*pi/omga", "unknown name `omga` in the period"),
        ("2*pi/", "--period"),
        ("-1", "must be positive"),
        ("0", "must be positive"),
        ("y", "unknown name `y` in the period"),
    ] {
        let refusal = Return::period(&mechanics, text)
            .and_then(|returns| Scan::new(&mechanics, returns, 0, 1))
            .unwrap_err();
        assert!(refusal.message.contains(says) && !refusal.hint.is_empty(), "{refusal:?}");
    }
    // Whose crossings would be counted?
    let both = "coordinates = [\"y\"]\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"y\"\n[wall.floor]\ngap = \"y\"\n[event.floor]\nwhen = \"y - 1\"\n[start]\nposition = { y = 2 }";
    let refusal = Return::section(&prepared(both).0, "floor").unwrap_err();
    assert_eq!(refusal.message, "`floor` is an event and a wall: which one is the section?");
    // A ball thrown up so fast that it does not come back in time.
    let mut options = base;
    options.start.velocity = vec![Some(1e6)];
    options.until = 1.0;
    let scan = Scan::new(&mechanics, Return::Section(Section::Wall(0)), 0, 1).unwrap();
    let kept = run(&scan, &program, &[options]);
    assert!(kept[0].as_ref().unwrap_err().contains("never crossed"), "{kept:?}");
}
