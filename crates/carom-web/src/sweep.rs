//! A cloud of neighbours: the same motion from starts a little apart.
//!
//! ```text
//! x_k = x_0 + spread · max(1, |x_0|) · u,     u uniform in [−1, 1),     trajectory 0 unmoved
//! ```

use crate::ask::Ask;
use crate::outline::momentum;
use crate::{Answer, Engine, Host, problems};
use carom::{Model, Progress, doors};
use carom_expr::Random;
use carom_show::track::{Knot, Track};
use carom_show::view;
use serde_json::json;

/// Most neighbours of one question.
const MOST: usize = 1000;
/// Most numbers of one column of an answer.
const MOST_NUMBERS: usize = 4_000_000;

impl Engine {
    /// The neighbours of a start.
    pub fn sweep(&mut self, ask: &Ask<'_>, host: &dyn Host) -> Result<Answer, String> {
        let begin = host.now();
        let (spread, seconds) = (ask.number("spread").unwrap_or(1e-3), ask.limits().seconds);
        let count = ask.count("count").unwrap_or(200).clamp(1, MOST);
        let mut random = Random(ask.number("seed").unwrap_or(0.0).to_bits() ^ 0x9e37_79b9_7f4a_7c15);
        let model = match self.model(ask) {
            Ok(model) => model,
            Err(error) => return Ok(refused(error.diagnostics(), ask)),
        };
        let varied = varied(&model, ask);
        let rows = model.rows().next().is_some();
        let mut cloud = Cloud::default();
        let (mut impacts, mut stops) = (Vec::new(), Vec::new());
        for k in 0..count {
            let moves: Vec<f64> = varied.iter().map(|_| random.symmetric()).collect();
            // All neighbours together have the time of the question.
            let left = seconds - (host.now() - begin);
            let made = self.simulate_within(ask, host, left.max(0.0), |options| {
                if k > 0 {
                    for ((name, x), u) in varied.iter().zip(&moves) {
                        // Only names of the model are varied.
                        _ = options.set(name, x + spread * x.abs().max(1.0) * u);
                    }
                    options.project_start(rows);
                }
            });
            let motion = match made {
                Ok(made) => made.motion,
                Err(error) if k == 0 => return Ok(refused(error.diagnostics(), ask)),
                // A neighbour behind a wall has no motion: a gap in the cloud.
                Err(_) => {
                    cloud.skip();
                    impacts.push(0);
                    stops.push("refused");
                    continue;
                }
            };
            if k == 0 {
                cloud = Cloud::of(&motion, count)?;
            }
            cloud.add(&motion);
            impacts.push(motion.impacts().len());
            stops.push(motion.stop().reason.name());
            let progress = Progress::default();
            if host.now() - begin > seconds || !host.progress(&progress, (k + 1) as f64 / count as f64) {
                break;
            }
        }
        let mut answer = Answer::default();
        let time = answer.doubles(&cloud.time);
        let columns: Vec<String> = (cloud.names.iter().zip(&cloud.columns))
            .map(|(name, values)| {
                format!("{{\"name\":{},\"values\":{}}}", json!(name), answer.doubles(values))
            })
            .collect();
        let points: Vec<String> = (cloud.points.iter().zip(&cloud.places))
            .map(|((index, name), data)| {
                format!("{{\"point\":{index},\"name\":{},\"data\":{}}}", json!(name), answer.floats(data))
            })
            .collect();
        answer.json = format!(
            "{{\"ok\":true,\"diagnostics\":[],\"done\":{},\"time\":{time},\"columns\":[{}],\"points\":[{}],\"dimension\":{},\"impacts\":{},\"stop\":{},\"seconds\":{}}}",
            stops.len(),
            columns.join(","),
            points.join(","),
            cloud.dimension,
            json!(impacts),
            json!(stops),
            json!(host.now() - begin)
        );
        Ok(answer)
    }
}

