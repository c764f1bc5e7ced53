//! The reference of the model file, as Markdown: prose written here, tables of keys from the [`schema`].

use crate::schema::{self, Entry};
use carom_expr::Function;

/// What stands before the keys of a table, and an example of it.
struct Section {
    table: &'static str,
    title: &'static str,
    text: &'static str,
    example: &'static str,
}

const SECTIONS: &[Section] = &[
    Section {
        table: "",
        title: "Top of the file",
        text: "These keys stand before the first `[table]`: what follows a table's header belongs to that table. The physics is \
               given in exactly one way: by `[energy]` and/or bodies, by `lagrangian`, or by `hamiltonian`.",
        example: "name = \"Falling ball\"\ncoordinates = [\"y\"]\nlagrangian = \"m/2*y'^2 - m*9.81*y\"\n",
    },
    Section {
        table: "parameters",
        title: "[parameters]",
        text: "Constants. `--set m=2` changes one from the command line.",
        example: "[parameters]\nm = 1.5\nl = 0.5\nx_wall = \"-l/2\"\n",
    },
    Section {
        table: "define",
        title: "[define]",
        text: "Names for formulas, in any order. `x1'` below is the velocity of the bob, found by the chain rule.",
        example: "[define]\nx1 = \"l*sin(theta)\"\nspeed = \"x1'\"\n",
    },
    Section {
        table: "input",
        title: "[input]",
        text: "Signals from outside, functions of time. A table is a CSV file beside the model whose first line names its columns; the \
               first one is time unless `time` says otherwise. `interpolate` says how the signal goes from row to row: \
               `\"smooth\"` never goes beyond the two rows it is between and has a continuous rate; `\"spline\"` has two \
               continuous derivatives and may swing beyond its rows; `\"linear\"` goes straight, `\"hold\"` keeps each value \
               until the next row. Without it a table is a spline where its second rate matters (driven coordinates, moving \
               walls, constraints that move, bodies that are carried along) and smooth everywhere else; there `\"linear\"` and \
               `\"hold\"` are refused, because velocities would jump without an impulse. Steps end at the rows, so corners and \
               jumps cost no accuracy; at a row that jumps, what is shown is the state after. Outside its table a signal goes on \
               as smoothly as inside, with a warning.",
        example: "[input]\nu = \"sin(3*t)\"\nmeasured = { file = \"push.csv\", column = \"force\" }\nvalve = { file = \"push.csv\", column = \"open\", interpolate = \"hold\" }\n",
    },
    Section {
        table: "energy",
        title: "[energy]",
        text: "",
        example: "[energy]\nkinetic = \"m/2*x'^2\"\npotential = \"k/2*x^2\"\ndissipation = \"b/2*x'^2\"\n",
    },
    Section {
        table: "body.*",
        title: "[body.NAME]",
        text: "A mass at a point. It adds its energies by itself (with `gravity` from the top of the file) and is drawn in animations.",
        example: "[body.rod]\nmass = \"m\"\nat = [\"l/2*sin(theta)\", \"-l/2*cos(theta)\"]\ninertia = \"m*l^2/12\"\nangle = \"theta\"\n",
    },
    Section {
        table: "force.*",
        title: "[force.NAME]",
        text: "A force that no potential describes: a vector at a point, or generalized forces by coordinate.",
        example: "[force.push]\nat = [\"x\", \"y\"]\nvector = [\"2*sin(t)\", 0.0]\n\n[force.brake]\ngeneralized = { x = \"-b*x'\" }\n",
    },
    Section {
        table: "holonomic",
        title: "[holonomic]",
        text: "Named constraints on positions: each formula is kept at zero.",
        example: "[holonomic]\nrod = \"x^2 + y^2 - l^2\"\n",
    },
    Section {
        table: "nonholonomic",
        title: "[nonholonomic]",
        text: "Named constraints on velocities, linear in them: each formula is kept at zero.",
        example: "[nonholonomic]\nskate = \"x'*sin(phi) - y'*cos(phi)\"\n",
    },
    Section {
        table: "driven",
        title: "[driven]",
        text: "Coordinates with a prescribed motion. They have no equation and no start; the force that drives them is reported.",
        example: "[driven]\ntheta1 = \"omega*t\"\n",
    },
    Section {
        table: "wall.*",
        title: "[wall.NAME]",
        text: "One-sided constraints: the motion keeps the gap at zero or above and bounces where it reaches zero. `min(a, b)` is two \
               walls, called NAME.1 and NAME.2; so is `c - abs(u)`.",
        example: "[wall.floor]\ngap = \"y\"\nrestitution = 0.8\ndraw = \"y\"\n",
    },
    Section {
        table: "event.*",
        title: "[event.NAME]",
        text: "Something to notice, to stop at, or to reset the state at. Crossings inside smooth motion count, once each; a zero at \
               the start, a jump at an impact and an exact tangency do not. A formula that rests at zero for a while (the speed \
               of a block that sticks) crosses when it leaves to the other side. At one instant impacts come first, then events \
               in the order of the file, each on the state after.",
        example: "[event.apex]\nwhen = \"y'\"\ndirection = \"falling\"\n\n[event.step]\nwhen = \"theta - alpha\"\naction = \"set\"\nset = { theta = \"-theta\", \"theta'\" = \"cos(2*alpha)*theta'\" }\n",
    },
    Section {
        table: "output",
        title: "[output]",
        text: "",
        example: "[output]\ntip_speed = \"sqrt(x'^2 + y'^2)\"\nacceleration = \"y''\"\n",
    },
    Section {
        table: "start",
        title: "[start]",
        text: "Where the motion starts. What is not named is 0, except what is driven or what the constraints determine: that is \
               computed. `--start \"theta=0.1,theta'=2\"` changes it from the command line.",
        example: "[start]\nposition = { theta = \"pi/3\" }\nvelocity = { theta = 0.5 }\n",
    },
    Section {
        table: "run",
        title: "[run]",
        text: "How to simulate, unless the command line says otherwise.",
        example: "[run]\nuntil = 10.0\nsamples = 501\n",
    },
    Section {
        table: "units",
        title: "[units]",
        text: "",
        example: "[units]\ntheta = \"rad\"\n\"theta'\" = \"rad/s\"\n",
    },
    Section {
        table: "view",
        title: "[view]",
        text: "What an animation draws besides bodies and walls.",
        example: "[view]\nlinks = [[\"origin\", \"bob\"]]\ntraces = [\"bob\"]\nrange = [-1.5, 1.5, -1.5, 1.5]\n",
    },
];

