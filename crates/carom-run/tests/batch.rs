//! Batches against single simulations, bit by bit.

mod common;

use carom_run::{
    Batch, Columns, JobSource, Motion, Options, Outcome, Program, Sampling, SimulateError, simulate,
};

#[path = "../../carom-jet/tests/levels/mod.rs"]
mod levels;

#[path = "../../../tests/gallery.rs"]
mod gallery;

/// Numbers in [−1, 1) that look random.
fn noise(i: u64, j: u64) -> f64 {
    let mut x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..3 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A queue of options and what became of them.
struct Queue {
    options: Vec<Options>,
    order: Vec<usize>,
    next: usize,
    outcomes: Vec<Option<Result<Outcome, SimulateError>>>,
}

impl Queue {
    fn new(options: Vec<Options>, order: Vec<usize>) -> Queue {
        Queue { outcomes: vec![None; options.len()], options, order, next: 0 }
    }
}

impl JobSource for Queue {
    fn next(&mut self) -> Option<(u64, Options)> {
        let index = *self.order.get(self.next)?;
        self.next += 1;
        Some((index as u64, self.options[index].clone()))
    }
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        assert!(self.outcomes[index as usize].replace(outcome).is_none(), "one outcome per trajectory");
    }
}

/// Starts around the model's own: positions and rates moved by up to `reach`.
fn starts(options: &Options, count: u64, reach: f64, until: f64) -> Vec<Options> {
    (0..count)
        .map(|i| {
            let mut options = options.clone();
            let start = &mut options.start;
            let lists = [&mut start.position, &mut start.velocity, &mut start.momentum];
            for (k, list) in lists.into_iter().enumerate() {
                for (j, x) in list.iter_mut().enumerate() {
                    if let Some(x) = x {
                        *x += reach * noise(i, (100 * k + j) as u64);
                    }
                }
            }
            options.start.project = true;
            options.until = until;
            options.sampling = Sampling::At(vec![until]);
            options
        })
        .collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[track_caller]
fn same(name: &str, columns: &Columns, outcome: &Outcome, motion: &Motion) {
    assert_eq!(outcome.stop, motion.stop, "{name}");
    assert_eq!(outcome.impact_count, motion.impacts.len() as u64, "{name}");
    assert_eq!(outcome.impacts, motion.impacts, "{name}");
    assert_eq!(outcome.events, motion.events, "{name}");
    assert_eq!(outcome.warnings, motion.warnings, "{name}");
    assert_eq!(outcome.steps, motion.audit.steps, "{name}");
    assert_eq!(outcome.verdict, motion.audit.verdict, "{name}");
    assert_eq!(outcome.hamiltonian_drift.to_bits(), motion.audit.hamiltonian_drift.to_bits(), "{name}");
    if motion.time.is_empty() {
        return;
    }
    for (range, signals) in [
        (&columns.position, &motion.position),
        (&columns.velocity, &motion.velocity),
        (&columns.momentum, &motion.momentum),
        (&columns.output, &motion.output),
        (&columns.gap, &motion.gap),
        (&columns.multiplier, &motion.multiplier),
        (&columns.driving_force, &motion.driving_force),
        (&columns.contact_force, &motion.contact_force),
    ] {
        let last: Vec<f64> = signals.iter().map(|s| s.values[0]).collect();
        assert_eq!(bits(&outcome.values[range.clone()]), bits(&last), "{name}");
    }
    assert_eq!(outcome.values[columns.hamiltonian].to_bits(), motion.hamiltonian[0].to_bits(), "{name}");
}

/// Batches of every level against single runs of the first with the same arithmetic. Returns the part of the steps that lanes took
/// alone.
fn compare(name: &str, program: &mut Program, all: &[Options]) -> f64 {
    let (mut quiet, mut total) = (0, 0);
    let columns = Columns::of(program);
    let forward: Vec<usize> = (0..all.len()).collect();
    let backward: Vec<usize> = (0..all.len()).rev().collect();
    let best = program.level();
    for arithmetic in levels::CLASSES {
        let levels = levels::of(arithmetic);
        program.set_level(levels[0]);
        let motions: Vec<Result<Motion, SimulateError>> = all.iter().map(|o| simulate(program, o)).collect();
        for level in levels {
            program.set_level(level);
            let mut batch = Batch::new(program, true);
            // Twice: nothing is left of a trajectory for the next.
            for order in [&forward, &backward] {
                let mut queue = Queue::new(all.to_vec(), order.clone());
                quiet = batch.run(&mut queue);
                total = queue.outcomes.iter().flatten().flatten().map(|o| o.steps).sum();
                for (i, (outcome, motion)) in queue.outcomes.iter().zip(&motions).enumerate() {
                    let name = format!("{name}, trajectory {i}, {} ({arithmetic})", level.instructions());
                    match (outcome.as_ref().expect(&name), motion) {
                        (Ok(outcome), Ok(motion)) => {
                            assert_eq!(motion.audit.arithmetic, arithmetic, "{name}");
                            same(&name, &columns, outcome, motion);
                        }
                        (Err(ours), Err(theirs)) => assert_eq!(ours, theirs, "{name}"),
                        (ours, _) => panic!("{name}: {ours:?}"),
                    }
                }
            }
        }
    }
    program.set_level(best);
    quiet as f64 / f64::max(total as f64, 1.0)
}

fn of_gallery(name: &str) -> (Program, Options) {
    common::program(&gallery::text(name))
}

#[test]
fn every_gallery_model_gives_the_bits_of_single_simulations() {
    for name in gallery::names() {
        let (mut program, options) = of_gallery(&name);
        let until = options.start.time + 0.2 * (options.until - options.start.time).min(20.0);
        let mut all = starts(&options, 19, 0.05, until);
        all.push(Options { sampling: Sampling::At(vec![until]), until, ..options });
        compare(&name, &mut program, &all);
    }
}

/// A pendulum with viscous and dry friction, a motor, an event in each direction and a wall that moves.
const WORN: &str = r#"
name = "worn pendulum"
coordinates = ["theta"]
[parameters]
b = 0.05
mu = 0.02
[energy]
kinetic = "theta'^2/2"
potential = "-cos(theta)"
dissipation = "b/2*theta'^2"
[force.motor]
generalized = { theta = "0.3*sin(2*t) - mu*sign(theta')" }
[wall.stop]
gap = "1.2 + 0.1*sin(t) - theta"
restitution = 0.9
[event.low]
when = "theta"
direction = "both"
action = "record"
[event.far]
when = "theta + 2"
direction = "falling"
action = "stop"
[start]
position = { theta = 0.5 }
velocity = { theta = 0.5 }
[run]
until = 12.0
"#;

/// Blows up in finite time from most starts: x″ = x².
const RUNAWAY: &str = r#"
name = "runaway"
coordinates = ["x", "y"]
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "-x^3/3 + y^2/2"
[start]
position = { x = 0.4, y = 1.0 }
velocity = { x = 0.2 }
[run]
until = 6.0
"#;

/// A spherical pendulum by its Hamiltonian and a row: the matrix of its equations is not symmetric.
const ROD: &str = r#"
name = "rod"
coordinates = ["x", "y", "z"]
hamiltonian = "(p_x^2 + p_y^2/2 + p_z^2)/2 + 9.81*z"
[holonomic]
rod = "x^2 + y^2 + z^2 - 1"
[wall.side]
gap = "0.9 - x"
[start]
position = { x = 0.6, y = 0.0, z = -0.8 }
momentum = { x = 0.0, y = 1.0, z = 0.0 }
[run]
until = 6.0
"#;

#[test]
fn friction_power_moving_walls_and_events_are_alike() {
    let (mut program, options) = common::program(WORN);
    let quiet = compare("worn pendulum", &mut program, &starts(&options, 40, 0.7, 12.0));
    assert!(quiet > 0.3, "{quiet}");
}

#[test]
fn a_trajectory_that_runs_away_ends_alike_and_disturbs_nobody() {
    let (mut program, options) = common::program(RUNAWAY);
    let all = starts(&options, 40, 0.6, 6.0);
    compare("runaway", &mut program, &all);
    let ends: Vec<f64> = all.iter().map(|o| simulate(&program, o).unwrap().stop.time).collect();
    assert!(ends.iter().any(|t| *t < 6.0) && ends.contains(&6.0), "{ends:?}");
}

#[test]
fn both_sides_of_the_legendre_transform_go_in_lanes() {
    for name in ["pendulum_wall", "pendulum_hamiltonian"] {
        let (mut program, options) = of_gallery(name);
        let quiet = compare(name, &mut program, &starts(&options, 24, 0.5, 8.0));
        assert!(quiet > 0.5, "{name}: {quiet}");
    }
}

/// A ball that is kicked by a short pulse and bounces on soft, exponential ground.
const KICKED: &str = r#"
name = "kicked"
coordinates = ["x", "y"]
[energy]
kinetic = "x'^2/2 + y'^2/2"
potential = "9.81*y + exp(-30*y)"
[force.kick]
generalized = { x = "50*exp(-1e4*(t - 1.5)^2)" }
[wall.side]
gap = "1.2 - x"
[start]
position = { x = 0.2, y = 1.0 }
velocity = { x = 0.1 }
[run]
until = 3.0
"#;

#[test]
fn exponentials_shorten_steps_alike() {
    let (mut program, options) = common::program(KICKED);
    let quiet = compare("kicked", &mut program, &starts(&options, 24, 0.1, 3.0));
    assert!(quiet > 0.5, "{quiet}");
}

#[test]
fn constrained_hamiltonians_go_in_lanes() {
    let (mut program, options) = common::program(ROD);
    let quiet = compare("rod", &mut program, &starts(&options, 24, 0.1, 6.0));
    assert!(quiet > 0.2, "{quiet}");
}

#[test]
fn constrained_systems_are_projected_alike() {
    for name in
        ["rolling_disk", "slider_crank", "elastic_pendulum_cartesian", "driven_double_pendulum_constraint"]
    {
        let (mut program, options) = of_gallery(name);
        let until = options.until.min(3.0);
        compare(name, &mut program, &starts(&options, 18, 0.3, until));
    }
}

#[test]
fn limits_and_parameters_belong_to_each_trajectory() {
    let (mut program, options) = of_gallery("double_pendulum_wall");
    let mut all = starts(&options, 36, 0.5, 4.0);
    for (i, options) in all.iter_mut().enumerate() {
        match i % 6 {
            0 => options.max_steps = 7 + i as u64,
            1 => options.max_impacts = 1,
            2 => options.parameters[1] = 0.5 + 0.1 * i as f64,
            3 => options.start.position = vec![Some(-1.5), Some(-1.5)],
            4 => {
                options.until = 0.0;
                options.sampling = Sampling::At(vec![0.0]);
            }
            _ => {}
        }
    }
    compare("limits", &mut program, &all);
}

#[test]
fn an_interrupted_batch_delivers_what_it_has_finished_and_can_be_used_again() {
    struct Impatient(Queue, u32);
    impl JobSource for Impatient {
        fn next(&mut self) -> Option<(u64, Options)> {
            self.0.next()
        }
        fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
            self.0.take(index, outcome);
        }
        fn goes_on(&mut self) -> bool {
            self.1 = self.1.saturating_sub(1);
            self.1 > 0
        }
    }
    let (program, options) = of_gallery("double_pendulum_wall");
    let all = starts(&options, 60, 0.5, 4.0);
    let mut batch = Batch::new(&program, true);
    let order: Vec<usize> = (0..all.len()).collect();
    let mut whole = Queue::new(all.clone(), order.clone());
    batch.run(&mut whole);
    for patience in [1, 4, 8] {
        let mut cut = Impatient(Queue::new(all.clone(), order.clone()), patience);
        batch.run(&mut cut);
        let finished = cut.0.outcomes.iter().flatten().count();
        assert!(finished < all.len(), "{finished}");
        for (got, wanted) in cut.0.outcomes.iter().zip(&whole.outcomes) {
            assert!(got.is_none() || got == wanted);
        }
    }
    let mut again = Queue::new(all, order);
    batch.run(&mut again);
    assert_eq!(again.outcomes, whole.outcomes);
}

