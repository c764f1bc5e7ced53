//! Films: the animation as frames of pixels, and as a GIF.
//!
//! A [`Film`] gives frames one by one (rows of red, green, blue), so that an encoder can be fed without holding them all. Sides
//! are even numbers of pixels, as video encoders want.

mod frame;
mod gif;

use crate::draw::{Picture, Pixels, Theme, pixels};
use crate::provenance::Stamp;
use crate::track::Track;
use crate::view::{Stage, scene};
use carom_mech::{Diagnostic, Mechanics, Severity};
use carom_run::Motion;

/// How a film looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FilmStyle {
    /// Light or dark.
    pub theme: Theme,
    /// Width in pixels.
    pub width: usize,
    /// Frames per second.
    pub rate: f64,
    /// Seconds of motion per second of film; `None` chooses so that it lasts a sensible time.
    pub speed: Option<f64>,
}

impl FilmStyle {
    /// For GIF: small, 25 frames per second (GIF counts in hundredths of a second).
    pub fn gif() -> FilmStyle {
        FilmStyle { theme: Theme::Light, width: 480, rate: 25.0, speed: None }
    }

    /// For video: larger, 60 frames per second.
    pub fn video() -> FilmStyle {
        FilmStyle { theme: Theme::Light, width: 1280, rate: 60.0, speed: None }
    }
}

/// The scene at a time (the end if none is given), with the whole trace up to it.
pub fn still(stage: &Stage, time: Option<f64>, title: &str, theme: Theme, width: f64) -> Picture {
    let (first, last) = (stage.times[0], stage.times[stage.len() - 1]);
    let t = time.unwrap_or(last).clamp(first, last);
    frame::picture(stage, t, 0.0, title, theme, width, frame::shape(stage))
}

/// Longest film in seconds when no speed is asked for, and the most frames ever.
const LONGEST: f64 = 20.0;
const MOST_FRAMES: usize = 20_000;

/// A film, ready to be painted frame by frame.
pub struct Film {
    stage: Stage,
    style: FilmStyle,
    title: String,
    /// Where the motion comes from.
    pub stamp: Stamp,
    speed: f64,
    frames: usize,
    /// Width of every frame in pixels, even.
    pub width: usize,
    /// Height of every frame in pixels, even.
    pub height: usize,
}

impl Film {
    /// Prepares a film of the motion; fails with advice when the model does not say where things are.
    pub fn new(mechanics: &Mechanics, motion: &Motion, style: FilmStyle) -> Result<Film, Vec<Diagnostic>> {
        let problem = |message: &str, hint: &str| {
            vec![Diagnostic {
                severity: Severity::Error,
                place: None,
                message: message.into(),
                hint: Some(hint.into()),
            }]
        };
        let mut mechanics = mechanics.clone();
        let scene = scene(&mut mechanics)?;
        let track = Track::new(&mechanics, motion);
        if track.knots.is_empty() {
            return Err(problem(
                "the motion has no samples to show",
                "ask for samples within the time it reached",
            ));
        }
        let stage = Stage::new(&track, &scene);
        let length = stage.times[stage.len() - 1] - stage.times[0];
        let speed = match style.speed {
            Some(s) if s > 0.0 && s.is_finite() => s,
            Some(_) => return Err(problem("the speed of a film is a positive number", "for example 0.5")),
            None => (length / LONGEST).max(if length < 2.0 { length / 4.0 } else { 1.0 }).max(1e-300),
        };
        let frames = (length / speed * style.rate).round() + 1.0;
        if frames > MOST_FRAMES as f64 {
            return Err(problem(
                "the film would have too many frames",
                "choose a higher speed or a shorter motion",
            ));
        }
        let even = |x: f64| ((x / 2.0).round() as usize).max(8) * 2;
        let width = even(style.width as f64);
        let height = even(width as f64 * frame::shape(&stage));
        let title = motion.model.clone();
        let stamp = Stamp::of_motion(motion);
        Ok(Film { stage, style, title, stamp, speed, frames: frames as usize, width, height })
    }

    /// Number of frames, at least one.
    pub fn len(&self) -> usize {
        self.frames
    }

    /// Never: there is always a first frame.
    pub fn is_empty(&self) -> bool {
        self.frames == 0
    }

    /// Frames per second.
    pub fn rate(&self) -> f64 {
        self.style.rate
    }

    /// The n-th frame.
    pub fn frame(&self, n: usize) -> Pixels {
        let blank =
            || Pixels { width: self.width, height: self.height, rgb: vec![0; 3 * self.width * self.height] };
        let t = self.stage.times[0] + n as f64 / self.style.rate * self.speed;
        // Drawn at the size of a page's stage and scaled, so that lines and labels keep their proportions.
        let drawn = 480.0f64.min(self.width as f64);
        let flash = 0.33 * self.speed;
        let picture =
            frame::picture(&self.stage, t, flash, &self.title, self.style.theme, drawn, self.aspect());
        pixels(&picture, self.width as f64 / drawn)
            .filter(|p| p.width == self.width && p.height == self.height)
            .unwrap_or_else(blank)
    }

    /// The whole film as a GIF that repeats.
    pub fn gif(&self) -> Vec<u8> {
        self.stamp.gif(&gif::encode(self, self.style.theme))
    }

    fn aspect(&self) -> f64 {
        self.height as f64 / self.width as f64
    }
}
