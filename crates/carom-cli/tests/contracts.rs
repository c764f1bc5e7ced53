//! What programs rely on: fields of the JSON results, exit codes, files.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{carom, carom_in, carom_with, numbers};

#[test]
fn run_prints_one_object_with_every_field_of_the_contract() {
    let motion = carom(&["run", "double_pendulum_wall", "--json"]).expect(0).json();
    let keys: Vec<&str> = motion.as_object().unwrap().keys().map(String::as_str).collect();
    for key in [
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
    ] {
        assert!(keys.contains(&key), "{key} is missing in {keys:?}");
    }
    assert_eq!(motion["model"], "Double pendulum against a wall");
    assert_eq!(motion["stop"]["reason"], "reached");
    assert_eq!(motion["stop"]["time"], 10.0);
    assert!(motion["stop"]["detail"].is_null());
    assert_eq!(numbers(&motion["time"]).len(), 201);
    assert_eq!(numbers(&motion["position"]["theta2"]).len(), 201);
    assert_eq!(numbers(&motion["output"]["tip_speed"]).len(), 201);
    assert_eq!(numbers(&motion["contact_force"]["left"]).len(), 201);
    assert_eq!(motion["impacts"].as_array().unwrap().len(), 7);
    let first = &motion["impacts"][0];
    assert_eq!(first["walls"][0], "left");
    for key in [
        "time",
        "impulse",
        "reaction_impulse",
        "driving_impulse",
        "gap_rate_before",
        "gap_rate_after",
        "position",
        "velocity_before",
        "velocity_after",
        "hamiltonian_before",
        "hamiltonian_after",
    ] {
        assert!(!first[key].is_null(), "{key}");
    }
    let audit = &motion["audit"];
    for key in ["steps", "derive_seconds", "compile_seconds", "simulate_seconds", "hamiltonian_drift"] {
        assert!(audit[key].is_number(), "{key}");
    }
    assert_eq!(audit["verdict"], "ok");
    assert!(["fused", "plain"].iter().any(|name| audit["arithmetic"] == *name), "{audit}");
}

