//! "Did you mean …?": the nearest name by edit distance.

/// The candidate nearest to `word`, if it is near enough to be meant; the first one when several are equally near.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().take(64).collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.chars().collect();
        let longest = letters.len().max(other.len());
        if other.len().abs_diff(letters.len()) > 3 || longest > 64 || candidate == word {
            continue;
        }
        let mut distance = 2 * edits(&letters, &other);
        if word.eq_ignore_ascii_case(candidate) {
            distance = 1;
        }
        // One edit in three letters, at most three edits; single letters only differ in case.
        let allowed = 2 * (longest / 3).clamp(usize::from(longest > 1), 3);
        if distance <= allowed.max(1) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
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
