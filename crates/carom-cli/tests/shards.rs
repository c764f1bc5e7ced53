//! Sweeps in parts: shards, folders of chunks, and `carom merge`: the bytes of one sweep, whoever made which part.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn carom(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_carom")).args(words).current_dir(folder).output().unwrap()
}

fn ok(folder: &Path, words: &[&str]) {
    let output = carom(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const SWEEP: [&str; 8] =
    ["sweep", "double_pendulum_wall", "--random", "theta1'=-1..1", "--count", "53", "--until", "2"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SWEEP.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn shards_of_any_number_merge_to_the_bytes_of_one_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    ok(here, &with(&["-q", "-o", "whole.parquet"]));
    ok(here, &with(&["-q", "-o", "whole.csv"]));
    for shards in [1, 3, 7] {
        let files: Vec<String> = (1..=shards).map(|i| format!("part-{i}-{shards}.parquet")).collect();
        for (i, file) in files.iter().enumerate() {
            ok(here, &with(&["-q", "--shard", &format!("{}/{shards}", i + 1), "-o", file]));
        }
        // In any order.
        let mut words = vec!["merge", "-q"];
        words.extend(files.iter().rev().map(String::as_str));
        for form in ["parquet", "csv"] {
            let out = format!("merged.{form}");
            ok(here, &[&words[..], &["-o", out.as_str()]].concat());
            let (one, many) = (here.join(format!("whole.{form}")), here.join(out));
            assert!(fs::read(one).unwrap() == fs::read(many).unwrap(), "{shards} shards as {form}");
        }
    }
    let missing = carom(here, &["merge", "part-1-3.parquet", "part-3-3.parquet", "-o", "m.parquet"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("shard 2/3 is missing"));
    let mixed = carom(here, &["merge", "part-1-1.parquet", "part-1-3.parquet", "-o", "m.parquet"]);
    assert_eq!(mixed.status.code(), Some(1));
    let no_shard = carom(here, &["merge", "whole.parquet", "-o", "m.parquet"]);
    assert!(String::from_utf8_lossy(&no_shard.stderr).contains("is no shard"));
}

#[test]
fn a_folder_filled_by_several_processes_merges_to_the_bytes_of_one_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    ok(here, &with(&["-q", "-o", "whole.parquet"]));
    // Array jobs that begin at the same moment.
    let jobs: Vec<_> = (1..=3)
        .map(|i| {
            let shard = format!("{i}/3");
            let words = with(&["-q", "--threads", "1", "--chunk", "8", "--shard", &shard, "-o", "runs/"])
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>();
            Command::new(env!("CARGO_BIN_EXE_carom")).args(words).current_dir(here).spawn().unwrap()
        })
        .collect();
    jobs.into_iter().for_each(|mut job| assert!(job.wait().unwrap().success()));
    ok(here, &["merge", "-q", "runs", "-o", "merged.parquet"]);
    assert!(fs::read(here.join("whole.parquet")).unwrap() == fs::read(here.join("merged.parquet")).unwrap());

    // Without saying how large a chunk is, the first of them says it for all.
    let jobs: Vec<_> = (1..=3)
        .map(|i| {
            let shard = format!("{i}/3");
            Command::new(env!("CARGO_BIN_EXE_carom"))
                .args(with(&["-q", "--shard", &shard, "-o", "measured/"]))
                .current_dir(here)
                .spawn()
                .unwrap()
        })
        .collect();
    jobs.into_iter().for_each(|mut job| assert!(job.wait().unwrap().success()));
    ok(here, &["merge", "-q", "measured", "-o", "measured.parquet"]);
    assert!(
        fs::read(here.join("whole.parquet")).unwrap() == fs::read(here.join("measured.parquet")).unwrap()
    );

    // What is lost is made again; nothing else is.
    let lost = here.join("runs/part-000004.parquet");
    let bytes = fs::read(&lost).unwrap();
    fs::remove_file(&lost).unwrap();
    let part = carom(here, &["merge", "runs", "-o", "m.parquet"]);
    assert!(String::from_utf8_lossy(&part.stderr).contains("1 of 7 chunks are missing"), "{part:?}");
    ok(here, &with(&["-q", "-o", "runs/"]));
    assert!(fs::read(&lost).unwrap() == bytes);

    let other = carom(here, &["sweep", "double_pendulum_wall", "--vary", "g=1,2", "-o", "runs/"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("holds another sweep"));
}

#[test]
fn a_shard_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for shard in ["0/3", "4/3", "a/b", "3", "1/0"] {
        let output = carom(folder.path(), &with(&["--shard", shard, "-o", "p.parquet"]));
        assert_eq!(output.status.code(), Some(1), "{shard}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--shard 3/100"), "{shard}");
    }
}

#[test]
fn a_folder_goes_on_with_or_without_resume_and_takes_no_second_table() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = |words: &[&str]| {
        let output = carom(here, &with(words));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = said(&["--resume", "--chunk", "20", "-o", "runs/"]);
    assert!(code == Some(0) && text.contains("nothing to resume"), "{text}");
    let first = fs::read(here.join("runs/part-000001.parquet")).unwrap();
    for resume in [&["--resume"][..], &[]] {
        fs::remove_file(here.join("runs/part-000001.parquet")).unwrap();
        let (code, text) = said(&[resume, &["-o", "runs/"]].concat());
        assert!(code == Some(0) && text.contains("going on after 33 of 53"), "{text}");
        assert!(fs::read(here.join("runs/part-000001.parquet")).unwrap() == first);
    }
    let (code, text) = said(&["--impacts", "-o", "others/"]);
    assert!(code == Some(1) && text.contains("others/ is a folder"), "{text}");
    assert!(!here.join("others").exists());
}

#[test]
fn a_sweep_to_a_folder_killed_at_twenty_random_moments_ends_with_the_bytes_of_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let words = [
        "sweep",
        "double_pendulum_wall",
        "--random",
        "theta1'=-1..1",
        "--count",
        "1000",
        "--until",
        "10",
        "--chunk",
        "10",
        "-q",
    ];
    let begin = std::time::Instant::now();
    ok(here, &[&words[..], &["-o", "whole/"]].concat());
    let whole = begin.elapsed().as_secs_f64();
    let parts = || -> Vec<_> {
        let files = fs::read_dir(here.join("killed")).into_iter().flatten().map(|f| f.unwrap().path());
        files.filter(|f| f.file_name().unwrap().to_string_lossy().starts_with("part-")).collect()
    };
    let mut random = carom_expr::Random(7);
    let (mut killed, mut half_done) = (0, 0);
    for _ in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
            .args(words)
            .args(["-o", "killed/"])
            .current_dir(here)
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_secs_f64(whole * random.unit()));
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let written = parts();
        half_done += usize::from((1..100).contains(&written.len()));
        // There is always something left to do for the next.
        written.iter().step_by(2).for_each(|file| fs::remove_file(file).unwrap());
    }
    // Kills that come before anything is written, or after everything is, say nothing.
    assert!(killed >= 5 && half_done >= 5, "{killed} were killed, {half_done} had written a part");
    ok(here, &[&words[..], &["-o", "killed/"]].concat());
    let left = fs::read_dir(here.join("killed")).unwrap();
    assert_eq!(left.count(), 101, "100 chunks, the manifest, and nothing that a kill left half written");
    for index in 0..100 {
        let file = |folder: &str| fs::read(here.join(format!("{folder}/part-{index:06}.parquet"))).unwrap();
        assert!(file("killed") == file("whole"), "chunk {index}");
    }
}

