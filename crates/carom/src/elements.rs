//! Bodies, forces, walls and events of a model in the making.

use crate::builder::written;
use crate::formula::Formula;
use carom_mech::draft::{self, At, Word};

const NOWHERE: At = At { source: 0, start: 0, end: 0 };

fn all<F: Into<Formula>>(list: impl IntoIterator<Item = F>) -> Vec<draft::Formula> {
    list.into_iter().map(written).collect()
}

fn word(text: &str) -> Word {
    Word { text: text.to_owned(), at: NOWHERE }
}

fn assignments<'a, F: Into<Formula>>(list: impl IntoIterator<Item = (&'a str, F)>) -> Vec<draft::Assignment> {
    list.into_iter().map(|(name, value)| (word(name), written(value))).collect()
}

/// A body, for [`ModelBuilder::body`](crate::ModelBuilder::body): ½ m |ṙ|² (+ ½ I ω²), and −m g·r in gravity.
///
/// ```
/// use carom::{Body, Model};
/// let wheel = Body::new("m", ["x", "R"]).inertia("m*R^2/2").angle("-x/R");
/// let model = Model::builder().coordinates(["x"]).parameters([("m", 1.0), ("R", 0.5)]).body("wheel", wheel).build()?;
/// assert!(model.to_toml().contains("[body.wheel]\nmass    = \"m\"\n"));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Body {
    mass: draft::Formula,
    at: Vec<draft::Formula>,
    inertia: Option<Vec<draft::Formula>>,
    angle: Option<draft::Formula>,
    spin: Option<Vec<draft::Formula>>,
    radius: Option<draft::Formula>,
}

impl Body {
    /// A mass whose centre is at r(q, t), two or three components.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// assert!(Model::builder().coordinates(["x"]).body("cart", Body::new(2.0, ["x", "0"])).build().is_ok());
    /// ```
    pub fn new<F: Into<Formula>>(mass: impl Into<Formula>, at: impl IntoIterator<Item = F>) -> Body {
        Body { mass: written(mass), at: all(at), inertia: None, angle: None, spin: None, radius: None }
    }

    /// The moment of inertia of a planar rigid body, with its [`angle`](Self::angle).
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let rod = Body::new(1.0, ["cos(phi)/2", "sin(phi)/2"]).inertia("1/12").angle("phi");
    /// assert!(Model::builder().coordinates(["phi"]).body("rod", rod).build().is_ok());
    /// ```
    pub fn inertia(mut self, inertia: impl Into<Formula>) -> Body {
        self.inertia = Some(vec![written(inertia)]);
        self
    }

    /// The orientation of a planar rigid body.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let vane = Body::new(1.0, ["0", "0"]).inertia(0.2).angle("phi");
    /// assert!(Model::builder().coordinates(["phi"]).body("vane", vane).build().is_ok());
    /// ```
    pub fn angle(mut self, angle: impl Into<Formula>) -> Body {
        self.angle = Some(written(angle));
        self
    }

    /// A rigid body in space: the three principal moments of inertia, and the angular velocity in those axes.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let top = Body::new(1.0, ["0", "0", "0"]).rotating([1.0, 1.0, 2.0], ["a'", "b'*cos(a)", "b'*sin(a)"]);
    /// assert!(Model::builder().coordinates(["a", "b"]).body("top", top).build().is_ok());
    /// ```
    pub fn rotating<I: Into<Formula>, S: Into<Formula>>(mut self, inertia: [I; 3], spin: [S; 3]) -> Body {
        (self.inertia, self.spin) = (Some(all(inertia)), Some(all(spin)));
        self
    }

    /// The radius of a disc or ball, for drawing.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let ball = Body::new(1.0, ["x", "y"]).radius(0.1);
    /// let model = Model::builder().coordinates(["x", "y"]).body("ball", ball).build()?;
    /// assert!(model.to_toml().contains("radius = 0.1"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn radius(mut self, radius: impl Into<Formula>) -> Body {
        self.radius = Some(written(radius));
        self
    }

    pub(crate) fn into_draft(self, name: Word) -> draft::Body {
        draft::Body {
            name,
            mass: Some(self.mass),
            at: Some(self.at),
            inertia: self.inertia.map(|list| (list, NOWHERE)),
            angle: self.angle,
            spin: self.spin.map(|list| (list, NOWHERE)),
            radius: self.radius.map(|radius| (radius, NOWHERE)),
            polygon: None,
            sides: None,
            orientation: None,
            broken: false,
        }
    }
}

