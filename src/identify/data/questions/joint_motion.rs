//! Trees of hinges and slides: do they move as gravity, springs, dampers and motors of the scene move them?
//!
//! Over stretches so short that each joint's motion is a parabola, recorded accelerations stand against those of
//! forward dynamics. Numbers of the scene may be far off: only where next to nothing of a motion agrees are other units
//! tried, and only what does work that nothing in the scene does is said to be missing. Ground, walls, limits, brakes
//! and drag never do.

use nalgebra::{DVector, Matrix3, Vector3};

use super::rates::rates_of_joints;
use super::reading::amount;
use super::stretches::error;
use super::track::{are_followed, median};
use crate::dynamics::{
    Aba, Crba, Kinematics, MassMatrix, applied_forces, forward_dynamics, mass_matrix,
};
use crate::model::{JointKind, Model, Scene, Solid};
use crate::state::State;
use crate::trajectory::Trajectory;

/// Frames of a recording that are looked at, and longest stretch, in frames.
const FRAMES: usize = 2000;
const LONGEST: usize = 60;
/// Standard error of an acceleration, relative to that, with which it is known.
const KNOWN: f64 = 0.15;
/// Distance of two accelerations over the sum of their sizes: up to the first they agree, from the second on not at
/// all.
const AGREES: f64 = 0.4;
const DIFFERS: f64 = 0.7;
/// Stretches in which the computed acceleration would lead further than this many times as far as it goes are too long
/// to see what drives it.
const SEEN: f64 = 10.0;
/// Fewer stretches say nothing.
const LEAST: usize = 6;

/// A tree of hinges and slides that nothing but the scene's own forces and the world acts on.
struct Subject<'a> {
    scene: &'a Scene,
    /// Bodies with a coordinate.
    bodies: Vec<usize>,
}

/// The recorded motion of a tree.
struct JointTrack {
    times: Vec<f64>,
    /// Of each joint, in the order of the bodies.
    positions: Vec<Vec<f64>>,
    /// Recorded rates of those joints that have them.
    rates: Vec<Option<Vec<f64>>>,
    /// Standard deviation of the noise of each joint's positions.
    noise: Vec<f64>,
}

impl JointTrack {
    /// Differences of positions of a joint and integrals of its recorded rates by the trapezoidal rule, over so many
    /// frames that noise does not hide how it moves.
    fn pairs(&self, joint: usize) -> Vec<(f64, f64)> {
        let Some(rates) = &self.rates[joint] else { return Vec::new() };
        let (times, x) = (&self.times, &self.positions[joint]);
        let lag = (times.len() / 8).clamp(1, 12);
        let step = |k: usize| 0.5 * (rates[k] + rates[k + 1]) * (times[k + 1] - times[k]);
        let ends = (lag..times.len()).step_by(lag.div_ceil(2));
        let steady = |k: usize| {
            2.0 * (rates[k + 1] - rates[k]).abs() <= rates[k].abs().max(rates[k + 1].abs())
        };
        let ends = ends.filter(|&last| (last - lag..last).all(steady));
        let pairs = ends.map(|last| (x[last] - x[last - lag], (last - lag..last).map(step).sum()));
        pairs.filter(|(d, _): &(f64, f64)| d.abs() > 20.0 * self.noise[joint]).collect()
    }
}

/// Whether frames are close enough to see how a joint moves.
fn is_followed(tracks: &[JointTrack], joint: usize) -> bool {
    let path = |track: &JointTrack| -> Vec<Vector3<f64>> {
        track.positions[joint].iter().map(|&x| Vector3::new(x, 0.0, 0.0)).collect()
    };
    let paths: Vec<_> = tracks.iter().map(path).collect();
    are_followed(paths.iter().map(Vec::as_slice))
}

/// In which units the numbers could be.
struct Units {
    angle: f64,
    length: f64,
    time: f64,
    question: &'static str,
}

