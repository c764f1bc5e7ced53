//! The language server behind `carom lsp`: what an editor asks about a model file while it is typed.
//!
//! ```text
//! diagnostics · completion (tables, keys, names, functions, units) · hover (value, unit, derivative) · definition · references · rename
//! ```
//!
//! Everything is asked of the same reader and checker as `carom check`; this crate only knows where things stand. Positions
//! are UTF-16, as the protocol counts.
//!
//! Promise: a half-typed file gets answers, and no text makes the server fail.

mod analysis;
pub mod ask;
mod complete;
mod hover;
mod names;
mod server;
mod text;

pub use server::serve;