#[test]
fn wide_starts_of_the_double_pendulum_meet_their_wall_alike() {
    let (mut program, options) = of_gallery("double_pendulum_wall");
    let quiet = compare("double pendulum", &mut program, &starts(&options, 40, 1.5, 5.0));
    assert!(quiet > 0.9, "lanes take nearly all steps: {quiet}");
}

#[test]
fn single_runs_take_the_steps_in_which_something_happens_and_hardly_any_other() {
    let (program, options) = of_gallery("double_pendulum_wall");
    let all = starts(&options, 60, 1.5, 5.0);
    let mut queue = Queue::new(all.clone(), (0..all.len()).collect());
    let quiet = Batch::new(&program, false).run(&mut queue);
    let outcomes: Vec<&Outcome> = queue.outcomes.iter().flatten().flatten().collect();
    let steps: u64 = outcomes.iter().map(|outcome| outcome.steps).sum();
    let impacts: u64 = outcomes.iter().map(|outcome| outcome.impact_count).sum();
    // A step that ends near the wall is looked at as well; the first after an impact is not.
    let looked_at = steps - quiet;
    assert!(impacts > 100 && 5 * looked_at < 6 * impacts, "{looked_at} steps for {impacts} impacts");
}

#[test]
fn stiff_trajectories_carry_the_warning_of_single_runs_and_the_others_do_not() {
    // The damper's rate c = 0.06 … 1.6e5 dictates the step long after its part of the motion has decayed.
    let text = "coordinates = [\"x\"]\n[parameters]\nc = 1.0\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\ndissipation = \"c/2*x'^2\"\n[wall.floor]\ngap = \"x + 0.1\"\n[start]\nposition = { x = 1.0 }\n[run]\nuntil = 2.0\n";
    let (mut program, options) = common::program(text);
    let mut all = starts(&options, 24, 0.5, 2.0);
    for (i, options) in all.iter_mut().enumerate() {
        options.parameters[0] = 0.0625 * 1.9_f64.powi(i as i32);
        options.until = (2e4 / options.parameters[0]).min(2.0);
        options.sampling = Sampling::At(vec![options.until]);
    }
    let quiet = compare("damper", &mut program, &all);
    assert!(quiet > 0.9, "lanes take nearly all steps: {quiet}");
    let warned = |o: &Options| simulate(&program, o).unwrap().warnings.iter().any(|w| w.contains("stiff"));
    let stiff = all.iter().filter(|o| warned(o)).count();
    assert!(stiff > 4 && stiff < 20, "{stiff}");
}

