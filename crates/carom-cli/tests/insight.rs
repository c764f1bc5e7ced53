//! `carom scan` and `carom fit`: tables, pictures and JSON as their contracts say, against closed forms.

mod support;

use std::fs;
use std::path::Path;
use support::{carom_in, numbers};

/// A table in csv: names and rows.
fn table(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let rows = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    (names, rows)
}

/// A damped forced oscillator: once a period it is where the closed form says, whatever the start.
const DRIVEN: &str = "coordinates = [\"x\"]\n[parameters]\nF = 1.0\nzeta = 0.2\nomega = 1.5\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
    dissipation = \"zeta*x'^2\"\n[force.drive]\ngeneralized = { x = \"F*cos(omega*t)\" }\n[start]\nposition = { x = 0.3 }\n[run]\nuntil = 500\n";

#[test]
fn a_scan_writes_the_varied_parameters_and_the_state_once_per_kept_crossing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("driven.toml"), DRIVEN).unwrap();
    let scan = |output: &str| {
        let period = ["--period", "2*pi/omega", "--skip", "60", "--keep", "5", "--json", "-o", output];
        let arguments = [&["scan", "driven.toml", "--vary", "F=0.5..2:4"][..], &period[..]].concat();
        carom_in(folder.path(), &arguments).expect(0).json()
    };
    let found = scan("scan.csv");
    assert_eq!(
        found.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["motions", "crossings", "attractors", "failed", "seconds"]
    );
    assert_eq!((&found["motions"], &found["crossings"]), (&4.into(), &20.into()));
    assert!(found["attractors"].is_null() && found["failed"].as_object().unwrap().is_empty());
    let (names, rows) = table(&folder.path().join("scan.csv"));
    assert_eq!((names, rows.len()), (["F", "x", "x'"].map(str::to_owned).to_vec(), 20));
    // x = F (a cos ωt + b sin ωt)/(a² + b²), at ωt = 2πk.
    let (a, b) = (1.0 - 1.5 * 1.5, 2.0 * 0.2 * 1.5);
    for (k, row) in rows.iter().enumerate() {
        let force = 0.5 + 0.5 * (k / 5) as f64;
        let size = force / (a * a + b * b);
        assert!((row[0] - force).abs() < 1e-12, "{row:?}");
        assert!((row[1] - size * a).abs() < 1e-9 && (row[2] - size * b * 1.5).abs() < 1e-9, "{row:?}");
    }
    for (output, magic) in [("scan.png", &b"\x89PNG"[..]), ("scan.parquet", b"PAR1"), ("scan.svg", b"<")] {
        assert_eq!(scan(output)["crossings"], 20, "{output}");
        let bytes = fs::read(folder.path().join(output)).unwrap();
        assert!(bytes.starts_with(magic), "{output}");
    }
    // The columns of a parquet file stand in its footer.
    let parquet = fs::read(folder.path().join("scan.parquet")).unwrap();
    let tail = String::from_utf8_lossy(&parquet[parquet.len() - 4000.min(parquet.len())..]).into_owned();
    assert!(tail.contains('F') && tail.contains("x'"), "{tail}");
}

/// Two wells: which one a motion ends in is the side it starts on, when it starts slowly.
const WELLS: &str = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"(x^2 - 1)^2/4\"\ndissipation = \"0.25*x'^2\"\n\
    [force.tick]\ngeneralized = { x = \"sin(t)/1000\" }\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 400\n";

#[test]
fn a_scan_of_two_quantities_of_the_start_tells_attractors_apart() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("wells.toml"), WELLS).unwrap();
    let vary = ["--vary", "x=-0.8..0.8:4", "--vary", "x'=-0.05..0.05:3"];
    let rest = ["--period", "2*pi", "--skip", "30", "--keep", "2", "--json", "-o", "basin.csv"];
    let arguments = [&["scan", "wells.toml"][..], &vary[..], &rest[..]].concat();
    let found = carom_in(folder.path(), &arguments).expect(0).json();
    assert_eq!((&found["motions"], &found["attractors"]), (&12.into(), &2.into()));
    let (names, rows) = table(&folder.path().join("basin.csv"));
    assert_eq!(names, ["start.x", "start.x'", "x", "x'", "attractor"]);
    assert_eq!(rows.len(), 24);
    // The first attractor is the one of the first motion, at x < 0.
    for row in rows {
        assert_eq!(row[4], if row[0] < 0.0 { 1.0 } else { 2.0 }, "{row:?}");
        assert!((row[2] - row[0].signum()).abs() < 0.01, "{row:?}");
    }
}

const BALL: &str = "coordinates = [\"y\"]\nmomenta = [\"push\"]\nhamiltonian = \"push^2/2 + 9.81*y\"\n[parameters]\ne_n = 0.8\nh = 1.0\n\
    [wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = \"h\" }\n[run]\nuntil = 2.5\n";

