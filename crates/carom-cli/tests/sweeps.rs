//! `carom sweep`: rows in input order, whatever the threads and interruptions; a failing trajectory is a row that says why.

mod support;

use std::fs;
use std::path::Path;
use support::{carom, carom_in, carom_with};

fn rows(folder: &Path, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_sweep_has_one_row_per_trajectory_in_input_order() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "sweep",
        "pendulum_wall",
        "--vary",
        "theta=0.5,1",
        "--vary",
        "g=9.8,1.6,3",
        "-o",
        "out.csv",
        "--json",
    ];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(summary["trajectories"], 6);
    assert_eq!(summary["stops"]["reached"], 6);
    assert!(
        summary["seconds"].is_number()
            && summary["cpu_seconds"].is_number()
            && summary["threads"].is_number()
    );
    let provenance = &summary["provenance"];
    assert_eq!(provenance["options"], serde_json::json!(["--vary theta=0.5,1", "--vary g=9.8,1.6,3"]));
    assert!(provenance["model_sha256"].is_string() && provenance["arithmetic"].is_string());
    let rows = rows(folder.path(), "out.csv");
    let header = "theta,g,stop,time,impacts,final.theta,theta',hamiltonian_drift,error,warnings";
    assert_eq!(rows[0].join(","), header);
    let inputs: Vec<(&str, &str)> = rows[1..].iter().map(|r| (r[0].as_str(), r[1].as_str())).collect();
    let expected =
        [("0.5", "9.8"), ("0.5", "1.6"), ("0.5", "3.0"), ("1.0", "9.8"), ("1.0", "1.6"), ("1.0", "3.0")];
    assert_eq!(inputs, expected);
    let mut files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["out.csv", "out.csv-metadata.json"], "the journal is gone");
}

#[test]
fn a_row_of_a_sweep_is_the_run_with_the_same_options() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "sweep",
        "double_pendulum_wall",
        "--vary",
        "l1=0.8,1.1",
        "--vary",
        "theta2'=0.5",
        "-q",
        "-o",
        "out.csv",
    ];
    carom_in(folder.path(), &arguments).expect(0);
    let rows = rows(folder.path(), "out.csv");
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    for (row, l1) in rows[1..].iter().zip(["0.8", "1.1"]) {
        let set = format!("l1={l1}");
        let run = carom(&[
            "run",
            "double_pendulum_wall",
            "--set",
            &set,
            "--start",
            "theta2'=0.5",
            "--json",
            "--at",
            "10",
        ]);
        let motion = run.expect(0).json();
        let value: f64 = row[column("theta1")].parse().unwrap();
        assert_eq!(value, motion["position"]["theta1"][0].as_f64().unwrap());
        assert_eq!(row[column("impacts")], motion["impacts"].as_array().unwrap().len().to_string());
    }
}

/// The same for every model of the gallery, one parameter and one coordinate each; also where that is refused.
#[test]
fn rows_of_every_gallery_model_are_runs_with_the_same_options() {
    let mut compared = 0;
    for entry in carom::gallery::all() {
        let (draft, _) = carom_mech::Draft::parse(entry.text, entry.name);
        let (model, _) = draft.check().unwrap();
        let parameter = model.parameters.first().map(|p| ("--set", p.name.clone(), 1.01 * p.value + 1e-3));
        let free = model.coordinates.iter().find(|c| c.driven.is_none());
        for (option, name, value) in
            parameter.into_iter().chain(free.map(|c| ("--start", c.name.clone(), 0.3)))
        {
            let until = (model.start.time + 1.0).to_string();
            let vary = format!("{name}={value:?}");
            let common = ["-q", "--until", &until];
            let swept = carom(&[&["sweep", entry.name, "--vary", &vary][..], &common].concat()).expect(0);
            let ran = carom(
                &[&["run", entry.name, option, &vary, "--samples", "2", "--json"][..], &common].concat(),
            );
            let lines: Vec<Vec<&str>> = swept.stdout.lines().map(|line| line.split(',').collect()).collect();
            let cell = |name: &str| lines[1][lines[0].iter().position(|c| *c == name).unwrap()];
            if cell("stop") == "invalid" {
                assert_eq!(ran.code, 1, "{} {vary}: {}", entry.name, swept.stdout);
                continue;
            }
            let motion = ran.json();
            assert_eq!(motion["stop"]["reason"], cell("stop"), "{} {vary}", entry.name);
            for c in &model.coordinates {
                let column = if c.name == name { format!("final.{name}") } else { c.name.clone() };
                let end = motion["position"][&c.name].as_array().unwrap().last().unwrap().as_f64();
                assert_eq!(cell(&column).parse().ok(), end, "{} {vary}: {}", entry.name, c.name);
            }
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    for threads in ["1", "2", "5"] {
        let output = format!("t{threads}.parquet");
        let random =
            ["--random", "theta=-0.5..1.4", "--random", "theta'=-3..3", "--count", "300", "--seed", "7"];
        let rest = ["--until", "5", "-q", "--threads", threads, "-o", &output];
        carom_in(folder.path(), &[&["sweep", "pendulum_wall"][..], &random, &rest].concat()).expect(0);
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("t1.parquet"), read("t2.parquet"));
    assert_eq!(read("t1.parquet"), read("t5.parquet"));
}

#[test]
fn a_trajectory_that_cannot_start_is_a_row_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["sweep", "bouncing_mass", "--vary", "y=-1,1", "-o", "out.csv", "--json"];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!((&summary["stops"]["invalid"], &summary["stops"]["reached"]), (&1.into(), &1.into()));
    let text = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("floor"), "{text}");
}

