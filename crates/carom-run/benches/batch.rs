//! Whole simulations side by side: trajectories per CPU second of the double pendulum against its wall, in a batch and one by
//! one, at every level of this processor.

use carom_mech::{Draft, derive};
use carom_run::{
    Batch, Instructions, JobSource, Level, Options, Outcome, Program, Sampling, SimulateError, Simulator,
};
use std::time::Instant;

const MODEL: &str = include_str!("../../../models/double_pendulum_wall.toml");

struct Starts {
    options: Options,
    left: u64,
    seed: u64,
    impacts: u64,
    steps: u64,
    worst: f64,
}

impl JobSource for Starts {
    fn next(&mut self) -> Option<(u64, Options)> {
        self.left = self.left.checked_sub(1)?;
        let mut random = || {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            (self.seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut options = self.options.clone();
        loop {
            let [a, b] = [random(), random()].map(|x| 6.0 * x - 3.0);
            if a.sin() + b.sin() > -0.49 {
                options.start.position = vec![Some(a), Some(b)];
                return Some((self.left, options));
            }
        }
    }
    fn take(&mut self, _: u64, outcome: Result<Outcome, SimulateError>) {
        let outcome = outcome.expect("every start is valid");
        self.impacts += outcome.impact_count;
        self.steps += outcome.steps;
        self.worst = self.worst.max(outcome.hamiltonian_drift);
    }
}

/// CPU time of this thread so far; the clock where the system does not tell.
fn cpu_seconds(origin: &Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok());
    nanoseconds.map_or_else(|| origin.elapsed().as_secs_f64(), |x| x * 1e-9)
}

fn main() {
    let (draft, _) = Draft::parse(MODEL, "double_pendulum_wall.toml");
    let (model, _) = draft.check().expect("a valid model");
    let mechanics = derive(model).expect("equations");
    let mut program = Program::compile(&mechanics).expect("a program");
    for instructions in [Instructions::Avx512, Instructions::Avx2, Instructions::Interpreter] {
        match Level::choose(Some(instructions), None) {
            Ok(level) => program.set_level(level),
            Err(_) => {
                println!("not executed here: {instructions}");
                continue;
            }
        }
        for tolerance in [1e-15, 1e-9] {
            let options = Options { tolerance, ..Options::of(&mechanics.model) };
            compare(&program, &options, instructions);
        }
    }
}

/// Short runs of both, in turn: the shortest of each counts.
fn compare(program: &Program, options: &Options, instructions: Instructions) {
    let origin = Instant::now();
    let starts = |left| Starts { options: options.clone(), left, seed: 7, impacts: 0, steps: 0, worst: 0.0 };
    let (mut batch, mut simulator) = (Batch::new(program, false), Simulator::new(program));
    let (mut lanes, mut alone, mut last) = (f64::INFINITY, f64::INFINITY, String::new());
    for _ in 0..16 {
        let mut queue = starts(250);
        let begin = cpu_seconds(&origin);
        let quiet = batch.run(&mut queue);
        lanes = lanes.min((cpu_seconds(&origin) - begin) / 250.0);
        let loud = queue.steps - quiet;
        last = format!(
            "{} steps, {loud} not by lanes alone, {} impacts, drift {:.1e}",
            queue.steps, queue.impacts, queue.worst
        );
        let mut queue = starts(50);
        let mut seconds = 0.0;
        while let Some((_, mut options)) = queue.next() {
            options.sampling = Sampling::Even(0);
            let begin = cpu_seconds(&origin);
            simulator.simulate(&options).expect("every start is valid");
            seconds += cpu_seconds(&origin) - begin;
        }
        alone = alone.min(seconds / 50.0);
    }
    println!(
        "{instructions}, tolerance {:e}: {:.0} trajectories per CPU second in a batch, {:.0} one by one: {:.2} times; 250: {last}",
        options.tolerance,
        1.0 / lanes,
        1.0 / alone,
        alone / lanes
    );
}
