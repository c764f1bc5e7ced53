//! Questions that have no answer as asked: each is told what is wrong and a way out, with the right exit code, and nothing else.

mod support;

use std::fs;
use support::carom_in;

/// Files that requests may name.
const FILES: &[(&str, &str)] = &[
    ("swing.toml", SWING),
    ("graze.toml", GRAZE),
    ("table.toml", TABLE),
    ("driven.toml", DRIVEN),
    ("ball.toml", BALL),
    ("u.csv", "t,u\n0,0\n1,1\n2,0\n"),
    ("y.csv", "time,y\n0.1,1.15\n0.2,1.0\n0.3,0.76\n"),
    ("unknown.csv", "time,hight\n0.1,1.15\n"),
    ("wall.csv", "impact.flor\n0.45\n"),
    ("early.csv", "time,y\n-0.5,1.15\n"),
    ("late.csv", "time,y\n0.5,1.15\n7,0.2\n"),
    ("empty.csv", ""),
    ("bare.csv", "0.1,1.15\n0.2,1.0\n"),
    ("words.csv", "time,y\n0.1,high\n"),
    ("unsorted.csv", "impact.floor\n0.9\n0.45\n"),
    ("twice.csv", "time,y,y\n0.1,1,1\n"),
    ("timeless.csv", "y\n1.15\n"),
    ("only_time.csv", "time\n0.1\n"),
    ("values.csv", "time,y\n0.1,\n0.2,\n"),
    ("german.csv", "time;y\n0,1;1,15\n"),
    ("long.csv", "time,y\n0.1,1.15,3\n"),
];

const SWING: &str = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[wall.far]\ngap = \"5 - x\"\n\
    [event.never]\nwhen = \"x - 3\"\n[event.touch]\nwhen = \"x - 1\"\n[event.middle]\nwhen = \"x\"\ndirection = \"rising\"\n\
    [event.half]\nwhen = \"x - 0.999\"\n[start]\nposition = { x = 1.0 }\n";
/// sin t just touches the wall at 1.
const GRAZE: &str = "coordinates = [\"x\"]\n[parameters]\nk = 1\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"k*x^2/2\"\n[wall.far]\ngap = \"1 - x\"\n\
    [event.middle]\nwhen = \"x\"\ndirection = \"rising\"\n[start]\nvelocity = { x = 1.0 }\n[run]\nuntil = 20\n";
const TABLE: &str = "coordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
    [input.u]\nfile = \"u.csv\"\n[force.push]\ngeneralized = { x = \"u\" }\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 2\n";
const DRIVEN: &str = "coordinates = [\"a\"]\n[energy]\nkinetic = \"a'^2/2\"\n[driven]\na = \"sin(t)\"\n";
const BALL: &str = "coordinates = [\"y\"]\n[parameters]\nm = 1\ng = 9.81\ne_n = 0.7\nh = 1.2\n[energy]\nkinetic = \"m*y'^2/2\"\npotential = \"m*g*y\"\n\
    [wall.floor]\ngap = \"y\"\nrestitution = \"e_n\"\n[start]\nposition = { y = \"h\" }\n[run]\nuntil = 3\n";

/// Arguments, exit code, words that are said.
type Asked = (&'static [&'static str], i32, &'static [&'static str]);

const T: &str = "2*pi/omega";