#[test]
fn starts_may_come_from_a_table() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("starts.csv"), "theta,theta',m\n0.5,0,1\n1,0.25,2\n").unwrap();
    carom_in(folder.path(), &["sweep", "pendulum_wall", "--table", "starts.csv", "-q", "-o", "out.csv"])
        .expect(0);
    let rows = rows(folder.path(), "out.csv");
    assert_eq!(rows[2][..3], ["1.0", "0.25", "2.0"]);
    let ended = carom_in(folder.path(), &["sweep", "pendulum_wall", "--table", "none.csv"]).expect(3);
    assert!(ended.stderr.contains("none.csv"));
}

#[test]
fn what_cannot_be_varied_is_refused() {
    for (vary, says) in [
        ("tehta=1", "did you mean `theta`?"),
        ("theta=1..2", "how many values?"),
        ("theta=1..2:0", "`0` is not a number of values"),
        ("theta=1..2:1.5", "`1.5` is not a number of values"),
        ("theta=1..x:3", "`x` is not a finite number"),
        ("theta=1,nan", "`nan` is not a finite number"),
        ("theta=1,,2", "a value is missing"),
        ("theta=", "a value is missing"),
        ("theta", "NAME=VALUES"),
    ] {
        let ended = carom(&["sweep", "pendulum_wall", "--vary", vary]).expect(1);
        assert!(ended.stderr.contains(says) && ended.stderr.contains("hint: "), "{}", ended.stderr);
    }
    for (more, says) in [
        (&["--vary", "theta=1", "--vary", "theta=2"][..], "varied twice"),
        (&["--vary", "theta=1..2:99999999999", "--vary", "m=1..2:99999999999"], "more points"),
        (&["--random", "theta=1..2:10"], "NAME=A..B"),
        (&["--random", "theta=1..2", "--count", "0"], "no trajectory"),
        (&["--random", "theta=1..2", "--vary", "m=1"], "use one of them"),
    ] {
        let ended = carom(&[&["sweep", "pendulum_wall"][..], more].concat()).expect(1);
        assert!(ended.stderr.contains(says) && ended.stderr.contains("hint: "), "{}", ended.stderr);
    }
    let ended = carom(&["sweep", "driven_double_pendulum", "--vary", "theta1=1"]).expect(1);
    assert!(ended.stderr.contains("driven"), "{}", ended.stderr);
    let ended = carom(&["sweep", "kepler_wall", "--vary", "x'=1"]).expect(1);
    assert!(ended.stderr.contains("px"), "{}", ended.stderr);
    carom(&["sweep", "pendulum_wall"]).expect(1);
    carom(&["sweep", "pendulum_wall", "--vary", "theta=1", "-o", "out.txt"]).expect(1);
}

#[test]
fn a_sweep_starts_no_more_threads_than_it_has_trajectories() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["sweep", "pendulum_wall", "--vary", "theta=0.5,1", "--threads", "9999", "-o", "out.csv", "--json"];
    let summary = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(summary["threads"], 2);
}

