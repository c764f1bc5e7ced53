//! Fits against closed forms: a ball dropped from the height h with restitution e.
//!
//! ```text
//! τ_1 = √(2h/g),   τ_{k+1} = τ_k + 2 e^k √(2h/g),     y(t) = v_k s − g s²/2,  s = t − τ_k,  v_k = e^k √(2 g h)
//! ```

use carom_expr::Random;
use carom_insight::fit::{Data, Fit};
use carom_mech::{Draft, Mechanics, Start, derive_equations};
use carom_run::{Options, Program};

const MODEL: &str = "coordinates = [\"y\"]\ngravity = [0.0, \"-g\"]\n[parameters]\nm = 1.0\ng = 9.81\ne_n = 0.8\nh = 1.0\ntwice = \"2*h\"\n\
    [body.ball]\nmass = \"m\"\nat = [\"0\", \"y\"]\n[wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = \"h\" }\n[output]\nraised = \"y + twice\"\n[run]\nuntil = 5\n";

const G: f64 = 9.81;

/// τ_k with its derivatives by e and h.
fn impact(k: usize, e: f64, h: f64) -> (f64, [f64; 2]) {
    let fall = (2.0 * h / G).sqrt();
    let (mut sum, mut slope) = (1.0, 0.0);
    for j in 1..k {
        sum += 2.0 * e.powi(j as i32);
        slope += 2.0 * j as f64 * e.powi(j as i32 - 1);
    }
    (fall * sum, [fall * slope, sum * fall / (2.0 * h)])
}

/// y(t) with its derivatives by e and h.
fn height(t: f64, e: f64, h: f64) -> (f64, [f64; 2]) {
    if t <= impact(1, e, h).0 {
        return (h - 0.5 * G * t * t, [0.0, 1.0]);
    }
    let k = (1..).take_while(|&k| impact(k, e, h).0 <= t).last().unwrap();
    let (tau, by) = impact(k, e, h);
    let s = t - tau;
    let v = e.powi(k as i32) * (2.0 * G * h).sqrt();
    let dv = [k as f64 * v / e, v / (2.0 * h)];
    let y = v * s - 0.5 * G * s * s;
    let slope = |i: usize| dv[i] * s - (v - G * s) * by[i];
    (y, [slope(0), slope(1)])
}

fn prepared() -> (Mechanics, Program) {
    let (model, _) = Draft::parse(MODEL, "ball.toml").0.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive_equations(model).unwrap();
    let program = Program::compile(&mechanics).unwrap();
    (mechanics, program)
}

/// Options with other values of e_n and h; the start and `twice` follow.
fn options(mechanics: &Mechanics) -> impl Fn(&[f64]) -> Result<Options, String> + '_ {
    move |theta: &[f64]| {
        if !(0.0..=1.0).contains(&theta[0]) || theta[1] <= 0.0 {
            return Err("not a ball".to_owned());
        }
        let mut o = Options::of(&mechanics.model);
        for (name, value) in [("e_n", theta[0]), ("h", theta[1]), ("twice", 2.0 * theta[1])] {
            let i = mechanics.model.parameters.iter().position(|p| p.name == name).unwrap();
            o.parameters[i] = value;
        }
        o.start = Start { position: vec![Some(theta[1])], ..o.start };
        Ok(o)
    }
}

fn names() -> Vec<String> {
    vec!["e_n".to_owned(), "h".to_owned()]
}

