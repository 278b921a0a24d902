//! Recordings of four motions with noise, made again and again, and how often the intervals of fits to them have the truth.

use stiction::identify::{
    Conclusion, Dataset, Experiment, FreeParameter, InitialState, Noise, conclude, parallel,
};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};

/// Of each frame, and what residuals are weighed by.
const NOISE: Noise =
    Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };
/// Of the velocities that recordings begin with.
const VELOCITY: f64 = 0.02;
const ANGULAR_VELOCITY: f64 = 0.1;

/// What is known of where a recording begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// The first frame has no noise.
    Known,
    /// It has the noise of all frames, and simulations start from it all the same.
    Noisy,
    /// It has, and starts are fitted with the parameters.
    Fitted,
}

/// A motion of which numbers are to be found.
pub struct Motion {
    pub name: &'static str,
    scene: &'static str,
    /// Name, where the search starts, and bounds; the scene has the truth.
    free: &'static [(&'static str, f64, [f64; 2])],
    /// By how much the start differs from that of the scene at most: positions or angles, and velocities.
    spread: (&'static [f64], &'static [f64]),
    steps: usize,
}

const FLOOR: &str = "[[half_space]]\nname = \"floor\"\nnormal = [0, 0, 1]\n";

pub const MOTIONS: [Motion; 4] = [
    Motion {
        name: "slide",
        scene: "[[body]]\nname = \"box\"\nmass = 0.4\nshape = { box = [0.1, 0.1, 0.02] }\nposition = [0, 0, 0.02]\n\
                velocity = [1, 0, 0]\n[[contact]]\nmu = 0.3\n",
        free: &[("floor-box/mu", 0.5, [0.01, 2.0])],
        spread: (&[0.0; 6], &[0.5, 0.5, 0.0, 0.0, 0.0, 2.0]),
        steps: 25,
    },
    Motion {
        name: "bounce",
        scene: "[[body]]\nname = \"ball\"\nmass = 0.2\nshape = { sphere = 0.05 }\nposition = [0, 0, 0.25]\n\
                velocity = [3, 0, 0]\n[[contact]]\nmu = 0.1\nrestitution = 0.6\n",
        free: &[("floor-ball/mu", 0.3, [0.01, 2.0]), ("floor-ball/restitution", 0.4, [0.0, 1.0])],
        spread: (&[0.0, 0.0, 0.1, 0.0, 0.0, 0.0], &[0.5, 0.5, 0.5, 3.0, 3.0, 3.0]),
        steps: 60,
    },
    Motion {
        name: "tumble",
        scene: "[[body]]\nname = \"cube\"\nmass = 0.4\nshape = { box = [0.05, 0.05, 0.05] }\n\
                position = [0, 0, 0.2]\n[[contact]]\nmu = 0.3\nrestitution = 0.2\n",
        free: &[
            ("floor-cube/mu", 0.5, [0.01, 2.0]),
            ("floor-cube/restitution", 0.1, [0.0, 1.0]),
            ("cube/mass", 0.5, [0.1, 2.0]),
        ],
        spread: (&[0.0, 0.0, 0.05, 1.0, 1.0, 1.0], &[1.0, 1.0, 0.5, 5.0, 5.0, 5.0]),
        steps: 30,
    },
    Motion {
        name: "hinge",
        scene: "[[body]]\nname = \"link\"\nposition = [0, 0, 2]\nmass = 0.1\ninertia = [2e-4, 2e-4, 1e-4]\n\
                center_of_mass = [0, 0, -0.05]\n\
                joint = { type = \"revolute\", axis = [0, 1, 0], damping = 5e-4, friction = 2e-3 }\n",
        free: &[("link/damping", 1e-3, [0.0, 0.1]), ("link/friction", 1e-3, [0.0, 0.1])],
        spread: (&[1.5], &[3.0]),
        steps: 60,
    },
];

/// Numbers between -1 and 1 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// The sum of twelve uniform numbers: nearly normal, of variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| 0.5 * self.next()).sum()
    }
}

/// How often the intervals of a number had the truth.
#[derive(Clone, Debug)]
pub struct Covered {
    pub name: &'static str,
    pub covered: usize,
    /// Estimates without an interval, which count as not covered.
    pub without: usize,
}

/// What fits to some repetitions came to.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub covered: Vec<Covered>,
    /// Errors were taken from halves so often.
    pub by_halves: usize,
    /// Mean work of halves, in that of the search.
    pub work: f64,
}