#[rustfmt::skip]
const REQUESTS: &[Asked] = &[
    // Orbits.
    (&["orbit", "impact_oscillator"], 1, &["Neither --period nor --section", "--section EVENT_OR_WALL"]),
    (&["orbit", "impact_oscillator", "--period", T, "--section", "stop"], 1, &["two answers to one question"]),
    (&["orbit", "rimless_wheel", "--section", "forwad"], 1, &["forwad", "did you mean `forward`"]),
    (&["orbit", "rimless_wheel", "--section", "theta"], 1, &["`theta` is a coordinate", "event or a wall"]),
    (&["orbit", "double_pendulum", "--section", "top"], 1, &["no event and no wall `top`", "add an event"]),
    (&["orbit", "impact_oscillator", "--section", "stop"], 1, &["depends on time", "--period"]),
    (&["orbit", "rimless_wheel", "--period", "1"], 1, &["nothing in the model depends on time", "--section"]),
    (&["orbit", "elliptic_billiard", "--period", "4"], 1, &["energy is conserved", "--hold energy=VALUE"]),
    (&["orbit", "impact_oscillator", "--period", "3*pi/omega"], 1, &["no multiple of the forcing's", "common multiple"]),
    (&["orbit", "impact_oscillator", "--period", "2*pi/omga"], 1, &["unknown name `omga`", "did you mean the parameter `omega`"]),
    (&["orbit", "impact_oscillator", "--period", "2*pi/x"], 1, &["unknown name `x`", "formula of parameters"]),
    (&["orbit", "impact_oscillator", "--period", "-1"], 1, &["a period is a positive number"]),
    (&["orbit", "impact_oscillator", "--period", "2*pi/"], 1, &["--period"]),
    (&["orbit", "impact_oscillator", "--period", T, "--crossings", "0"], 1, &["asks for no return"]),
    (&["orbit", "rimless_wheel", "--section", "forward", "--hold", "energy=1"], 1, &["`energy` is not conserved"]),
    (&["orbit", "rimless_wheel", "--section", "forward", "--hold", "energy"], 1, &["is not NAME=VALUE", "--hold energy=1.5"]),
    (&["orbit", "circular_billiard", "--set", "g=0", "--section", "rim", "--crossings", "3", "--start", "x=0.1,y=-0.5,x'=1", "--hold", "angular momentum=0.4"],
        1, &["has its own value", "leave --hold out"]),
    (&["orbit", "phase_space_pendulum", "--section", "x"], 1, &["degenerate", "give every coordinate an inertia"]),
    (&["orbit", "table.toml", "--period", "2"], 1, &["`u` is a table", "formula of t"]),
    (&["orbit", "driven.toml", "--period", "2*pi"], 1, &["every coordinate of this model is driven", "[driven]"]),
    (&["orbit", "swing.toml", "--section", "never"], 2, &["event `never` is crossed fewer than 2 times", "again and again"]),
    (&["orbit", "swing.toml", "--section", "far"], 2, &["wall `far` is crossed fewer than 2 times"]),
    (&["orbit", "swing.toml", "--section", "touch"], 2, &["event `touch`"]),
    (&["orbit", "swing.toml", "--section", "half"], 2, &["a period of zero", "--crossings 2"]),
    (&["orbit", "swing.toml", "--section", "middle", "--hold", "energy=0"], 2, &["a state of rest", "--hold"]),
    (&["orbit", "graze.toml", "--section", "middle"], 2, &["not_differentiable", "wall `far`", "at t = "]),
    (&["orbit", "impact_oscillator", "--period", T, "-o", "orbit.docx"], 1, &["orbit.docx", ".html"]),
    (&["orbit", "no_such_model", "--period", "1"], 3, &["no_such_model"]),
    // Branches.
    (&["follow", "impact_oscillator", "--period", T, "--vary", "G=0..1"], 1, &["no parameter `G`"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "x=0..1"], 1, &["no parameter `x`", "the model has"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "F=1..1"], 1, &["is no range", "two different numbers"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "F=0.2..1:10"], 1, &["is not NAME=A..B", "no number of points"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "F"], 1, &["is not NAME=A..B"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "F=0.9..1.1", "--doubled"], 2, &["no period doubling was met", "widen the range"]),
    (&["follow", "impact_oscillator", "--period", T, "--vary", "F=0.1..0.2", "--start", "x=0,x'=80"], 2, &["no orbit was found", "start nearer"]),
    (&["follow", "graze.toml", "--section", "middle", "--vary", "k=1..2"], 2, &["not_differentiable", "wall `far`"]),
    // Scans.
    (&["scan", "vibrating_table", "--section", "table"], 1, &["a scan varies something", "--vary F=0.2..1.0:400"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3"], 1, &["a scan needs a section", "--period"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3", "--section", "tabel"], 1, &["did you mean `table`"]),
    (&["scan", "vibrating_table", "--vary", "B=0.03..0.05:3", "--section", "table"], 1, &["unknown name `B`"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05", "--section", "table"], 1, &["A=0.03..0.05"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3", "--section", "table", "--keep", "0"], 1, &["keeps nothing", "--keep 100"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3", "--section", "table", "--show", "z"], 1, &["no `z` to show"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3", "--period", "2*pi/y"], 1, &["unknown name `y`", "formula of parameters"]),
    (&["scan", "vibrating_table", "--vary", "A=0.03..0.05:3", "--section", "table", "-o", "scan.doc"], 1, &["scan.doc", ".png"]),
    (&["scan", "swing.toml", "--vary", "x=0.5..1:3", "--section", "never", "--until", "1"], 1, &["never crossed", "--until"]),
    // Exponents.
    (&["lyapunov", "impact_oscillator", "--until", "0"], 1, &["--until"]),
    (&["lyapunov", "graze.toml"], 2, &["not_differentiable", "wall `far`"]),
    (&["lyapunov", "phase_space_pendulum"], 1, &["degenerate"]),
    (&["lyapunov", "stadium_billiard", "--random", "angel=0..6"], 1, &["unknown name `angel`", "did you mean `angle`"]),
    (&["lyapunov", "stadium_billiard", "--random", "angle=0..6:5"], 1, &["is not NAME=A..B"]),
    (&["lyapunov", "stadium_billiard", "--random", "angle=0..6", "--count", "1"], 1, &["scatter of one motion", "--count 64"]),
    (&["lyapunov", "stadium_billiard", "--random", "x=5..6", "--count", "4"], 2, &["0 of 4 motions", "inside the walls"]),
    // Fits.
    (&["fit", "ball.toml", "--data", "y.csv", "--vary", "e_m"], 1, &["`e_m`", "did you mean `e_n`"]),
    (&["fit", "ball.toml", "--data", "y.csv", "--vary", "h=1"], 1, &["without values", "--set h=1"]),
    (&["fit", "ball.toml", "--data", "none.csv", "--vary", "h"], 3, &["cannot read none.csv"]),
    (&["fit", "ball.toml", "--data", "unknown.csv", "--vary", "h"], 1, &["column `hight`"]),
    (&["fit", "ball.toml", "--data", "wall.csv", "--vary", "h"], 1, &["impacts on `flor`", "did you mean `floor`"]),
    (&["fit", "ball.toml", "--data", "early.csv", "--vary", "h"], 1, &["before the motion begins", "`from`"]),
    (&["fit", "ball.toml", "--data", "late.csv", "--vary", "h"], 1, &["beyond the run", "--until 7"]),
    (&["fit", "ball.toml", "--data", "empty.csv", "--vary", "h"], 1, &["is empty", "names the columns"]),
    (&["fit", "ball.toml", "--data", "bare.csv", "--vary", "h"], 1, &["numbers, not names"]),
    (&["fit", "ball.toml", "--data", "words.csv", "--vary", "h"], 1, &["words.csv:2", "`high`", "not a number"]),
    (&["fit", "ball.toml", "--data", "unsorted.csv", "--vary", "h"], 1, &["not in order", "sort them"]),
    (&["fit", "ball.toml", "--data", "twice.csv", "--vary", "h"], 1, &["`y` comes twice"]),
    (&["fit", "ball.toml", "--data", "timeless.csv", "--vary", "h"], 1, &["no column `time`"]),
    (&["fit", "ball.toml", "--data", "only_time.csv", "--vary", "h"], 1, &["no column to fit to"]),
    (&["fit", "ball.toml", "--data", "values.csv", "--vary", "h"], 1, &["no values"]),
    (&["fit", "ball.toml", "--data", "german.csv", "--vary", "h"], 1, &["`time;y`", "separated by commas"]),
    (&["fit", "ball.toml", "--data", "long.csv", "--vary", "h"], 1, &["long.csv:2", "3 cells, and 2 columns"]),
    (&["fit", "ball.toml", "--data", "y.csv", "--vary", "m"], 2, &["does not depend on m", "measure what depends on it"]),
    (&["fit", "ball.toml", "--data", "y.csv", "--vary", "h,h"], 1, &["`h`", "twice"]),
    (&["fit", "ball.toml", "--data", "y.csv", "--vary", "h", "-o", "fit.doc"], 1, &["fit.doc", ".svg"]),
    // Sensitivities.
    (&["run", "ball.toml", "--sensitivity=gg"], 1, &["`gg`"]),
    (&["run", "ball.toml", "--sensitivity=restitution.flor"], 1, &["flor"]),
    (&["run", "driven_double_pendulum", "--sensitivity=theta1"], 1, &["theta1"]),
    (&["run", "ball.toml", "--sensitivity=start,restitution"], 1, &["`restitution` is nothing to differentiate by"]),
];

#[test]
fn questions_without_an_answer_get_a_sentence_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    assert!(REQUESTS.len() >= 70);
    let mut told = String::new();
    for (arguments, code, words) in REQUESTS {
        let ended = carom_in(folder.path(), arguments);
        let said = |word: &str| ended.stderr.contains(word);
        let mut wrong = Vec::new();
        if ended.code != *code {
            wrong.push(format!("exit code {} instead of {code}", ended.code));
        }
        if !ended.stdout.is_empty() {
            wrong.push(format!("prints {}", ended.stdout));
        }
        wrong.extend(words.iter().filter(|w| !said(w)).map(|w| format!("does not say `{w}`")));
        // A file that is not there needs no advice; some sentences end with theirs.
        if *code != 3
            && !["hint", "did you mean", ": use .", "; name ", ": there are "].iter().any(|way| said(way))
        {
            wrong.push("no way out".to_owned());
        }
        if said("panicked") {
            wrong.push("panics".to_owned());
        }
        if !wrong.is_empty() {
            told += &format!("{}: {}\n{}\n", arguments.join(" "), wrong.join("; "), ended.stderr);
        }
    }
    assert!(told.is_empty(), "{told}");
}
