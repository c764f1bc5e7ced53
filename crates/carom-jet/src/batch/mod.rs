//! Many trajectories at once, one per lane: [`lanes`] evaluates, [`rounds`] steps, [`ensemble`] is what callers hold.

pub(crate) mod ensemble;
pub(crate) mod lane_scale;
pub(crate) mod lanes;
pub(crate) mod rounds;
pub(crate) mod times;