/// The tables that pandas, pyarrow, polars and numpy made.
fn starts(name: &str) -> String {
    format!("{}/../../tests/readers/starts/{name}", env!("CARGO_MANIFEST_DIR"))
}

const BALL: &str = "
coordinates = [\"y\"]
[parameters]
m = 1
g = 9.81
[energy]
kinetic = \"m/2*y'^2\"
potential = \"m*g*y\"
[wall.floor]
gap = \"y\"
[event.apex]
when = \"y'\"
direction = \"falling\"
[event.half]
when = \"y - 1/2\"
[output]
square = \"y^2\"
weight = \"m*g\"
[start]
position = { y = 1 }
[run]
until = 2
";

#[test]
fn starts_may_come_from_pandas_polars_pyarrow_and_numpy() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    let mut tables = Vec::new();
    for name in ["pandas.parquet", "polars.parquet", "pyarrow_v2.parquet", "numpy_compressed.npz"] {
        let arguments = ["sweep", "ball.toml", "--table", &starts(name), "-q", "-o", "out.csv"];
        carom_in(folder.path(), &arguments).expect(0);
        tables.push(fs::read_to_string(folder.path().join("out.csv")).unwrap());
    }
    assert!(tables.iter().all(|table| *table == tables[0]));
    let lines: Vec<&str> = tables[0].lines().collect();
    assert_eq!(lines.len(), 41);
    assert!(lines[2].starts_with("0.6428571428571428,0.0,1.25,9.81,reached,2.0,"), "{}", lines[2]);
}

#[test]
fn a_table_that_cannot_be_used_is_refused_with_its_place_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("ball.toml"), BALL).unwrap();
    fs::write(folder.join("cut.parquet"), &fs::read(starts("polars.parquet")).unwrap()[..900]).unwrap();
    fs::write(folder.join("empty.csv"), "y,m\n").unwrap();
    fs::write(folder.join("wrong.csv"), "y,mm\n1,2\n").unwrap();
    fs::write(folder.join("starts.xlsx"), "").unwrap();
    for (file, code, says) in [
        (starts("missing.parquet"), 1, "row 4 of column `y` is missing"),
        (starts("texts.parquet"), 3, "column `y` holds texts"),
        ("cut.parquet".to_owned(), 3, "not a whole parquet file"),
        ("empty.csv".to_owned(), 1, "no rows"),
        ("wrong.csv".to_owned(), 1, "wrong.csv: unknown name `mm`"),
        ("starts.xlsx".to_owned(), 1, "none of .csv, .parquet, .npz"),
        ("none.npz".to_owned(), 3, "none.npz"),
    ] {
        let ended = carom_in(folder, &["sweep", "ball.toml", "--table", &file]).expect(code);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    }
}

#[test]
fn outputs_and_events_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    let base = ["sweep", "ball.toml", "--vary", "y=1,2,0.25", "-q", "-o", "out.csv"];
    carom_in(folder.path(), &base).expect(0);
    let header = |name| rows(folder.path(), name)[0].join(" ");
    assert_eq!(
        header("out.csv"),
        "y stop time impacts final.y y' square weight hamiltonian_drift error warnings"
    );
    let chosen = ["--columns", "energy,square,gap.floor,p_y,y'", "--events", "apex,half"];
    carom_in(folder.path(), &[&base[..], &chosen].concat()).expect(0);
    assert_eq!(
        header("out.csv"),
        "y stop time impacts final.y y' energy square gap.floor p_y apex.count apex.first apex.last \
         half.count half.first half.last hamiltonian_drift error warnings"
    );
    let table = rows(folder.path(), "out.csv");
    let cell = |row: usize, name: &str| -> f64 {
        table[row][table[0].iter().position(|c| c == name).unwrap()].parse().unwrap_or(f64::NAN)
    };
    // Dropped from h, it falls for s = sqrt(2h/g) and is at the top again every 2s.
    for (row, h) in [(1, 1.0f64), (2, 2.0), (3, 0.25)] {
        let s = (2.0 * h / 9.81).sqrt();
        assert_eq!(cell(row, "apex.count"), (2.0 / (2.0 * s)).floor());
        assert!((cell(row, "apex.first") - 2.0 * s).abs() < 1e-13);
        assert!((cell(row, "apex.last") - 2.0 * s * cell(row, "apex.count")).abs() < 1e-13);
        assert!((cell(row, "energy") - 9.81 * h).abs() < 1e-12);
        assert_eq!(cell(row, "gap.floor"), cell(row, "final.y"));
        assert_eq!(cell(row, "half.first").is_nan(), h < 0.5);
    }
    let events = rows(folder.path(), "out.events.csv");
    assert_eq!(events[0].join(" "), "trajectory time event y y'");
    let apexes = events.iter().filter(|row| row[0] == "0" && row[2] == "apex").count();
    assert_eq!(apexes as f64, cell(1, "apex.count"));
    for (option, name, near) in [("--columns", "sqare", "square"), ("--events", "apx", "apex")] {
        let ended = carom_in(folder.path(), &[&base[..], &[option, name]].concat()).expect(1);
        assert!(ended.stderr.contains(&format!("did you mean `{near}`?")), "{}", ended.stderr);
    }
}

