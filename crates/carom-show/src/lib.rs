//! Motion and mechanics to pictures and text.
