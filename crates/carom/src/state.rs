//! Everything at one time of a motion, by name.

use crate::Error;
use std::fmt;
use std::sync::Arc;

/// The names of a model's quantities, in the order of a sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SampleNames {
    coordinates: Vec<String>,
    momenta: Vec<String>,
    outputs: Vec<String>,
    driven: Vec<String>,
    walls: Vec<String>,
    rows: Vec<String>,
}

impl SampleNames {
    pub(crate) fn of(model: &carom_mech::Model) -> SampleNames {
        let momentum = |c: &carom_mech::Coordinate| match c.momentum_name == c.name {
            true => format!("p_{}", c.name),
            false => c.momentum_name.clone(),
        };
        let driven = model.coordinates.iter().filter(|c| c.driven.is_some());
        SampleNames {
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            momenta: model.coordinates.iter().map(momentum).collect(),
            outputs: model.outputs.iter().map(|o| o.name.clone()).collect(),
            driven: driven.map(|c| c.name.clone()).collect(),
            walls: model.walls.iter().map(|w| w.name.clone()).collect(),
            rows: model.rows.iter().map(|r| r.name.clone()).collect(),
        }
    }

    /// Columns of a table of samples, time first. A name already taken gets its kind in front.
    pub(crate) fn columns(&self) -> Vec<String> {
        let mut all: Vec<String> = vec!["time".to_owned()];
        let mut add = |kind: &str, names: &[String], shape: &dyn Fn(&str) -> String| {
            for name in names {
                let mut name = shape(name);
                while all.contains(&name) {
                    name = format!("{kind}.{name}");
                }
                all.push(name);
            }
        };
        let plain = |name: &str| name.to_owned();
        add("position", &self.coordinates, &plain);
        add("velocity", &self.coordinates, &|name| format!("{name}'"));
        add("momentum", &self.momenta, &plain);
        add("motion", &["hamiltonian".to_owned(), "energy".to_owned()], &plain);
        add("multiplier", &self.rows, &|name| format!("mu.{name}"));
        add("contact", &self.walls, &|name| format!("f.{name}"));
        add("driving", &self.driven, &|name| format!("drive.{name}"));
        add("gap", &self.walls, &|name| format!("gap.{name}"));
        add("output", &self.outputs, &plain);
        all
    }
}

/// Everything at one time, from [`Motion::at`](crate::Motion::at).
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// let motion = model.simulate(model.options().dense(true))?;
/// let state = motion.at(1.25)?;
/// assert_eq!(state.time(), 1.25);
/// assert!(state.to_string().starts_with("t = 1.25, x = "));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    catalog: Arc<SampleNames>,
    time: f64,
    /// Positions, velocities, momenta, H, T + V, outputs, driving forces, gaps, multipliers, contact forces.
    values: Vec<f64>,
}

impl State {
    pub(crate) fn new(catalog: Arc<SampleNames>, time: f64, values: Vec<f64>) -> State {
        State { catalog, time, values }
    }

    /// When.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert_eq!(model.simulate(model.options().dense(true))?.at(0.5)?.time(), 0.5);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn time(&self) -> f64 {
        self.time
    }

    fn part(&self, what: &str, first: usize, names: &[String], name: &str) -> Result<f64, Error> {
        let place = names.iter().position(|known| known == name);
        match place.and_then(|i| self.values.get(first + i)) {
            Some(value) => Ok(*value),
            None => Err(Error::unknown(what, name, names.iter().map(String::as_str))),
        }
    }

    /// A coordinate.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// assert_eq!(motion.at(0.0)?.position("x")?, motion.position("x")?[0]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn position(&self, coordinate: &str) -> Result<f64, Error> {
        self.part("coordinate", 0, &self.catalog.coordinates, coordinate)
    }

    /// The rate of a coordinate; `"x"` and `"x'"` are the same here.
    ///
    /// # Errors
    /// When there is no such coordinate.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// assert_eq!(motion.at(10.0)?.velocity("x")?, motion.end("x'")?);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn velocity(&self, coordinate: &str) -> Result<f64, Error> {
        let bare = coordinate.strip_suffix(['\'', '′', '’']).unwrap_or(coordinate);
        self.part("coordinate", self.catalog.coordinates.len(), &self.catalog.coordinates, bare)
    }

    /// Any quantity by the name of its column, as [`Motion::get`](crate::Motion::get).
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// assert_eq!(motion.at(0.0)?.get("hamiltonian")?, motion.hamiltonian()[0]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn get(&self, column: &str) -> Result<f64, Error> {
        let all = self.columns();
        match all.iter().find(|(name, _)| name == column) {
            Some((_, value)) => Ok(*value),
            None => Err(Error::unknown("column", column, all.iter().map(|(name, _)| name.as_str()))),
        }
    }

    /// Every quantity with the name of its column, time first.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(model.options().dense(true))?;
    /// assert_eq!(motion.at(2.0)?.columns().len(), motion.columns().len());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn columns(&self) -> Vec<(String, f64)> {
        let c = &*self.catalog;
        let (n, outputs, driven, walls) =
            (c.coordinates.len(), c.outputs.len(), c.driven.len(), c.walls.len());
        let output = 3 * n + 2;
        let (drive, gap) = (output + outputs, output + outputs + driven);
        let (multiplier, force) = (gap + walls, gap + walls + c.rows.len());
        let order = (0..output)
            .chain(multiplier..force)
            .chain(force..force + walls)
            .chain(drive..gap)
            .chain(gap..multiplier)
            .chain(output..drive);
        let values = order.map(|i| self.values.get(i).copied().unwrap_or(f64::NAN));
        c.columns().into_iter().zip(std::iter::once(self.time).chain(values)).collect()
    }
}

/// Time, coordinates and velocities on one line.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t = {}", self.time)?;
        let n = self.catalog.coordinates.len();
        for (name, value) in self.catalog.coordinates.iter().zip(&self.values) {
            write!(f, ", {name} = {value}")?;
        }
        for (name, value) in self.catalog.coordinates.iter().zip(self.values.iter().skip(n)) {
            write!(f, ", {name}' = {value}")?;
        }
        Ok(())
    }
}
