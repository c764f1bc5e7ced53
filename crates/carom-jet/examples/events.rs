//! Events of the van der Pol oscillator  x'' = μ (1 − x²) x' − x:  every zero and every turning point, located to rounding.
//!
//! ```text
//! cargo run -p carom-jet --example events
//! ```

use carom_expr::{Dag, Problem, parse};
use carom_jet::roots::{Beginning, Roots};
use carom_jet::{Extent, Flow, System, Tape, Taylor, Time};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // The equations as text.
    let mut dag = Dag::new();
    let [t, mu, x, v] = ["t", "mu", "x", "v"].map(|name| dag.symbol(name));
    let mut known = |dag: &mut Dag, name: carom_expr::Name<'_>| match name.text {
        "t" | "mu" | "x" | "v" => Ok(dag.symbol(name.text)),
        _ => Err(Problem { span: name.span, message: format!("unknown name `{}`", name.text), hint: None }),
    };
    let rate =
        parse(&mut dag, "mu*(1 - x^2)*v - x", &mut known).map_err(|problems| problems[0].message.clone())?;
    let system = System {
        time: t,
        parameters: vec![mu],
        state: vec![x, v],
        rate: vec![v, rate],
        blocks: vec![],
        watched: vec![x, v],
        monitored: vec![],
    };

    let taylor = Taylor::new(1e-15);
    let mut flow = Flow::new(Tape::compile(&dag, &system)?, taylor.order);
    flow.set_parameters(&[1.0]);
    let (mut time, mut state, until) = (Time::new(0.0), [2.0, 0.0], 20.0);
    let mut extent = Extent::new(2, 2);
    // On which side each watched function is; v starts at 0 and falls, and that zero is known.
    let mut beginnings = [(1.0, 0), (-1.0, 1)];
    let mut steps = 0;
    while time.value() < until {
        flow.jet(time, &state)?;
        // The next step is measured by what the series allow here, also where the end cuts it.
        let natural = taylor.step_size(&flow, &extent);
        extent.see(&flow, natural);
        let h = natural.min(until - time.value());
        let mut found: Vec<(f64, &str)> = Vec::new();
        for (i, ((sign, zeros), name)) in beginnings.iter_mut().zip(["zero", "turning point"]).enumerate() {
            let beginning = Beginning { sign: *sign, zeros: *zeros, noise: 0.0, truncation: 0.0 };
            for root in Roots::new(flow.watched(i), h, &beginning).filter(|root| root.crossing) {
                found.push((root.at, name));
                *sign = -root.before;
            }
            *zeros = 0;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, name) in found {
            let mut there = [0.0; 2];
            flow.state_at(at, &mut there);
            println!("{name:>13} at t = {:.13}, x = {:+.13}", time.plus(at).value(), there[0]);
        }
        flow.state_at(h, &mut state);
        time = time.plus(h);
        steps += 1;
    }
    println!("{steps} steps of order {}", taylor.order);
    Ok(())
}
