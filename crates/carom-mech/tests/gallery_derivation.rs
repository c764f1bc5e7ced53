//! Every model of the gallery: its derived equations and closed forms against hyper-dual numbers at random states.

mod support;

use carom_expr::Style;
use carom_mech::{Draft, Dynamics, Mechanics, Model, derive, derive_equations};
use support::closed::closed_forms_hold;
use support::independent::{Random, agrees, random_path};

#[path = "../../../tests/gallery.rs"]
mod gallery;

fn models() -> Vec<(String, Model)> {
    gallery::all()
        .into_iter()
        .map(|(name, text)| {
            let (draft, problems) = Draft::parse(&text, &name);
            let (model, _) = draft.check().unwrap_or_else(|e| panic!("{name}: {problems:?} {e:?}"));
            (name, model)
        })
        .collect()
}

fn derived() -> Vec<(String, Mechanics)> {
    let derive = |(name, model): (String, Model)| {
        let mechanics = derive(model).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        (name, mechanics)
    };
    models().into_iter().map(derive).collect()
}

#[test]
fn the_equations_do_not_depend_on_whether_closed_forms_are_written_down() {
    for (name, model) in models() {
        let text = |m: &Mechanics| -> Vec<String> {
            let matrix = match &m.dynamics {
                Dynamics::Lagrangian(l) => l.mass_matrix.concat(),
                Dynamics::Degenerate(d) => d.matrix.concat(),
                Dynamics::Hamiltonian(h) => h.inverse_mass.concat(),
            };
            let rest = m.momenta.iter().chain(&m.energy_terms).chain(m.walls.iter().map(|w| &w.gap_rate));
            matrix.iter().chain(rest).map(|&e| m.model.dag.print(e, Style::Text)).collect()
        };
        let (all, alone) = (derive(model.clone()).unwrap(), derive_equations(model).unwrap());
        assert_eq!(text(&all), text(&alone), "{name}");
        assert!(alone.forms.impacts.is_empty() && alone.forms.inverse.is_none(), "{name}");
    }
}

#[test]
fn derived_equations_of_every_model_agree_with_an_independent_derivation() {
    for (name, mechanics) in derived() {
        println!("{name}");
        let mut random = Random(29);
        let mut inside = 0;
        for k in 0..200 {
            let path = random_path(&mechanics, &mut random, 0.3 / (1.0 + 0.05 * k as f64));
            if agrees(&mechanics, &path) {
                closed_forms_hold(&mechanics, &path);
                inside += 1;
            }
            if inside == 10 {
                break;
            }
        }
        assert_eq!(inside, 10, "{name}: too few states in the domain");
    }
}

#[test]
fn every_model_has_the_kind_of_dynamics_its_author_meant() {
    for (name, mechanics) in derived() {
        let degenerate =
            ["guiding_centre", "massless_node", "phase_space_pendulum", "point_vortices", "vortex_pair"];
        let hamiltonian = [
            "charged_particle_hamiltonian",
            "kepler_wall",
            "pendulum_hamiltonian",
            "relativistic_hamiltonian",
            "rolling_disk_hamiltonian",
        ];
        let found = match mechanics.dynamics {
            Dynamics::Degenerate(_) => "degenerate",
            Dynamics::Hamiltonian(_) => "hamiltonian",
            Dynamics::Lagrangian(_) => "lagrangian",
        };
        let expected = match name.as_str() {
            n if degenerate.contains(&n) => "degenerate",
            n if hamiltonian.contains(&n) => "hamiltonian",
            _ => "lagrangian",
        };
        assert_eq!(found, expected, "{name}");
        assert!(mechanics.warnings.is_empty(), "{name}: {:?}", mechanics.warnings);
    }
}