impl Motion {
    fn scene(&self) -> Result<Scene, stiction::Error> {
        let text = format!("simulation.time_step = 0.01\n{}\n{FLOOR}", self.scene);
        Scene::parse(&text, self.name)
    }

    fn recording(&self, scene: &Scene, begin: Begin, random: &mut Random) -> Trajectory {
        let Scene { model, settings, inputs, .. } = scene;
        let coordinates = model.coordinates();
        let (places, velocities) = self.spread;
        let spread: Vec<f64> =
            places.iter().chain(velocities).map(|size| size * random.next()).collect();
        let start = scene.state.moved(coordinates.clone(), &spread);
        let mut rollout = Rollout::new(scene.system(), start.clone());
        let mut states: Vec<State<f64>> = vec![start];
        for _ in 0..self.steps {
            rollout.step(inputs);
            states.push(rollout.state.clone());
        }
        let nv = model.nv();
        let is_free = nv == 6;
        for (frame, state) in states.iter_mut().enumerate() {
            let noise = |i: usize| match (i < nv, is_free && i % nv < 3) {
                (true, true) => NOISE.position,
                (true, false) => NOISE.rotation,
                (false, true) => VELOCITY,
                (false, false) => ANGULAR_VELOCITY,
            };
            let tangent: Vec<f64> = (0..2 * nv).map(|i| noise(i) * random.normal()).collect();
            if frame > 0 || begin != Begin::Known {
                *state = state.moved(coordinates.clone(), &tangent);
            }
        }
        let times = (0..=self.steps).map(|k| k as f64 * settings.time_step).collect();
        Trajectory { name: self.name.into(), times, states, recorded: Recorded::all(model) }
    }

    fn fitted(
        &self,
        count: usize,
        begin: Begin,
        half_samples: Option<usize>,
        seed: u64,
    ) -> Result<Conclusion, stiction::Error> {
        let scene = self.scene()?;
        let parameters = self.free.iter().filter_map(|&(name, start, bounds)| {
            Some(FreeParameter::new(name, scene.model.parameter(name)?, start, bounds))
        });
        let parameters = parameters.collect();
        let initial_state = match begin {
            Begin::Known | Begin::Noisy => InitialState::Recorded,
            Begin::Fitted => InitialState::Fitted,
        };
        let mut random = Random(seed);
        let recordings = (0..count).map(|_| self.recording(&scene, begin, &mut random)).collect();
        let experiment = Experiment::new(self.name, scene, parameters, NOISE);
        // Profiles have no part in intervals.
        let experiment =
            Experiment { initial_state, half_samples, profiles: false, seed, ..experiment };
        let dataset = Dataset::new(&experiment, recordings)?;
        conclude(&experiment, &dataset, 1, None, &mut |_| true)
    }

    /// How often the intervals have the truth, in repetitions each of so many recordings.
    pub fn coverage(
        &self,
        (count, begin): (usize, Begin),
        half_samples: Option<usize>,
        (repetitions, threads): (usize, usize),
    ) -> Result<Coverage, stiction::Error> {
        let scene = self.scene()?;
        let all = parallel(threads, repetitions, |k| {
            let seed = 1 + k as u64 + 1000 * count as u64;
            self.fitted(count, begin, half_samples, seed)
        });
        let mut coverage = Coverage::default();
        let none =
            |&(name, ..): &(&'static str, f64, [f64; 2])| Covered { name, covered: 0, without: 0 };
        coverage.covered = self.free.iter().map(none).collect();
        for found in all {
            let found = found?;
            coverage.by_halves += usize::from(found.halves.is_some());
            let work = |steps: usize, derivatives: usize| (steps + 3 * derivatives) as f64;
            let effort = found.fit.effort;
            let search = work(effort.steps, effort.derivative_steps);
            let halves = found.halves_test.map(|test| test.effort).unwrap_or_default();
            coverage.work +=
                work(halves.steps, halves.derivative_steps) / search / repetitions as f64;
            for (own, fitted) in coverage.covered.iter_mut().zip(&found.fit.parameters) {
                let truth = scene.model.parameter(own.name);
                let truth = truth.map(|p| scene.parameters.values[p.slots[0]]);
                let has = fitted.interval.zip(truth).map(|([low, high], x)| low <= x && x <= high);
                own.covered += usize::from(has == Some(true));
                own.without += usize::from(has.is_none());
            }
        }
        Ok(coverage)
    }
}
