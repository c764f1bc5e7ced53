//! Models both ways: file → model → file, builder → file → model. Meaning is compared by motion, to the bit.

use carom::{Error, Model, gallery};

/// Everything a run finds, as text that shows every bit.
fn run(model: &Model) -> Result<String, Error> {
    let mut options = model.options();
    options.samples(23);
    let motion = model.simulate(options.max_impacts(200).max_steps(20_000))?;
    let columns: Vec<String> = motion
        .columns()
        .iter()
        .map(|(name, values)| {
            format!("{name}: {:x?}", values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        })
        .collect();
    let impacts: Vec<String> = motion.impacts().map(|impact| impact.to_string()).collect();
    Ok(format!("{:?}\n{}\n{}", motion.stop(), columns.join("\n"), impacts.join("\n")))
}

#[test]
fn every_gallery_model_printed_and_read_back_moves_the_same_to_the_bit() {
    for entry in gallery::all() {
        let model = Model::gallery(entry.name).unwrap();
        let printed = model.to_toml();
        let again = Model::from_toml(&printed).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert_eq!(again.to_toml(), printed, "{}", entry.name);
        assert_eq!(run(&again).unwrap(), run(&model).unwrap(), "{}", entry.name);
    }
}

#[test]
fn every_gallery_model_taken_into_a_builder_and_built_is_the_same_model() {
    for entry in gallery::all() {
        let model = Model::gallery(entry.name).unwrap();
        let built = model.to_builder().build().unwrap();
        assert_eq!(built.to_toml(), model.to_toml(), "{}", entry.name);
        assert_eq!(built.name(), model.name());
    }
}

#[test]
fn a_double_pendulum_built_with_operators_is_the_one_of_the_gallery() {
    use carom::formula::{cos, name, sin};
    let [m1, m2, l1, l2, g] = ["m1", "m2", "l1", "l2", "g"].map(name);
    let [theta1, theta2] = ["theta1", "theta2"].map(name);
    let rate = |axis: &str| name(format!("{axis}1")).rate().pow(2);
    let square = |i: i32| name(format!("x{i}")).rate().pow(2) + name(format!("y{i}")).rate().pow(2);
    assert_eq!(rate("x").to_string(), "x1'^2");
    let built = Model::builder()
        .name("Double pendulum against a wall")
        .coordinates(["theta1", "theta2"])
        .parameters([("m1", 1.0), ("m2", 1.0), ("l1", 1.0), ("l2", 1.0), ("g", 9.81)])
        .parameter("x_wall", -name("l1") / 2)
        .define("x1", &l1 * sin(&theta1))
        .define("y1", -&l1 * cos(&theta1))
        .define("x2", name("x1") + &l2 * sin(&theta2))
        .define("y2", name("y1") - &l2 * cos(&theta2))
        .kinetic(&m1 / 2 * square(1) + &m2 / 2 * square(2))
        .potential(&m1 * &g * name("y1") + &m2 * &g * name("y2"))
        .wall("left", name("x2") - name("x_wall"))
        .start("theta1", 3 * name("pi") / 7)
        .start("theta2", 3 * name("pi") / 4)
        .build()
        .unwrap();
    let text = r#"
        coordinates = ["theta1", "theta2"]
        [parameters]
        m1 = 1.0
        m2 = 1.0
        l1 = 1.0
        l2 = 1.0
        g  = 9.81
        x_wall = "-l1/2"
        [define]
        x1 = "l1*sin(theta1)"
        y1 = "-l1*cos(theta1)"
        x2 = "x1 + l2*sin(theta2)"
        y2 = "y1 - l2*cos(theta2)"
        [energy]
        kinetic   = "m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)"
        potential = "m1*g*y1 + m2*g*y2"
        [wall.left]
        gap = "x2 - x_wall"
        [start]
        position = { theta1 = "3*pi/7", theta2 = "3*pi/4" }
    "#;
    assert_eq!(run(&built).unwrap(), run(&Model::from_toml(text).unwrap()).unwrap());
}

#[test]
fn an_option_set_by_name_is_what_the_file_would_have_said() {
    for entry in gallery::all() {
        let model = Model::gallery(entry.name).unwrap();
        let Some((name, value)) = model.parameters().next() else { continue };
        let name = name.to_owned();
        let changed = 1.0625 * value + f64::from(u8::from(value == 0.0)) / 64.0;
        let mut options = model.options();
        options.samples(5).until(0.5).max_impacts(20).set(&name, changed).unwrap();
        let written = model.to_builder().parameter(&name, changed).build();
        let Ok(written) = written else {
            assert!(model.simulate(&options).is_err(), "{}: {name} = {changed}", entry.name);
            continue;
        };
        let mut same = written.options();
        same.samples(5).until(0.5).max_impacts(20);
        match (model.simulate(&options), written.simulate(&same)) {
            (Ok(a), Ok(b)) => {
                let bits = |m: &carom::Motion| -> Vec<Vec<u64>> {
                    m.columns().iter().map(|(_, v)| v.iter().map(|x| x.to_bits()).collect()).collect()
                };
                assert_eq!(bits(&a), bits(&b), "{}: {name} = {changed}", entry.name);
            }
            (Err(_), Err(_)) => {}
            (a, b) => panic!("{}: {name} = {changed}: {:?} {:?}", entry.name, a.err(), b.err()),
        }
    }
}

#[test]
fn a_simulator_gives_the_same_bits_whatever_it_simulated_before_and_on_another_thread() {
    for name in [
        "double_pendulum_wall",
        "jack_in_box",
        "ball_restitution",
        "rolling_disk",
        "relativistic_hamiltonian",
    ] {
        let model = Model::gallery(name).unwrap();
        let mut simulator = model.simulator().unwrap();
        let json = |simulator: &mut carom::Simulator, until: f64| {
            simulator.simulate(model.options().until(until)).unwrap().to_json()
        };
        let first = json(&mut simulator, 2.0);
        json(&mut simulator, 1.0);
        assert_eq!(json(&mut simulator, 2.0), first, "{name}");
        let there = model.clone();
        let elsewhere =
            std::thread::spawn(move || simulator.simulate(there.options().until(2.0)).unwrap().to_json());
        assert_eq!(elsewhere.join().unwrap(), first, "{name}");
    }
}

#[test]
fn everything_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Model>();
    shared::<carom::ModelBuilder>();
    shared::<carom::Options>();
    shared::<carom::Motion>();
    shared::<carom::State>();
    shared::<Error>();
    sent::<carom::Simulator>();
}