#[test]
fn impacts_taken_on_the_way_and_at_the_end_are_all_impacts_in_order() {
    struct Collector(Queue, Vec<Vec<carom_run::Impact>>);
    impl JobSource for Collector {
        fn next(&mut self) -> Option<(u64, Options)> {
            self.0.next()
        }
        fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
            let rest = outcome.as_ref().map(|o| o.impacts.clone()).unwrap_or_default();
            assert!(rest.len() < 100, "{}", rest.len());
            self.1[index as usize].extend(rest);
            self.0.take(index, outcome);
        }
        fn impacts(&mut self, index: u64, impacts: &[carom_run::Impact]) -> bool {
            self.1[index as usize].extend_from_slice(impacts);
            true
        }
        fn again(&mut self, index: u64) {
            self.1[index as usize].clear();
        }
    }
    // One in three runs into a singularity of its force at t = 200: that one is simulated again, alone.
    let text = "coordinates = [\"x\", \"y\"]\n[parameters]\na = 0.0\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n[force.f]\ngeneralized = { y = \"a*log(200 - t)/1e6\" }\n[wall.l]\ngap = \"x\"\n[wall.r]\ngap = \"1 - x\"\n[start]\nposition = { x = 0.5 }\nvelocity = { x = 1.5 }\n[run]\nuntil = 300.0\n";
    let (program, options) = common::program(text);
    let mut all = starts(&options, 20, 0.2, 300.0);
    all.iter_mut().enumerate().for_each(|(i, o)| o.parameters[0] = f64::from(u8::from(i % 3 == 0)));
    for options in &mut all[1..] {
        options.until = if options.parameters[0] == 0.0 { 150.0 } else { 300.0 };
        options.sampling = Sampling::At(vec![options.until]);
    }
    let order: Vec<usize> = (0..all.len()).collect();
    let mut collector = Collector(Queue::new(all.clone(), order), vec![Vec::new(); all.len()]);
    Batch::new(&program, true).run(&mut collector);
    for (i, options) in all.iter().enumerate() {
        let alone = simulate(&program, options).unwrap();
        assert!(alone.impacts.len() > 150);
        assert_eq!(alone.impacts, collector.1[i], "{i}");
    }
}

