//! Models made in Rust: the tables of a model file as methods.
//!
//! Promise: a built model *is* a model file ([`ModelBuilder::to_toml`]): what `build` checks is that file, so messages have
//! places in it, and nothing can be built that cannot be written down and read back.

use crate::elements::{Body, Event, Force, Wall};
use crate::formula::Formula;
use crate::{Error, Model};
use carom_mech::Draft;
use carom_mech::draft::{self, At, FormulaKind, Point, SignalSource, Word};

/// What places of a built model are in.
const FILE: &str = "model.toml (built)";
/// Nothing has a place before it is written down.
const NOWHERE: At = At { source: 0, start: 0, end: 0 };

/// A model in the making; [`Model::builder`] begins one.
///
/// Every method of the same name and key replaces what was said before. Formulas are text, numbers or [`Formula`]s. Nothing
/// is checked before [`ModelBuilder::build`], which reports everything at once.
///
/// ```
/// let model = carom::Model::builder()
///     .coordinates(["x"])
///     .parameter("k", 4.0)
///     .kinetic("x'^2/2")
///     .potential("k*x^2/2")
///     .start("x", 1.0)
///     .until(10.0)
///     .build()?;
/// assert_eq!(model.coordinates().collect::<Vec<_>>(), ["x"]);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ModelBuilder {
    draft: Draft,
    /// Start values by name, not sorted into positions, velocities and momenta yet.
    start: Vec<(String, Formula)>,
}

fn word(text: impl Into<String>) -> Word {
    Word { text: text.into(), at: NOWHERE }
}

pub(crate) fn written(formula: impl Into<Formula>) -> draft::Formula {
    let formula = formula.into();
    let kind = if formula.is_number() { FormulaKind::Number } else { FormulaKind::Text };
    draft::Formula { text: formula.as_str().to_owned(), at: NOWHERE, kind }
}

fn all<F: Into<Formula>>(list: impl IntoIterator<Item = F>) -> Vec<draft::Formula> {
    list.into_iter().map(written).collect()
}

/// Sets an entry, in its old place if there is one.
fn put(list: &mut Vec<draft::Assignment>, name: &str, value: draft::Formula) {
    match list.iter_mut().find(|(word, _)| word.text == name) {
        Some(entry) => entry.1 = value,
        None => list.push((word(name), value)),
    }
}

/// Sets an element by its label, in its old place if there is one.
fn put_element<T>(list: &mut Vec<T>, label: impl Fn(&T) -> &str, element: T) {
    let name = label(&element).to_owned();
    match list.iter_mut().find(|old| label(old) == name) {
        Some(old) => *old = element,
        None => list.push(element),
    }
}