/// Normal, by Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (random.unit().max(f64::MIN_POSITIVE), random.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[test]
fn cost_and_gradient_are_those_of_the_closed_form() {
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let mut random = Random(5);
    let samples: Vec<(f64, f64)> = (1..=40)
        .map(|k| {
            let t = 0.06 * f64::from(k) + 0.003;
            (t, height(t, 0.8, 1.0).0 + 0.01 * normal(&mut random))
        })
        .collect();
    let times: Vec<f64> = (1..=6).map(|k| impact(k, 0.8, 1.0).0 + 0.002 * normal(&mut random)).collect();
    let raised: Vec<(f64, f64)> = samples.iter().map(|(t, y)| (*t, y + 2.0)).collect();
    let data = Data {
        signals: vec![("y".to_owned(), samples.clone()), ("raised".to_owned(), raised.clone())],
        impacts: vec![("floor".to_owned(), times.clone())],
    };
    let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
    for (e, h) in [(0.8, 1.0), (0.78, 1.03), (0.83, 0.96)] {
        let (cost, gradient) = fit.value_and_gradient(&[e, h]).unwrap();
        let mut expected = (0.0, [0.0, 0.0]);
        let mut add = |(value, by): (f64, [f64; 2]), measured: f64| {
            let r = value - measured;
            expected.0 += 0.5 * r * r;
            (0..2).for_each(|i| expected.1[i] += r * by[i]);
        };
        samples.iter().for_each(|(t, y)| add(height(*t, e, h), *y));
        raised.iter().for_each(|(t, y)| {
            let (value, by) = height(*t, e, h);
            add((value + 2.0 * h, [by[0], by[1] + 2.0]), *y);
        });
        times.iter().enumerate().for_each(|(k, t)| add(impact(k + 1, e, h), *t));
        let size = expected.1[0].abs().max(expected.1[1].abs());
        assert!((cost - expected.0).abs() <= 1e-10 * expected.0, "{cost} {expected:?}");
        for i in 0..2 {
            assert!(
                (gradient[i] - expected.1[i]).abs() <= 1e-10 * size,
                "{e} {h}: {gradient:?} {expected:?}"
            );
        }
    }
}

/// What was measured in a trial.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Measured {
    Samples,
    Impacts,
    Both,
}

/// e and h with their standard errors from impact times, by Gauss and Newton on the closed form.
fn by_hand(times: &[f64]) -> [[f64; 2]; 2] {
    let mut theta = [0.79, 1.02];
    loop {
        let (mut a, mut g, mut squares) = ([0.0; 3], [0.0; 2], 0.0);
        for (k, t) in times.iter().enumerate() {
            let (tau, by) = impact(k + 1, theta[0], theta[1]);
            let r = tau - t;
            squares += r * r;
            (0..2).for_each(|i| g[i] += r * by[i]);
            (a[0], a[1], a[2]) = (a[0] + by[0] * by[0], a[1] + by[0] * by[1], a[2] + by[1] * by[1]);
        }
        let det = a[0] * a[2] - a[1] * a[1];
        let step = [(a[1] * g[1] - a[2] * g[0]) / det, (a[1] * g[0] - a[0] * g[1]) / det];
        (0..2).for_each(|i| theta[i] += step[i]);
        if step[0].abs().max(step[1].abs()) < 1e-12 {
            let variance = squares / (times.len() - 2) as f64;
            return [theta, [(variance * a[2] / det).sqrt(), (variance * a[0] / det).sqrt()]];
        }
    }
}

/// How often e and h lie within their 95 % intervals, and within one standard error, in fits to fresh noise: so many trials per seed.
fn coverage(measured: Measured, noise: f64, trials: usize, seeds: &[u64]) -> [[usize; 2]; 2] {
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let mut random = Random(seeds[0]);
    let mut within = [[0; 2]; 2];
    for trial in 0..trials * seeds.len() {
        if trial.is_multiple_of(trials) {
            random = Random(seeds[trial / trials]);
        }
        let mut data = Data::default();
        if measured != Measured::Samples {
            let times = (1..=8).map(|k| impact(k, 0.8, 1.0).0 + 0.003 * normal(&mut random)).collect();
            data.impacts.push(("floor".to_owned(), times));
        }
        if measured != Measured::Impacts {
            let point = |k: i32| 0.05 * f64::from(k) + 0.011;
            let noisy = |t: f64, drawn: f64| (t, height(t, 0.8, 1.0).0 + noise * drawn);
            let points = (1..=48).map(|k| noisy(point(k), normal(&mut random))).collect();
            data.signals.push(("y".to_owned(), points));
        }
        let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
        let found = fit.run(&[0.79, 1.02]).unwrap();
        assert!(
            found.unidentified.is_empty() && found.impacts.iter().all(|i| i.matched == i.data),
            "{found:?}"
        );
        if measured == Measured::Impacts {
            let [values, errors] = by_hand(&data.impacts[0].1);
            for i in 0..2 {
                assert!((found.parameters[i] - values[i]).abs() < 1e-7, "{found:?} {values:?}");
                assert!((found.standard_errors[i] / errors[i] - 1.0).abs() < 1e-5, "{found:?} {errors:?}");
            }
        }
        for (i, truth) in [0.8, 1.0].into_iter().enumerate() {
            let [low, high] = found.intervals[i];
            within[i][0] += usize::from((low..=high).contains(&truth));
            within[i][1] += usize::from((found.parameters[i] - truth).abs() <= found.standard_errors[i]);
        }
    }
    println!(
        "{measured:?}, {noise}: of {trials} for each of {seeds:?}, e and h within the 95 % interval and within one standard error: {within:?}"
    );
    within
}

