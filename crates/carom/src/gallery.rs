//! The gallery: models that come with the program, each an example, a test and a figure at once.
//!
//! Promise: every file of `models/` is here exactly once, byte for byte.

/// A model of the gallery.
///
/// ```
/// let entry = carom::gallery::find("jack_in_box").unwrap();
/// assert!(entry.text.contains("[wall.") && entry.group == "Bouncing");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Name of its file without `.toml`; what the command line accepts in place of a file.
    pub name: &'static str,
    /// The group it is listed under.
    pub group: &'static str,
    /// The model file.
    pub text: &'static str,
}

impl Entry {
    /// The model's title, as its file gives it.
    ///
    /// ```
    /// assert_eq!(carom::gallery::find("newtons_cradle").unwrap().title(), "Newton's cradle");
    /// ```
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find(|line| line.starts_with("name "));
        line.and_then(|line| line.split('"').nth(1)).unwrap_or(self.name)
    }

    /// What it is and what to look at: the comment at the top of its file, without the comment signs.
    ///
    /// ```
    /// assert!(carom::gallery::find("compass_gait").unwrap().comment().starts_with("A compass walks down a slope"));
    /// ```
    pub fn comment(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    }
}

macro_rules! gallery {
    ($($group:literal { $($name:literal)* })*) => {
        &[$($(Entry {
            name: $name,
            group: $group,
            text: include_str!(concat!("../models/", $name, ".toml")),
        },)*)*]
    };
}

static GALLERY: &[Entry] = gallery! {
    "Bouncing" {
        "bouncing_mass" "ball_restitution" "ball_on_incline" "vibrating_table" "impact_oscillator" "hilly_ground"
        "circular_billiard" "stadium_billiard" "elliptic_billiard" "galperin_blocks" "jack_in_box"
    }
    "Pendulums" {
        "pendulum_wall" "double_pendulum" "double_pendulum_wall" "driven_double_pendulum"
        "driven_double_pendulum_constraint" "squeezed_driven_pendulum" "newtons_cradle" "elastic_pendulum"
        "elastic_pendulum_cartesian" "cart_double_pendulum" "spherical_pendulum"
    }
    "Constraints, rolling, rigid bodies" {
        "bead_in_bowl" "slider_crank" "car_axis" "rolling_disk" "rolling_disk_hamiltonian" "knife_edge" "chaplygin_sleigh" "spinning_top"
        "rigid_body_quaternion"
    }
    "Walking" {
        "rimless_wheel" "simplest_walker" "compass_gait"
    }
    "Hamiltonians, relativity, magnetic fields" {
        "pendulum_hamiltonian" "kepler_wall" "kepler_wall_lagrangian" "relativistic_bounce" "relativistic_hamiltonian"
        "relativistic_moving_wall" "charged_particle" "charged_particle_hamiltonian" "quartic"
    }
    "Degenerate Lagrangians" {
        "vortex_pair" "point_vortices" "guiding_centre" "massless_node" "phase_space_pendulum"
    }
};

/// All models, in the order they are listed.
///
/// ```
/// let titles: Vec<_> = carom::gallery::all().iter().map(|entry| entry.title()).collect();
/// assert!(titles.contains(&"Newton's cradle"));
/// ```
pub fn all() -> &'static [Entry] {
    GALLERY
}

/// The model of that name.
///
/// ```
/// assert!(carom::gallery::find("no_such_model").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Entry> {
    GALLERY.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_models_folder_is_in_the_gallery_and_nothing_else() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut names: Vec<&str> = GALLERY.iter().map(|entry| entry.name).collect();
        names.sort();
        assert_eq!(names, files);
    }

    #[test]
    fn every_model_has_a_title_of_its_own_and_says_what_to_look_at() {
        let mut titles = std::collections::HashSet::new();
        for entry in GALLERY {
            assert!(titles.insert(entry.title()), "{}: title used twice", entry.name);
            assert!(entry.comment().contains("Look at:"), "{}", entry.name);
        }
    }
}