/// A parallelogram that is flat twice per turn.
const PARALLELOGRAM: &str = "coordinates = [\"x1\", \"y1\", \"x2\", \"y2\"]\n[energy]\nkinetic = \"(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\"\n\
    potential = \"2*y1 + y2\"\n[holonomic]\nleft = \"x1^2 + y1^2 - 1\"\nright = \"(x2 - 2)^2 + y2^2 - 1\"\n\
    top = \"(x2 - x1)^2 + (y2 - y1)^2 - 4\"\n[start]\nposition = { x1 = 0, y1 = 1, x2 = 2, y2 = 1 }\n\
    [run]\nuntil = 4.0\n";

#[test]
fn lanes_leave_rank_loss_to_single_runs() {
    // One run ends where it is flat.
    let (mut program, options) = common::program(PARALLELOGRAM);
    let all: Vec<Options> = (0..20)
        .map(|i| {
            let mut options = options.clone();
            let speed = if i % 3 == 0 { 0.0 } else { 0.3 * f64::from(i) };
            options.start.velocity = vec![Some(speed), Some(0.0), Some(speed), Some(0.0)];
            options.until = if i == 7 { 0.71 } else { 4.0 };
            options.sampling = Sampling::At(vec![options.until]);
            options
        })
        .collect();
    compare("parallelogram", &mut program, &all);
}