/// Counts of a hundred chances are binomial: p n ± three standard deviations.
fn binomial(count: usize, trials: usize, p: f64) -> bool {
    let n = trials as f64;
    (count as f64 - p * n).abs() <= 3.0 * (n * p * (1.0 - p)).sqrt()
}

/// P(|T| ≤ 1): within one standard error with ν degrees of freedom, ν even.
fn within_one(nu: i32) -> f64 {
    let c2 = f64::from(nu) / f64::from(nu + 1);
    let (mut term, mut sum) = (1.0, 1.0);
    for k in (1..nu - 1).step_by(2) {
        term *= c2 * f64::from(k) / f64::from(k + 1);
        sum += term;
    }
    (1.0 - c2).sqrt() * sum
}

#[test]
fn fitted_values_are_off_by_what_their_standard_errors_say() {
    for (measured, nu) in [(Measured::Samples, 46), (Measured::Impacts, 6)] {
        for [interval, one] in coverage(measured, LARGE, 100, &[42]) {
            assert!(binomial(interval, 100, 0.95) && binomial(one, 100, within_one(nu)), "{measured:?}");
        }
    }
}

/// Noise of the samples: 3 mm; and so large that one cannot tell on which side of a bounce some of them lie: the cost has several
/// valleys, and the interval of e holds the truth 94.4 times of a hundred, that of h 94.8 times (record 0227).
const SMALL: f64 = 0.003;
const LARGE: f64 = 0.01;

/// The same with up to twenty times as many trials, where a count tells 95 from 93.5: 1900 ± 29. Several seeds: 2000 trials of the single
/// seed 7 have 1194 impact fits within one standard error where 1288 ± 21 are expected, by the closed form computed elsewhere as well.
#[test]
#[ignore = "some thousand fits"]
fn intervals_hold_the_truth_95_times_of_a_hundred() {
    let seeds = [1, 2, 3, 4];
    for (measured, noise, seeds, chances, nu) in [
        (Measured::Both, SMALL, &seeds[..2], [0.95, 0.95], 54),
        (Measured::Samples, SMALL, &seeds[..], [0.95, 0.95], 46),
        (Measured::Samples, LARGE, &seeds[..2], [0.944, 0.948], 46),
        (Measured::Impacts, SMALL, &seeds[..], [0.95, 0.95], 6),
    ] {
        let trials = 500 * seeds.len();
        for ([interval, one], chance) in coverage(measured, noise, 500, seeds).into_iter().zip(chances) {
            assert!(binomial(interval, trials, chance), "{measured:?} {noise}: {interval}");
            assert!(binomial(one, trials, within_one(nu)), "{measured:?} {noise}: {one} {}", within_one(nu));
        }
    }
}

#[test]
fn a_column_with_fewer_values_than_parameters_does_not_take_over() {
    // Two impact times can be met exactly by e and h, whatever the noise: their weight must not grow without bound.
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let mut random = Random(3);
    let point = |k: i32| 0.05 * f64::from(k) + 0.011;
    let points: Vec<(f64, f64)> =
        (1..=48).map(|k| (point(k), height(point(k), 0.8, 1.0).0 + 0.01 * normal(&mut random))).collect();
    // Off by 0.02, seven times what the samples leave open.
    let times = vec![impact(1, 0.8, 1.0).0 + 0.02, impact(2, 0.8, 1.0).0 - 0.02];
    let data = Data { signals: vec![("y".to_owned(), points)], impacts: vec![("floor".to_owned(), times)] };
    let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
    let found = fit.run(&[0.79, 1.02]).unwrap();
    for (value, truth) in found.parameters.iter().zip([0.8, 1.0]) {
        assert!((value - truth).abs() < 0.02, "{found:?}");
    }
    assert!(found.standard_errors.iter().all(|e| *e > 1e-4), "{found:?}");
}