#[test]
fn levels_change_nothing_but_the_time_and_those_the_processor_lacks_are_refused() {
    let run = |options: &[&str]| {
        let fixed = ["run", "double_pendulum_wall", "--json", "--until", "3"];
        carom(&[&fixed[..], options].concat())
    };
    let best = run(&[]).expect(0).json();
    let taken = carom_run::Level::detect().instructions();
    for (level, instructions) in carom_run::Instructions::NAMED {
        if instructions == taken {
            // That is what `best` was made with.
            continue;
        }
        let ended = run(&["--option", &format!("level={level}")]);
        if ended.code == 0 {
            let motion = ended.json();
            for key in ["position", "momentum", "impacts"] {
                assert_eq!(motion[key], best[key], "{level}");
            }
            assert_eq!(motion["audit"]["arithmetic"], best["audit"]["arithmetic"]);
        } else {
            println!("not executed here: {level}");
            let ended = ended.expect(1);
            assert!(ended.stderr.contains("this processor does not have"), "{}", ended.stderr);
        }
    }
    // The other class of bits: all of its own levels agree to the end; with the first class it agrees as far as rounding has
    // not grown, and not further.
    let plain = run(&["--option", "arithmetic=plain"]).expect(0).json();
    let interpreted =
        run(&["--option", "level=interpreter", "--option", "arithmetic=plain"]).expect(0).json();
    for motion in [&plain, &interpreted] {
        assert_eq!(motion["audit"]["arithmetic"], "plain");
        assert_eq!(motion["stop"], best["stop"]);
        for key in ["position", "momentum", "impacts"] {
            assert_eq!(motion[key], plain[key], "{key}");
        }
    }
    if best["audit"]["arithmetic"] == "fused" {
        assert_ne!(plain["position"], best["position"], "rounding differs somewhere");
    } else {
        println!("not compared here: fused and plain arithmetic, for the best level is plain");
    }
    let end = |motion: &serde_json::Value| *numbers(&motion["position"]["theta2"]).last().unwrap();
    // Rounding, amplified by two impacts.
    assert!((end(&plain) - end(&best)).abs() < 1e-9, "{} and {}", end(&plain), end(&best));
    for (wrong, sentence) in [
        (vec!["--option", "level=avx3"], "write one of avx512, avx2, interpreter"),
        (vec!["--option", "arithmetic=exact"], "write one of fused, plain"),
        (vec!["--option", "levle=avx2"], "did you mean `level`?"),
        (vec!["--option", "instructions=avx2"], "impact_order, level, arithmetic"),
    ] {
        let ended = run(&wrong).expect(1);
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
        assert!(ended.stderr.contains("command line"), "{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("1 | {}", wrong.join(" "))), "{}", ended.stderr);
    }
    // A level that is there is refused because its bits are of the other class: the hint promises no equal bits.
    for (level, instructions) in carom_run::Instructions::NAMED {
        let there = carom_run::Level::choose(Some(instructions), None).is_ok();
        let ended = run(&["--option", &format!("level={level}"), "--option", "arithmetic=plain"]);
        if ended.code != 0 {
            let ended = ended.expect(1);
            assert_eq!(ended.stderr.contains("other bits"), there, "{}", ended.stderr);
            assert_eq!(ended.stderr.contains("takes the best there is"), !there, "{}", ended.stderr);
        }
    }
}

/// A pendulum in steps that are too long.
const COARSE: &str = "coordinates = [\"th\"]\n[energy]\nkinetic = \"th'^2/2\"\npotential = \"-9.81*cos(th)\"\n[start]\nposition = { th = 2 }\n[run]\nuntil = 20\nmethod = \"rk4\"\nstep = 0.2\n";

#[test]
fn a_motion_that_drifted_says_so_in_the_result_and_in_the_summary() {
    let motion = carom_with(COARSE, &["run", "-", "--json"]).expect(0).json();
    assert_eq!(motion["audit"]["verdict"], "drift");
    let warnings = motion["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w.as_str().unwrap().starts_with("the energy balance drifted by")));
    let ended = carom_with(COARSE, &["run", "-"]).expect(0);
    assert!(ended.stdout.contains("drift, see the warnings"), "{}", ended.stdout);
    assert!(ended.stderr.contains("warning: the energy balance drifted by"), "{}", ended.stderr);
}

#[test]
fn the_summary_shows_the_state_at_the_stop_and_numbers_as_people_write_them() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[event.half]\nwhen = \"x - 0.25\"\naction = \"stop\"\n[start]\nvelocity = { x = 0.1 }\n[run]\nuntil = 5\nsamples = 3\n";
    let ended = carom_with(text, &["run", "-", "--sensitivity"]).expect(0);
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("t = 2.5 position velocity x 0.25 0.1"), "{}", ended.stdout);
    assert!(words.contains("energy balance kept to 0 "), "{}", ended.stdout);
    // ‖[1 2.5; 0 1]‖ = 2.85
    assert!(words.contains("amplified 2.9-fold"), "{}", ended.stdout);
    assert!(!words.contains("e0"), "{}", ended.stdout);
}

#[test]
fn the_first_impacts_are_those_that_are_known() {
    let motion = carom(&["run", "double_pendulum_wall", "--json"]).expect(0).json();
    let known = [0.845724416263871, 2.539296454065522, 4.251328403262459];
    for (impact, known) in motion["impacts"].as_array().unwrap().iter().zip(known) {
        let time = impact["time"].as_f64().unwrap();
        assert!((time - known).abs() < 1e-11, "{time} {known}");
    }
}

#[test]
fn options_change_parameters_start_end_and_samples() {
    let run = |options: &[&str]| {
        let mut arguments = vec!["run", "bouncing_mass", "--json"];
        arguments.extend(options);
        carom(&arguments).expect(0).json()
    };
    let motion = run(&["--at", "0.25,0,0.5"]);
    assert_eq!(numbers(&motion["time"]).len(), 3);
    assert_eq!(numbers(&run(&["--samples", "7"])["time"]).len(), 7);
    assert_eq!(run(&["--until", "1.5"])["stop"]["time"], 1.5);
    // y = 2 − t² for g = 2 from rest.
    let motion = run(&["--set", "g=2", "--start", "y=2,y'=0", "--at", "1"]);
    assert!((numbers(&motion["position"]["y"])[0] - 1.0).abs() < 1e-14);
    // Formulas are values too.
    let motion = run(&["--set", "g=sqrt(4)", "--start", "y=pi/pi+1", "--start", "y'=0", "--at", "1"]);
    assert!((numbers(&motion["position"]["y"])[0] - 1.0).abs() < 1e-14);
}