/// The chapter "The model file" of the book.
///
/// ```
/// let chapter = carom_mech::reference();
/// assert!(chapter.starts_with("# The model file"));
/// assert!(chapter.contains("| `restitution` |"));
/// ```
pub fn reference() -> String {
    let mut out = String::from(
        "# The model file\n\n\
         A model is a [TOML](https://toml.io) file: tables in brackets, `key = value` lines, formulas in double quotes. \
         `carom check FILE` reports everything that is wrong with one, with the place and a way out.\n\n\
         ## Formulas\n\n\
         * `+ - * / ^` and parentheses; every product is written with `*`. `^` binds tightest and to the right: `-x^2` is `-(x^2)`.\n\
         * `x'` is the velocity of the coordinate `x`; ′ and ’ are accepted. `x''` exists in `[output]` only. A prime on a defined name is \
         its total time derivative.\n\
         * `t` is the time, `pi` and `e` are the constants (`e` may be used as a name, with a warning).\n",
    );
    let functions: Vec<&str> =
        std::iter::once("sqrt").chain(Function::ALL.iter().map(|f| f.name())).collect();
    out += &format!("* Functions: `{}`. `log` is the natural logarithm.\n", functions.join("` `"));
    out += "* Numbers are exact: `0.1` is one tenth.\n\
            * `abs`, `sign`, `min` and `max` have corners; their switching surfaces are located like walls, never stepped over.\n\n\
            ## Names\n\n\
            Letters, Greek letters, digits and `_`. Coordinates, momenta, parameters, definitions, inputs and outputs share one namespace; \
            walls, rows, forces, bodies and events have one each. The momentum of `x` is called `p_x` unless `momenta` names it.\n\n";
    for section in SECTIONS {
        out += &format!("## {}\n\n", section.title);
        if !section.text.is_empty() {
            out += &format!("{}\n\n", section.text);
        }
        out += "| key | what to write | meaning |\n|---|---|---|\n";
        for Entry { key, form, meaning, .. } in schema::schema().iter().filter(|e| e.table == section.table) {
            let key = if *key == "*" { "any name".to_owned() } else { format!("`{key}`") };
            // A bar would end the cell.
            let (form, meaning) = (form.replace('|', "\\|"), meaning.replace('|', "\\|"));
            out += &format!("| {key} | {form} | {meaning} |\n");
        }
        out += &format!("\n```toml\n{}```\n\n", section.example);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;

    #[test]
    fn every_key_of_the_schema_is_in_the_reference() {
        for entry in schema::schema() {
            assert!(SECTIONS.iter().any(|s| s.table == entry.table), "no section for [{}]", entry.table);
        }
        assert!(
            !reference().contains('|') || reference().lines().filter(|l| l.starts_with("| `")).count() > 40
        );
    }

    #[test]
    fn every_example_of_the_reference_is_read_without_complaint() {
        for section in SECTIONS {
            let (_, problems) = Draft::parse(section.example, "example.toml");
            let text: Vec<String> = problems.iter().map(|p| p.render("example.toml")).collect();
            assert!(problems.is_empty(), "{}", text.join("\n"));
        }
    }
}
