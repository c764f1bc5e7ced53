//! Motion and mechanics to pictures and text. Pure: data in, bytes out; no file, no clock, no network.

pub mod table;
