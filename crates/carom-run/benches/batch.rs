//! Whole simulations side by side: trajectories per CPU second of the double pendulum against its wall, in a batch and one by
//! one, at every level of this processor.
//!
//!     cargo bench -p carom-run                            both, all levels, two tolerances
//!     cargo bench -p carom-run -- profile avx2 1e-9       the batch alone, for a profiler

use carom_mech::{Draft, derive};
use carom_run::{
    Batch, Instructions, JobSource, Level, Options, Outcome, Program, Sampling, SimulateError, Simulator,
};
use cpu_time::ThreadTime;

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

/// CPU time of this thread so far.
fn cpu_seconds() -> f64 {
    ThreadTime::now().as_duration().as_secs_f64()
}

fn main() {
    let (draft, _) = Draft::parse(MODEL, "double_pendulum_wall.toml");
    let (model, _) = draft.check().expect("a valid model");
    let mechanics = derive(model).expect("equations");
    let mut program = Program::compile(&mechanics).expect("a program");
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "profile") {
        let named = |word: &String| Instructions::NAMED.into_iter().find(|(name, _)| name == word);
        let instructions = words.get(at + 1).and_then(named).map(|(_, instructions)| instructions);
        program.set_level(Level::choose(instructions, None).expect("a level of this processor"));
        let tolerance = words.get(at + 2).and_then(|word| word.parse().ok()).unwrap_or(1e-15);
        return profile(&program, &Options { tolerance, ..Options::of(&mechanics.model) });
    }
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

/// The batch again and again; the shortest counts.
fn profile(program: &Program, options: &Options) {
    let mut batch = Batch::new(program, false);
    let mut shortest = f64::INFINITY;
    for _ in 0..20 {
        let mut queue =
            Starts { options: options.clone(), left: 2000, seed: 7, impacts: 0, steps: 0, worst: 0.0 };
        let begin = cpu_seconds();
        batch.run(&mut queue);
        shortest = shortest.min((cpu_seconds() - begin) / 2000.0);
    }
    println!("{:.2} µs per trajectory", 1e6 * shortest);
}

/// Short runs of both, in turn: the shortest of each counts.
fn compare(program: &Program, options: &Options, instructions: Instructions) {
    let starts = |left| Starts { options: options.clone(), left, seed: 7, impacts: 0, steps: 0, worst: 0.0 };
    let (mut batch, mut simulator) = (Batch::new(program, false), Simulator::new(program));
    let (mut lanes, mut alone, mut last) = (f64::INFINITY, f64::INFINITY, String::new());
    for _ in 0..16 {
        let mut queue = starts(250);
        let begin = cpu_seconds();
        let quiet = batch.run(&mut queue);
        lanes = lanes.min((cpu_seconds() - begin) / 250.0);
        let loud = queue.steps - quiet;
        last = format!(
            "{} steps, {loud} not by lanes alone, {} impacts, drift {:.1e}",
            queue.steps, queue.impacts, queue.worst
        );
        let mut queue = starts(50);
        let mut seconds = 0.0;
        while let Some((_, mut options)) = queue.next() {
            options.sampling = Sampling::Even(0);
            let begin = cpu_seconds();
            simulator.simulate(&options).expect("every start is valid");
            seconds += cpu_seconds() - begin;
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