#[test]
fn exact_data_is_met_exactly_from_far_away() {
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let times: Vec<f64> = (1..=7).map(|k| impact(k, 0.75, 0.9).0).collect();
    let data = Data { signals: Vec::new(), impacts: vec![("floor".to_owned(), times)] };
    let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
    let found = fit.run(&[0.5, 1.5]).unwrap();
    assert!(
        (found.parameters[0] - 0.75).abs() < 1e-10 && (found.parameters[1] - 0.9).abs() < 1e-10,
        "{found:?}"
    );
}

#[test]
fn what_the_data_does_not_determine_is_named() {
    let (mechanics, program) = prepared();
    let given = |theta: &[f64]| {
        let mut o = Options::of(&mechanics.model);
        o.parameters[0] = theta[0];
        o.parameters[1] = theta[1];
        Ok(o)
    };
    let points: Vec<(f64, f64)> =
        (1..=20).map(|k| 0.1 * f64::from(k)).map(|t| (t, height(t, 0.8, 1.0).0)).collect();
    let data = Data { signals: vec![("y".to_owned(), points)], impacts: Vec::new() };
    // The mass of a falling ball does not matter.
    let fit = Fit::new(&mechanics, &program, &["m".to_owned(), "g".to_owned()], &data, &given).unwrap();
    let found = fit.run(&[2.0, 9.7]).unwrap();
    assert_eq!(found.unidentified, ["m"]);
    assert!(found.standard_errors[0].is_nan() && found.standard_errors[1].is_finite());
    assert!((found.parameters[1] - 9.81).abs() < 1e-9 && found.parameters[0] == 2.0, "{found:?}");
    let only = |theta: &[f64]| given(&[theta[0], 9.81]);
    let fit = Fit::new(&mechanics, &program, &["m".to_owned()], &data, &only).unwrap();
    let refusal = fit.run(&[2.0]).unwrap_err();
    assert!(refusal.message.contains("nothing can be identified"), "{refusal:?}");
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_way_out() {
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let good = Data { signals: vec![("y".to_owned(), vec![(0.1, 0.9)])], impacts: Vec::new() };
    let signal =
        |name: &str, t: f64| Data { signals: vec![(name.to_owned(), vec![(t, 1.0)])], impacts: Vec::new() };
    let impact_at = |t: f64| Data { signals: Vec::new(), impacts: vec![("floor".to_owned(), vec![0.4, t])] };
    let impacts = |wall: &str| Data { signals: Vec::new(), impacts: vec![(wall.to_owned(), vec![0.4])] };
    for (names, data, says, hint) in [
        (vec!["e_m"], good.clone(), "no parameter or start value `e_m`", "did you mean `e_n`?"),
        (vec![], good.clone(), "nothing is to be fitted", "--vary"),
        (vec!["h"], Data::default(), "no values", "time"),
        (vec!["h"], signal("z'", 0.1), "no such signal", "did you mean"),
        (vec!["h"], signal("y", -1.0), "before the motion begins", "from"),
        (vec!["h"], signal("y", 99.0), "beyond the run", "--until 99"),
        (vec!["h"], impact_at(99.0), "beyond the run", "--until 99"),
        (vec!["h"], impacts("flor"), "no such wall", "did you mean `floor`?"),
    ] {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let Err(refusal) = Fit::new(&mechanics, &program, &names, &data, &options) else {
            panic!("{names:?} {data:?} is accepted");
        };
        assert!(refusal.message.contains(says) && refusal.hint.contains(hint), "{refusal:?}");
    }
}

/// A model and its program from a text.
fn model(text: &str) -> (Mechanics, Program) {
    let (model, _) = Draft::parse(text, "model.toml").0.check().unwrap_or_else(|e| panic!("{e:?}"));
    let mechanics = derive_equations(model).unwrap();
    let program = Program::compile(&mechanics).unwrap();
    (mechanics, program)
}

/// Options with other values of some parameters.
fn with_parameters<'a>(
    mechanics: &'a Mechanics,
    names: &'a [String],
) -> impl Fn(&[f64]) -> Result<Options, String> + 'a {
    move |theta: &[f64]| {
        let mut o = Options::of(&mechanics.model);
        for (name, value) in names.iter().zip(theta) {
            let i = mechanics.model.parameters.iter().position(|p| p.name == *name).unwrap();
            o.parameters[i] = *value;
        }
        Ok(o)
    }
}

