//! What the program writes, read by programs that know nothing of it: Python's csv, numpy and pyarrow, KaTeX, Chromium.
//!
//! These tests need what `bash .ci/test` installs, which also runs them; `cargo test` alone leaves them out.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{carom, carom_in, gallery};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn tool(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run `bash .ci/test`"))
}

/// Runs a script of tests/browser with Node, from where it finds its packages.
fn node(script: &str, arguments: &[String]) {
    let modules = PathBuf::from(tool("CAROM_NODE_MODULES"));
    let copy = modules.with_file_name(script);
    fs::copy(root().join("tests/browser").join(script), &copy).unwrap();
    let mut command = Command::new("node");
    command.arg(&copy).args(arguments);
    if let Ok(chromium) = std::env::var("CAROM_CHROMIUM") {
        command.env("CHROMIUM", chromium);
    }
    succeed(&mut command);
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}");
}

/// Models with every kind of column: outputs, rows, driven coordinates, contact, events, Hamiltonians, many walls.
const TABLES: [&str; 7] = [
    "double_pendulum_wall",
    "rolling_disk",
    "driven_double_pendulum",
    "ball_restitution",
    "simplest_walker",
    "kepler_wall",
    "jack_in_box",
];

#[test]
#[ignore = "needs Python with numpy and pyarrow: run bash .ci/test"]
fn tables_read_back_by_other_readers_hold_the_numbers_of_the_json() {
    let folder = tempfile::tempdir().unwrap();
    for name in TABLES {
        for extension in ["json", "csv", "npz", "parquet"] {
            carom_in(folder.path(), &["run", name, "-q", "-o", &format!("{name}.{extension}")]).expect(0);
        }
    }
    succeed(Command::new(tool("CAROM_PYTHON")).arg(root().join("tests/readers/check.py")).arg(folder.path()));
}

#[test]
#[ignore = "needs Python with numpy and pyarrow: run bash .ci/test"]
fn the_three_forms_of_a_sweep_hold_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["csv", "npz", "parquet"] {
        let output = format!("s.{extension}");
        let vary = ["--vary", "theta=-0.2..1.5:25", "--vary", "m=1,2", "--impacts", "-q", "-o", &output];
        let arguments = [&["sweep", "pendulum_wall"][..], &vary[..]].concat();
        carom_in(folder.path(), &arguments).expect(0);
    }
    let script = "
import csv, math, numpy, pyarrow.parquet as pq
for name in ('s', 's.impacts'):
    rows = list(csv.DictReader(open(name + '.csv', newline='')))
    table = pq.read_table(name + '.parquet').to_pydict()
    with numpy.load(name + '.npz') as archive:
        arrays = {k: archive[k].tolist() for k in archive.files}
    assert list(rows[0]) == list(table) == list(arrays), name
    for column in table:
        for row, p, n in zip(rows, table[column], arrays[column], strict=True):
            text = row[column]
            if isinstance(n, str):
                assert text == n == (p or ''), (column, text, n, p)
            elif text == '':
                assert p is None and math.isnan(n), (column, p, n)
            else:
                assert float(text) == p == n, (column, text, p, n)
    assert len(rows) >= 50, len(rows)
";
    succeed(Command::new(tool("CAROM_PYTHON")).args(["-c", script]).current_dir(folder.path()));
}

