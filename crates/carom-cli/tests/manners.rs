//! Manners: whatever a person types, the answer is a sentence with a way out, and it fits the terminal.

mod support;

use std::process::{Command, Stdio};
use support::{Ended, carom, carom_in, gallery};

const MODEL: &str = "double_pendulum_wall";

/// Must be refused with exit code 1, say all of `words`, and give a way out.
fn answered(arguments: &[&str], words: &[&str]) {
    let ended = carom(arguments).expect(1);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    for word in words.iter().chain(&["error:", "hint:"]) {
        assert!(ended.stderr.contains(word), "{arguments:?} does not say `{word}`:\n{}", ended.stderr);
    }
}

#[test]
fn a_command_of_another_tool_or_a_slip_of_the_fingers_finds_ours() {
    answered(&["rnu", MODEL], &["`rnu`", "carom run double_pendulum_wall"]);
    answered(&["plot", MODEL, "-o", "a b.svg"], &["carom show double_pendulum_wall -o \"a b.svg\""]);
    answered(&["animate"], &["carom show MODEL"]);
    answered(&["Simulate", MODEL], &["carom run"]);
    answered(&["simulate", MODEL, "--until", "5"], &["carom run double_pendulum_wall --until 5"]);
    answered(&["shwo", MODEL], &["carom show"]);
    answered(&["equations", MODEL], &["carom derive"]);
    answered(&["validate", MODEL], &["carom check"]);
    answered(&["examples"], &["carom gallery"]);
    answered(&["xyzzy"], &["the commands are", "run", "show", "derive"]);
}

#[test]
fn an_option_of_another_tool_or_of_another_command_finds_ours() {
    for option in [
        "--time",
        "--end",
        "--tend",
        "--t_end",
        "--tmax",
        "--duration",
        "--stop-time",
        "-T",
        "--to",
        "--t-final",
    ] {
        answered(&["run", MODEL, option, "5"], &["--until T"]);
    }
    for option in ["--dt", "--step", "--timestep", "--max-step", "--h"] {
        answered(
            &["run", MODEL, option, "0.1"],
            &["--samples N", "--tolerance", "--option method=rk4 --option step=0.01"],
        );
    }
    answered(&["run", MODEL, "--dt=0.1"], &["--samples N"]);
    answered(&["run", MODEL, "--rtol", "1e-9"], &["--tolerance"]);
    answered(&["run", MODEL, "--param", "g=1"], &["--set NAME=VALUE"]);
    answered(&["run", MODEL, "--x0", "1"], &["--start"]);
    answered(&["run", MODEL, "--method", "rk4"], &["--option method=rk4"]);
    answered(&["run", MODEL, "--out", "a.csv"], &["--output"]);
    answered(&["run", MODEL, "--save", "a.csv"], &["-o FILE"]);
    answered(&["run", MODEL, "--t0", "1"], &["--option from=T"]);
    answered(&["run", MODEL, "--unti", "5"], &["did you mean --until?"]);
    answered(&["run", MODEL, "--vary", "g=1..2:3"], &["--vary belongs to carom sweep"]);
    answered(&["run", MODEL, "--plot", "energy"], &["--plot belongs to carom show"]);
    answered(&["derive", MODEL, "--until", "5"], &["--until belongs to carom run, carom show, carom sweep"]);
    answered(&["sweep", MODEL, "--jobs", "2"], &["--threads N"]);
    answered(&["run", MODEL, "--frobnicate"], &["carom run --help"]);
    answered(&["--until", "5", "run"], &["--until belongs to carom run"]);
}

#[test]
fn words_in_the_wrong_place_are_put_in_the_right_one() {
    answered(&["run"], &["which model?", "carom gallery"]);
    answered(&["run", MODEL, "5"], &["--until 5"]);
    answered(&["run", MODEL, "g=1.62"], &["--set \"g=1.62\""]);
    answered(&["run", MODEL, "theta1'=2"], &["--start \"theta1'=2\""]);
    answered(&["run", MODEL, "out.csv"], &["-o out.csv"]);
    answered(&["run", MODEL, "pendulum_wall"], &["one model"]);
    answered(&["sweep", MODEL, "g=1..2:3"], &["--vary \"g=1..2:3\""]);
}