const DEGREE: f64 = std::f64::consts::PI / 180.0;
const PLAIN: Units = Units { angle: 1.0, length: 1.0, time: 1.0, question: "" };
/// The mistakes that are made, the commonest first.
const OTHERS: [Units; 8] = [
    Units { angle: DEGREE, question: "are joint angles in degrees? Radians are read", ..PLAIN },
    Units { time: 1e-3, question: "are times in milliseconds? Seconds are read", ..PLAIN },
    Units {
        length: 1e-3,
        question: "are slides of joints in millimetres? Metres are read",
        ..PLAIN
    },
    Units {
        length: 1e-2,
        question: "are slides of joints in centimetres? Metres are read",
        ..PLAIN
    },
    Units {
        angle: DEGREE,
        time: 1e-3,
        question: "are joint angles in degrees and times in milliseconds?",
        ..PLAIN
    },
    Units {
        angle: DEGREE,
        length: 1e-3,
        question: "are joint angles in degrees and slides in millimetres?",
        ..PLAIN
    },
    Units { time: 1e-6, question: "are times in microseconds? Seconds are read", ..PLAIN },
    Units { time: 1e-9, question: "are times in nanoseconds? Seconds are read", ..PLAIN },
];

/// What stretches under one reading say.
#[derive(Default)]
struct Tally {
    good: usize,
    bad: usize,
    /// Of the bad ones, those in which what nothing in the scene does is work, and frames close enough to see it.
    driven: usize,
    /// Recorded and computed accelerations of these, the larger of a joint, and the joint.
    accelerations: Vec<(f64, f64, usize)>,
}

impl Tally {
    fn share(&self) -> f64 {
        self.bad as f64 / (self.good + self.bad).max(1) as f64
    }
}

/// What cannot be right about the motions of joints, each with the body it is about; of trees that the inputs `driven` move, whether rates
/// are those of positions.
pub(super) fn of_joints(
    scene: &Scene,
    recordings: &[&Trajectory],
    most: usize,
    driven: &[usize],
) -> Vec<String> {
    let mut found = Vec::new();
    let trees = scene.model.trees.iter().filter(|tree| !tree.lone);
    for tree in trees.take(most) {
        let moves = |&&body: &&usize| scene.model.bodies[body].joint.kind.has_axis();
        let bodies: Vec<usize> = tree.bodies.iter().filter(moves).copied().collect();
        let tracks: Vec<JointTrack> =
            recordings.iter().filter_map(|some| track(&scene.model, &bodies, some)).collect();
        let (Some(&first), false) = (bodies.first(), tracks.is_empty()) else { continue };
        let name = &scene.model.bodies[first].name;
        let kinds: Vec<JointKind> =
            bodies.iter().map(|&body| scene.model.bodies[body].joint.kind).collect();
        let mut read = [1.0; 3];
        let followed: Vec<bool> = (0..bodies.len()).map(|k| is_followed(&tracks, k)).collect();
        let own = !followed.contains(&false)
            && tree.bodies.iter().all(|&body| is_simple(scene.model.bodies[body].joint.kind));
        let moves = |input: usize| match input.checked_sub(scene.model.nv()) {
            None => tree.v.contains(&input),
            Some(control) if control < scene.model.actuators.len() => {
                scene.model.driven_bodies(control).any(|body| tree.bodies.contains(&body))
            }
            Some(_) => false,
        };
        if own
            && !driven.iter().any(|&input| moves(input))
            && !touched_by_others(&scene.model, &tree.bodies)
            && scene.model.equalities.is_empty()
            && scene.model.tendons.is_empty()
        {
            let subject = Subject { scene, bodies: bodies.clone() };
            if let Some((question, units)) = subject.asked(&tracks) {
                found.push(format!("{name}: {question}"));
                read = units;
            }
        }
        let [angle, length, time] = read;
        for (k, &body) in bodies.iter().enumerate().filter(|&(k, _)| followed[k]) {
            let slides = kinds[k].slides();
            let factor = if slides { length / time } else { angle / time };
            let pairs: Vec<(f64, f64)> = tracks.iter().flat_map(|track| track.pairs(k)).collect();
            let question = rates_of_joints(&pairs, slides, factor);
            let name = &scene.model.bodies[body].name;
            found.extend(question.map(|question| format!("{name}: {question}")));
        }
    }
    found
}

fn is_simple(kind: JointKind) -> bool {
    kind == JointKind::Fixed || kind.has_axis()
}

/// Whether bodies can touch one that moves and is none of them: that could drive them.
fn touched_by_others(model: &Model, bodies: &[usize]) -> bool {
    let own = |k: usize| model.colliders[k].body.is_some_and(|body| bodies.contains(&body));
    let moves =
        |k: usize| model.colliders[k].body.is_some_and(|body| model.bodies[body].tree.is_some());
    let count = model.colliders.len();
    (0..count).filter(|&k| own(k)).any(|mine| {
        (0..count)
            .filter(|&k| moves(k) && !own(k))
            .any(|other| model.pair(Solid::Collider(mine.min(other)), mine.max(other)).is_some())
    })
}

