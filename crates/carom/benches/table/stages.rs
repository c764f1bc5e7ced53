//! From model text to motion, each stage timed.

use carom_mech::derive_equations;
use carom_mech::{Draft, Mechanics};
use carom_run::{Motion, Options, Program, Sampling, simulate};
use cpu_time::ThreadTime;

/// Shortest processor seconds of `repeats` calls, and the last result.
pub fn shortest<T>(repeats: u32, mut call: impl FnMut() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let mut result = call();
    let mut best = start.elapsed().as_secs_f64();
    for _ in 1..repeats {
        let start = ThreadTime::now();
        result = call();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, result)
}

/// Seconds of each stage; the program is ready to run.
pub struct Ready {
    /// Parsing and checking the text.
    pub read: f64,
    /// The equations, without the closed forms that only readers need.
    pub derive: f64,
    /// Everything until the first step can be taken, code for the first leg included.
    pub compile: f64,
    pub program: Program,
    pub options: Options,
}

/// All stages before the motion, `repeats` times.
pub fn ready(text: &str, tolerance: f64, repeats: u32) -> Ready {
    let (read, model) = shortest(repeats, || {
        let (draft, problems) = Draft::parse(text, "bench.toml");
        assert!(problems.is_empty(), "{problems:?}");
        draft.check().map(|(model, _)| model).unwrap_or_else(|problems| panic!("{problems:?}"))
    });
    let mut options = Options::of(&model);
    options.tolerance = tolerance;
    options.sampling = Sampling::Even(2);
    options.max_impacts = u64::MAX;
    let mut models: Vec<_> = (0..repeats).map(|_| model.clone()).collect();
    let (derive, mechanics) = shortest(repeats, || -> Mechanics {
        let model = models.pop().expect("one per repeat");
        derive_equations(model).unwrap_or_else(|problems| panic!("{problems:?}"))
    });
    // The equations of the first leg are compiled when a motion needs them: the first simulation against the second.
    let begin = Options { until: options.start.time + 1e-9, ..options.clone() };
    let (first, program) = shortest(repeats, || {
        let program = Program::compile(&mechanics).expect("a program");
        run(&program, &begin);
        program
    });
    let (second, _) = shortest(repeats, || run(&program, &begin));
    Ready { read, derive, compile: (first - second).max(0.0), program, options }
}

/// The motion.
pub fn run(program: &Program, options: &Options) -> Motion {
    simulate(program, options).unwrap_or_else(|e| panic!("{:?}", e.messages()))
}
