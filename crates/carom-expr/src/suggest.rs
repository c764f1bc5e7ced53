//! "Did you mean …?": the nearest name by edit distance (insertions, deletions, replacements, swaps of neighbours).

use strsim::osa_distance;

/// Longer words are not compared.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if it is near enough to be meant; the first one when several are equally near.
///
/// ```
/// let names = ["theta1", "theta2", "length"];
/// assert_eq!(carom_expr::nearest("lenght", names), Some("length"));
/// assert_eq!(carom_expr::nearest("banana", names), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().take(LONGEST + 1).count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = candidate.chars().take(LONGEST + 1).count();
        let longest = length.max(other);
        if longest > LONGEST || candidate == word {
            continue;
        }
        // One edit in three letters, at most three edits; single letters only differ in case, which counts half.
        let allowed = 2 * (longest / 3).clamp(usize::from(longest > 1), 3);
        let allowed = best.map_or(allowed.max(1), |(least, _)| least - 1);
        let distance = match word.eq_ignore_ascii_case(candidate) {
            true => 1,
            false if 2 * length.abs_diff(other) > allowed => continue,
            false => 2 * osa_distance(word, candidate),
        };
        if distance <= allowed {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_nearest_one_and_a_strange_one_finds_none() {
        let names = ["theta1", "theta2", "m", "length", "x_wall", "energy"];
        assert_eq!(nearest("thetta1", names), Some("theta1"));
        assert_eq!(nearest("lenght", names), Some("length"));
        assert_eq!(nearest("enregy", names), Some("energy"));
        assert_eq!(nearest("Theta2", names), Some("theta2"));
        assert_eq!(nearest("xwall", names), Some("x_wall"));
        assert_eq!(nearest("M", names), Some("m"));
        assert_eq!(nearest("k", names), None);
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("speed", names), None);
    }
}
