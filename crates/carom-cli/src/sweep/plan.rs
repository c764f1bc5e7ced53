//! Which trajectories a sweep has: a grid, random draws or the rows of a table. Any row can be asked for at any time, so
//! nothing has to be kept and an interrupted sweep can go on anywhere.

use super::input::InputColumns;
use super::journal::Checksum;
use crate::failure::Failure;
use carom_expr::{Random, splitmix64};

/// The values of one varied quantity.
#[derive(Clone, PartialEq, Debug)]
enum VariedValues {
    /// Evenly spaced, both ends included.
    Range { from: RangeEnd, to: RangeEnd, count: u64 },
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
    source: PlanSource,
}

/// One end of a range.
#[derive(Clone, Copy, PartialEq, Debug)]
struct RangeEnd {
    value: f64,
    /// As typed, if it is a decimal number: `digits`·10^−`decimals` exactly.
    exact: Option<(i128, u32)>,
}

#[derive(Clone, PartialEq, Debug)]
enum PlanSource {
    /// Every combination; the last axis runs fastest.
    Grid(Vec<VariedValues>),
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
        Plan { names, count, source: PlanSource::Grid(axes) }.distinct()
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
        Plan { names, count, source: PlanSource::Random { ranges, seed } }.distinct()
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// If a column comes twice.
    pub fn table(columns: InputColumns) -> Result<Plan, Failure> {
        let InputColumns { names, values } = columns;
        let count = values.first().map_or(0, Vec::len) as u64;
        if let Some(name) = twice(&names) {
            return Err(Failure::wrong(format!(
                "column `{name}` comes twice\n  hint: leave one of them out"
            )));
        }
        Ok(Plan { names, count, source: PlanSource::Table(values) })
    }

    /// Every combination of listed values; the last name runs fastest.
    ///
    /// # Errors
    /// If there is no value, one is not finite, or a name comes twice.
    pub fn product(lists: Vec<(String, Vec<f64>)>) -> Result<Plan, Failure> {
        let (names, values) = finite(lists)?;
        let axes: Vec<VariedValues> = values.into_iter().map(VariedValues::List).collect();
        let Some(count) = axes.iter().try_fold(1u64, |n, axis| n.checked_mul(axis.len())) else {
            return Err(Failure::wrong(
                "the product has more points than can be counted\n  hint: draw some of them at random",
            ));
        };
        Plan { names, count, source: PlanSource::Grid(axes) }.distinct()
    }

    /// One trajectory for each place of lists of one length.
    ///
    /// # Errors
    /// As [`Plan::product`], and if the lists are of different lengths.
    pub fn rows(lists: Vec<(String, Vec<f64>)>) -> Result<Plan, Failure> {
        let (names, values) = finite(lists)?;
        let longest = values.iter().map(Vec::len).max().unwrap_or(0);
        if let Some(k) = values.iter().position(|list| list.len() != longest) {
            return Err(Failure::wrong(format!(
                "`{}` has {} values where others have {longest}\n  hint: give all names as many values, or ask for their product",
                names[k],
                values[k].len()
            )));
        }
        Plan { names, count: longest as u64, source: PlanSource::Table(values) }.distinct()
    }

    /// Uniform draws, as of `--random`.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn uniform(ranges: Vec<(String, f64, f64)>, count: u64, seed: u64) -> Result<Plan, Failure> {
        let lists = ranges.into_iter().map(|(name, from, to)| (name, vec![from, to])).collect();
        let (names, values) = finite(lists)?;
        if count == 0 {
            return Err(Failure::wrong("0 random trajectories\n  hint: count=1000"));
        }
        let ranges = values.iter().map(|ends| (ends[0], ends[1])).collect();
        Plan { names, count, source: PlanSource::Random { ranges, seed } }.distinct()
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
            PlanSource::Grid(axes) => {
                let mut rest = index;
                for axis in axes.iter().rev() {
                    row.push(axis.value(rest % axis.len()));
                    rest /= axis.len();
                }
                row.reverse();
            }
            PlanSource::Random { ranges, seed } => {
                row.extend(ranges.iter().enumerate().map(|(column, (from, to))| {
                    let u = uniform(*seed, index, column as u64);
                    from + (to - from) * u
                }));
            }
            PlanSource::Table(columns) => row.extend(columns.iter().map(|column| column[index as usize])),
        }
    }

    /// Mixes everything that decides the rows into a checksum.
    pub fn sign(&self, sum: &mut Checksum) {
        self.names.iter().for_each(|name| sum.add(name.as_bytes()));
        sum.add(&self.count.to_le_bytes());
        match &self.source {
            PlanSource::Grid(axes) => sum.add(format!("{axes:?}").as_bytes()),
            PlanSource::Random { ranges, seed } => sum.add(format!("{ranges:?} {seed}").as_bytes()),
            PlanSource::Table(columns) => {
                columns.iter().flatten().for_each(|x| sum.add(&x.to_le_bytes()));
            }
        }
    }
}