#[test]
fn impacts_are_counted_until_the_last_time_of_the_data() {
    // Three impacts in the data; the ball goes on to bounce three times within another quarter of the time.
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let times: Vec<f64> = (1..=3).map(|k| impact(k, 0.3, 1.0).0).collect();
    assert!(impact(6, 0.3, 1.0).0 < 1.25 * times[2]);
    let count = |times: &[f64]| {
        let data = Data { signals: Vec::new(), impacts: vec![("floor".to_owned(), times.to_vec())] };
        let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
        let found = fit.run(&[0.31, 0.99]).unwrap();
        (found.impacts[0].data, found.impacts[0].motion, found.impacts[0].matched)
    };
    assert_eq!(count(&times), (3, 3, 3));
    // The last of them a little earlier or later than the motion's.
    for shift in [-1e-3, 1e-3] {
        assert_eq!(count(&[times[0], times[1], times[2] + shift]), (3, 3, 3));
    }
    // One that was not measured, between others.
    let (found, kept) = (count(&[times[0], times[2]]), 2);
    assert_eq!((found.0, found.2), (kept, kept));
}

#[test]
fn what_the_motion_does_after_the_data_does_not_matter() {
    // x = sin t meets the wall `stop` at once after π and grazes `far`, where x' = 0, half a period later: after the data, within a
    // quarter of its time. A wall at −1 and e = 1.
    let text = "coordinates = [\"x\"]\n[parameters]\nk = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n\
        [wall.stop]\ngap = \"1/2 - x\"\n[wall.far]\ngap = \"x + 1\"\n[start]\nvelocity = { x = 1.0 }\n[run]\nuntil = 20\n";
    let (mechanics, program) = model(text);
    let names = ["k".to_owned()];
    let options = with_parameters(&mechanics, &names);
    // sin t = 1/2 at π/6; back through 0 at π/3, at −1 with no speed at π/3 + π/2 = 5π/6, at the stop again at 3π/2.
    let third = std::f64::consts::PI / 3.0;
    let at = |until: f64| {
        let signals = vec![("x'".to_owned(), vec![(third, -1.0), (until, -(until - third).cos())])];
        Data { signals, impacts: vec![("stop".to_owned(), vec![0.5 * third])] }
    };
    let before = at(2.2);
    let fit = Fit::new(&mechanics, &program, &names, &before, &options).unwrap();
    let (cost, _) = fit.value_and_gradient(&[1.0]).unwrap_or_else(|r| panic!("{r}"));
    assert!(cost < 1e-20, "{cost}");
    let after = at(2.8);
    let fit = Fit::new(&mechanics, &program, &names, &after, &options).unwrap();
    assert!(fit.value_and_gradient(&[1.0]).unwrap_err().message.contains("`far`"));
    // And never beyond the run, however near its end the data is.
    let text = text.replace("until = 20", "until = 2.2");
    let (mechanics, program) = model(&text);
    let options = with_parameters(&mechanics, &names);
    let fit = Fit::new(&mechanics, &program, &names, &before, &options).unwrap();
    assert_eq!(fit.motion(&[1.0]).unwrap().stop.time, 2.2);
}