#[test]
fn mistakes_in_a_built_model_are_told_all_at_once_with_their_places() {
    let error = Model::builder()
        .coordinates(["theta"])
        .parameter("m", f64::NAN)
        .kinetic("m/2*thetta'^2")
        .potential("m*9.81*")
        .wall("left", carom::Wall::new("theta").restitution(2.0))
        .start("theat", 1.0)
        .build()
        .unwrap_err();
    let messages: Vec<&str> = error.diagnostics().iter().map(|d| d.message.as_str()).collect();
    assert!(error.is_model() && messages.len() >= 4, "{error}");
    assert!(error.diagnostics().iter().all(|d| d.place.is_some()), "{error}");
    assert!(error.to_string().contains("did you mean the coordinate `theta`?"), "{error}");
}

#[test]
fn names_that_do_not_exist_are_answered_with_the_nearest_one() {
    let model = Model::gallery("double_pendulum_wall").unwrap();
    let mut options = model.options();
    let motion = model.simulate(&options).unwrap();
    let said = [
        motion.position("theta3").err().map(|e| e.to_string()),
        motion.velocity("thetta1").err().map(|e| e.to_string()),
        motion.gap("lef").err().map(|e| e.to_string()),
        motion.get("theta1''").err().map(|e| e.to_string()),
        options.set("theta1''", 1.0).err().map(|e| e.to_string()),
        options.set("G", 1.0).err().map(|e| e.to_string()),
        motion.impacts().next().unwrap().impulse("Left").err().map(|e| e.to_string()),
        Model::gallery("double_pendulum_wal").err().map(|e| e.to_string()),
    ];
    for text in said {
        let text = text.expect("an error");
        assert!(text.contains("did you mean"), "{text}");
    }
    assert!(motion.at(1.0).unwrap_err().to_string().contains("dense(true)"));
}