/// What is varied, and the values it is varied around.
fn varied(model: &Model, ask: &Ask<'_>) -> Vec<(String, f64)> {
    let checked = doors::checked(model);
    let hamiltonian = doors::draft(model).hamiltonian.is_some();
    let rows = !checked.rows.is_empty();
    let mut all: Vec<(String, Option<f64>)> = Vec::new();
    for (i, c) in checked.coordinates.iter().enumerate().filter(|(_, c)| c.driven.is_none()) {
        all.push((c.name.clone(), checked.start.position[i]));
        all.push(match hamiltonian {
            true => (momentum(c), checked.start.momentum[i]),
            false => (format!("{}'", c.name), checked.start.velocity[i]),
        });
    }
    // With rows, what the start leaves open follows from the rest.
    all.retain(|(_, value)| value.is_some() || !rows);
    let parameters = checked.parameters.iter().map(|p| (p.name.clone(), Some(p.value)));
    let wanted = ask.strings("vary");
    let chosen: Vec<(String, Option<f64>)> = match wanted {
        Some(names) => {
            all.into_iter().chain(parameters).filter(|(n, _)| names.contains(&n.as_str())).collect()
        }
        None => all,
    };
    let given = ask.values();
    let value = |name: &str, x: Option<f64>| {
        given.iter().find(|(n, _)| *n == name).map_or(x.unwrap_or(0.0), |(_, x)| *x)
    };
    chosen.into_iter().map(|(name, x)| (value(&name, x), name)).map(|(x, name)| (name, x)).collect()
}

/// Trajectories side by side.
#[derive(Default)]
struct Cloud {
    time: Vec<f64>,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    points: Vec<(usize, String)>,
    places: Vec<Vec<f32>>,
    dimension: usize,
}

impl Cloud {
    fn of(motion: &carom::Motion, count: usize) -> Result<Cloud, String> {
        let time = motion.time().to_vec();
        if time.len().saturating_mul(count) > MOST_NUMBERS {
            return Err(format!(
                "{count} motions of {} samples are too many numbers: ask for fewer samples",
                time.len()
            ));
        }
        let names: Vec<String> = motion.model().coordinates().map(str::to_owned).collect();
        let mut cloud = Cloud { time, columns: vec![Vec::new(); names.len()], names, ..Cloud::default() };
        if let Some((scene, _)) = scene_of(motion) {
            cloud.dimension = scene.dimension;
            let moving = scene.points.iter().enumerate().filter(|(_, p)| !p.unseen);
            cloud.points = moving.map(|(i, p)| (i, p.name.clone())).collect();
            cloud.places = vec![Vec::new(); cloud.points.len()];
        }
        Ok(cloud)
    }

    fn add(&mut self, motion: &carom::Motion) {
        let n = self.time.len();
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            let values = motion.position(name).unwrap_or(&[]);
            column.extend(values.iter().copied().chain(std::iter::repeat(f64::NAN)).take(n));
        }
        if self.points.is_empty() {
            return;
        }
        let Some((scene, mechanics)) = scene_of(motion) else { return };
        let roots: Vec<_> = self.points.iter().flat_map(|(i, _)| scene.points[*i].at.clone()).collect();
        let inner = doors::motion(motion);
        let knots: Vec<Knot> = (0..inner.time.len()).map(Knot::Sample).collect();
        let values = Track::new(&mechanics, inner).evaluate(&roots, &knots);
        for (p, places) in self.places.iter_mut().enumerate() {
            for i in 0..n {
                for c in 0..self.dimension {
                    let x = values.get(i).map_or(f64::NAN, |row| row[p * self.dimension + c]);
                    places.push(x as f32);
                }
            }
        }
    }

    fn skip(&mut self) {
        let n = self.time.len();
        self.columns.iter_mut().for_each(|column| column.extend(std::iter::repeat_n(f64::NAN, n)));
        let each = n * self.dimension;
        self.places.iter_mut().for_each(|places| places.extend(std::iter::repeat_n(f32::NAN, each)));
    }
}

fn scene_of(motion: &carom::Motion) -> Option<(view::Scene, carom_mech::Mechanics)> {
    let mut mechanics = doors::mechanics(motion).ok()?;
    let scene = view::scene(&mut mechanics).ok()?;
    Some((scene, mechanics))
}

fn refused(found: &[carom::Diagnostic], ask: &Ask<'_>) -> Answer {
    Answer::of(&json!({
        "ok": false, "diagnostics": problems::list(found, ask), "done": 0, "time": [], "columns": [], "points": [],
        "dimension": 0, "impacts": [], "stop": [], "seconds": 0.0,
    }))
}