#[test]
fn a_model_without_a_command_says_what_can_be_done_with_it() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["gallery", "double_pendulum_wall"]).expect(0);
    for model in ["double_pendulum_wall.toml", MODEL] {
        let ended = carom_in(folder.path(), &[model]).expect(1);
        for command in ["check", "derive", "run", "show", "sweep"] {
            assert!(ended.stderr.contains(&format!("carom {command} ")), "{model}: {}", ended.stderr);
        }
        assert!(ended.stderr.contains("what should be done"), "{}", ended.stderr);
    }
    assert!(carom(&["--until", "5", MODEL]).expect(1).stderr.contains("what should be done"));
    // One that is not there is said to be missing.
    answered(
        &["no/such file.toml"],
        &["there is no file", "no/such file.toml", "carom new", "carom gallery"],
    );
}

#[test]
fn what_is_suggested_works() {
    let folder = tempfile::tempdir().unwrap();
    carom_in(folder.path(), &["gallery", MODEL]).expect(0);
    let said = carom_in(folder.path(), &["double_pendulum_wall.toml"]).expect(1).stderr;
    let commands: Vec<&str> = said.lines().filter_map(|l| l.trim_start().strip_prefix("carom ")).collect();
    assert!(commands.len() >= 7, "{said}");
    for command in commands {
        let command = command.split("  ").next().unwrap().replace("NAME=A..B:N", "g=1..2:2");
        let words: Vec<&str> = command.split_whitespace().collect();
        carom_in(folder.path(), &words).expect(0);
    }
}

#[test]
fn steps_of_a_grid_are_written_as_one_would_type_them() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = [
        "sweep",
        "pendulum_wall",
        "--vary",
        "theta=0..1:6",
        "--vary",
        "g=0.1,9.81",
        "--until",
        "0.01",
        "-o",
        "s.csv",
    ];
    carom_in(folder.path(), &sweep).expect(0);
    let table = std::fs::read_to_string(folder.path().join("s.csv")).unwrap();
    let column: Vec<&str> = table.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(column, ["0.0", "0.0", "0.2", "0.2", "0.4", "0.4", "0.6", "0.6", "0.8", "0.8", "1.0", "1.0"]);
    answered(&["sweep", "pendulum_wall", "--vary", "theta=0..1:0.2"], &["0..1:6 has steps of 0.2"]);
}

