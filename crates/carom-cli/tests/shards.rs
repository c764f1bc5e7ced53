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
    // Array jobs that begin at the same moment, without saying how large a chunk is.
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