#[test]
fn a_fit_has_the_fields_of_its_contract_and_a_picture_per_column() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    // τ_k of a ball dropped from 0.9 with e = 0.7, and its height and momentum before the first of them; under the names of tables.
    let fall = (2.0 * 0.9 / 9.81_f64).sqrt();
    let mut text = "time,y,push,impact.floor\n".to_owned();
    let mut at = fall;
    for k in 0..4 {
        let t = 0.1 * f64::from(k);
        text += &format!("{t},{},{},{at}\n", 0.9 - 0.5 * 9.81 * t * t, -9.81 * t);
        at += 2.0 * 0.7_f64.powi(k + 1) * fall;
    }
    fs::write(folder.path().join("d.csv"), text).unwrap();
    let fit = |more: &[&str]| {
        let arguments = [&["fit", "ball.toml", "--data", "d.csv", "--vary", "e_n,h"][..], more].concat();
        carom_in(folder.path(), &arguments).expect(0)
    };
    let found = fit(&["--json", "-o", "fit.svg"]).json();
    assert_eq!(
        found.as_object().unwrap().keys().collect::<Vec<_>>(),
        [
            "parameters",
            "standard_errors",
            "intervals",
            "degrees_of_freedom",
            "cost",
            "gradient",
            "impacts_matched",
            "unidentified",
            "iterations",
            "warnings"
        ]
    );
    for field in ["parameters", "standard_errors", "intervals", "gradient"] {
        assert_eq!(found[field].as_object().unwrap().keys().collect::<Vec<_>>(), ["e_n", "h"], "{field}");
    }
    assert_eq!(numbers(&found["intervals"]["h"]).len(), 2);
    assert!((found["parameters"]["e_n"].as_f64().unwrap() - 0.7).abs() < 1e-9, "{found}");
    assert!((found["parameters"]["h"].as_f64().unwrap() - 0.9).abs() < 1e-9, "{found}");
    assert_eq!(
        found["impacts_matched"]["floor"],
        serde_json::json!({ "data": 4, "motion": 4, "matched": 4 })
    );
    assert_eq!(found["degrees_of_freedom"], 10);
    // Three columns, three pictures, one below the other: an axis of its own for each.
    let svg = fs::read_to_string(folder.path().join("fit.svg")).unwrap();
    let height: f64 = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(height > 1700.0, "{height}");
    for words in ["impact on floor", "push", ">data<"] {
        assert!(svg.contains(words), "{words}");
    }
    assert_eq!(svg.matches(">data<").count(), 3);
    assert_eq!(svg.matches("</svg>").count(), 1);
    let html = fit(&["-q", "-o", "fit.html"]);
    assert_eq!(html.stdout, "");
    assert_eq!(fs::read_to_string(folder.path().join("fit.html")).unwrap().matches(">data<").count(), 3);
    let said = fit(&[]).stdout;
    assert!(
        said.contains("95 %") && said.contains("wall floor: 4 impacts in the data, 4 in the motion"),
        "{said}"
    );
}

/// Data that a model meets only at the edge of what it allows, and a start that is a formula of what is fitted beside it.
#[test]
fn a_fit_says_where_it_could_not_go_on_and_takes_what_is_fitted_as_a_number() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ball.toml"), BALL).unwrap();
    let fit = |data: &str, vary: &str| {
        fs::write(folder.path().join("d.csv"), data).unwrap();
        carom_in(folder.path(), &["fit", "ball.toml", "--data", "d.csv", "--vary", vary, "--json"]).expect(0)
    };
    // Each bounce takes longer than the one before: e > 1.
    let gaining = fit("impact.floor\n0.4515\n1.37\n2.31\n", "e_n,h");
    let found = gaining.json();
    assert!((found["parameters"]["e_n"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{found}");
    let told = found["warnings"][0].as_str().unwrap();
    assert!(told.contains("the fit ends at e_n = ") && told.contains("restitution"), "{told}");
    assert!(gaining.stderr.contains("warning: the fit ends at e_n"), "{}", gaining.stderr);
    let right = fit("impact.floor\n0.4515\n1.17\n1.75\n2.21\n", "e_n,h").json();
    assert_eq!(right["warnings"].as_array().unwrap().len(), 0, "{right}");
    // y = h in the file; fitted beside h it is not, and h has no say.
    let heights: Vec<String> = [0.1_f64, 0.2, 0.3]
        .iter()
        .map(|t| format!("{t},{}", 0.9 - 0.5 * 9.81 * t * t + 0.001 * (9.0 * t).sin()))
        .collect();
    let found = fit(&format!("time,y\n{}\n", heights.join("\n")), "y,h").json();
    assert_eq!(found["unidentified"], serde_json::json!(["h"]), "{found}");
    assert!((found["parameters"]["y"].as_f64().unwrap() - 0.9).abs() < 2e-3, "{found}");
    assert!(found["standard_errors"]["y"].as_f64().unwrap() < 1e-3, "{found}");
}
