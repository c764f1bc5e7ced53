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
    [body.ball]\nmass = \"m\"\nat = [\"0\", \"y\"]\n[wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = \"h\" }\n[output]\nraised = \"y + twice\"\n[run]\nuntil = 2.5\n";

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

/// Roughly normal: the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
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

/// 100 fits to fresh noise. A standard error that is right covers the truth within one of it 68 times and within two 95 times of a
/// hundred, give or take three standard deviations of a count: [54, 82] and [89, 100].
#[test]
fn fitted_values_are_off_by_what_their_standard_errors_say() {
    let (mechanics, program) = prepared();
    let options = options(&mechanics);
    let mut random = Random(42);
    for by_impacts in [false, true] {
        let mut within = [[0; 2]; 2];
        for _ in 0..100 {
            let mut data = Data::default();
            if by_impacts {
                let times = (1..=8).map(|k| impact(k, 0.8, 1.0).0 + 0.003 * normal(&mut random)).collect();
                data.impacts.push(("floor".to_owned(), times));
            } else {
                let point = |k: i32| 0.05 * f64::from(k) + 0.011;
                let points = (1..=48)
                    .map(|k| (point(k), height(point(k), 0.8, 1.0).0 + 0.01 * normal(&mut random)))
                    .collect();
                data.signals.push(("y".to_owned(), points));
            }
            let fit = Fit::new(&mechanics, &program, &names(), &data, &options).unwrap();
            let found = fit.run(&[0.79, 1.02]).unwrap();
            assert!(
                found.unidentified.is_empty() && found.impacts.iter().all(|i| i.matched == i.data),
                "{found:?}"
            );
            for (i, truth) in [0.8, 1.0].into_iter().enumerate() {
                let off = (found.parameters[i] - truth).abs() / found.standard_errors[i];
                within[i][0] += usize::from(off <= 1.0);
                within[i][1] += usize::from(off <= 2.0);
            }
        }
        println!("impacts {by_impacts}: within one and two standard errors, e and h: {within:?}");
        for [one, two] in within {
            // Eight impact times leave six degrees of freedom: Student's t has 64.4 and 90.8 there.
            let (low, high, least) = if by_impacts { (50, 79, 82) } else { (54, 82, 89) };
            assert!((low..=high).contains(&one) && two >= least, "{by_impacts}: {within:?}");
        }
    }
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
    let impacts = |wall: &str| Data { signals: Vec::new(), impacts: vec![(wall.to_owned(), vec![0.4])] };
    for (names, data, says, hint) in [
        (vec!["e_m"], good.clone(), "no parameter or start value `e_m`", "did you mean `e_n`?"),
        (vec![], good.clone(), "nothing is to be fitted", "--vary"),
        (vec!["h"], Data::default(), "no values", "time"),
        (vec!["h"], signal("z'", 0.1), "no such signal", "did you mean"),
        (vec!["h"], signal("y", -1.0), "before the motion begins", "from"),
        (vec!["h"], signal("y", 99.0), "beyond the run", "--until 99"),
        (vec!["h"], impacts("flor"), "no such wall", "did you mean `floor`?"),
    ] {
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let Err(refusal) = Fit::new(&mechanics, &program, &names, &data, &options) else {
            panic!("{names:?} {data:?} is accepted");
        };
        assert!(refusal.message.contains(says) && refusal.hint.contains(hint), "{refusal:?}");
    }
}
