//! In which unit a signal is shown: results stay in coherent units, people read degrees.

use super::Unit;
use crate::model::Model;

/// How a signal is shown.
#[derive(Clone, PartialEq, Debug)]
pub struct DisplayUnit {
    /// The unit as text.
    pub label: String,
    /// A value in coherent units is divided by this to be shown.
    pub factor: f64,
}

impl Model {
    /// The unit in which a signal is shown: the stated one, else the one that follows from others; names are those of
    /// signals: `x`, `x'`, `p_x`, `energy`, `gap.left`, `f.left`, `mu.rod`, outputs. The time is always shown in seconds.
    ///
    /// ```
    /// let text = "coordinates = [\"theta\"]\nlagrangian = \"theta'^2/2 + cos(theta)\"\n[units]\ntheta = \"deg\"";
    /// let (model, _) = carom_mech::load(text, "pendulum.toml").unwrap();
    /// let shown = model.shown_unit("theta'").unwrap();
    /// assert_eq!(shown.label, "deg/s");
    /// assert!((shown.factor - 0.0174532925).abs() < 1e-9);
    /// assert_eq!(model.shown_unit("t"), None);
    /// ```
    pub fn shown_unit(&self, signal: &str) -> Option<DisplayUnit> {
        let find = |list: &[(String, String)], name: &str| {
            list.iter().find(|(n, _)| n == name).map(|(_, unit)| unit.trim().to_owned())
        };
        let stated = |name: &str| {
            let label = find(&self.units, name)?;
            let factor = Unit::read(&label).map_or(1.0, Unit::factor);
            Some(DisplayUnit { label, factor })
        };
        let coherent = |label: String| DisplayUnit { label, factor: 1.0 };
        if matches!(signal, "t" | "time") {
            let own = stated("t").or_else(|| stated("time")).filter(|s| s.factor == 1.0);
            return own.or_else(|| find(&self.inferred_units, "t").map(coherent));
        }
        let rate = || {
            let of = stated(signal.strip_suffix('\'')?)?;
            let label = if of.label == "1" { "1/s".to_owned() } else { format!("{}/s", of.label) };
            Some(DisplayUnit { label, ..of })
        };
        let energy = || {
            let names = ["energy", "hamiltonian", "kinetic", "potential"];
            let inferred = || find(&self.inferred_units, "energy").map(coherent);
            names.contains(&signal).then(|| names.iter().find_map(|n| stated(n)).or_else(inferred)).flatten()
        };
        let gap = || stated(signal.strip_prefix("gap.")?);
        stated(signal)
            .or_else(rate)
            .or_else(energy)
            .or_else(gap)
            .or_else(|| find(&self.inferred_units, signal).map(coherent))
    }
}
