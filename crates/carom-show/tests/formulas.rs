//! Formulas evaluated many times give what the reference evaluator gives.

mod stage;

use carom_expr::Function;
use carom_show::formula::Formulas;

#[test]
fn repeated_evaluation_agrees_with_the_reference_evaluator_bit_for_bit() {
    let (mut mechanics, _) = stage::ball(2);
    let dag = &mut mechanics.model.dag;
    let (x, y) = (dag.symbol("x"), dag.symbol("y"));
    let (sine, angle) = (dag.function(Function::Sin, &[x]), dag.function(Function::Atan2, &[y, x]));
    let (root, ratio) = (dag.sqrt(y), dag.rational(-3, 7));
    let cube = dag.powi(sine, 3);
    let power = dag.power(y, x);
    let product = dag.product(&[ratio, cube, root, angle]);
    let sum = dag.sum(&[product, power, x]);
    let roots = [sum, product, angle];
    let mut formulas = Formulas::new(&mechanics.model, &roots);
    for k in 1..50 {
        let (vx, vy) = (0.37 * f64::from(k) - 5.0, 0.21 * f64::from(k));
        let slots: Vec<f64> = formulas
            .symbols
            .iter()
            .map(|s| if mechanics.model.dag.symbol_name(*s) == "x" { vx } else { vy })
            .collect();
        let value_of = |s| if mechanics.model.dag.symbol_name(s) == "x" { vx } else { vy };
        let reference = mechanics.model.dag.evaluate_all(&roots, value_of);
        let fast = formulas.evaluate(&slots);
        assert_eq!(
            fast.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            reference.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        );
        assert_eq!(formulas.evaluate_first(&slots).to_bits(), reference[0].to_bits());
    }
}
