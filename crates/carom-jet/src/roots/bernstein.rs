//! Polynomials on [0, 1] by their Bernstein coefficients: p lies between them, and has at most as many roots as they change
//! sign (Descartes).

/// Sign changes of `sign, b₀, b₁, …`, zeros left out.
pub(crate) fn sign_changes(sign: f64, b: &[f64]) -> usize {
    let mut last = sign;
    let mut changes = 0;
    for &x in b {
        if x * last < 0.0 {
            changes += 1;
        }
        if x != 0.0 {
            last = x.signum();
        }
    }
    changes
}

/// b_i = Σ_k C(i,k)/C(n,k) a_k. All weights lie in [0, 1], so nothing is amplified.
pub(crate) fn to_bernstein(a: &[f64]) -> Vec<f64> {
    // Repeated: scale a_k by 1/C(n,k), then sum as in Pascal's triangle.
    let n = a.len() - 1;
    let mut b = a.to_vec();
    let mut binomial = 1.0;
    for (k, bk) in b.iter_mut().enumerate() {
        *bk /= binomial;
        binomial = binomial * (n - k) as f64 / (k + 1) as f64;
    }
    for level in 1..=n {
        for i in (level..=n).rev() {
            b[i] += b[i - 1];
        }
    }
    b
}

/// de Casteljau at the middle.
pub(crate) fn halve(b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = b.len() - 1;
    let mut work = b.to_vec();
    let mut left = vec![0.0; n + 1];
    let mut right = vec![0.0; n + 1];
    left[0] = work[0];
    right[n] = work[n];
    for level in 1..=n {
        for i in 0..=n - level {
            work[i] = 0.5 * (work[i] + work[i + 1]);
        }
        left[level] = work[0];
        right[n - level] = work[n - level];
    }
    (left, right)
}