/// A force, for [`ModelBuilder::force`](crate::ModelBuilder::force).
///
/// ```
/// use carom::{Force, Model};
/// let builder = Model::builder().coordinates(["x", "y"]).kinetic("(x'^2 + y'^2)/2");
/// let model = builder.force("wind", Force::at(["x", "y"], ["1 - x'", "-y'"])).build()?;
/// assert!(model.to_toml().contains("[force.wind]\nat     = [\"x\", \"y\"]\nvector = [\"1 - x'\", \"-y'\"]\n"));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Force {
    at: Option<Vec<draft::Formula>>,
    vector: Option<Vec<draft::Formula>>,
    generalized: Option<Vec<draft::Assignment>>,
}

impl Force {
    /// A force vector F(q, q', t) at a point r(q, t).
    ///
    /// ```
    /// use carom::{Force, Model};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2/2");
    /// assert!(builder.force("push", Force::at(["x", "0"], ["cos(t)", "0"])).build().is_ok());
    /// ```
    pub fn at<P: Into<Formula>, F: Into<Formula>>(
        point: impl IntoIterator<Item = P>,
        vector: impl IntoIterator<Item = F>,
    ) -> Force {
        Force { at: Some(all(point)), vector: Some(all(vector)), generalized: None }
    }

    /// A generalized force by coordinate.
    ///
    /// ```
    /// use carom::{Force, Model};
    /// let builder = Model::builder().coordinates(["phi"]).kinetic("phi'^2/2");
    /// assert!(builder.force("motor", Force::generalized([("phi", "2 - 0.1*phi'")])).build().is_ok());
    /// ```
    pub fn generalized<'a, F: Into<Formula>>(list: impl IntoIterator<Item = (&'a str, F)>) -> Force {
        Force { at: None, vector: None, generalized: Some(assignments(list)) }
    }

    pub(crate) fn into_draft(self, name: Word) -> draft::Force {
        let vector = self.vector.map(|list| (list, NOWHERE));
        draft::Force { name, at: self.at, vector, generalized: self.generalized, broken: false }
    }
}

/// A wall, for [`ModelBuilder::wall`](crate::ModelBuilder::wall): the motion keeps its gap ≥ 0. A formula alone is a wall with
/// restitution 1.
///
/// ```
/// use carom::{Model, Wall};
/// let builder = Model::builder().coordinates(["y"]).kinetic("y'^2/2").potential("9.81*y").start("y", 1.0);
/// let model = builder.wall("floor", Wall::new("y").restitution(0.5)).build()?;
/// assert!(model.simulate(&model.options())?.contacts().any(|contact| contact.zeno()));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Wall {
    gap: draft::Formula,
    restitution: Option<draft::Formula>,
    draw: Option<draft::Formula>,
}

impl Wall {
    /// A wall by its gap φ(q, t).
    ///
    /// ```
    /// use carom::{Model, Wall};
    /// assert!(Model::builder().coordinates(["x"]).kinetic("x'^2").wall("left", Wall::new("x")).build().is_ok());
    /// ```
    pub fn new(gap: impl Into<Formula>) -> Wall {
        Wall { gap: written(gap), restitution: None, draw: None }
    }

    /// The coefficient of restitution in [0, 1]; 1 unless given.
    ///
    /// ```
    /// use carom::{Model, Wall};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2").parameter("e", 0.9);
    /// assert!(builder.wall("left", Wall::new("x").restitution("e^2")).build().is_ok());
    /// ```
    pub fn restitution(mut self, restitution: impl Into<Formula>) -> Wall {
        self.restitution = Some(written(restitution));
        self
    }

    /// The curve in the plane of the picture, a formula of x and y that is zero on it.
    ///
    /// ```
    /// use carom::{Model, Wall};
    /// let builder = Model::builder().coordinates(["phi"]).kinetic("phi'^2");
    /// assert!(builder.wall("left", Wall::new("sin(phi) + 1/2").draw("x + 1/2")).build().is_ok());
    /// ```
    pub fn draw(mut self, curve: impl Into<Formula>) -> Wall {
        self.draw = Some(written(curve));
        self
    }