macro_rules! assignments {
    ($($(#[$about:meta])* $method:ident $list:ident)*) => {$(
        $(#[$about])*
        pub fn $method(mut self, name: &str, formula: impl Into<Formula>) -> ModelBuilder {
            put(&mut self.draft.$list, name, written(formula));
            self
        }
    )*};
}

macro_rules! settings {
    ($($(#[$about:meta])* $method:ident)*) => {$(
        $(#[$about])*
        pub fn $method(self, value: impl Into<Formula>) -> ModelBuilder {
            self.setting(stringify!($method), written(value))
        }
    )*};
}

impl ModelBuilder {
    pub(crate) fn of(draft: &Draft) -> ModelBuilder {
        ModelBuilder { draft: draft.clone(), start: Vec::new() }
    }

    /// The title.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?.to_builder().name("Stiff spring").build()?;
    /// assert_eq!(model.name(), "Stiff spring");
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> ModelBuilder {
        self.draft.name = Some(name.into());
        self
    }

    /// The generalized coordinates; their order is part of the model.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x", "y"]);
    /// assert_eq!(builder.to_toml(), "coordinates = [\"x\", \"y\"]\n");
    /// ```
    pub fn coordinates<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> ModelBuilder {
        self.draft.coordinates = names.into_iter().map(word).collect();
        self
    }

    /// Names of the momenta, one per coordinate.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["q"]).momenta(["p"]).hamiltonian("(p^2 + q^2)/2").start("p", 1.0);
    /// assert!(builder.build()?.to_toml().contains("momentum = { p = 1.0 }"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn momenta<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> ModelBuilder {
        self.draft.momenta = Some((names.into_iter().map(word).collect(), NOWHERE));
        self
    }

    /// Several parameters at once.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).parameters([("m", 1.0), ("k", 4.0)]);
    /// assert!(builder.to_toml().contains("[parameters]\nm = 1.0\nk = 4.0\n"));
    /// ```
    pub fn parameters<'a, F: Into<Formula>>(
        mut self,
        list: impl IntoIterator<Item = (&'a str, F)>,
    ) -> ModelBuilder {
        list.into_iter().for_each(|(name, value)| put(&mut self.draft.parameters, name, written(value)));
        self
    }

    assignments! {
        /// A parameter: a number, or a formula of other parameters.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x"]).parameter("l", 1.5).parameter("x_wall", "-l/2");
        /// assert!(builder.to_toml().contains("l      = 1.5\nx_wall = \"-l/2\"\n"));
        /// ```
        parameter parameters
        /// A named formula, usable everywhere; a prime on its name is its total time derivative.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["phi"]).define("y", "-cos(phi)").kinetic("y'^2/2");
        /// assert!(builder.build().is_ok());
        /// ```
        define definitions
        /// A constraint c(q, t) = 0.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x", "y"]).kinetic("(x'^2 + y'^2)/2").potential("9.81*y");
        /// let model = builder.holonomic("rod", "x^2 + y^2 - 1").start("x", 1.0).build()?;
        /// assert_eq!(model.rows().collect::<Vec<_>>(), ["rod"]);
        /// # Ok::<(), carom::Error>(())
        /// ```
        holonomic holonomic
        /// A constraint that is linear in the velocities, A(q, t) q' + b(q, t) = 0.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x", "y", "phi"]).kinetic("(x'^2 + y'^2 + phi'^2)/2");
        /// let model = builder.nonholonomic("blade", "x'*sin(phi) - y'*cos(phi)").build()?;
        /// assert_eq!(model.rows().collect::<Vec<_>>(), ["blade"]);
        /// # Ok::<(), carom::Error>(())
        /// ```
        nonholonomic nonholonomic
        /// The prescribed motion f(t) of a coordinate.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x", "y"]).kinetic("(x'^2 + (x' + y')^2)/2");
        /// assert!(builder.driven("x", "sin(t)").potential("y^2").build().is_ok());
        /// ```
        driven driven
        /// An extra signal to sample, plot and export; may contain accelerations `x''`.
        ///
        /// ```
        /// let model = carom::Model::gallery("quartic")?.to_builder().output("force", "x''").build()?;
        /// assert!(model.outputs().any(|name| name == "force"));
        /// # Ok::<(), carom::Error>(())
        /// ```
        output outputs
    }

    /// T(q, q', t).
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2");
    /// assert!(builder.to_toml().ends_with("[energy]\nkinetic = \"x'^2/2\"\n"));
    /// ```
    pub fn kinetic(mut self, formula: impl Into<Formula>) -> ModelBuilder {
        self.draft.kinetic = Some((word("kinetic"), written(formula)));
        self.draft.energy = Some(NOWHERE);
        self
    }

    /// V(q, t).
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").potential("x^2/2");
    /// assert!(builder.build().is_ok());
    /// ```
    pub fn potential(mut self, formula: impl Into<Formula>) -> ModelBuilder {
        self.draft.potential = Some((word("potential"), written(formula)));
        self.draft.energy = Some(NOWHERE);
        self
    }

    /// The Rayleigh function R; its generalized force is −∂R/∂q'.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").dissipation("0.1*x'^2/2");
    /// assert!(builder.build().is_ok());
    /// ```
    pub fn dissipation(mut self, formula: impl Into<Formula>) -> ModelBuilder {
        self.draft.dissipation = Some((word("dissipation"), written(formula)));
        self.draft.energy = Some(NOWHERE);
        self
    }

    /// L(q, q', t), instead of energies and bodies.
    ///
    /// ```
    /// assert!(carom::Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").build().is_ok());
    /// ```
    pub fn lagrangian(mut self, formula: impl Into<Formula>) -> ModelBuilder {
        self.draft.lagrangian = Some((word("lagrangian"), written(formula)));
        self
    }

    /// H(q, p, t), instead of energies and bodies; the momentum of `x` is `p_x` unless [`momenta`](Self::momenta) names it.
    ///
    /// ```
    /// assert!(carom::Model::builder().coordinates(["x"]).hamiltonian("p_x^2/2 + x^2/2").build().is_ok());
    /// ```
    pub fn hamiltonian(mut self, formula: impl Into<Formula>) -> ModelBuilder {
        self.draft.hamiltonian = Some((word("hamiltonian"), written(formula)));
        self
    }

    /// The acceleration of gravity that acts on bodies, two or three components.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let model = Model::builder().coordinates(["x", "y"]).gravity([0.0, -9.81]).body("ball", Body::new(1.0, ["x", "y"]));
    /// assert!(model.build().is_ok());
    /// ```
    pub fn gravity<F: Into<Formula>>(mut self, components: impl IntoIterator<Item = F>) -> ModelBuilder {
        self.draft.gravity = Some((all(components), NOWHERE));
        self
    }

    /// A body: adds its kinetic energy and its potential in [`gravity`](Self::gravity); also drawn.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let disc = Body::new("m", ["x", "y"]).inertia("m*R^2/2").angle("phi");
    /// let builder = Model::builder().coordinates(["x", "y", "phi"]).parameters([("m", 1.0), ("R", 0.5)]);
    /// assert!(builder.body("disc", disc).build().is_ok());
    /// ```
    pub fn body(mut self, name: &str, body: Body) -> ModelBuilder {
        put_element(&mut self.draft.bodies, |b| &b.name.text, body.into_draft(word(name)));
        self
    }

    /// A force that comes from no potential.
    ///
    /// ```
    /// use carom::{Force, Model};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2/2");
    /// assert!(builder.force("push", Force::generalized([("x", "sin(3*t)")])).build().is_ok());
    /// ```
    pub fn force(mut self, name: &str, force: Force) -> ModelBuilder {
        put_element(&mut self.draft.forces, |f| &f.name.text, force.into_draft(word(name)));
        self
    }

    /// A one-sided constraint: the motion keeps its gap ≥ 0.
    ///
    /// ```
    /// use carom::{Model, Wall};
    /// let builder = Model::builder().coordinates(["x"]).kinetic("x'^2/2");
    /// let model = builder.wall("left", "x + 1").wall("right", Wall::new("1 - x").restitution(0.8)).build()?;
    /// assert_eq!(model.walls().collect::<Vec<_>>(), ["left", "right"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn wall(mut self, name: &str, wall: impl Into<Wall>) -> ModelBuilder {
        put_element(&mut self.draft.walls, |w| &w.name.text, wall.into().into_draft(word(name)));
        self
    }

    /// An event: something happens when a formula crosses zero.
    ///
    /// ```
    /// use carom::{Event, Model};
    /// let builder = Model::builder().coordinates(["x"]).lagrangian("x'^2/2 - x^2/2").start("x", 1.0);
    /// let model = builder.event("turn", Event::when("x'").rising()).until(7.0).build()?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!((motion.events().next().unwrap().time() - std::f64::consts::PI).abs() < 1e-14);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn event(mut self, name: &str, event: Event) -> ModelBuilder {
        put_element(&mut self.draft.events, |e| &e.name.text, event.into_draft(word(name)));
        self
    }

    /// An external signal, a formula of `t`.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).lagrangian("x'^2/2 + u*x").input("u", "sin(3*t)");
    /// assert!(builder.build().is_ok());
    /// ```
    pub fn input(mut self, name: &str, formula: impl Into<Formula>) -> ModelBuilder {
        let input = draft::Input { name: word(name), signal: SignalSource::Formula(written(formula)) };
        put_element(&mut self.draft.inputs, |i| &i.name.text, input);
        self
    }

    /// An external signal through these points, smoothly. The model file refers to a table `NAME.csv`, see
    /// [`Model::tables`].
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).lagrangian("x'^2/2 + u*x");
    /// let model = builder.input_samples("u", &[(0.0, 0.0), (1.0, 2.0), (2.0, 0.0)]).until(2.0).build()?;
    /// assert!(model.to_toml().contains("u = { file = \"u.csv\", column = \"u\" }"));
    /// assert_eq!(model.tables().next(), Some(("u.csv", "t,u\n0.0,0.0\n1.0,2.0\n2.0,0.0\n")));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn input_samples(mut self, name: &str, samples: &[(f64, f64)]) -> ModelBuilder {
        let file = format!("{name}.csv");
        let mut text = format!("t,{name}\n");
        samples.iter().for_each(|(t, u)| text.push_str(&format!("{t:?},{u:?}\n")));
        self.draft.tables.retain(|(known, _)| *known != file);
        self.draft.provide_table(&file, &text);
        let column = Some(word(name));
        let signal = SignalSource::Table { file: word(file), column, time: None, interpolate: None };
        put_element(&mut self.draft.inputs, |i| &i.name.text, draft::Input { name: word(name), signal });
        self
    }

    /// An external signal from a column of a CSV file, looked for in the current folder.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).lagrangian("x'^2/2 + u*x").input_file("u", "u.csv", "force");
    /// assert!(builder.to_toml().contains("u = { file = \"u.csv\", column = \"force\" }"));
    /// ```
    pub fn input_file(mut self, name: &str, file: &str, column: &str) -> ModelBuilder {
        let signal = SignalSource::Table {
            file: word(file),
            column: Some(word(column)),
            time: None,
            interpolate: None,
        };
        put_element(&mut self.draft.inputs, |i| &i.name.text, draft::Input { name: word(name), signal });
        self
    }

    /// The unit of a name: formulas are checked for it, plots are labelled with it.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?.to_builder().unit("x", "m").build()?;
    /// assert!(model.to_toml().contains("[units]\nx = \"m\"\n"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn unit(mut self, name: &str, unit: impl Into<String>) -> ModelBuilder {
        self.draft.units.retain(|(known, _)| known.text != name);
        self.draft.units.push((word(name), word(unit)));
        self
    }

    /// A line in the animation between two points: `"origin"` or bodies.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let builder = Model::builder().coordinates(["phi"]).body("bob", Body::new(1.0, ["sin(phi)", "-cos(phi)"]));
    /// assert!(builder.link("origin", "bob").build()?.to_toml().contains("links = [[\"origin\", \"bob\"]]"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn link(mut self, from: &str, to: &str) -> ModelBuilder {
        self.draft.view.links.push((Point::Named(word(from)), Point::Named(word(to))));
        self
    }

    /// A spring in the animation between two points: `"origin"` or bodies.
    ///
    /// ```
    /// use carom::{Body, Model};
    /// let builder = Model::builder().coordinates(["x"]).body("mass", Body::new(1.0, ["x", "0"])).potential("x^2");
    /// assert!(builder.spring("origin", "mass").build().is_ok());
    /// ```
    pub fn spring(mut self, from: &str, to: &str) -> ModelBuilder {
        self.draft.view.springs.push((Point::Named(word(from)), Point::Named(word(to))));
        self
    }

    /// A point of the animation that leaves a trace, two or three components.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x", "y"]).kinetic("(x'^2 + y'^2)/2");
    /// assert!(builder.trace(["x", "y"]).build()?.to_toml().contains("traces = [[\"x\", \"y\"]]"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn trace<F: Into<Formula>>(mut self, at: impl IntoIterator<Item = F>) -> ModelBuilder {
        self.draft.view.traces.push(Point::Formulas(all(at), NOWHERE));
        self
    }

    /// The visible part of the plane of the animation: left, right, bottom, top.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2").range([-2.0, 2.0, -1.0, 1.0]);
    /// assert!(builder.build().is_ok());
    /// ```
    pub fn range<F: Into<Formula>>(mut self, edges: [F; 4]) -> ModelBuilder {
        self.draft.view.range = Some((all(edges), NOWHERE));
        self
    }

    /// A start value by name: a coordinate `x`, a velocity `x'`, or a momentum of a Hamiltonian model.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").start("x", 1.0).start("x'", "2*pi");
    /// assert!(builder.to_toml().contains("position = { x = 1.0 }\nvelocity = { x = \"2*pi\" }\n"));
    /// ```
    pub fn start(mut self, name: &str, value: impl Into<Formula>) -> ModelBuilder {
        self.start.push((name.to_owned(), value.into()));
        self
    }

    /// Moves a start that violates the constraints onto them.
    ///
    /// ```
    /// let builder = carom::Model::builder().coordinates(["x", "y"]).kinetic("(x'^2 + y'^2)/2");
    /// let builder = builder.holonomic("circle", "x^2 + y^2 - 1").start("x", 0.9).start("y", 0.1);
    /// assert!(builder.clone().build().is_err());
    /// assert!(builder.project_start(true).build().is_ok());
    /// ```
    pub fn project_start(mut self, project: bool) -> ModelBuilder {
        self.draft.start.project = project;
        self
    }

    settings! {
        /// The end time, absolute; 10 unless given.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").until("3*pi");
        /// assert!(builder.build().is_ok());
        /// ```
        until
        /// The start time; 0 unless given.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").from(-1.0).until(1.0);
        /// let model = builder.build()?;
        /// assert_eq!(model.simulate(&model.options())?.time()[0], -1.0);
        /// # Ok::<(), carom::Error>(())
        /// ```
        from
        /// The truncation error per step, 1e-16 to 1e-2; 1e-15 unless given.
        ///
        /// ```
        /// let builder = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").tolerance(1e-9);
        /// assert!(builder.build().is_ok());
        /// ```
        tolerance
        /// The number of evenly spaced samples; 201 unless given.
        ///
        /// ```
        /// let model = carom::Model::builder().coordinates(["x"]).kinetic("x'^2/2").samples(11).build()?;
        /// assert_eq!(model.simulate(&model.options())?.time().len(), 11);
        /// # Ok::<(), carom::Error>(())
        /// ```
        samples
        /// The most impacts; one more is not applied and ends the motion.
        ///
        /// ```
        /// let model = carom::Model::gallery("bouncing_mass")?.to_builder().max_impacts(1).build()?;
        /// assert_eq!(model.simulate(&model.options())?.stop().reason.name(), "impact_limit");
        /// # Ok::<(), carom::Error>(())
        /// ```
        max_impacts
        /// The most steps; one more is not taken and ends the motion.
        ///
        /// ```
        /// let model = carom::Model::gallery("double_pendulum")?.to_builder().max_steps(2).build()?;
        /// assert_eq!(model.simulate(&model.options())?.stop().reason.name(), "step_limit");
        /// # Ok::<(), carom::Error>(())
        /// ```
        max_steps
    }

    /// Steps by the classical Runge–Kutta method with this fixed step, for comparison; impacts are still located.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?.to_builder().rk4(0.01).build()?;
    /// assert!(model.simulate(&model.options())?.stop().reason.is_complete());
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn rk4(self, step: impl Into<Formula>) -> ModelBuilder {
        self.setting("method", written("rk4")).setting("step", written(step))
    }

    /// Several walls hit at once are treated one after the other instead of together.
    ///
    /// ```
    /// let model = carom::Model::gallery("newtons_cradle")?.to_builder().sequential_impacts().build()?;
    /// assert!(model.to_toml().contains("impact_order = \"sequential\""));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn sequential_impacts(self) -> ModelBuilder {
        self.setting("impact_order", written("sequential"))
    }

    fn setting(mut self, key: &str, value: draft::Formula) -> ModelBuilder {
        put(&mut self.draft.run, key, value);
        self
    }

    /// Puts the start values where they belong; a name of nothing goes to the positions, where checking finds it.
    fn sorted(&self) -> Draft {
        let mut draft = self.draft.clone();
        let momenta: Vec<String> = match &draft.momenta {
            Some((names, _)) => names.iter().map(|w| w.text.clone()).collect(),
            None => draft.coordinates.iter().map(|c| format!("p_{}", c.text)).collect(),
        };
        for (name, value) in &self.start {
            let bare = name.trim_end_matches(['\'', '′', '’']);
            let list = if draft.coordinates.iter().any(|c| c.text == *name) {
                &mut draft.start.position
            } else if bare != name {
                &mut draft.start.velocity
            } else if momenta.contains(name) {
                &mut draft.start.momentum
            } else {
                &mut draft.start.position
            };
            put(list, bare, written(value));
        }
        draft
    }

    /// What has been said so far, as a model file.
    ///
    /// ```
    /// let builder = carom::Model::builder().name("Free").coordinates(["x"]).kinetic("m*x'^2/2").parameter("m", 2.0);
    /// let text = "name        = \"Free\"\ncoordinates = [\"x\"]\n\n[parameters]\nm = 2.0\n\n[energy]\nkinetic = \"m*x'^2/2\"\n";
    /// assert_eq!(builder.to_toml(), text);
    /// ```
    pub fn to_toml(&self) -> String {
        self.sorted().to_toml()
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Everything that is wrong, with places in the model file that was built.
    ///
    /// ```
    /// let error = carom::Model::builder().coordinates(["theta"]).kinetic("thetta'^2/2").build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "error: unknown name `thetta`                         model.toml (built):4\n  \
    ///        4 | kinetic = \"thetta'^2/2\"\n    \
    ///          |            ^^^^^^^ hint: did you mean the coordinate `theta`?"
    /// );
    /// ```
    pub fn build(self) -> Result<Model, Error> {
        let draft = self.sorted();
        Model::parse(&draft.to_toml(), FILE, draft.tables)
    }
}
