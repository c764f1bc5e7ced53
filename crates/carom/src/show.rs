//! Reports, pictures and tables (features `show` and `tables`). Data in, bytes out: writing them to files is the caller's.

use crate::error::ErrorKind;
use crate::{Error, Model, Motion};
use carom_mech::Diagnostic;
use carom_show::{page, plot, report, table};

/// How a derivation is written down, for [`Model::report`].
///
/// ```
/// let model = carom::Model::gallery("quartic")?;
/// assert!(model.report(carom::Format::Latex)?.contains("\\begin{document}"));
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// For a terminal of 100 columns, with Unicode mathematics.
    Text,
    /// A LaTeX file that compiles as it is.
    Latex,
    /// Markdown with LaTeX mathematics.
    Markdown,
    /// One HTML file that opens offline.
    Html,
    /// The derived expressions as JSON, each as text and LaTeX.
    Json,
    /// The derived expressions as SymPy code.
    Sympy,
    /// The derived expressions as Rust code.
    Rust,
    /// The derived expressions as C code.
    C,
}

impl Model {
    /// The derivation: equations of motion, constraint rows, the impact law.
    ///
    /// # Errors
    /// When there are no equations of motion.
    ///
    /// ```
    /// use carom::{Format, Model};
    /// let text = Model::gallery("bouncing_mass")?.report(Format::Text)?;
    /// assert!(text.contains("floor"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn report(&self, format: Format) -> Result<String, Error> {
        let mechanics = self.derived()?;
        Ok(match format {
            Format::Text => report::text(&mechanics, 100),
            Format::Latex => report::latex(&mechanics),
            Format::Markdown => report::markdown(&mechanics),
            Format::Html => report::html(&mechanics),
            Format::Json => report::json(&mechanics, 0.0),
            Format::Sympy => report::sympy(&mechanics),
            Format::Rust => report::rust(&mechanics),
            Format::C => report::c(&mechanics),
        })
    }
}

impl Motion {
    fn asked<T>(&self, made: Result<T, Vec<Diagnostic>>) -> Result<T, Error> {
        made.map_err(|problems| Error::new(ErrorKind::Request, self.model().file(), problems))
    }

    /// A plot as SVG. What to plot is said as to `carom show --plot`: `"theta1"`, `"theta1' over theta1"`; nothing asks for the
    /// usual.
    ///
    /// # Errors
    /// When something cannot be plotted.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.to_svg(&["x"])?.starts_with("<svg"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_svg(&self, what: &[&str]) -> Result<String, Error> {
        let what: Vec<String> = what.iter().map(|&text| text.to_owned()).collect();
        self.asked(plot::svg(&self.mechanics()?, &self.inner, &what, plot::PlotStyle::default()))
    }

    /// A plot as PNG, as [`Motion::to_svg`].
    ///
    /// # Errors
    /// When something cannot be plotted.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.to_png(&["x"])?.starts_with(b"\x89PNG"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_png(&self, what: &[&str]) -> Result<Vec<u8>, Error> {
        let what: Vec<String> = what.iter().map(|&text| text.to_owned()).collect();
        self.asked(plot::png(&self.mechanics()?, &self.inner, &what, plot::PlotStyle::default()))
    }

    /// A self-contained page that animates the motion, with plots as [`Motion::to_svg`].
    ///
    /// # Errors
    /// When something cannot be plotted or drawn.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.to_html(&[])?.contains("<title>"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_html(&self, what: &[&str]) -> Result<String, Error> {
        let what: Vec<String> = what.iter().map(|&text| text.to_owned()).collect();
        self.asked(page::html(&self.mechanics()?, &self.inner, &what))
    }

    /// What an animation draws, as JSON: the data of the page of [`Motion::to_html`], with every signal at every sample and on
    /// both sides of every jump. Numbers are in base64, little-endian: doubles for times and signals, floats for places.
    ///
    /// # Errors
    /// When the motion has no samples.
    ///
    /// ```
    /// let model = carom::Model::gallery("double_pendulum_wall")?;
    /// let motion = model.simulate(&model.options())?;
    /// assert!(motion.to_scene_json()?.contains("\"walls\":[{\"name\":\"left\""));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_scene_json(&self) -> Result<String, Error> {
        self.asked(page::scene_json(&self.mechanics()?, &self.inner))
    }

    /// What `carom run --json` prints.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert!(model.simulate(&model.options())?.to_json().starts_with("{ \"model\": "));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        table::json(&self.audited())
    }

    /// The samples as CSV, one row per sample time.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert!(model.simulate(&model.options())?.to_csv().starts_with(b"time,x,y,x',y',p_x,p_y,"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn to_csv(&self) -> Vec<u8> {
        table::csv(&table::samples(&self.inner, self.model().checked()))
    }

    /// Impacts, contacts, grazes and events as CSV, one row each.
    ///
    /// ```
    /// let model = carom::Model::gallery("bouncing_mass")?;
    /// assert!(model.simulate(&model.options())?.records_to_csv().starts_with(b"kind,time,"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn records_to_csv(&self) -> Vec<u8> {
        table::csv(&table::occurrences(&self.inner, self.model().checked()))
    }

    /// The samples as Parquet.
    ///
    /// ```
    /// let model = carom::Model::gallery("quartic")?;
    /// assert!(model.simulate(&model.options())?.to_parquet().starts_with(b"PAR1"));
    /// # Ok::<(), carom::Error>(())
    /// ```
    #[cfg(feature = "tables")]
    pub fn to_parquet(&self) -> Vec<u8> {
        // Only columns of different lengths cannot be written; those of a motion are of one.
        table::parquet(&table::samples(&self.inner, self.model().checked())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::Model;

    #[test]
    fn what_is_drawn_has_the_parameters_that_were_set() -> Result<(), crate::Error> {
        let text = |l: &str| {
            format!(
                "coordinates = [\"a\"]\n[parameters]\nl = {l}\n[energy]\nkinetic = \"l^2*a'^2/2\"\npotential = \"-l*cos(a)\"\n\
                 [body.bob]\nmass = 1\nat = [\"l*sin(a)\", \"-l*cos(a)\"]\n[start]\nposition = {{ a = 1 }}\n[run]\nuntil = 1"
            )
        };
        let (short, long) = (Model::from_toml(&text("1.0"))?, Model::from_toml(&text("2.0"))?);
        let mut options = short.options();
        options.set("l", 2.0)?;
        let set = short.simulate(&options)?.to_scene_json()?;
        assert_eq!(set, long.simulate(&long.options())?.to_scene_json()?);
        assert_ne!(set, short.simulate(&short.options())?.to_scene_json()?);
        Ok(())
    }
}