    pub(crate) fn into_draft(self, name: Word) -> draft::Wall {
        draft::Wall {
            name,
            gap: Some(self.gap),
            restitution: self.restitution,
            draw: self.draw,
            broken: false,
        }
    }
}

impl From<&str> for Wall {
    fn from(gap: &str) -> Wall {
        Wall::new(gap)
    }
}

impl From<String> for Wall {
    fn from(gap: String) -> Wall {
        Wall::new(gap)
    }
}

impl From<Formula> for Wall {
    fn from(gap: Formula) -> Wall {
        Wall::new(gap)
    }
}

impl From<&Formula> for Wall {
    fn from(gap: &Formula) -> Wall {
        Wall::new(gap)
    }
}

/// An event, for [`ModelBuilder::event`](crate::ModelBuilder::event): recorded whenever a formula crosses zero, unless told
/// otherwise.
///
/// ```
/// use carom::{Event, Model};
/// let builder = Model::builder().coordinates(["y"]).kinetic("y'^2/2").potential("9.81*y").start("y'", 3.0);
/// let model = builder.event("apex", Event::when("y'").falling().stop()).build()?;
/// let motion = model.simulate(&model.options())?;
/// assert_eq!(motion.stop().reason.name(), "stopped_by_event");
/// assert!((motion.stop().time - 3.0 / 9.81).abs() < 1e-15);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Event {
    when: draft::Formula,
    direction: Option<&'static str>,
    action: Option<&'static str>,
    only_if: Option<draft::Formula>,
    set: Option<Vec<draft::Assignment>>,
}

impl Event {
    /// Whenever this crosses zero, in either direction.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0);
    /// let model = builder.event("middle", Event::when("x")).until(7.0).build()?;
    /// assert_eq!(model.simulate(&model.options())?.events().count(), 2);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn when(formula: impl Into<Formula>) -> Event {
        Event { when: written(formula), direction: None, action: None, only_if: None, set: None }
    }

    /// Only upwards.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0);
    /// let model = builder.event("middle", Event::when("x").rising()).until(7.0).build()?;
    /// assert_eq!(model.simulate(&model.options())?.events().count(), 1);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn rising(mut self) -> Event {
        self.direction = Some("rising");
        self
    }

    /// Only downwards.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0);
    /// let model = builder.event("middle", Event::when("x").falling()).until(7.0).build()?;
    /// assert_eq!(model.simulate(&model.options())?.events().count(), 1);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn falling(mut self) -> Event {
        self.direction = Some("falling");
        self
    }

    /// Only where this is > 0.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0);
    /// let model = builder.event("late", Event::when("x").only_if("t - 4")).until(7.0).build()?;
    /// assert_eq!(model.simulate(&model.options())?.events().count(), 1);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn only_if(mut self, formula: impl Into<Formula>) -> Event {
        self.only_if = Some(written(formula));
        self
    }

    /// Ends the motion.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2/2").start("x'", 2.0);
    /// let model = builder.event("there", Event::when("x - 1").stop()).build()?;
    /// assert_eq!(model.simulate(&model.options())?.stop().time, 0.5);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn stop(mut self) -> Event {
        self.action = Some("stop");
        self
    }

    /// A reset map: new values of coordinates and velocities, all computed from the state before.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2/2").start("x'", 1.0);
    /// let model = builder.event("around", Event::when("x - 1").rising().set([("x", "x - 2")])).until(5.5).build()?;
    /// assert_eq!(model.simulate(&model.options())?.position("x")?.last(), Some(&-0.5));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn set<'a, F: Into<Formula>>(mut self, list: impl IntoIterator<Item = (&'a str, F)>) -> Event {
        (self.action, self.set) = (Some("set"), Some(assignments(list)));
        self
    }

    pub(crate) fn into_draft(self, name: Word) -> draft::Event {
        draft::Event {
            name,
            when: Some(self.when),
            direction: self.direction.map(word),
            action: self.action.map(word),
            only_if: self.only_if,
            set: self.set,
            broken: false,
        }
    }
}
