//! Which trajectories a sweep has: a grid, random draws or the rows of a table. Any row can be asked for at any time, so
//! nothing has to be kept and an interrupted sweep can go on anywhere.

use super::input::Columns;
use super::journal::Checksum;
use crate::failure::Failure;

/// The values of one varied quantity.
#[derive(Clone, PartialEq, Debug)]
enum Axis {
    /// Evenly spaced, both ends included.
    Range { from: f64, to: f64, count: u64 },
    /// As given.
    List(Vec<f64>),
}

/// All trajectories of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The varied quantities: parameters, coordinates, velocities as `x'`, momenta.
    pub names: Vec<String>,
    /// Number of trajectories.
    pub count: u64,
    source: Source,
}

#[derive(Clone, PartialEq, Debug)]
enum Source {
    /// Every combination; the last axis runs fastest.
    Grid(Vec<Axis>),
    /// Uniform in [from, to), from the seed, the row and the column alone.
    Random { ranges: Vec<(f64, f64)>, seed: u64 },
    /// Column after column.
    Table(Vec<Vec<f64>>),
}

impl Plan {
    /// A grid from `NAME=A..B:N` and `NAME=A,B,C`.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn grid(vary: &[String]) -> Result<Plan, Failure> {
        let mut names = Vec::new();
        let mut axes = Vec::new();
        for text in vary {
            let (name, values) = named(text, "--vary")?;
            names.push(name);
            axes.push(axis(values, text)?);
        }
        let count = axes.iter().try_fold(1u64, |n, axis| n.checked_mul(axis.len()));
        let Some(count) = count else {
            return Err(Failure::wrong(
                "the grid of --vary has more points than can be counted\n  hint: --random draws some of them",
            ));
        };
        Plan { names, count, source: Source::Grid(axes) }.distinct()
    }

    /// Random draws from `NAME=A..B`.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn random(random: &[String], count: u64, seed: u64) -> Result<Plan, Failure> {
        if count == 0 {
            return Err(Failure::wrong("--count 0 asks for no trajectory\n  hint: --count 1000"));
        }
        let mut names = Vec::new();
        let mut ranges = Vec::new();
        for text in random {
            let (name, values) = named(text, "--random")?;
            let range = values.split_once("..").and_then(|(a, b)| Some((number(a)?, number(b)?)));
            let Some(range) = range else {
                let hint = "hint: --random \"theta=-1..1\" --count 100 draws 100 numbers between -1 and 1";
                return Err(Failure::wrong(format!(
                    "`--random {text}` is not NAME=A..B with two finite numbers\n  {hint}"
                )));
            };
            names.push(name);
            ranges.push(range);
        }
        Plan { names, count, source: Source::Random { ranges, seed } }.distinct()
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// If a column comes twice.
    pub fn table(columns: Columns) -> Result<Plan, Failure> {
        let Columns { names, values } = columns;
        let count = values.first().map_or(0, Vec::len) as u64;
        if let Some(name) = twice(&names) {
            return Err(Failure::wrong(format!(
                "column `{name}` comes twice\n  hint: leave one of them out"
            )));
        }
        Ok(Plan { names, count, source: Source::Table(values) })
    }

    fn distinct(self) -> Result<Plan, Failure> {
        let Some(name) = twice(&self.names) else { return Ok(self) };
        let hint = "hint: give all its values at once, as in --vary m=1,2";
        Err(Failure::wrong(format!("`{name}` is varied twice\n  {hint}")))
    }

    /// The values of trajectory `index`, one per name.
    pub fn row(&self, index: u64, row: &mut Vec<f64>) {
        row.clear();
        match &self.source {
            Source::Grid(axes) => {
                let mut rest = index;
                for axis in axes.iter().rev() {
                    row.push(axis.value(rest % axis.len()));
                    rest /= axis.len();
                }
                row.reverse();
            }
            Source::Random { ranges, seed } => {
                row.extend(ranges.iter().enumerate().map(|(column, (from, to))| {
                    let u = uniform(*seed, index, column as u64);
                    from + (to - from) * u
                }));
            }
            Source::Table(columns) => row.extend(columns.iter().map(|column| column[index as usize])),
        }
    }

    /// Mixes everything that decides the rows into a checksum.
    pub fn sign(&self, sum: &mut Checksum) {
        self.names.iter().for_each(|name| sum.add(name.as_bytes()));
        sum.add(&self.count.to_le_bytes());
        match &self.source {
            Source::Grid(axes) => sum.add(format!("{axes:?}").as_bytes()),
            Source::Random { ranges, seed } => sum.add(format!("{ranges:?} {seed}").as_bytes()),
            Source::Table(columns) => {
                columns.iter().flatten().for_each(|x| sum.add(&x.to_le_bytes()));
            }
        }
    }
}

impl Axis {
    fn len(&self) -> u64 {
        match self {
            Axis::Range { count, .. } => *count,
            Axis::List(values) => values.len() as u64,
        }
    }

    fn value(&self, index: u64) -> f64 {
        match self {
            Axis::Range { from, to, count } => {
                if index + 1 == *count && index > 0 {
                    return *to;
                }
                let part = index as f64 / (count - 1).max(1) as f64;
                from * (1.0 - part) + to * part
            }
            Axis::List(values) => values[index as usize],
        }
    }
}

/// A name that comes again.
fn twice(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name)
}