fn track(model: &Model, bodies: &[usize], recording: &Trajectory) -> Option<JointTrack> {
    let Trajectory { times, states, recorded, .. } = recording;
    let places: Vec<(usize, usize)> = bodies
        .iter()
        .map(|&body| (model.bodies[body].joint.q, model.bodies[body].joint.v))
        .collect();
    if !places.iter().all(|&(q, _)| recorded.q.get(q) == Some(&true)) {
        return None;
    }
    let frames: Vec<usize> =
        (0..times.len()).filter(|&k| recorded.at(k).is_complete()).take(FRAMES).collect();
    let of = |value: &dyn Fn(&State<f64>) -> f64| -> Vec<f64> {
        frames.iter().map(|&k| value(&states[k])).collect()
    };
    let positions: Vec<Vec<f64>> = places.iter().map(|&(q, _)| of(&|state| state.q[q])).collect();
    let rate = |&(_, v): &(usize, usize)| recorded.v[v].then(|| of(&|state| state.v[v]));
    let finite = positions.iter().flatten().all(|x| x.is_finite() && x.abs() < 1e100);
    (finite && frames.len() > 4).then(|| JointTrack {
        times: frames.iter().map(|&k| times[k]).collect(),
        rates: places.iter().map(rate).collect(),
        noise: positions.iter().map(|x| noise(x)).collect(),
        positions,
    })
}

/// Standard deviation of what is not smooth over five frames.
fn noise(x: &[f64]) -> f64 {
    let fourth = |p: &[f64]| (p[0] - 4.0 * p[1] + 6.0 * p[2] - 4.0 * p[3] + p[4]).abs();
    median(x.windows(5).map(fourth).collect()) / (0.6745 * 70f64.sqrt())
}

/// The parabolas of all joints over a stretch, at its middle, in recorded units.
struct Parabolas {
    position: DVector<f64>,
    rate: DVector<f64>,
    acceleration: DVector<f64>,
    /// Standard errors of the accelerations.
    errors: DVector<f64>,
    /// Whether each joint moves more than noise does.
    moves: Vec<bool>,
    /// How far each joint goes, and the time of all.
    ranges: DVector<f64>,
    duration: f64,
}

impl Parabolas {
    /// Nothing if the motion is none of the second degree.
    fn of(track: &JointTrack, first: usize, count: usize) -> Option<Parabolas> {
        let times = &track.times[first..first + count];
        let duration = times[count - 1] - times[0];
        let (start, joints) = (times[0], track.positions.len());
        let basis = |t: f64| {
            let x = 2.0 * (t - start) / duration - 1.0;
            Vector3::new(1.0, x, x * x)
        };
        let mut normal = Matrix3::zeros();
        times.iter().for_each(|&t| normal += basis(t) * basis(t).transpose());
        let normal = normal.cholesky()?;
        let zeros = || DVector::zeros(joints);
        let mut found = Parabolas {
            position: zeros(),
            rate: zeros(),
            acceleration: zeros(),
            errors: zeros(),
            moves: vec![false; joints],
            ranges: zeros(),
            duration,
        };
        for (k, x) in track.positions.iter().enumerate() {
            let x = &x[first..first + count];
            let sides: Vector3<f64> =
                times.iter().zip(x).map(|(&t, y)| basis(t) * (y - x[0])).sum();
            let solved = normal.solve(&sides);
            let off = times.iter().zip(x).map(|(&t, y)| (y - x[0] - solved.dot(&basis(t))).powi(2));
            let rms = (off.sum::<f64>() / count as f64).sqrt();
            let range = x.iter().fold(0.0f64, |most, y| most.max((y - x[0]).abs()));
            if rms.is_nan() || rms > 3.0 * track.noise[k] + 0.02 * range {
                return None;
            }
            found.position[k] = x[0] + solved[0];
            found.rate[k] = 2.0 * solved[1] / duration;
            found.acceleration[k] = 8.0 * solved[2] / (duration * duration);
            found.errors[k] = error(track.noise[k], count, duration);
            found.moves[k] = range > 10.0 * track.noise[k];
            found.ranges[k] = range;
        }
        Some(found)
    }
}