#[test]
#[ignore = "needs Python with numpy and pyarrow: run bash .ci/test"]
fn tables_of_starts_are_read_as_pyarrow_and_numpy_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let model = "coordinates = [\"a\", \"b\", \"c\"]\n[parameters]\nk = 1\n\
                 [energy]\nkinetic = \"(a'^2 + b'^2 + c'^2 + k^2)/2\"\n[run]\nuntil = 1";
    fs::write(folder.path().join("free.toml"), model).unwrap();
    let python = |script: &str| {
        let made = "
import numpy, pyarrow, pyarrow.parquet as pq
random, n = numpy.random.default_rng(1), 20_000
data = {'a': random.normal(size=n), 'b': random.integers(-9, 9, n), 'c': random.choice([0.1, 0.2, 1e300], n), \"a'\": random.random(n, 'float32'),
        'k': random.integers(0, 200, n).astype('uint8')}
table = pyarrow.table(data)
settings = [{}, {'compression': 'none', 'use_dictionary': False}, {'compression': 'zstd', 'data_page_version': '2.0'},
            {'compression': 'gzip', 'row_group_size': 3000, 'data_page_size': 2000}, {'dictionary_pagesize_limit': 500, 'write_batch_size': 64},
            {'version': '1.0', 'data_page_version': '2.0', 'compression': 'snappy', 'store_schema': False}]
";
        let script = format!("{made}{script}");
        succeed(Command::new(tool("CAROM_PYTHON")).args(["-c", &script]).current_dir(folder.path()));
    };
    python(
        "
for i, s in enumerate(settings):
    pq.write_table(table, f's{i}.parquet', **s)
numpy.savez('s6.npz', **data)
numpy.savez_compressed('s7.npz', **data)
",
    );
    for i in 0..8 {
        let starts = format!("s{i}.{}", if i < 6 { "parquet" } else { "npz" });
        let output = format!("out{i}.parquet");
        carom_in(folder.path(), &["sweep", "free.toml", "--table", &starts, "-q", "-o", &output]).expect(0);
    }
    python(
        "
for i in range(8):
    out = pq.read_table(f'out{i}.parquet')
    for name, values in data.items():
        assert (out[name].to_numpy() == values.astype('float64')).all(), (i, name)
",
    );
}

#[test]
#[ignore = "needs Python with jsonschema: run bash .ci/test"]
fn the_schema_of_model_files_accepts_the_gallery_and_rejects_exactly_what_is_bad_by_structure() {
    let script = root().join("tests/readers/schema.py");
    let mut command = Command::new(tool("CAROM_PYTHON"));
    succeed(command.arg(script).args(["models", env!("CARGO_BIN_EXE_carom")]).arg(root()));
}

#[test]
#[ignore = "needs Python with jsonschema: run bash .ci/test"]
fn every_result_in_json_is_valid_by_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for name in gallery() {
        for command in ["run", "derive", "check"] {
            write(format!("{command}.{name}.json"), &carom(&[command, name, "--json", "-q"]).stdout);
        }
    }
    let wrong = support::carom_with(
        "coordinates = [\"x\"]\nlagrangian = \"m*x'^2\"\n[foo]\n",
        &["check", "-", "--json"],
    );
    write("check.wrong.json".to_owned(), &wrong.expect(1).stdout);
    let sweep = carom(&["sweep", "pendulum_wall", "--vary", "theta=-0.2..1.5:5", "--json", "-q"]).expect(0);
    write("sweep.json".to_owned(), &sweep.stdout);
    let orbit = carom(&["orbit", "compass_gait", "--section", "heelstrike", "--json", "-q"]).expect(0);
    write("orbit.json".to_owned(), &orbit.stdout);
    write("fall.csv".to_owned(), "time,y\n0.1,0.95\n0.2,0.8\n0.3,0.55\n");
    let data = folder.path().join("fall.csv").display().to_string();
    let period = ["--period", "2*pi/omega", "--json", "-q"];
    let asked: &[(&str, &[&str])] = &[
        ("lyapunov.json", &["lyapunov", "impact_oscillator", "--json", "-q"]),
        ("lyapunov.rest.json", &["lyapunov", "ball_restitution", "--until", "1", "--json", "-q"]),
        (
            "lyapunov.random.json",
            &[
                "lyapunov",
                "stadium_billiard",
                "--random",
                "x=-1..1",
                "--count",
                "4",
                "--until",
                "50",
                "--json",
                "-q",
            ],
        ),
        (
            "follow.json",
            &[&["follow", "impact_oscillator", "--vary", "F=0.5..0.7", "--set", "F=0.65"], &period[..]]
                .concat(),
        ),
        (
            "scan.json",
            &[&["scan", "impact_oscillator", "--vary", "F=0.9..1:3", "--until", "900"], &period[..]].concat(),
        ),
        (
            "scan.basin.json",
            &[
                &[
                    "scan",
                    "impact_oscillator",
                    "--vary",
                    "x=-0.5..0:2",
                    "--vary",
                    "x'=0..1:2",
                    "--until",
                    "900",
                ],
                &period[..],
            ]
            .concat(),
        ),
        (
            "fit.json",
            &["fit", "ball_restitution", "--data", &data, "--vary", "g", "--start", "y=1", "--json", "-q"],
        ),
        ("run.sensitivity.json", &["run", "ball_restitution", "--sensitivity=start,g", "--json", "-q"]),
        (
            "run.gradient.json",
            &["run", "ball_restitution", "--until", "1", "--gradient", "y", "--json", "-q"],
        ),
    ];
    for (name, arguments) in asked {
        write((*name).to_owned(), &carom(arguments).expect(0).stdout);
    }
    let script = root().join("tests/readers/schema.py");
    let mut command = Command::new(tool("CAROM_PYTHON"));
    succeed(command.arg(script).args(["results", env!("CARGO_BIN_EXE_carom")]).arg(folder.path()));
}