#[test]
fn the_model_may_come_from_standard_input() {
    let text = carom::gallery::find("bouncing_mass").unwrap().text;
    let piped = carom_with(text, &["run", "-", "--json", "--at", "5"]).expect(0).json();
    let named = carom(&["run", "bouncing_mass", "--json", "--at", "5"]).expect(0).json();
    assert_eq!(piped["position"], named["position"]);
}

#[test]
fn a_motion_that_ends_early_exits_2_and_still_delivers() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "guiding_centre", "--json", "-o", "out.csv"];
    let motion = carom_in(folder.path(), &arguments).expect(2).json();
    let time = motion["stop"]["time"].as_f64().unwrap();
    assert!((time - std::f64::consts::PI / 8f64.sqrt()).abs() < 1e-12, "{time}");
    assert!(fs::read_to_string(folder.path().join("out.csv")).unwrap().lines().count() > 10);
}

#[test]
fn files_are_written_by_extension_with_the_impacts_in_a_second_one() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["csv", "json", "npz", "parquet"] {
        carom_in(folder.path(), &["run", "bouncing_mass", "-o", &format!("out.{extension}")]).expect(0);
    }
    let mut files: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    // Where the table comes from stands in the others, and beside csv.
    let expected = [
        "out.csv",
        "out.csv-metadata.json",
        "out.impacts.csv",
        "out.impacts.csv-metadata.json",
        "out.impacts.parquet",
        "out.json",
        "out.npz",
        "out.parquet",
    ];
    assert_eq!(files, expected);
    let header = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(header.starts_with("time,x,y,x',y',p_x,p_y,hamiltonian,energy"), "{}", &header[..80]);
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "b.parquet"] {
        carom_in(folder.path(), &["run", "double_pendulum_wall", "-o", name]).expect(0);
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("a.parquet"), read("b.parquet"));
    assert_eq!(carom(&["derive", "jack_in_box"]).stdout, carom(&["derive", "jack_in_box"]).stdout);
}

#[test]
fn derive_json_has_every_field_of_the_contract() {
    let derived = carom(&["derive", "double_pendulum_wall", "--json"]).expect(0).json();
    for key in [
        "coordinates",
        "lagrangian",
        "momenta",
        "hamiltonian",
        "mass_matrix",
        "bias",
        "generalized_force",
        "walls",
    ] {
        assert!(!derived[key].is_null(), "{key} is missing: {derived}");
    }
    assert!(derived["derive_seconds"].is_number());
    assert!(derived["lagrangian"]["text"].is_string() && derived["lagrangian"]["latex"].is_string());
}

#[test]
fn check_reports_every_mistake_as_json() {
    let text = "coordinates = [\"x\"]\n[energy]\nkinetic = \"m*x'^2\"\npotential = \"k*x^2 + zz\"\n";
    let report = carom_with(text, &["check", "-", "--json"]).expect(1).json();
    let errors = report["errors"].as_array().unwrap();
    assert!(errors.len() >= 3, "{report}");
    assert!(errors.iter().all(|e| e["line"].is_number() && e["message"].is_string()));
    let report = carom(&["check", "rolling_disk", "--json"]).expect(0).json();
    assert_eq!(report["model"], "Rolling disk hitting a wall");
    assert_eq!(report["errors"].as_array().unwrap().len(), 0);
}

