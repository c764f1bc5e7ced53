//! Many trajectories at once, one per lane: [`lanes`] evaluates, [`rounds`] steps, [`ensemble`] is what callers hold.

pub(crate) mod ensemble;
pub(crate) mod lane_series;
pub(crate) mod lanes;
pub(crate) mod rounds;
#[cfg(test)]
mod tests;
pub(crate) mod times;
