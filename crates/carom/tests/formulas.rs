//! Formulas built with operators mean what the operators mean.

use carom::Model;
use carom::formula::{Formula, name};
use proptest::prelude::*;

/// An expression and its value.
type Valued = (Formula, f64);

fn expressions() -> impl Strategy<Value = Valued> {
    let leaf = prop_oneof![
        (-4.0..4.0_f64).prop_map(|x| (Formula::from(x), x)),
        (-5..5_i32).prop_map(|n| (Formula::from(n), f64::from(n))),
        Just((name("a"), 1.5)),
        Just((name("b"), -0.75)),
        Just((Formula::from("a + b"), 0.75)),
        Just((Formula::from("-b"), 0.75)),
    ];
    leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| (a.0 + b.0, a.1 + b.1)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| (&a.0 - &b.0, a.1 - b.1)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| (a.0 * &b.0, a.1 * b.1)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| (a.0 / b.0, a.1 / b.1)),
            inner.clone().prop_map(|a| (-a.0, -a.1)),
            (inner.clone(), 1..4_i32).prop_map(|(a, n)| (a.0.pow(n), a.1.powi(n))),
            inner.clone().prop_map(|a| (carom::formula::sin(a.0), a.1.sin())),
            (inner.clone(), inner).prop_map(|(a, b)| (carom::formula::max(a.0, b.0), a.1.max(b.1))),
        ]
    })
}

fn value(formula: Formula) -> Option<f64> {
    let model = Model::builder()
        .coordinates(["x"])
        .kinetic("x'^2/2")
        .parameters([("a", 1.5), ("b", -0.75)])
        .parameter("y", formula)
        .build();
    let model = model.ok()?;
    model.parameters().find_map(|(name, value)| (name == "y").then_some(value))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_formula_has_the_value_of_its_operators((formula, expected) in expressions()) {
        // Canonical forms round differently; what cancels to almost nothing, or divides by that, is left out.
        prop_assume!(expected.is_finite() && (1e-6..1e6).contains(&expected.abs()));
        let text = formula.to_string();
        if let Some(found) = value(formula) {
            prop_assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{} is {}, not {}", text, found, expected);
        }
    }

    #[test]
    fn a_number_reads_back_to_the_same_double(digits in any::<u64>(), exponent in 700..1350_u64) {
        let bits = (digits & 0x800f_ffff_ffff_ffff) | (exponent << 52);
        let x = f64::from_bits(bits);
        prop_assert_eq!(value(Formula::from(x)).map(f64::to_bits), Some(bits));
        prop_assert_eq!(value(0 + Formula::from(x)).map(f64::to_bits), Some(bits));
    }
}