#[test]
fn every_column_that_carom_writes_of_a_motion_can_be_fitted_to() {
    let named = "coordinates = [\"x\"]\nmomenta = [\"impulse\"]\nhamiltonian = \"impulse^2/2 + k*x^2/2\"\n[parameters]\nk = 1.0\n[start]\nposition = { x = 1.0 }\n";
    let plain = "coordinates = [\"x\"]\n[parameters]\nk = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[start]\nposition = { x = 1.0 }\n";
    for (text, momentum) in [(named, "impulse"), (plain, "p_x")] {
        let (mechanics, program) = model(text);
        let names = ["k".to_owned()];
        let options = with_parameters(&mechanics, &names);
        let data = Data {
            signals: vec![(momentum.to_owned(), vec![(1.0, -0.9), (2.0, -0.8)])],
            impacts: Vec::new(),
        };
        let fit = Fit::new(&mechanics, &program, &names, &data, &options).unwrap_or_else(|r| panic!("{r}"));
        let (cost, gradient) = fit.value_and_gradient(&[1.21]).unwrap();
        // p = −ω sin ωt, dp/dk = (−sin ωt − ω t cos ωt)/(2ω).
        let mut expected = (0.0, 0.0);
        for (t, measured) in [(1.0, -0.9), (2.0, -0.8)] {
            let (s, c) = (1.1_f64 * t).sin_cos();
            let r = -1.1 * s - measured;
            expected.0 += 0.5 * r * r;
            expected.1 += r * (-s - 1.1 * t * c) / 2.2;
        }
        assert!(
            (cost - expected.0).abs() < 1e-12 && (gradient[0] - expected.1).abs() < 1e-11,
            "{cost} {gradient:?}"
        );
    }
}

#[test]
fn parameters_that_only_matter_together_are_named_with_the_proportion_in_which_they_can_change() {
    // x = cos √(k/m) t: k and m can grow together, in the proportion k : m.
    let text = "coordinates = [\"x\"]\n[parameters]\nm = 2.0\nk = 3.0\nx0 = 1.0\n[energy]\nkinetic = \"m*x'^2/2\"\npotential = \"k*x^2/2\"\n[start]\nposition = { x = \"x0\" }\n[run]\nuntil = 20\n";
    let (mechanics, program) = model(text);
    let names = ["k".to_owned(), "m".to_owned()];
    let options = with_parameters(&mechanics, &names);
    let mut random = Random(9);
    let points: Vec<(f64, f64)> = (1..=40)
        .map(|i| 0.2 * f64::from(i))
        .map(|t| (t, (1.5_f64.sqrt() * t).cos() + 1e-3 * normal(&mut random)))
        .collect();
    let data = Data { signals: vec![("x".to_owned(), points)], impacts: Vec::new() };
    let fit = Fit::new(&mechanics, &program, &names, &data, &options).unwrap();
    let found = fit.run(&[3.05, 2.0]).unwrap();
    let (k, m) = (found.parameters[0], found.parameters[1]);
    assert!((k / m - 1.5).abs() < 1e-3, "{found:?}");
    assert!(found.standard_errors.iter().all(|e| e.is_nan()), "{found:?}");
    let share = carom_run::figures::figures(m / k, 4);
    assert_eq!(
        found.unidentified,
        [format!("k and m, which can change together, in the proportion 1 : {share}")]
    );
}

#[test]
fn the_lowest_of_several_valleys_is_found_wherever_the_fit_begins() {
    // Samples next to bounces: which side of the bounce they lie on is not known, and each choice is a valley of its own. On a grid of
    // the closed form no place is lower than what was found.
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let mut random = Random(12);
    for _ in 0..20 {
        let points: Vec<(f64, f64)> = (1..=48)
            .map(|k| 0.05 * f64::from(k) + 0.011)
            .map(|t| (t, height(t, 0.8, 1.0).0 + 0.015 * normal(&mut random)))
            .collect();
        let data = Data { signals: vec![("y".to_owned(), points.clone())], impacts: Vec::new() };
        let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
        let found = fit.run(&[0.79, 1.02]).unwrap();
        let cost =
            |e: f64, h: f64| points.iter().map(|(t, y)| (height(*t, e, h).0 - y).powi(2)).sum::<f64>() / 2.0;
        assert!((found.cost - cost(found.parameters[0], found.parameters[1])).abs() < 1e-9 * found.cost);
        for i in -40..=40 {
            for j in -40..=40 {
                let e = found.parameters[0] + 0.075 * f64::from(i) * found.standard_errors[0];
                let h = found.parameters[1] + 0.075 * f64::from(j) * found.standard_errors[1];
                assert!(
                    cost(e, h) >= found.cost * (1.0 - 1e-9),
                    "{e} {h} is lower: {} {found:?}",
                    cost(e, h)
                );
            }
        }
    }
}