impl Subject<'_> {
    /// What is asked, and the units of angles, lengths and times under which it would be well.
    fn asked(&self, tracks: &[JointTrack]) -> Option<(String, [f64; 3])> {
        let plain = self.tally(tracks, &PLAIN);
        if plain.good + plain.bad < LEAST || plain.share() <= 0.5 {
            return None;
        }
        let (recorded, computed, joint) = plain.typical()?;
        // Where it is off by so much, numbers of the scene that are off, too, may hide some of what would be well.
        let far_off = !(1e-3..20.0).contains(&(recorded / computed));
        let most = if far_off { 0.65 } else { 0.4 };
        let joints: Vec<JointKind> =
            self.bodies.iter().map(|&body| self.scene.model.bodies[body].joint.kind).collect();
        let tried = OTHERS.iter().filter(|units| {
            (units.angle == 1.0 || joints.iter().any(|kind| kind.turns()))
                && (units.length == 1.0 || joints.iter().any(|kind| kind.slides()))
        });
        let tried: Vec<(&Units, Tally)> = tried
            .map(|units| (units, self.tally(tracks, units)))
            .filter(|(_, found)| found.good >= LEAST && found.share() <= most * plain.share())
            .collect();
        let least = tried.iter().map(|(_, found)| found.share()).fold(1.0, f64::min);
        let best = tried.into_iter().find(|(_, found)| found.share() <= least + 0.05);
        let turns = joints[joint].turns();
        let unit = if turns { "rad/s²" } else { "m/s²" };
        let body = &self.scene.model.bodies[self.bodies[joint]].name;
        let wrong = format!(
            "it does not move as the scene has it ({body} with {} where {} is computed)",
            amount(recorded, unit),
            amount(computed, unit)
        );
        if let Some((units, fits)) = best {
            let all = fits.good + fits.bad;
            let question = format!(
                "{wrong}: {} (Read so, {} of {all} stretches are as they should be)",
                units.question, fits.good
            );
            return Some((question, [units.angle, units.length, units.time]));
        }
        let all = plain.good + plain.bad;
        (plain.driven >= LEAST && 2 * plain.driven > all).then(|| {
            let model = &self.scene.model;
            let pulls = |k: usize| model.driven_bodies(k).any(|body| self.bodies.contains(&body));
            let mut motors = model.actuators.iter().enumerate();
            let own = motors.find(|&(k, _)| pulls(k)).map(|(_, motor)| motor);
            let missing = match own {
                Some(motor) => {
                    format!("is a control missing (such as {}/u), or a force?", motor.name)
                }
                None => "is a motor, a force or an input missing?".to_string(),
            };
            (format!("{wrong}, and nothing in the scene does the work: {missing}"), [1.0; 3])
        })
    }

    fn tally(&self, tracks: &[JointTrack], units: &Units) -> Tally {
        let mut tally = Tally::default();
        let mut motion = Motion::new(self.scene);
        for track in tracks {
            let mut first = 0;
            while first + 5 <= track.times.len() {
                first += self.add(track, first, units, &mut motion, &mut tally).max(1);
            }
        }
        tally
    }

    /// Adds the stretch that begins at a frame; returns by how many frames to go on.
    fn add(
        &self,
        track: &JointTrack,
        first: usize,
        units: &Units,
        motion: &mut Motion,
        tally: &mut Tally,
    ) -> usize {
        let model = &self.scene.model;
        let mut count = 5;
        while first + count <= track.times.len() && count <= LONGEST {
            let Some(mut found) = Parabolas::of(track, first, count) else { break };
            if found.moves.iter().any(|&moves| moves) {
                for (k, &body) in self.bodies.iter().enumerate() {
                    let slides = model.bodies[body].joint.kind.slides();
                    let unit = if slides { units.length } else { units.angle };
                    found.position[k] *= unit;
                    found.rate[k] *= unit / units.time;
                    found.acceleration[k] *= unit / (units.time * units.time);
                    found.errors[k] *= unit / (units.time * units.time);
                    found.ranges[k] *= unit;
                }
                found.duration *= units.time;
                let Some([recorded, computed, apart, error, range, power]) =
                    motion.compare(self.scene, &self.bodies, &found)
                else {
                    return count / 2;
                };
                if error <= KNOWN * recorded.max(computed) {
                    let share = apart / (recorded + computed);
                    if share < AGREES {
                        tally.good += 1;
                    } else if share > DIFFERS {
                        tally.bad += 1;
                        let seen = computed * found.duration.powi(2) < SEEN * range;
                        tally.driven += usize::from(power > 0.0 && seen);
                        tally.accelerations.push(motion.largest(&found));
                    }
                    return count / 2;
                }
            }
            count += count / 2;
        }
        count / 2
    }
}

