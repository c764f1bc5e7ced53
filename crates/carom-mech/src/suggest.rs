//! "Did you mean …?": the nearest name by edit distance.

/// Longer words are not compared.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if it is near enough to be meant; the first one when several are equally near.
///
/// ```
/// assert_eq!(carom_mech::suggest::nearest("thetta", ["phi", "theta"]), Some("theta"));
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().take(LONGEST + 1).collect();
    let mut other: Vec<char> = Vec::new();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        other.clear();
        other.extend(candidate.chars().take(LONGEST + 1));
        let longest = letters.len().max(other.len());
        if longest > LONGEST || candidate == word {
            continue;
        }
        // One edit in three letters, at most three edits; single letters only differ in case, which counts half.
        let allowed = 2 * (longest / 3).clamp(usize::from(longest > 1), 3);
        let allowed = best.map_or(allowed.max(1), |(least, _)| least - 1);
        let distance =
            if word.eq_ignore_ascii_case(candidate) { 1 } else { 2 * edits(&letters, &other, allowed / 2) };
        if distance <= allowed {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other; more than `most` when
/// there are more than that.
fn edits(a: &[char], b: &[char], most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    // What is equal at both ends needs no edits.
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    let mut before = [0; LONGEST + 1];
    let mut previous: [usize; LONGEST + 1] = std::array::from_fn(|j| j);
    for i in 1..=a.len() {
        let mut row = [0; LONGEST + 1];
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row[j] = least;
        }
        if row[..=b.len()].iter().all(|&x| x > most + 1) {
            return most + 1; // a swap can still win back one
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_the_nearest_one_and_a_strange_one_finds_none() {
        let names = ["theta1", "theta2", "m", "length", "x_wall"];
        assert_eq!(nearest("thetta1", names), Some("theta1"));
        assert_eq!(nearest("lenght", names), Some("length"));
        assert_eq!(nearest("Theta2", names), Some("theta2"));
        assert_eq!(nearest("xwall", names), Some("x_wall"));
        assert_eq!(nearest("M", names), Some("m"));
        assert_eq!(nearest("k", names), None);
        assert_eq!(nearest("banana", names), None);
    }
}
