//! Motion and mechanics to pictures and text. Pure: data in, bytes out; no file, no clock, no network.

pub mod draw;
pub mod film;
mod font;
pub mod formula;
pub mod page;
pub mod plot;
pub mod provenance;
pub mod report;
pub mod table;
pub mod track;
pub mod view;