/// Runs the program as if its output were `columns` wide.
fn narrow(columns: &str, arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(arguments)
        .env("COLUMNS", columns)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Columns of a line; combining marks take none.
fn width(line: &str) -> usize {
    line.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

#[test]
fn summaries_and_lists_of_the_whole_gallery_fit_forty_columns() {
    for model in gallery() {
        let ended = narrow("40", &["run", model, "--until", "3"]);
        for line in ended.stdout.lines() {
            assert!(width(line) <= 40, "{model}: {} columns:\n{line}", width(line));
        }
        assert!(ended.stdout.contains("audit"), "{model}");
    }
    for line in narrow("40", &["gallery"]).expect(0).stdout.lines() {
        assert!(width(line) <= 40, "{line}");
    }
    // A command is not broken; what it does stands below it.
    let what = narrow("40", &["double_pendulum_wall"]).expect(1).stderr;
    assert!(what.lines().all(|l| width(l) <= 64), "{what}");
}

#[test]
fn a_wide_page_shows_all_digits_and_a_narrow_one_says_the_same_in_more_lines() {
    let wide = narrow("100", &["run", MODEL]).expect(0).stdout;
    let slim = narrow("40", &["run", MODEL]).expect(0).stdout;
    let time =
        wide.lines().find(|l| l.trim_start().starts_with("1 ")).unwrap().split_whitespace().nth(1).unwrap();
    assert!(time.len() >= 13 && slim.contains(time), "{time}\n{slim}");
    assert!(slim.lines().count() > wide.lines().count());
}

#[test]
fn reports_of_the_whole_gallery_fit_sixty_columns_but_for_single_factors() {
    for model in gallery() {
        let text = narrow("60", &["derive", model]).expect(0).stdout;
        for line in text.lines().filter(|l| width(l) > 60) {
            // What is left over has no place to break: one factor, one name.
            let longest = line.split([' ', '·']).map(width).max().unwrap_or(0);
            assert!(longest > 20, "{model}: {} columns:\n{line}", width(line));
        }
    }
}

#[test]
fn a_part_of_a_report_can_be_asked_for() {
    // Without the last line, which says where the report comes from.
    let report = |more: &[&str]| {
        let text = carom(&[&["derive", MODEL], more].concat()).expect(0).stdout;
        let (body, last) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(last.starts_with("carom "), "{last}");
        body.to_owned()
    };
    let whole = report(&[]);
    let impacts = report(&["--part", "impacts"]);
    assert!(
        impacts.contains("Impacts: from the action to the law") && !impacts.contains("Accelerations"),
        "{impacts}"
    );
    // Numbers of equations are those of the whole report.
    let body = impacts.split_once("Impacts: from").unwrap().1;
    assert!(whole.contains(body), "{body}");
    let two = report(&["--part", "motion,impacts"]);
    assert!(two.contains("Accelerations") && two.contains(body));
    // Every part that a model of the gallery has can be asked for, and nothing else is in the whole.
    let mut lines = 0;
    for part in [
        "model",
        "lagrangian",
        "motion",
        "energy",
        "invariants",
        "hamiltonian",
        "implicit",
        "state",
        "impacts",
        "outputs",
    ] {
        lines += report(&["--part", part]).lines().count() - 2;
    }
    assert_eq!(lines, whole.lines().count() - 2);
    answered(&["derive", MODEL, "--part", "impcats"], &["did you mean `impacts`?"]);
    answered(&["derive", MODEL, "--part", "xyzzy"], &["there are model, lagrangian"]);
    answered(&["derive", "double_pendulum", "--part", "impacts"], &["no wall", "its parts are model"]);
    answered(&["derive", MODEL, "--json", "--part", "impacts"], &["--format"]);
}

#[test]
fn a_fragment_of_latex_has_no_preamble_and_balanced_environments() {
    let text = carom(&["derive", MODEL, "--part", "impacts", "--fragment"]).expect(0).stdout;
    assert!(
        !text.contains("documentclass")
            && !text.contains("\\begin{document}")
            && !text.contains("\\maketitle")
    );
    assert!(text.starts_with("% ") && text.contains("amsmath"), "{text}");
    assert_eq!(text.matches("\\begin{").count(), text.matches("\\end{").count());
    assert_eq!(text.matches("\\[\n").count(), text.matches("\n\\]").count());
    let whole = carom(&["derive", MODEL, "--format", "tex", "--part", "impacts"]).expect(0).stdout;
    let body: String =
        text.lines().filter(|line| !line.starts_with('%')).map(|line| format!("{line}\n")).collect();
    assert!(whole.contains(body.trim()), "the file has what the fragment has");
    answered(&["derive", MODEL, "--format", "html", "--fragment"], &["--format latex --fragment"]);
}

/// A model whose coordinates say nothing about places.
const ABSTRACT: &str = "coordinates = [\"q1\", \"psi\"]\n[energy]\nkinetic = \"(q1'^2 + psi'^2)/2\"\npotential = \"q1^2*psi^2\"\n[start]\nposition = { q1 = 1, psi = 0.5 }\n";

#[test]
fn a_model_without_places_has_a_page_of_plots_and_says_what_to_add() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("abstract.toml"), ABSTRACT).unwrap();
    let ended = carom_in(folder.path(), &["show", "abstract.toml"]).expect(0);
    assert!(ended.stderr.contains("plots only") && ended.stderr.contains("[body.NAME]"), "{}", ended.stderr);
    let page = std::fs::read_to_string(folder.path().join("abstract.html")).unwrap();
    assert!(page.contains("plots-only"));
    // A film has nothing but the picture.
    let film = carom_in(folder.path(), &["show", "abstract.toml", "-o", "a.gif"]).expect(1);
    assert!(film.stderr.contains("nothing to draw") && film.stderr.contains("hint"), "{}", film.stderr);
}

