//! What `carom --version --verbose` says of how the program was built: target and compiler, nothing of the machine or the day.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let said = |compiler: &String| Command::new(compiler).arg("--version").output().ok();
    let compiler =
        env::var("RUSTC").ok().as_ref().and_then(said).and_then(|out| String::from_utf8(out.stdout).ok());
    let compiler = compiler.as_deref().map_or("unknown", str::trim);
    println!("cargo::rustc-env=CAROM_COMPILER={compiler}");
    println!("cargo::rustc-env=CAROM_TARGET={}", env::var("TARGET").unwrap_or_default());
}
