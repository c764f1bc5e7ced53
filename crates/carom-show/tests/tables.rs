//! Tables read back by an independent reader (JSON here; csv, npz and parquet by tests/readers/check.py as well).

mod stage;

use carom_show::table;
use std::path::Path;

/// Writes what tests/readers/check.py compares: everything as JSON, and every table format.
#[test]
fn every_table_format_is_written_for_the_independent_readers() {
    let (mechanics, mut motion) = stage::ball(301);
    motion.output[0].values[7] = f64::NAN;
    let model = &mechanics.model;
    let samples = table::samples(&motion, model);
    let occurrences = table::occurrences(&motion, model);
    let npz = table::npz(&[("", &samples), ("impacts.", &occurrences)]).expect("small");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tables");
    std::fs::create_dir_all(&directory).expect("a writable target directory");
    let write = |name: &str, bytes: &[u8]| std::fs::write(directory.join(name), bytes).expect("writable");
    write("ball.json", table::json(&motion).as_bytes());
    write("ball.csv", &table::csv(&samples));
    write("ball.impacts.csv", &table::csv(&occurrences));
    write("ball.npz", &npz);
    write("ball.parquet", &table::parquet(&samples).unwrap());
    write("ball.impacts.parquet", &table::parquet(&occurrences).unwrap());
}

#[test]
fn json_has_the_fields_of_the_contract_in_their_order() {
    let (_, motion) = stage::ball(5);
    let text = table::json(&motion);
    let fields = [
        "model",
        "stop",
        "time",
        "position",
        "velocity",
        "momentum",
        "hamiltonian",
        "energy",
        "multiplier",
        "contact_force",
        "driving_force",
        "output",
        "impacts",
        "contacts",
        "grazes",
        "events",
        "warnings",
        "audit",
        "provenance",
    ];
    let places: Vec<usize> = fields
        .iter()
        .map(|f| text.find(&format!("{}\"{f}\": ", if *f == "model" { "{ " } else { ",\n  " })).expect(f))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(text.contains(r#""stop": { "reason": "reached", "time": 3.0, "detail": null }"#));
    assert!(text.contains(r#""warnings": ["a \"quoted\" word"]"#));
    assert!(text.contains(r#""amplification": null, "steps": 0"#));
}

#[test]
fn numbers_that_are_not_finite_are_null_in_json_and_missing_in_csv() {
    let (mechanics, mut motion) = stage::ball(3);
    motion.energy = vec![f64::NAN, f64::INFINITY, -0.0];
    let text = table::json(&motion);
    assert!(text.contains("\"energy\": [null, null, -0.0]"));
    let csv = String::from_utf8(table::csv(&table::samples(&motion, &mechanics.model))).expect("utf-8");
    assert_eq!(csv.lines().next(), Some("time,x,y,x',y',p_x,p_y,hamiltonian,energy,f.floor,gap.floor,speed"));
    let energy: Vec<&str> = csv.lines().skip(1).map(|l| l.split(',').nth(8).expect("nine columns")).collect();
    assert_eq!(energy, ["", "inf", "-0.0"]);
}

#[test]
fn an_output_that_is_called_energy_keeps_a_column_of_its_own() {
    let (mechanics, mut motion) = stage::ball(3);
    motion.output[0].name = "energy".into();
    let names: Vec<String> =
        table::samples(&motion, &mechanics.model).columns.into_iter().map(|c| c.name).collect();
    assert!(names.contains(&"output.energy".to_string()), "{names:?}");
}

#[test]
fn a_motion_without_samples_still_makes_tables() {
    let (mechanics, _) = stage::ball(2);
    let motion = carom_run::Motion::default();
    let samples = table::samples(&motion, &mechanics.model);
    assert_eq!(table::csv(&samples), b"time,hamiltonian,energy\n");
    assert!(table::parquet(&samples).unwrap().starts_with(b"PAR1"));
    assert!(table::npz(&[("", &samples)]).is_ok());
    assert!(table::json(&motion).contains("\"time\": []"));
}

#[test]
fn the_same_motion_gives_the_same_bytes() {
    let (mechanics, motion) = stage::ball(50);
    let (again, motion_again) = stage::ball(50);
    let bytes = |m: &carom_mech::Mechanics, motion: &carom_run::Motion| {
        let t = table::samples(motion, &m.model);
        (
            table::csv(&t),
            table::npz(&[("", &t)]).expect("small"),
            table::parquet(&t).unwrap(),
            table::json(motion),
        )
    };
    assert_eq!(bytes(&mechanics, &motion), bytes(&again, &motion_again));
}