#[test]
fn runs_are_compared_in_one_picture_and_wrong_names_suggest() {
    let folder = tempfile::tempdir().unwrap();
    let show = |arguments: &[&str]| {
        let mut all = vec!["show", "pendulum_wall", "--until", "2", "-q"];
        all.extend(arguments);
        carom_in(folder.path(), &all)
    };
    show(&[
        "-o",
        "a.svg",
        "--compare",
        "g=1.62",
        "--compare",
        "method=rk4, step=0.001",
        "--compare",
        "theta'=1",
    ])
    .expect(0);
    let picture = std::fs::read_to_string(folder.path().join("a.svg")).unwrap();
    for label in ["as it is", "g=1.62", "method=rk4, step=0.001", "theta'=1", "|Δ"] {
        assert!(picture.contains(label), "{label}");
    }
    // A fixed step that is not given goes from sample to sample: until = 2, 201 samples.
    show(&["-o", "a.svg", "--samples", "201", "--compare", "g=1.62", "--compare", "method=rk4"]).expect(0);
    let picture = std::fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(picture.contains("method=rk4, step=0.01<"), "{picture}");
    show(&["-o", "a.html", "--compare", "R=1.1", "--plot", "theta"]).expect(0);
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.contains("\"compared\":[\"as it is\",\"R=1.1\"]"));
    show(&["-o", "a.png", "--compare", "until=3"]).expect(0);
    for (arguments, words) in [
        (&["-o", "b.svg", "--compare", "thetaa=1"][..], &["did you mean `theta`"][..]),
        (&["-o", "b.svg", "--compare", "methd=rk4"], &["did you mean `method`"]),
        (&["-o", "b.svg", "--compare", "zzz=1"], &["there are"]),
        (&["-o", "b.svg", "--compare", "1.62"], &["NAME=VALUE"]),
        (&["-o", "b.svg", "--compare", "method=euler"], &["method"]),
        (&["-o", "b.gif", "--compare", "g=1"], &[".svg, .png or .html"]),
    ] {
        let ended = show(arguments).expect(1);
        assert!(
            words.iter().all(|w| ended.stderr.contains(w)) && ended.stderr.contains("hint"),
            "{}",
            ended.stderr
        );
        assert!(!folder.path().join(arguments[1]).exists());
    }
}

#[test]
fn mistakes_in_what_is_drawn_have_a_place_and_a_way_out() {
    let model = |body: &str, view: &str| {
        format!(
            "coordinates = [\"x\", \"y\"]\n[body.ball]\nmass = \"1\"\nat = [\"x\", \"y\"]\n{body}\n[view]\n{view}\n"
        )
    };
    for (body, view, words) in [
        ("", "hide = [\"bal\"]", &["unknown body `bal`", "did you mean \"ball\""][..]),
        ("radius = 1\nbox = [1, 2]", "", &["two forms", "one of radius, polygon and box"]),
        ("polygon = [[0, 0], [1, 0]]", "", &["three corners"]),
        ("polygon = 3", "", &["list of corners"]),
        ("box = [1, 2, 3]", "", &["3 sides, not 2", "box = [\"a\", \"b\"]"]),
        ("radius = \"x\"", "", &["made of parameters"]),
        ("radus = 1", "", &["radius"]),
        ("orientation = [1, 0, 0]", "", &["3 components, not 4", "real part first"]),
        ("", "circles = [[\"origin\"]]", &["a point and a radius"]),
        ("", "circles = [[\"ball\", 1, [0, 1]]]", &["three components"]),
        ("", "polygons = [[\"origin\", \"ball\"]]", &["three corners, not 2"]),
        ("", "polygns = []", &["polygons"]),
    ] {
        let ended = support::carom_with(&model(body, view), &["check", "-"]).expect(1);
        for word in words {
            assert!(ended.stderr.contains(word), "{body} {view} does not say `{word}`:\n{}", ended.stderr);
        }
    }
    let fine =
        model("polygon = [[0, 0], [1, 0], [0, 1]]", "circles = [[\"origin\", 0.1]]\nhide = [\"ball\"]");
    support::carom_with(&fine, &["check", "-"]).expect(0);
}

/// A comment `<!-- carom show … -o FILE -->` says how the picture below it was made.
#[test]
fn pictures_of_the_readme_are_what_their_commands_draw() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let commands: Vec<&str> =
        readme.lines().filter_map(|l| l.strip_prefix("<!-- carom ")?.strip_suffix(" -->")).collect();
    let pictures = readme.matches("](docs/").filter(|_| true).count();
    assert!(!commands.is_empty() && pictures >= commands.len(), "{commands:?}");
    for command in commands {
        let (command, file) = command.split_once(" -o ").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut words: Vec<&str> = command.split_whitespace().collect();
        words.extend(["-o", "made.svg", "-q"]);
        carom_in(folder.path(), &words).expect(0);
        let made = std::fs::read_to_string(folder.path().join("made.svg")).unwrap();
        let kept = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(made == kept, "{file} is stale: run carom {command} -o {file}");
    }
}