#[test]
fn a_sweep_warns_of_what_its_trajectories_alone_would_warn_of() {
    let model = "coordinates = [\"x\"]\n[parameters]\nc = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation = \"c/2*x'^2\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 2.0\n";
    let alone = carom_with(model, &["run", "-", "--set", "c=1e4"]).expect(0).stderr;
    let warning = alone.lines().find(|line| line.contains("stiff")).unwrap();
    let warning = warning.trim_start_matches("warning: ").split("  ").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), model).unwrap();
    let sweep = ["sweep", "m.toml", "--vary", "c=1,10,1e4,2e4", "-o", "o.csv"];
    let said = carom_in(folder.path(), &sweep).expect(0).stderr;
    let expected = format!("warning: 2 of 4 trajectories, the first of them number 2: {warning}");
    assert!(said.contains(&expected), "{said}\n{expected}");
    let quiet = carom_in(folder.path(), &[&sweep[..], &["--quiet"]].concat()).expect(0).stderr;
    assert_eq!(quiet, "");
}

#[test]
fn thousands_of_impacts_per_trajectory_are_all_in_the_second_table() {
    let model = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[wall.l]\ngap = \"x\"\n[wall.r]\ngap = \"1 - x\"\n[start]\nposition = { x = 0.5 }\n[run]\nuntil = 1000.25\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.toml"), model).unwrap();
    let sweep = ["sweep", "m.toml", "--vary", "x'=0.5,2,1,4", "--impacts", "--quiet", "-o", "o.csv"];
    carom_in(folder.path(), &sweep).expect(0);
    let table = rows(folder.path(), "o.impacts.csv");
    let mut at = 1;
    for (i, v) in [0.5f64, 2.0, 1.0, 4.0].into_iter().enumerate() {
        // From the middle of a box of width 1: the k-th impact is at (k + ½)/v.
        let count = (1000.25 * v + 0.5).floor() as usize;
        for (k, row) in table[at..at + count].iter().enumerate() {
            assert_eq!((row[0].as_str(), row[2].as_str()), (&*i.to_string(), ["r", "l"][k % 2]));
            let time: f64 = row[1].parse().unwrap();
            assert!((time - (k as f64 + 0.5) / v).abs() < 1e-12 * 1000.0, "{row:?}");
        }
        at += count;
    }
    assert_eq!(at, table.len());
}

#[test]
fn a_trajectory_that_drifted_has_its_warning_in_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let text = "coordinates = [\"th\"]\n[energy]\nkinetic = \"th'^2/2\"\npotential = \"-9.81*cos(th)\"\n[start]\nposition = { th = 2 }\n[run]\nuntil = 20\nmethod = \"rk4\"\nstep = 0.05\n";
    fs::write(folder.path().join("coarse.toml"), text).unwrap();
    let arguments = ["sweep", "coarse.toml", "--vary", "th=0,0.5,2.0", "-q", "-o", "out.csv"];
    carom_in(folder.path(), &arguments).expect(0);
    let text = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let drifted: Vec<bool> =
        text.lines().skip(1).map(|row| row.contains("the energy balance drifted by")).collect();
    assert_eq!(drifted, [false, true, true], "{text}");
    assert!(text.lines().nth(1).unwrap().ends_with(','), "empty when there is none: {text}");
}