impl VariedValues {
    fn len(&self) -> u64 {
        match self {
            VariedValues::Range { count, .. } => *count,
            VariedValues::List(values) => values.len() as u64,
        }
    }

    fn value(&self, index: u64) -> f64 {
        match self {
            VariedValues::Range { from, to, count } => {
                if index + 1 == *count && index > 0 {
                    return to.value;
                }
                if index == 0 {
                    return from.value;
                }
                let steps = count - 1;
                // The nearest number to the exact one: 0..1 in five steps has 0.4 and not 0.39999999999999997.
                from.exact.zip(to.exact).and_then(|(a, b)| between(a, b, index, steps)).unwrap_or_else(|| {
                    let part = index as f64 / steps as f64;
                    from.value * (1.0 - part) + to.value * part
                })
            }
            VariedValues::List(values) => values[index as usize],
        }
    }
}

/// Names and values, all of them numbers.
#[allow(clippy::type_complexity)]
fn finite(lists: Vec<(String, Vec<f64>)>) -> Result<(Vec<String>, Vec<Vec<f64>>), Failure> {
    if lists.is_empty() {
        return Err(Failure::wrong("nothing is varied\n  hint: name a parameter or a start and its values"));
    }
    for (name, list) in &lists {
        if list.is_empty() {
            return Err(Failure::wrong(format!("`{name}` has no values\n  hint: give at least one")));
        }
        if let Some(k) = list.iter().position(|x| !x.is_finite()) {
            return Err(Failure::wrong(format!(
                "value {k} of `{name}` is {}\n  hint: every value must be a finite number",
                list[k]
            )));
        }
    }
    Ok(lists.into_iter().map(|(name, list)| (name.trim().replace(['′', '’'], "'"), list)).unzip())
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

fn axis(values: &str, text: &str) -> Result<VariedValues, Failure> {
    let wrong = |what: String, hint: &str| Failure::wrong(format!("`--vary {text}`: {what}\n  hint: {hint}"));
    const WAYS: &str = "write NAME=A..B:N (N numbers from A to B) or NAME=A,B,C";
    let value = |field: &str| {
        let unit = carom_mech::units::quantity(field).and_then(|q| q.unit.err());
        number(field).ok_or_else(|| match (field.trim(), unit) {
            ("", _) => wrong("a value is missing".to_owned(), WAYS),
            (_, Some(problem)) => wrong(problem.message, &problem.hint),
            (field, None) => wrong(format!("`{field}` is not a finite number"), WAYS),
        })
    };
    let Some((from, rest)) = values.split_once("..") else {
        return values.split(',').map(value).collect::<Result<_, _>>().map(VariedValues::List);
    };
    let Some((to, count)) = rest.split_once(':') else {
        let hint = format!("--vary \"{text}:100\" takes 100 values, both ends included");
        return Err(wrong("how many values?".to_owned(), &hint));
    };
    let end = |field: &str| value(field).map(|value| RangeEnd { value, exact: decimal(field.trim()) });
    let (from, to) = (end(from)?, end(to)?);
    match count.trim().parse() {
        Ok(count) if count > 0 => Ok(VariedValues::Range { from, to, count }),
        _ => {
            // A step in the place of a number of values.
            let steps = number(count).map(|step| ((to.value - from.value) / step).abs());
            let hint = match steps {
                Some(n) if (0.5..1e9).contains(&n) => {
                    let range = values.rsplit_once(':').map_or(values, |(range, _)| range);
                    format!(
                        "it is a whole number from 1 on; {range}:{} has steps of {}",
                        n.round() + 1.0,
                        count.trim()
                    )
                }
                _ => "it is a whole number from 1 on".to_owned(),
            };
            Err(wrong(format!("`{}` is not a number of values", count.trim()), &hint))
        }
    }
}

/// Digits and decimals of a decimal number, such as 0.25 or -3e-2; `None` for anything else and for numbers of more than 18 digits.
fn decimal(text: &str) -> Option<(i128, u32)> {
    const MOST: usize = 18;
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let is_number = !digits.is_empty() && digits.len() <= MOST && digits.bytes().all(|b| b.is_ascii_digit());
    let decimals = i64::try_from(part.len()).ok()? - power.parse::<i64>().ok()?;
    let digits: i128 = is_number.then(|| digits.parse().ok())??;
    match decimals {
        0..=18 => Some((sign * digits, decimals as u32)),
        -18..0 => Some((sign * digits.checked_mul(10i128.pow(decimals.unsigned_abs() as u32))?, 0)),
        _ => None,
    }
}

/// The double nearest to a + (b − a) index/steps, the ends being exact decimals.
fn between(a: (i128, u32), b: (i128, u32), index: u64, steps: u64) -> Option<f64> {
    let decimals = a.1.max(b.1);
    let scaled = |(digits, of): (i128, u32)| digits.checked_mul(10i128.pow(decimals - of));
    let (index, steps) = (i128::from(index), i128::from(steps));
    let first = scaled(a)?.checked_mul(steps - index)?;
    let sum = first.checked_add(scaled(b)?.checked_mul(index)?)?;
    let divisor = 10i128.pow(decimals).checked_mul(steps)?;
    Some(if sum < 0 {
        -quotient(sum.unsigned_abs(), divisor.unsigned_abs())
    } else {
        quotient(sum.unsigned_abs(), divisor.unsigned_abs())
    })
}

/// The double nearest to p/q: long division to more digits than decide, the rest remembered by one more digit; reading
/// decimal numbers rounds correctly.
fn quotient(p: u128, q: u128) -> f64 {
    const DIGITS: usize = 40;
    let mut text = format!("{}.", p / q);
    let mut rest = p % q;
    let mut significant = if p / q > 0 { text.len() - 1 } else { 0 };
    // q < 2^123, so ten times the rest does not overflow.
    while rest > 0 && significant < DIGITS {
        rest *= 10;
        let digit = rest / q;
        rest %= q;
        significant += usize::from(significant > 0 || digit > 0);
        text.push(char::from(b'0' + digit as u8));
    }
    if rest > 0 {
        text.push('1');
    }
    text.parse().unwrap_or(f64::NAN)
}

/// What `--vary` and `--random` give with a unit: name and value, as `--set` and `--start` take them.
pub fn values_with_units(options: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, values) in options.iter().filter_map(|text| text.split_once('=')) {
        for value in values.split("..").flat_map(|part| part.split([',', ':'])) {
            if carom_mech::units::quantity(value).is_some() {
                found.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
    }
    found
}

/// A finite number, a constant formula as `-pi/2`, or a number with a unit, which becomes coherent.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        return value.is_finite().then_some(value);
    }
    let mut dag = carom_expr::Dag::new();
    if let Some(quantity) = carom_mech::units::quantity(text) {
        let value = quantity.value(&mut dag, quantity.unit.clone().ok()?);
        return Some(dag.evaluate(value, |_| f64::NAN)).filter(|x| x.is_finite());
    }
    let mut unknown = |_: &mut carom_expr::Dag, name: carom_expr::Name<'_>| {
        Err(carom_expr::Problem { span: name.span, message: "unknown name".to_owned(), hint: None })
    };
    let expr = carom_expr::parse(&mut dag, text, &mut unknown).ok()?;
    let value = dag.evaluate(expr, |_| f64::NAN);
    value.is_finite().then_some(value)
}