#[test]
fn quiet_says_nothing_and_the_summary_says_what_matters() {
    let ended = carom(&["run", "bouncing_mass", "--quiet"]).expect(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    let ended = carom(&["run", "bouncing_mass"]).expect(0);
    for word in ["reached t = 5", "0.565175743588", "9.07744457", "floor", "audit"] {
        assert!(ended.stdout.contains(word), "{word}\n{}", ended.stdout);
    }
    assert!(!ended.stdout.contains('\x1b'), "no colours in a pipe");
}

#[test]
fn repeat_keeps_the_result() {
    let once = carom(&["run", "bouncing_mass", "--json"]).expect(0).json();
    let often = carom(&["run", "bouncing_mass", "--json", "--repeat", "5"]).expect(0).json();
    assert_eq!(once["impacts"], often["impacts"]);
}

#[test]
fn an_interrupted_run_delivers_what_was_computed() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("out.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(["run", "double_pendulum", "--until", "1e7", "--samples", "11", "-q", "-o"])
        .arg(&marker)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The handler is there as soon as the simulation is; before that an interrupt simply ends the program.
    std::thread::sleep(Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let patience = Instant::now() + Duration::from_secs(60);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > patience => {
                child.kill().unwrap();
                panic!("it does not listen");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    assert_eq!(status.code(), Some(2));
    let motion: serde_json::Value = serde_json::from_slice(&fs::read(marker).unwrap()).unwrap();
    assert_eq!(motion["stop"]["reason"], "interrupted");
    assert!(motion["stop"]["time"].as_f64().unwrap() > 0.0);
    assert_eq!(motion["time"][0], 0.0);
}

#[test]
fn show_without_a_file_name_writes_a_page_named_after_the_model() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["show", "bouncing_mass"]).expect(0);
    let page = fs::read_to_string(folder.path().join("bouncing_mass.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    for name in ["a.svg", "a.png", "a.gif"] {
        carom_in(folder.path(), &["show", "bouncing_mass", "-q", "-o", name]).expect(0);
    }
    let ended = carom_in(folder.path(), &["show", "bouncing_mass", "--plot", "yy", "-o", "b.svg"]).expect(1);
    assert!(ended.stderr.contains("yy"), "{}", ended.stderr);
    assert!(!folder.path().join("b.svg").exists());
}

const GRAZING: &str = "coordinates = [\"x\"]\n[parameters]\nk = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[wall.stop]\ngap = \"1 - x\"\n[start]\nposition = { x = 1 }\n[run]\nuntil = 7\n";

#[test]
fn sensitivities_are_a_matrix_with_names_and_a_graze_has_none() {
    let list = "--sensitivity=start,g,restitution.left";
    let motion = carom(&["run", "double_pendulum_wall", list, "--json"]).expect(0).json();
    let s = &motion["sensitivity"];
    assert_eq!(s["of"], serde_json::json!(["theta1", "theta2", "theta1'", "theta2'"]));
    let by = serde_json::json!(["theta1", "theta2", "theta1'", "theta2'", "g", "restitution.left"]);
    assert_eq!(s["with_respect_to"], by);
    assert_eq!(s["matrix"].as_array().unwrap().len(), 4);
    assert!(s["matrix"].as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == 6));
    assert_eq!(s["impact_times"].as_array().unwrap().len(), motion["impacts"].as_array().unwrap().len());
    assert!(s["not_differentiable"].is_null());
    assert!(s["checks"]["symplectic"].as_f64().unwrap() < 1e-12, "{}", s["checks"]);
    let grazing = carom_with(GRAZING, &["run", "-", "--sensitivity=k", "--json"]).expect(0).json();
    let s = &grazing["sensitivity"];
    assert!(s["matrix"].is_null());
    assert_eq!(s["not_differentiable"]["what"], "graze");
    assert_eq!(s["not_differentiable"]["walls"], serde_json::json!(["stop"]));
    let told = carom_with(GRAZING, &["run", "-", "--sensitivity=k"]).expect(0);
    assert!(told.stdout.contains("not differentiable at t = "), "{}", told.stdout);
}

#[test]
fn an_unknown_name_to_differentiate_by_is_answered_with_the_nearest() {
    for (list, answer) in [
        ("--sensitivity=kk", "did you mean `k`?"),
        ("--sensitivity=start,restitution.stap", "did you mean `restitution.stop`?"),
        ("--sensitivity=strat", "did you mean `start`?"),
        ("--sensitivity=entirely_else", "there are start, x, x', k, restitution.stop"),
    ] {
        let ended = carom_with(GRAZING, &["run", "-", list]).expect(1);
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(answer), "{list}: {}", ended.stderr);
    }
}

