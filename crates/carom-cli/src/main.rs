//! The command `carom`.
fn main() {}