/// A number in [0, 1) that depends on nothing but its three arguments.
fn uniform(seed: u64, row: u64, column: u64) -> f64 {
    Random(splitmix64(splitmix64(seed) ^ row) ^ column).unit()
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
    fn steps_between_decimals_are_the_numbers_one_would_type() {
        let plan = Plan::grid(&strings(&["x=0..1:6"])).unwrap();
        let shown: Vec<String> = (0..6).map(|i| format!("{:?}", row(&plan, i)[0])).collect();
        assert_eq!(shown, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        // Every grid whose exact values are short decimals prints them: k hundredths, up and down, of any sign.
        for (from, to) in [(-300i64, 300), (0, 100), (7, 1007), (250, -50), (-1, 999)] {
            let count = (to - from).unsigned_abs() + 1;
            let text =
                |n: i64| format!("{}{}.{:02}", if n < 0 { "-" } else { "" }, n.abs() / 100, n.abs() % 100);
            let plan = Plan::grid(&strings(&[&format!("x={}..{}:{count}", text(from), text(to))])).unwrap();
            for i in 0..count {
                let n = from + if to > from { i as i64 } else { -(i as i64) };
                assert_eq!(row(&plan, i)[0], text(n).parse::<f64>().unwrap(), "{from}..{to} at {i}");
            }
        }
        // 1/3 is no decimal: the nearest double all the same. Beyond 18 digits: the mean of both ends.
        assert_eq!(row(&Plan::grid(&strings(&["x=0..1:4"])).unwrap(), 1)[0], 1.0 / 3.0);
        assert_eq!(row(&Plan::grid(&strings(&["x=1e-300..3e-300:3"])).unwrap(), 1)[0], 2e-300);
        assert_eq!(row(&Plan::grid(&strings(&["x=-2e3..1e3:4"])).unwrap(), 1)[0], -1000.0);
    }

    #[test]
    fn a_step_in_the_place_of_a_number_of_values_is_answered_with_the_number() {
        let message = Plan::grid(&strings(&["m=0.4..2:0.4"])).unwrap_err().to_string();
        assert!(message.contains("0.4..2:5 has steps of 0.4"), "{message}");
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
        let plan = Plan::table(InputColumns { names, values: vec![vec![1.0, 2.0], vec![3.0, 4.0]] }).unwrap();
        assert_eq!((plan.count, row(&plan, 1)), (2, vec![2.0, 4.0]));
        let names = vec!["a".to_owned(); 2];
        assert!(Plan::table(InputColumns { names, values: vec![vec![1.0]; 2] }).is_err());
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
