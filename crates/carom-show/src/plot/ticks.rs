//! Where an axis has its marks and what they say: steps of 1, 2 or 5 times a power of ten, or of simple parts of π for angles.

use crate::draw::Label;
use std::f64::consts::PI;

/// The marks of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Ticks {
    /// Values and labels.
    pub marks: Vec<(f64, String)>,
    /// A common factor 10ⁿ left out of the labels, if not 0.
    pub exponent: i32,
}

/// Marks within [low, high], about `wanted` of them; `angle` allows parts of π.
pub fn ticks(low: f64, high: f64, wanted: usize, angle: bool) -> Ticks {
    let span = high - low;
    if angle && span > PI * 0.75 && span < 60.0 * PI {
        return angle_ticks(low, high, wanted);
    }
    let rough = span / wanted.max(1) as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    // The step whose number of marks is nearest to the wanted one; fewer than three are no scale.
    let steps = [0.2, 0.5, 1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let misfit = |step: f64| {
        let count = multiples(low, high, step).count();
        count.abs_diff(wanted + 1) + if count < 3 { 4 } else { 0 }
    };
    let step = steps.into_iter().rev().min_by_key(|&s| misfit(s)).unwrap_or(power);
    let largest = low.abs().max(high.abs());
    let exponent = if !(1e-3..1e5).contains(&largest) { largest.log10().floor() as i32 } else { 0 };
    let decimals = (exponent - (step * 1.0001).log10().floor() as i32).clamp(0, 12) as usize;
    let scale = 10f64.powi(-exponent);
    let marks = multiples(low, high, step)
        .map(|n| {
            let value = n * step;
            (value, minus(&format!("{:.decimals$}", value * scale)))
        })
        .collect();
    Ticks { marks, exponent }
}

fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let slack = 1e-9;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    let count = if first.is_finite() && last >= first { ((last - first) as usize).min(1000) + 1 } else { 0 };
    (0..count).map(move |k| first + k as f64 + 0.0)
}

fn angle_ticks(low: f64, high: f64, wanted: usize) -> Ticks {
    // (numerator, denominator) of the step in units of π
    let steps = [(1, 4), (1, 2), (1, 1), (2, 1), (5, 1), (10, 1), (20, 1)];
    let count = |(n, d): (i32, i32)| (high - low) / (PI * f64::from(n) / f64::from(d));
    let mut at = steps.iter().position(|&s| count(s) <= wanted as f64 + 1.0).unwrap_or(steps.len() - 1);
    let size = |(n, d): (i32, i32)| PI * f64::from(n) / f64::from(d);
    // One mark alone is no scale.
    if at > 0 && multiples(low, high, size(steps[at])).count() < 2 {
        at -= 1;
    }
    let (step, size) = (steps[at], size(steps[at]));
    let marks =
        multiples(low, high, size).map(|n| (n * size, multiple_of_pi(n as i32 * step.0, step.1))).collect();
    Ticks { marks, exponent: 0 }
}

/// n π / d in lowest terms.
fn multiple_of_pi(n: i32, d: i32) -> String {
    let divisor = greatest_common_divisor(n.unsigned_abs(), d.unsigned_abs()).max(1) as i32;
    let (n, d) = (n / divisor, d / divisor);
    let whole = match n {
        0 => return "0".to_string(),
        1 => "π".to_string(),
        -1 => "−π".to_string(),
        n => minus(&format!("{n}π")),
    };
    if d == 1 { whole } else { format!("{whole}/{d}") }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// A real minus sign; no negative zero.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

/// ×10ⁿ in writing.
pub fn power_of_ten(n: i32) -> Label {
    Label::plain("×10").raised(&n.to_string())
}

/// Marks at whole powers of ten, between the exponents `low` and `high`.
pub fn logarithmic_ticks(low: f64, high: f64, wanted: usize) -> Ticks {
    let step = ((high - low) / wanted.max(1) as f64).ceil().max(1.0);
    let raised = |n: f64| -> String {
        let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let text = format!("{n:.0}");
        text.chars().map(|c| c.to_digit(10).map_or('⁻', |d| digits[d as usize])).collect()
    };
    let marks = multiples(low, high, step).map(|n| (n * step, format!("10{}", raised(n * step)))).collect();
    Ticks { marks, exponent: 0 }
}

/// The range an axis shows for values between `low` and `high`: a little more, and something sensible when they are equal.
pub fn padded(low: f64, high: f64, margin: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (-1.0, 1.0);
    }
    let largest = low.abs().max(high.abs());
    // Differences at the level of rounding are not worth a picture of their own.
    if high - low <= 1e-9 * largest {
        let half = if largest > 0.0 { 0.1 * largest } else { 1.0 };
        return (low - half, high + half);
    }
    let extra = margin * (high - low);
    (low - extra, high + extra)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(t: &Ticks) -> Vec<&str> {
        t.marks.iter().map(|m| m.1.as_str()).collect()
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(labels(&ticks(0.0, 10.0, 5, false)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&ticks(-1.1, 1.1, 4, false)), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(&ticks(0.0, 0.3, 3, false)), ["0.0", "0.1", "0.2", "0.3"]);
        let large = ticks(0.0, 3e7, 3, false);
        assert_eq!((labels(&large), large.exponent), (vec!["0", "1", "2", "3"], 7));
    }

    #[test]
    fn angles_are_marked_in_parts_of_pi() {
        assert_eq!(labels(&ticks(-3.5, 3.5, 4, true)), ["−π", "−π/2", "0", "π/2", "π"]);
        assert_eq!(labels(&ticks(-0.3, 0.3, 3, true)), ["−0.2", "0.0", "0.2"]);
        assert_eq!(labels(&ticks(-1.3, 1.4, 2, true)), ["−π/4", "0", "π/4"]);
    }

    #[test]
    fn logarithms_are_marked_by_powers_of_ten() {
        assert_eq!(labels(&logarithmic_ticks(-16.3, 0.4, 3)), ["10⁻¹²", "10⁻⁶", "10⁰"]);
        assert_eq!(labels(&logarithmic_ticks(-1.2, 1.1, 3)), ["10⁻¹", "10⁰", "10¹"]);
    }

    #[test]
    fn a_constant_still_gets_a_range() {
        assert_eq!(padded(0.0, 0.0, 0.05), (-1.0, 1.0));
        let (low, high) = padded(5.0, 5.0, 0.05);
        assert!(low < 5.0 && high > 5.0);
        assert_eq!(padded(f64::INFINITY, f64::NEG_INFINITY, 0.05), (-1.0, 1.0));
    }
}