fn named<'a>(text: &'a str, option: &str) -> Result<(String, &'a str), Failure> {
    match text.split_once('=') {
        Some((name, values)) if !name.trim().is_empty() => {
            Ok((name.trim().replace(['′', '’'], "'"), values.trim()))
        }
        _ => Err(Failure::wrong(format!(
            "`{option} {text}` is not NAME=VALUES\n  hint: {}",
            if option == "--vary" { "--vary \"theta'=-1..1:100\"" } else { "--random \"theta'=-1..1\"" }
        ))),
    }
}

fn axis(values: &str, text: &str) -> Result<Axis, Failure> {
    let wrong = |what: String, hint: &str| Failure::wrong(format!("`--vary {text}`: {what}\n  hint: {hint}"));
    const WAYS: &str = "write NAME=A..B:N (N numbers from A to B) or NAME=A,B,C";
    let value = |field: &str| {
        number(field).ok_or_else(|| match field.trim() {
            "" => wrong("a value is missing".to_owned(), WAYS),
            field => wrong(format!("`{field}` is not a finite number"), WAYS),
        })
    };
    let Some((from, rest)) = values.split_once("..") else {
        return values.split(',').map(value).collect::<Result<_, _>>().map(Axis::List);
    };
    let Some((to, count)) = rest.split_once(':') else {
        let hint = format!("--vary \"{text}:100\" takes 100 values, both ends included");
        return Err(wrong("how many values?".to_owned(), &hint));
    };
    match count.trim().parse() {
        Ok(count) if count > 0 => Ok(Axis::Range { from: value(from)?, to: value(to)?, count }),
        _ => Err(wrong(format!("`{count}` is not a number of values"), "it is a whole number from 1 on")),
    }
}

/// A finite number, or a constant formula as `-pi/2`.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        return value.is_finite().then_some(value);
    }
    let mut dag = carom::expr::Dag::new();
    let mut unknown = |_: &mut carom::expr::Dag, name: carom::expr::Name<'_>| {
        Err(carom::expr::Problem { span: name.span, message: "unknown name".to_owned(), hint: None })
    };
    let expr = carom::expr::parse(&mut dag, text, &mut unknown).ok()?;
    let value = dag.evaluate(expr, |_| f64::NAN);
    value.is_finite().then_some(value)
}

/// A number in [0, 1) that depends on nothing but its three arguments: splitmix64 over a mixed counter.
fn uniform(seed: u64, row: u64, column: u64) -> f64 {
    let mut z = mix(mix(mix(seed) ^ row) ^ column);
    z >>= 11;
    z as f64 / (1u64 << 53) as f64
}

fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(plan: &Plan, index: u64) -> Vec<f64> {
        let mut row = Vec::new();
        plan.row(index, &mut row);
        row
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    #[test]
    fn a_grid_has_every_combination_once_and_both_ends_exactly() {
        let plan = Plan::grid(&strings(&["x=-1..1:3", "m=1,2"])).unwrap();
        let rows: Vec<Vec<f64>> = (0..plan.count).map(|i| row(&plan, i)).collect();
        assert_eq!(rows, [[-1.0, 1.0], [-1.0, 2.0], [0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 2.0]]);
        let plan = Plan::grid(&strings(&["x=0.1..0.7:7"])).unwrap();
        assert_eq!((row(&plan, 0)[0], row(&plan, 6)[0]), (0.1, 0.7));
        assert_eq!(row(&Plan::grid(&strings(&["x=5..9:1"])).unwrap(), 0), [5.0]);
        assert_eq!(row(&Plan::grid(&strings(&["x=-pi..pi:3"])).unwrap(), 2), [std::f64::consts::PI]);
    }

    #[test]
    fn random_rows_do_not_depend_on_each_other_and_fill_their_range() {
        let plan = Plan::random(&strings(&["x=-2..4", "y=0..1"]), 10_000, 7).unwrap();
        let xs: Vec<f64> = (0..plan.count).map(|i| row(&plan, i)[0]).collect();
        assert_eq!(row(&plan, 17), row(&plan, 17));
        assert!(xs.iter().all(|x| (-2.0..4.0).contains(x)));
        // Mean 1, standard error 6/sqrt(12*10^4) = 0.0173: five of them.
        let mean = xs.iter().sum::<f64>() / xs.len() as f64;
        assert!((mean - 1.0).abs() < 5.0 * 0.0173, "{mean}");
        assert_ne!(row(&Plan::random(&strings(&["x=-2..4"]), 1, 8).unwrap(), 0)[0], xs[0]);
    }

    #[test]
    fn a_table_has_a_trajectory_per_row() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let plan = Plan::table(Columns { names, values: vec![vec![1.0, 2.0], vec![3.0, 4.0]] }).unwrap();
        assert_eq!((plan.count, row(&plan, 1)), (2, vec![2.0, 4.0]));
        let names = vec!["a".to_owned(); 2];
        assert!(Plan::table(Columns { names, values: vec![vec![1.0]; 2] }).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in ["x", "x=", "=1", "x=1..2", "x=1..2:0", "x=a..b:3", "x=1,,2", "x=nan", "x=1..inf:3"] {
            assert!(Plan::grid(&strings(&[text])).is_err(), "{text}");
        }
        assert!(Plan::random(&strings(&["x=1"]), 1, 0).is_err());
        assert!(Plan::grid(&strings(&["x=1", "x=2"])).is_err());
    }
}
