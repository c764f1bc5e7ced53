//! Dense output against samples: the same bits at the same times, whatever happens around them.

use carom::{Model, Motion, Side, gallery};

/// Times of a run: even ones, odd ones, and those of everything that happens.
fn times(motion: &Motion, count: usize) -> Vec<f64> {
    let (from, until) = (motion.time()[0], motion.stop().time);
    let mut all: Vec<f64> = (0..=count)
        .map(|k| from + (until - from) * (k as f64 / count as f64).powf(1.25))
        .filter(|t| *t <= until)
        .collect();
    all.extend(motion.impacts().take(20).map(|impact| impact.time()));
    all.extend(motion.events().take(20).map(|event| event.time()));
    all.extend(motion.contacts().flat_map(|contact| [Some(contact.from()), contact.to()]).flatten());
    all.retain(|t| (from..=until).contains(t));
    all
}

fn compare(model: &Model, step: Option<f64>) {
    let mut options = model.options();
    options.dense(true).max_impacts(300).max_steps(20_000);
    if let Some(step) = step {
        options.rk4(step).until(1.0);
    }
    let motion = model.simulate(&options).unwrap();
    let times = times(&motion, 40);
    let sampled = model.simulate(options.at(times.clone())).unwrap();
    assert_eq!(sampled.time(), times, "{}", model.name());
    let columns = sampled.columns();
    for (k, &t) in times.iter().enumerate() {
        let state = motion.at(t).unwrap();
        for ((name, value), (column, values)) in state.columns().iter().zip(&columns) {
            assert_eq!(name, column);
            let same = value.to_bits() == values[k].to_bits() || (value.is_nan() && values[k].is_nan());
            assert!(same, "{}: {name} at {t}: {value} is not the sample {}", model.name(), values[k]);
        }
    }
}

#[test]
fn at_the_time_of_a_sample_dense_output_is_the_sample_to_the_bit() {
    for entry in gallery::all() {
        compare(&Model::gallery(entry.name).unwrap(), None);
    }
}

#[test]
fn the_fixed_step_method_has_dense_output_too() {
    for name in
        ["double_pendulum_wall", "bouncing_mass", "ball_restitution", "rolling_disk", "pendulum_hamiltonian"]
    {
        compare(&Model::gallery(name).unwrap(), Some(0.01));
    }
}

#[test]
fn an_impact_has_two_sides_and_they_are_those_of_its_record() {
    for name in ["double_pendulum_wall", "jack_in_box", "newtons_cradle", "circular_billiard", "kepler_wall"]
    {
        let model = Model::gallery(name).unwrap();
        let motion = model.simulate(model.options().dense(true).max_impacts(100)).unwrap();
        let impacts: Vec<_> = motion.impacts().collect();
        // The time of an impact is rounded: within that rounding the state moves on by its rate, taken over 1e-6.
        let close = |quantity: &str, t: f64, value: f64, side: Side| {
            let found = motion.at_side(t, side).unwrap().get(quantity).unwrap();
            let away = if side == Side::Before { -1e-6 } else { 1e-6 };
            let Ok(later) = motion.at_side(t + away, side) else { return };
            let rate = (later.get(quantity).unwrap() - found).abs() / 1e-6;
            let allowed = 4.0 * f64::EPSILON * (found.abs() + value.abs() + rate * t.abs().max(1.0));
            assert!((found - value).abs() <= allowed, "{name}: {quantity} at {t}: {found}, not {value}");
        };
        for (k, impact) in impacts.iter().enumerate() {
            // Several impacts at one time: the first has the side before, the last the side after.
            let apart = |other: Option<&carom::Impact<'_>>| {
                other.is_none_or(|other| (other.time() - impact.time()).abs() > 1e-5)
            };
            let (first, last) =
                (apart(k.checked_sub(1).and_then(|k| impacts.get(k))), apart(impacts.get(k + 1)));
            for c in model.coordinates() {
                let t = impact.time();
                let rate = format!("{c}'");
                if first {
                    close(c, t, impact.position(c).unwrap(), Side::Before);
                    close(&rate, t, impact.velocity_before(c).unwrap(), Side::Before);
                }
                if last && t < motion.stop().time {
                    close(c, t, impact.position(c).unwrap(), Side::After);
                    close(&rate, t, impact.velocity_after(c).unwrap(), Side::After);
                }
            }
        }
        assert!(!impacts.is_empty(), "{name}");
    }
}

#[test]
fn between_samples_it_is_the_closed_form() {
    let model = Model::builder()
        .coordinates(["x"])
        .lagrangian("x'^2/2 - x^2/2")
        .start("x", 1.0)
        .until(20.0)
        .build()
        .unwrap();
    let motion = model.simulate(model.options().dense(true).samples(2)).unwrap();
    for k in 0..1000 {
        let t = 0.02 * f64::from(k) + 0.001;
        let state = motion.at(t).unwrap();
        // Rounding of some hundred steps of size 1e-16 each.
        assert!((state.position("x").unwrap() - t.cos()).abs() < 1e-14, "{t}");
        assert!((state.velocity("x'").unwrap() + t.sin()).abs() < 1e-14, "{t}");
    }
    assert!(motion.at(-0.1).is_err() && motion.at(20.1).is_err() && motion.at(f64::NAN).is_err());
}

#[test]
fn a_start_on_a_wall_has_a_side_before_its_first_impact() {
    let model = Model::builder()
        .coordinates(["x"])
        .kinetic("x'^2/2")
        .wall("left", "x")
        .start("x'", -2.0)
        .until(1.0)
        .build()
        .unwrap();
    let motion = model.simulate(model.options().dense(true)).unwrap();
    assert_eq!(motion.at_side(0.0, Side::Before).unwrap().velocity("x").unwrap(), -2.0);
    assert_eq!(motion.at(0.0).unwrap().velocity("x").unwrap(), 2.0);
    assert_eq!(motion.at(0.25).unwrap().position("x").unwrap(), 0.5);
}
