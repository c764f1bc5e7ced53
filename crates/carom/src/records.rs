//! What happened during a motion, with names in place of indices.

use crate::Error;
use carom_run::Names;
use std::fmt;

fn by_name(what: &str, names: &[String], values: &[f64], name: &str) -> Result<f64, Error> {
    let bare = name.strip_suffix(['\'', '′', '’']).unwrap_or(name);
    let place = names.iter().position(|known| known == name || known == bare);
    match place.and_then(|i| values.get(i)) {
        Some(value) => Ok(*value),
        None => Err(Error::unknown(what, name, names.iter().map(String::as_str))),
    }
}

fn name(names: &[String], index: usize) -> &str {
    names.get(index).map_or("", String::as_str)
}

/// One application of the impact law.
///
/// ```
/// let model = carom::Model::gallery("bouncing_mass")?;
/// let motion = model.simulate(&model.options())?;
/// let first = motion.impacts().next().unwrap();
/// assert!(first.gap_rate_before("floor")? < 0.0 && first.gap_rate_after("floor")? > 0.0);
/// println!("{first}");
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Impact<'m> {
    pub(crate) names: &'m Names,
    pub(crate) record: &'m carom_run::Impact,
}

macro_rules! per_wall {
    ($($(#[$about:meta])* $method:ident)*) => {$(
        $(#[$about])*
        ///
        /// # Errors
        /// When there is no such wall.
        ///
        /// ```
        /// let model = carom::Model::gallery("bouncing_mass")?;
        /// let motion = model.simulate(&model.options())?;
        #[doc = concat!("assert!(motion.impacts().next().unwrap().", stringify!($method), "(\"floor\")? != 0.0);")]
        /// # Ok::<(), carom::Error>(())
        /// ```
        pub fn $method(&self, wall: &str) -> Result<f64, Error> {
            match self.record.walls.iter().position(|&w| name(&self.names.walls, w) == wall) {
                Some(place) => Ok(self.record.$method.get(place).copied().unwrap_or(0.0)),
                None => by_name("wall", &self.names.walls, &vec![0.0; self.names.walls.len()], wall),
            }
        }
    )*};
}

macro_rules! per_coordinate {
    ($($(#[$about:meta])* $method:ident)*) => {$(
        $(#[$about])*
        ///
        /// # Errors
        /// When there is no such coordinate.
        ///
        /// ```
        /// let model = carom::Model::gallery("bouncing_mass")?;
        /// let motion = model.simulate(&model.options())?;
        #[doc = concat!("assert!(motion.impacts().next().unwrap().", stringify!($method), "(\"y\")?.is_finite());")]
        /// # Ok::<(), carom::Error>(())
        /// ```
        pub fn $method(&self, coordinate: &str) -> Result<f64, Error> {
            by_name("coordinate", &self.names.coordinates, &self.record.$method, coordinate)
        }
    )*};
}

impl<'m> Impact<'m> {
    /// When.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().next().unwrap().time() > 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn time(&self) -> f64 {
        self.record.time
    }

    /// The walls that received an impulse, in model order.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().next().unwrap().walls().eq(["floor"]));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn walls(&self) -> impl ExactSizeIterator<Item = &'m str> + use<'m> {
        let names = self.names;
        self.record.walls.iter().map(move |&w| name(&names.walls, w))
    }

    per_wall! {
        /// λ of a wall; 0 for one that was not hit.
        impulse
        /// φ̇ of a wall before; 0 for one that was not hit.
        gap_rate_before
        /// φ̇ of a wall after; 0 for one that was not hit.
        gap_rate_after
    }

    per_coordinate! {
        /// A coordinate.
        position
        /// The rate of a coordinate before.
        velocity_before
        /// The rate of a coordinate after.
        velocity_after
    }

    /// μ of a constraint row.
    ///
    /// # Errors
    /// When there is no such row.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().next().unwrap().reaction_impulse("rod").is_err());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn reaction_impulse(&self, row: &str) -> Result<f64, Error> {
        by_name("constraint row", &self.names.rows, &self.record.reaction_impulse, row)
    }

    /// The impulse of the drive of a driven coordinate.
    ///
    /// # Errors
    /// When no such coordinate is driven.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().next().unwrap().driving_impulse("y").is_err());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn driving_impulse(&self, coordinate: &str) -> Result<f64, Error> {
        by_name("driven coordinate", &self.names.driven, &self.record.driving_impulse, coordinate)
    }

    /// E before.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.impacts().next().unwrap().hamiltonian_before().is_finite());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn hamiltonian_before(&self) -> f64 {
        self.record.hamiltonian_before
    }

    /// E after.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// let motion = model.simulate(&model.options())?;
    /// let first = motion.impacts().next().unwrap();
    /// assert!((first.hamiltonian_after() - first.hamiltonian_before()).abs() < 1e-13);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn hamiltonian_after(&self) -> f64 {
        self.record.hamiltonian_after
    }
}