#[test]
#[ignore = "needs Python with pandas, polars and duckdb: run bash .ci/test"]
fn tables_of_starts_are_read_whatever_library_and_codec_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let model = "coordinates = [\"a\", \"b\"]\n[parameters]\nk = 1\n\
                 [energy]\nkinetic = \"(a'^2 + b'^2 + k^2)/2\"\n[run]\nuntil = 1";
    fs::write(folder.path().join("free.toml"), model).unwrap();
    let python = |script: &str| {
        succeed(Command::new(tool("CAROM_PYTHON")).args(["-c", script]).current_dir(folder.path()))
    };
    // Defaults first, then every codec each of them offers; DuckDB writes 0.1 as a decimal number.
    python(
        "
import duckdb, json, pandas, polars
n = 3000
data = {'a': [i / 7 for i in range(n)], 'b': [i % 5 for i in range(n)], \"a'\": [0.1 * (i % 3) for i in range(n)], 'k': [1.5 if i < n // 2 else 2.0 for i in range(n)]}
json.dump(data, open('data.json', 'w'))
p, q = pandas.DataFrame(data), polars.DataFrame(data)
p.to_parquet('pandas.parquet')
q.write_parquet('polars.parquet')
duckdb.sql(\"COPY (SELECT * FROM p) TO 'duckdb.parquet'\")
for codec in ('snappy', 'gzip', 'brotli', 'zstd', 'lz4', None):
    p.to_parquet(f'pandas_{codec}.parquet', compression=codec)
for codec in ('snappy', 'gzip', 'brotli', 'zstd', 'lz4', 'uncompressed'):
    q.write_parquet(f'polars_{codec}.parquet', compression=codec, row_group_size=700)
for codec in ('snappy', 'gzip', 'brotli', 'zstd', 'lz4_raw', 'uncompressed'):
    duckdb.sql(f\"COPY (SELECT * FROM p) TO 'duckdb_{codec}.parquet' (FORMAT parquet, CODEC '{codec}', PARQUET_VERSION V2)\")
duckdb.sql('COPY (SELECT i * 0.1 AS a, i AS b, 1.25 AS k FROM range(40) t(i)) TO \\'decimal.parquet\\'')
",
    );
    let mut files: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".parquet"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 3 + 3 * 6 + 1, "{files:?}");
    for file in &files {
        let output = format!("out_{file}");
        carom_in(folder.path(), &["sweep", "free.toml", "--table", file, "-q", "-o", &output]).expect(0);
    }
    // What carom wrote, read by all of them in turn.
    python(
        "
import duckdb, glob, json, pandas, polars
data = json.load(open('data.json'))
readers = [lambda f: pandas.read_parquet(f).to_dict('list'), lambda f: polars.read_parquet(f).to_dict(as_series=False),
           lambda f: {k: list(v) for k, v in duckdb.sql(f\"SELECT * FROM '{f}'\").fetchnumpy().items()}]
files = sorted(glob.glob('out_*.parquet'))
for i, file in enumerate(files):
    out = readers[i % 3](file)
    want = {'a': [int(i) / 10 for i in range(40)], 'b': list(range(40)), 'k': [1.25] * 40} if 'decimal' in file else data
    for name, values in want.items():
        assert [float(x) for x in out[name]] == [float(x) for x in values], (file, name)
    assert set(out['stop']) == {'reached'}, file
print(len(files), 'files')
",
    );
}

#[test]
#[ignore = "needs KaTeX: run bash .ci/test"]
fn every_formula_of_every_gallery_model_is_read_by_katex() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for name in gallery() {
        let file = folder.path().join(format!("{name}.md")).display().to_string();
        carom(&["derive", name, "-o", &file]).expect(0);
        files.push(file);
    }
    // Names that LaTeX and the theory use themselves.
    let model = "coordinates = [\"lambda\", \"L\", \"in\"]\n[parameters]\nI = 2.0\nE = 1.0\nsigma = 3.0\nA = 0.5\n\
                 [energy]\nkinetic = \"I/2*lambda'^2 + E/2*L'^2 + sigma/2*in'^2\"\npotential = \"A*lambda*L + in^2\"\n\
                 [wall.a_b]\ngap = \"L + 1\"\n[wall.\"50% & #1\"]\ngap = \"in + 4\"\n";
    fs::write(folder.path().join("names.toml"), model).unwrap();
    carom_in(folder.path(), &["derive", "names.toml", "-o", "names.md"]).expect(0);
    files.push(folder.path().join("names.md").display().to_string());
    node("katex.mjs", &files);
}

#[test]
#[ignore = "needs Chromium: run bash .ci/test"]
fn animation_pages_of_the_gallery_work_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    for name in gallery() {
        let (page, json) = (format!("{name}.html"), format!("{name}.json"));
        let early = i32::from(["squeezed_driven_pendulum", "guiding_centre"].contains(&name)) * 2;
        carom_in(folder.path(), &["show", name, "-q", "--samples", "1001", "-o", &page]).expect(early);
        carom_in(folder.path(), &["run", name, "-q", "--samples", "1001", "-o", &json]).expect(early);
    }
    // A page of plots only, and one that compares runs.
    let plain = "coordinates = [\"q1\", \"psi\"]\nlagrangian = \"(q1'^2 + psi'^2)/2 - q1^2*psi^2\"\n[start]\nposition = { q1 = 1, psi = 0.5 }\n";
    std::fs::write(folder.path().join("plain.toml"), plain).unwrap();
    carom_in(folder.path(), &["show", "plain.toml", "-q"]).expect(0);
    let compare = ["--compare", "g=1.62", "--compare", "method=rk4,step=0.01", "-o", "compared.html"];
    let show = ["show", "double_pendulum_wall", "-q"];
    carom_in(folder.path(), &[&show[..], &compare].concat()).expect(0);
    node("check.mjs", &[folder.path().display().to_string()]);
}

#[test]
#[ignore = "needs Chromium: run bash .ci/test"]
fn reports_show_their_mathematics_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["double_pendulum_wall", "rolling_disk", "point_vortices", "kepler_wall", "car_axis"] {
        carom_in(folder.path(), &["derive", name, "-o", &format!("{name}.html")]).expect(0);
    }
    node("report.mjs", &[folder.path().display().to_string()]);
}
