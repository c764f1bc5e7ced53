//! What `carom --version --verbose` says of how the program was built: target and compiler, nothing of the machine or the day;
//! and the files of the studio, if it has been built, packed for `carom studio`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let said = |compiler: &String| Command::new(compiler).arg("--version").output().ok();
    let compiler =
        env::var("RUSTC").ok().as_ref().and_then(said).and_then(|out| String::from_utf8(out.stdout).ok());
    let compiler = compiler.as_deref().map_or("unknown", str::trim);
    println!("cargo::rustc-env=CAROM_COMPILER={compiler}");
    println!("cargo::rustc-env=CAROM_TARGET={}", env::var("TARGET").unwrap_or_default());
    studio();
}

/// The files of the folder `CAROM_STUDIO`, else of `studio/dist` in the sources, as a list of packed bytes; empty without them.
fn studio() {
    println!("cargo::rerun-if-env-changed=CAROM_STUDIO");
    let given = env::var_os("CAROM_STUDIO").map(PathBuf::from);
    let folder = given.clone().unwrap_or_else(|| Path::new("../../studio/dist").to_owned());
    // While there is none, the folder that every build of the studio touches last is watched, where that exists.
    let watched =
        if folder.is_dir() { folder.clone() } else { Path::new("../../studio/src/engine").to_owned() };
    if watched.is_dir() {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let mut names = Vec::new();
    if folder.join("index.html").is_file() {
        collect(&folder, &folder, &mut names);
        names.sort();
    } else if let Some(given) = given {
        println!("cargo::warning=there is no studio in {}", given.display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut list = String::from("/// Every file, by name.\npub static FILES: &[StudioFile] = &[\n");
    for (k, name) in names.iter().enumerate() {
        let bytes = fs::read(folder.join(name)).expect("a file of the studio is read");
        let mut packer = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
        packer.write_all(&bytes).expect("bytes are packed in memory");
        let packed = packer.finish().expect("bytes are packed in memory");
        fs::write(out.join(format!("studio-{k}.gz")), packed).expect("a packed file is written");
        writeln!(list, "    StudioFile {{ name: {name:?}, gzip: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/studio-{k}.gz\")) }},")
            .expect("writing to memory succeeds");
    }
    list.push_str("];\n");
    fs::write(out.join("studio.rs"), list).expect("the list is written");
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(root, &path, names);
        } else if let (Ok(name), false) =
            (path.strip_prefix(root), path.extension().is_some_and(|e| e == "map"))
        {
            names.push(name.to_string_lossy().replace('\\', "/"));
        }
    }
}