#[test]
fn a_gradient_is_one_row_of_the_sensitivities() {
    let all = carom(&["run", "double_pendulum_wall", "--sensitivity=start,g,restitution.left", "--json"])
        .expect(0)
        .json();
    let by = "--with-respect-to=start,g,restitution.left";
    let found =
        carom(&["run", "double_pendulum_wall", "--gradient", "theta1", by, "--json"]).expect(0).json();
    let g = &found["gradient"];
    assert_eq!(g["of"], "theta1");
    assert_eq!(g["value"], *found["position"]["theta1"].as_array().unwrap().last().unwrap());
    assert_eq!(g["with_respect_to"], all["sensitivity"]["with_respect_to"]);
    let numbers =
        |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let (a, b) = (numbers(&g["gradient"]), numbers(&all["sensitivity"]["matrix"][0]));
    let scale = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-10 * scale), "{a:?} {b:?}");
    assert!(g["duality"].as_f64().unwrap() < 1e-12);
    // A formula, a sum, an impact; everything unless said.
    let ball = "coordinates = [\"y\"]\n[parameters]\ng = 2\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"g*y\"\n[wall.floor]\ngap = \"y\"\n[start]\nposition = { y = 1 }\n[run]\nuntil = 0.5\n";
    let ask = |what: &str, more: &[&str]| {
        let line: Vec<&str> =
            ["run", "-", "--gradient", what, "--json"].iter().chain(more).copied().collect();
        carom_with(ball, &line).expect(0).json()["gradient"].clone()
    };
    // y = y₀ + v₀ t − g t²/2: at 1/2 it is 3/4.
    let g = ask("y^2 + 1", &[]);
    assert_eq!(g["with_respect_to"], serde_json::json!(["y", "y'", "g", "restitution.floor"]));
    for (a, b) in numbers(&g["gradient"]).iter().zip([1.5, 0.75, -0.1875, 0.0]) {
        assert!((a - b).abs() < 1e-15, "{g}");
    }
    let g = ask("sum(y)", &["--at", "0,0.5", "--with-respect-to=y,g"]);
    assert_eq!((numbers(&g["gradient"]), g["value"].as_f64()), (vec![2.0, -0.125], Some(1.75)));
    let g = ask("impact.floor.1", &["--until", "2", "--with-respect-to=y,g"]);
    for (a, b) in numbers(&g["gradient"]).iter().zip([0.5, -0.25]) {
        assert!((a - b).abs() < 1e-15, "{g}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), ball).unwrap();
    fs::write(folder.path().join("w.csv"), "time,y\n0,1\n0.5,2\n").unwrap();
    let line = ["run", "ball.toml", "--gradient", "w.csv", "--with-respect-to", "y,g", "--json"];
    let g = carom_in(folder.path(), &line).expect(0).json()["gradient"].clone();
    assert_eq!((numbers(&g["gradient"]), g["value"].as_f64()), (vec![3.0, -0.25], Some(2.5)));
}

#[test]
fn what_has_no_gradient_is_answered_with_a_sentence() {
    let said = |line: &[&str], code: i32| {
        let all: Vec<&str> = ["run", "-"].iter().chain(line).copied().collect();
        let ended = carom_with(GRAZING, &all).expect(code);
        (ended.stderr + &ended.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (line, answer) in [
        (&["--gradient", "xx"][..], "did you mean the coordinate `x`?"),
        (&["--gradient", "x^"][..], "--gradient x^"),
        (&["--gradient", "impact.stop"][..], "does not say which one"),
        (&["--gradient", "impact.stap.1"][..], "did you mean `stop`?"),
        (&["--gradient", "event.apex.1"][..], "this model has no event"),
        (&["--gradient", "x", "--with-respect-to=kk"][..], "did you mean `k`?"),
        (&["--gradient", "x''"][..], "accelerations"),
        (&["--gradient", "x", "--sensitivity=k"][..], "cannot be used with"),
        (&["--with-respect-to=k"][..], "--gradient"),
    ] {
        let words = said(line, 1);
        assert!(words.contains(answer), "{line:?}: {words}");
    }
    assert!(said(&["--gradient", "x"], 0).contains("not differentiable at t = "));
    let words = said(&["--gradient", "impact.stop.3", "--start", "x=0.5"], 0);
    assert!(words.contains("wall `stop` was hit never, not 3 times"), "{words}");
    let grazing = carom_with(GRAZING, &["run", "-", "--gradient", "x", "--json"]).expect(0).json();
    assert!(grazing["gradient"]["gradient"].is_null());
    assert_eq!(grazing["gradient"]["not_differentiable"]["what"], "graze");
}