/// Time, walls and their impulses on one line.
impl fmt::Display for Impact<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t = {}", self.record.time)?;
        for (wall, impulse) in self.walls().zip(&self.record.impulse) {
            write!(f, ", {wall}: impulse {impulse}")?;
        }
        Ok(())
    }
}

/// A wall held closed for a while.
///
/// ```
/// let model = carom::Model::gallery("ball_restitution")?;
/// let motion = model.simulate(&model.options())?;
/// let contact = motion.contacts().next().unwrap();
/// assert_eq!((contact.wall(), contact.to()), ("floor", None));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Contact<'m> {
    pub(crate) names: &'m Names,
    pub(crate) record: &'m carom_run::Contact,
}

impl<'m> Contact<'m> {
    /// Which wall.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert_eq!(model.simulate(&model.options())?.contacts().next().unwrap().wall(), "floor");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn wall(&self) -> &'m str {
        name(&self.names.walls, self.record.wall)
    }

    /// Since when.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert!(model.simulate(&model.options())?.contacts().next().unwrap().from() > 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn from(&self) -> f64 {
        self.record.from
    }

    /// Until when; `None` while still closed at the end.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert_eq!(model.simulate(&model.options())?.contacts().next().unwrap().to(), None);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to(&self) -> Option<f64> {
        self.record.to
    }

    /// Did it begin at the end of infinitely many impacts?
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert!(model.simulate(&model.options())?.contacts().next().unwrap().zeno());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn zeno(&self) -> bool {
        self.record.zeno
    }

    /// The force when it began.
    ///
    /// ```
    /// let model = carom::Model::gallery("ball_restitution")?;
    /// assert!(model.simulate(&model.options())?.contacts().next().unwrap().force_at_start() > 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn force_at_start(&self) -> f64 {
        self.record.force_at_start
    }
}

/// A wall touched without impulse.
///
/// ```
/// // A throw that reaches its ceiling with no speed left.
/// let builder = carom::Model::builder().coordinates(["y"]).kinetic("y'^2/2").potential("2*y").start("y'", 2.0);
/// let model = builder.wall("ceiling", "1 - y").until(2.0).build()?;
/// let motion = model.simulate(&model.options())?;
/// assert!(motion.grazes().all(|graze| graze.wall() == "ceiling" && (graze.time() - 1.0).abs() < 1e-7));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Graze<'m> {
    pub(crate) names: &'m Names,
    pub(crate) record: &'m carom_run::Graze,
}

impl<'m> Graze<'m> {
    /// When.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert!(model.simulate(&model.options())?.grazes().all(|graze| graze.time() > 0.0));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn time(&self) -> f64 {
        self.record.time
    }

    /// Which wall.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert!(model.simulate(&model.options())?.grazes().all(|graze| graze.wall() == "floor"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn wall(&self) -> &'m str {
        name(&self.names.walls, self.record.wall)
    }
}

/// A user event that fired.
///
/// ```
/// let model = carom::Model::gallery("compass_gait")?;
/// let motion = model.simulate(&model.options())?;
/// let step = motion.events().next().unwrap();
/// assert_eq!(step.name(), "heelstrike");
/// assert!(step.velocity("theta_s")? > 0.0);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EventRecord<'m> {
    pub(crate) names: &'m Names,
    pub(crate) record: &'m carom_run::EventRecord,
}

impl<'m> EventRecord<'m> {
    /// When.
    ///
    /// ```
    /// let model = carom::Model::gallery("compass_gait")?;
    /// assert!(model.simulate(&model.options())?.events().next().unwrap().time() < 1.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn time(&self) -> f64 {
        self.record.time
    }

    /// Which event.
    ///
    /// ```
    /// let model = carom::Model::gallery("compass_gait")?;
    /// assert_eq!(model.simulate(&model.options())?.events().next().unwrap().name(), "heelstrike");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn name(&self) -> &'m str {
        name(&self.names.events, self.record.event)
    }

    /// A coordinate, after a reset if there was one.
    ///
    /// # Errors
    /// When there is none of that name.
    ///
    /// ```
    /// let model = carom::Model::gallery("compass_gait")?;
    /// assert!(model.simulate(&model.options())?.events().next().unwrap().position("theta_s")? < 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn position(&self, coordinate: &str) -> Result<f64, Error> {
        by_name("coordinate", &self.names.coordinates, &self.record.position, coordinate)
    }

    /// The rate of a coordinate, after a reset if there was one.
    ///
    /// # Errors
    /// When there is no such coordinate.
    ///
    /// ```
    /// let model = carom::Model::gallery("compass_gait")?;
    /// assert!(model.simulate(&model.options())?.events().next().unwrap().velocity("theta_s")? > 0.0);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn velocity(&self, coordinate: &str) -> Result<f64, Error> {
        by_name("coordinate", &self.names.coordinates, &self.record.velocity, coordinate)
    }
}
