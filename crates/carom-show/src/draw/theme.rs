//! Colours: a light and a dark theme over the same palette, Okabe and Ito's, which people with any of the common colour
//! deficiencies can tell apart. (Its yellow is too faint on white and its black invisible on dark; both are left out.)

/// Red, green, blue, opacity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Color(pub u8, pub u8, pub u8, pub u8);

impl Color {
    /// The same colour, more transparent: `opacity` from 0 to 1.
    pub fn faded(self, opacity: f64) -> Color {
        Color(self.0, self.1, self.2, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8)
    }

    /// A part of this colour, the rest of `other`; opaque.
    pub fn over(self, other: Color, part: f64) -> Color {
        let part = part.clamp(0.0, 1.0);
        let mix = |a: u8, b: u8| (f64::from(b) + part * (f64::from(a) - f64::from(b))).round() as u8;
        Color(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2), 255)
    }

    /// `#rrggbb`, without opacity.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Light or dark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Theme {
    /// Dark ink on white: papers.
    #[default]
    Light,
    /// Light ink on near-black: slides, screens at night.
    Dark,
}

impl Theme {
    /// Behind everything.
    pub fn background(self) -> Color {
        match self {
            Theme::Light => Color(255, 255, 255, 255),
            Theme::Dark => Color(22, 25, 29, 255),
        }
    }

    /// Text and axes.
    pub fn ink(self) -> Color {
        match self {
            Theme::Light => Color(32, 36, 42, 255),
            Theme::Dark => Color(226, 229, 233, 255),
        }
    }

    /// Tick labels, marks of impacts, walls.
    pub fn muted(self) -> Color {
        match self {
            Theme::Light => Color(102, 110, 120, 255),
            Theme::Dark => Color(150, 158, 168, 255),
        }
    }

    /// Grid lines.
    pub fn grid(self) -> Color {
        match self {
            Theme::Light => Color(226, 230, 235, 255),
            Theme::Dark => Color(45, 50, 57, 255),
        }
    }

    /// Shading of contact intervals and the far side of walls.
    pub fn shade(self) -> Color {
        match self {
            Theme::Light => Color(231, 235, 240, 255),
            Theme::Dark => Color(40, 45, 52, 255),
        }
    }

    /// Flashes at impacts.
    pub fn flash(self) -> Color {
        match self {
            Theme::Light => Color(213, 94, 0, 255),
            Theme::Dark => Color(240, 160, 40, 255),
        }
    }

    /// The colour of the n-th curve.
    pub fn curve(self, n: usize) -> Color {
        let light = [
            Color(0, 114, 178, 255),
            Color(213, 94, 0, 255),
            Color(0, 158, 115, 255),
            Color(204, 121, 167, 255),
            Color(86, 180, 233, 255),
            Color(230, 159, 0, 255),
        ];
        let dark = [
            Color(86, 180, 233, 255),
            Color(230, 159, 0, 255),
            Color(0, 178, 130, 255),
            Color(221, 140, 184, 255),
            Color(240, 228, 66, 255),
            Color(228, 110, 40, 255),
        ];
        match self {
            Theme::Light => light[n % light.len()],
            Theme::Dark => dark[n % dark.len()],
        }
    }
}