/// The chunk with this index cannot be written: something else has its name.
fn in_the_way(here: &Path, index: u64) {
    fs::create_dir_all(here.join(format!("runs/part-{index:06}.parquet"))).unwrap();
}

#[test]
fn a_chunk_that_fails_is_named_with_its_start_and_the_others_go_on() {
    for (chunk, named) in [("8", "trajectories 16 to 23: "), ("1", "trajectory 2 (theta1' = ")] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        in_the_way(here, 2);
        let output = carom(here, &with(&["-q", "--chunk", chunk, "-o", "runs/"]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(named) && said.contains("is a folder"), "{said}");
        let chunks = 53_usize.div_ceil(chunk.parse().unwrap());
        assert!(said.contains(&format!("1 of {chunks} chunks failed")), "{said}");
        let there = |index: usize| here.join(format!("runs/part-{index:06}.parquet")).is_file();
        assert_eq!((0..chunks).filter(|&index| there(index)).count(), chunks - 1);
        fs::remove_dir(here.join("runs/part-000002.parquet")).unwrap();
        ok(here, &with(&["-q", "-o", "runs/"]));
        assert!(there(2));
    }
}

#[test]
fn what_a_resumed_folder_reports_is_of_all_its_rows() {
    // A limit of impacts is a warning in the rows that meet it.
    let sweep = |here: &Path, more: &[&str]| {
        let words = [
            &[
                "sweep",
                "double_pendulum_wall",
                "--vary",
                "theta1'=0,3,0,3,0,3",
                "--until",
                "4",
                "--chunk",
                "1",
            ][..],
            &["--option", "max_impacts=3", "--json", "-o", "runs/"],
            more,
        ];
        let output = carom(here, &words.concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let warnings: Vec<String> =
            said.lines().filter(|line| line.starts_with("warning")).map(str::to_owned).collect();
        (value["trajectories"].clone(), value["stops"].clone(), warnings)
    };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let whole = sweep(here, &[]);
    assert_eq!(whole.0, 6);
    assert_eq!(whole.1.as_object().unwrap().values().filter_map(|n| n.as_u64()).sum::<u64>(), 6);
    for lost in [&[0][..], &[3, 5], &[]] {
        for index in lost {
            fs::remove_file(here.join(format!("runs/part-{index:06}.parquet"))).unwrap();
        }
        assert_eq!(sweep(here, &[]), whole, "{lost:?} made again");
    }
}