impl Tally {
    /// Of the bad ones, the one in the middle.
    fn typical(&self) -> Option<(f64, f64, usize)> {
        let mut all = self.accelerations.clone();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.get(all.len() / 2).copied()
    }
}

/// Memory to compute motions in.
struct Motion {
    state: State<f64>,
    kinematics: Kinematics<f64>,
    masses: MassMatrix<f64>,
    composite: Crba<f64>,
    scratch: Aba<f64>,
    forces: Vec<f64>,
    /// Of all velocities, and of the tree's joints.
    all: Vec<f64>,
    computed: DVector<f64>,
}

impl Motion {
    fn new(scene: &Scene) -> Motion {
        let mut state = scene.state.clone();
        state.v.fill(0.0);
        let nv = scene.model.nv();
        Motion {
            kinematics: Kinematics::new(&scene.model, &scene.parameters, &state),
            state,
            masses: MassMatrix::default(),
            composite: Crba::default(),
            scratch: Aba::default(),
            forces: vec![0.0; nv],
            all: vec![0.0; nv],
            computed: DVector::zeros(0),
        }
    }

    /// Sizes of recorded and computed accelerations, how far they are apart, the standard error of the first, and how
    /// far it goes, all in the norm of the mass matrix; and the power of what the scene does not have. Nothing where a
    /// joint is at a limit, or held by dry friction.
    fn compare(&mut self, scene: &Scene, bodies: &[usize], found: &Parabolas) -> Option<[f64; 6]> {
        let (model, parameters) = (&scene.model, &scene.parameters);
        // What is to be learned is no contradiction, and pushes and drags are no part of the forces below.
        if model.has_state_forces() {
            return None;
        }
        let Motion { state, kinematics, masses, composite, scratch, forces, all, computed } = self;
        for (k, &body) in bodies.iter().enumerate() {
            let joint = &model.bodies[body].joint;
            (state.q[joint.q], state.v[joint.v]) = (found.position[k], found.rate[k]);
            if joint.limited {
                let [lower, upper] = [parameters.lower(model, body), parameters.upper(model, body)];
                let margin = 0.02 * (upper - lower);
                if found.position[k] < lower + margin || found.position[k] > upper - margin {
                    return None;
                }
            }
            if parameters.joint_friction(model, body) > 0.0 && !found.moves[k] {
                return None;
            }
        }
        let nv = model.nv();
        applied_forces(model, parameters, state, &scene.inputs, forces);
        for (k, &body) in bodies.iter().enumerate() {
            let friction = parameters.joint_friction(model, body);
            forces[model.bodies[body].joint.v] -= friction * found.rate[k].signum();
        }
        kinematics.update(model, parameters, state);
        forward_dynamics(model, parameters, kinematics, forces, None, scratch, all).ok()?;
        mass_matrix(model, parameters, kinematics, composite, masses);
        let place = |k: usize| model.bodies[bodies[k]].joint.v;
        *computed = DVector::from_fn(bodies.len(), |k, _| all[place(k)]);
        let force = |x: &DVector<f64>| {
            let (mut wide, mut product) = (vec![0.0; nv], vec![0.0; nv]);
            (0..bodies.len()).for_each(|k| wide[place(k)] = x[k]);
            masses.multiply(&wide, &mut product);
            DVector::from_fn(bodies.len(), |k, _| product[place(k)])
        };
        let norm = |x: &DVector<f64>| x.dot(&force(x)).max(0.0).sqrt();
        let apart = &found.acceleration - &*computed;
        let power = force(&apart).dot(&found.rate);
        let sizes = [
            norm(&found.acceleration),
            norm(computed),
            norm(&apart),
            norm(&found.errors),
            norm(&found.ranges),
            power,
        ];
        sizes.iter().all(|x| x.is_finite()).then_some(sizes)
    }

    /// Recorded and computed acceleration of the joint where they are furthest apart, and that joint.
    fn largest(&self, found: &Parabolas) -> (f64, f64, usize) {
        let apart = |k: usize| (found.acceleration[k] - self.computed[k]).abs();
        let most =
            (0..self.computed.len()).max_by(|&a, &b| apart(a).total_cmp(&apart(b))).unwrap_or(0);
        (found.acceleration[most].abs(), self.computed[most].abs(), most)
    }
}