#[test]
fn rank_loss_met_and_runs_ended_at_any_phase_give_the_bits_of_single_runs() {
    let (mut program, options) = common::program(PARALLELOGRAM);
    for (t, tolerance) in [1e-15, 1e-8, 1e-6].into_iter().enumerate() {
        let all: Vec<Options> = (0..60)
            .map(|i| {
                let mut options = options.clone();
                let speed = 0.3 + 3.0 * (1.0 + noise(i, 3 * t as u64));
                options.start.velocity = vec![Some(speed), Some(0.0), Some(speed), Some(0.0)];
                options.until = 2.5 + 2.0 * noise(i, 3 * t as u64 + 1);
                options.max_steps = if i % 4 == 0 { 6 + i } else { options.max_steps };
                options.tolerance = tolerance;
                options.sampling = Sampling::At(vec![options.until]);
                options
            })
            .collect();
        compare(&format!("parallelogram, tolerance {tolerance:e}"), &mut program, &all);
    }
}

/// A queue with a clock: trajectories alone take a millisecond each, and what the lanes do between two looks takes `lanes`.
struct Clocked {
    queue: Queue,
    ended: u64,
    looks: u64,
    lanes: f64,
    now: f64,
}

impl JobSource for Clocked {
    fn next(&mut self) -> Option<(u64, Options)> {
        self.queue.next()
    }
    fn take(&mut self, index: u64, outcome: Result<Outcome, SimulateError>) {
        self.ended += 1;
        self.queue.take(index, outcome);
    }
    fn seconds(&mut self) -> Option<f64> {
        // Trajectories that end between two looks were alone, or the lanes had them.
        let alone = std::mem::take(&mut self.ended);
        self.looks += 1;
        self.now += if alone == 1 { 1e-3 } else { self.lanes };
        Some(self.now)
    }
}

#[test]
fn a_batch_takes_what_its_clock_says_is_cheaper_and_the_bits_stay() {
    let (program, options) = of_gallery("double_pendulum_wall");
    let all = starts(&options, 60, 0.2, 4.0);
    let motions: Vec<Motion> = all.iter().map(|o| simulate(&program, o).unwrap()).collect();
    let columns = Columns::of(&program);
    let mut shares = Vec::new();
    for lanes in [1e-9, 10.0] {
        let queue = Queue::new(all.clone(), (0..all.len()).collect());
        let mut clocked = Clocked { queue, ended: 0, looks: 0, lanes, now: 0.0 };
        let quiet = Batch::new(&program, true).run(&mut clocked);
        assert!(clocked.looks > 2, "the clock is used");
        let mut total = 0;
        for (i, (outcome, motion)) in clocked.queue.outcomes.iter().zip(&motions).enumerate() {
            let outcome = outcome.as_ref().unwrap().as_ref().unwrap();
            total += outcome.steps;
            same(&format!("trajectory {i}"), &columns, outcome, motion);
        }
        shares.push(quiet as f64 / total as f64);
    }
    assert!(shares[0] > 0.7, "lanes are cheap: {shares:?}");
    assert!(shares[1] < 0.3, "lanes are dear: {shares:?}");
}
