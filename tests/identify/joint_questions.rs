//! Recordings of joints that cannot be right are asked about in the right words, and right ones are not, however far
//! off the numbers of the scene are. Nor are bodies that rest, roll or slide slowly.

use stiction::identify::questions;
use stiction::model::Scene;
use stiction::trajectory::{Recorded, Trajectory};

use crate::cases;
use crate::random::Random;
use crate::scenes;

/// Recordings of one experiment, their frames, and steps between these.
const MADE: [usize; 3] = [20, 150, 1];

/// The numbers of a machine: what an experiment may know of it only roughly.
#[derive(Clone)]
struct Numbers {
    mass: f64,
    length: f64,
    damping: f64,
    gain: f64,
}

impl Numbers {
    fn random(random: &mut Random) -> Numbers {
        Numbers {
            mass: random.uniform(0.1, 2.0),
            length: random.uniform(0.1, 0.5),
            damping: random.uniform(0.0, 0.02),
            gain: random.uniform(0.5, 1.5),
        }
    }

    /// What is guessed of them, each up to a factor of 1.5 off.
    fn guessed(&self, random: &mut Random) -> Numbers {
        let mut off = |x: f64| x * random.uniform(-0.4, 0.4).exp();
        Numbers {
            mass: off(self.mass),
            length: off(self.length),
            damping: off(self.damping),
            gain: off(self.gain),
        }
    }
}

/// A pendulum, a double pendulum, a cart with a pole, or a driven arm over a floor. (A slide on a spring moves alike in
/// whatever unit.)
fn machine(kind: usize, numbers: &Numbers, control: f64) -> Scene {
    let &Numbers { mass, length, damping, gain } = numbers;
    let arm = |name: &str, place: &str| {
        let inertia = mass * length * length / 12.0;
        format!(
            "[[body]]\nname = \"{name}\"\n{place}mass = {mass}\ncenter_of_mass = [0, 0, {}]\n\
             inertia = [{inertia}, {inertia}, {}]\n\
             joint = {{ type = 'revolute', axis = [0, 1, 0], damping = {} }}\n",
            -0.5 * length,
            0.1 * inertia,
            damping * mass * length * length,
        )
    };
    let second = format!("parent = \"upper\"\nposition = [0, 0, {}]\n", -length);
    let bodies = match kind {
        0 => arm("upper", ""),
        1 => arm("upper", "") + &arm("lower", &second),
        2 => {
            format!(
                "[[body]]\nname = \"cart\"\nmass = {}\ninertia = [0.01, 0.01, 0.01]\n\
                 joint = {{ type = 'prismatic', axis = [1, 0, 0] }}\n",
                0.5 * mass,
            ) + &arm("pole", "parent = \"cart\"\n")
        }
        _ => {
            scenes::on_floor(&arm("upper", ""))
                + &format!(
                    "[[actuator]]\nname = \"motor\"\njoint = \"upper\"\ntype = \"motor\"\ngear = {}\ncontrol = {control}\n",
                    gain * mass * 9.81 * length
                )
        }
    };
    scenes::scene(&format!("[simulation]\ntime_step = 0.004\n{bodies}"))
}

/// So many motions with noise, of so many frames that are so many steps of 4 ms apart.
fn recordings(
    scene: &Scene,
    random: &mut Random,
    [count, frames, every]: [usize; 3],
) -> Vec<Trajectory> {
    let noise = random.uniform(0.0, 1e-3);
    let record = |index: usize| {
        let mut scene = scene.clone();
        let mut state = scene.state.clone();
        for body in &scene.model.bodies {
            let slides = body.joint.kind.name() == "prismatic";
            let (far, fast) = if slides { (0.1, 0.5) } else { (2.0, 3.0) };
            state.q[body.joint.q] = random.uniform(-far, far);
            state.v[body.joint.v] = random.uniform(-fast, fast);
        }
        scene.state = state;
        let mut simulation = scene.simulate();
        let mut states = vec![simulation.state().clone()];
        for _ in 1..frames {
            for _ in 0..every {
                simulation.step();
            }
            states.push(simulation.state().clone());
        }
        for state in &mut states {
            let mut normal = || (0..12).map(|_| random.uniform(-0.5, 0.5)).sum::<f64>();
            for body in &scene.model.bodies {
                let slides = body.joint.kind.name() == "prismatic";
                state.q[body.joint.q] += if slides { 0.1 } else { 1.0 } * noise * normal();
                state.v[body.joint.v] += 0.02 * normal();
            }
        }
        Trajectory {
            name: format!("{index}.csv"),
            times: (0..frames).map(|k| 4e-3 * (k * every) as f64).collect(),
            states,
            recorded: Recorded::all(&scene.model),
        }
    };
    (0..count).map(record).collect()
}

/// What a mistake does to a frame: time; angles and their rates; slides and their rates.
type Spoil = fn(&mut f64, &mut [f64; 2], &mut [f64; 2]);
/// Its name, a word that the question about it has, of which machines it can be, and whether it can be without rates.
type Mistake = (&'static str, &'static str, &'static [usize], bool, Spoil);

const DEGREES: f64 = 180.0 / std::f64::consts::PI;
const MISTAKES: [Mistake; 9] = [
    ("none", "", &[0, 1, 2, 3], true, |_, _, _| {}),
    ("angles in degrees", "degrees", &[0, 1, 3], true, |_, angle, _| angle[0] *= DEGREES),
    ("angles and rates in degrees", "degrees", &[0, 1, 3], true, |_, angle, _| {
        angle[0] *= DEGREES;
        angle[1] *= DEGREES;
    }),
    ("rates in degrees/s", "degrees/s", &[0, 1, 2, 3], false, |_, angle, _| angle[1] *= DEGREES),
    ("times in ms", "milliseconds", &[0, 1, 2, 3], true, |time, _, _| *time *= 1e3),
    ("slides in mm", "millimetres", &[2], true, |_, _, slide| slide[0] *= 1e3),
    ("slides and rates in mm", "millimetres", &[2], true, |_, _, slide| {
        slide[0] *= 1e3;
        slide[1] *= 1e3;
    }),
    ("rates in mm/s", "mm/s", &[2], false, |_, _, slide| slide[1] *= 1e3),
    ("rates of the other sign", "other sign", &[0, 1, 2, 3], false, |_, angle, slide| {
        angle[1] *= -1.0;
        slide[1] *= -1.0;
    }),
];

fn spoiled(
    scene: &Scene,
    recordings: &[Trajectory],
    spoil: Spoil,
    with_rates: bool,
) -> Vec<Trajectory> {
    let mut recordings = recordings.to_vec();
    for recording in &mut recordings {
        for (time, state) in recording.times.iter_mut().zip(&mut recording.states) {
            let once = *time;
            for body in &scene.model.bodies {
                let (q, v) = (body.joint.q, body.joint.v);
                let (mut own, mut none) = ([state.q[q], state.v[v]], [0.0; 2]);
                *time = once;
                match body.joint.kind.name() {
                    "prismatic" => spoil(time, &mut none, &mut own),
                    _ => spoil(time, &mut own, &mut none),
                }
                [state.q[q], state.v[v]] = own;
            }
        }
        if !with_rates {
            recording.recorded.v.fill(false);
        }
    }
    recordings
}

/// Counts of hits by name, and some misses.
#[derive(Default)]
struct Table {
    rows: Vec<(String, usize, usize)>,
    missed: Vec<String>,
}

impl Table {
    fn add(&mut self, name: &str, word: &str, found: &[String]) {
        let hit = match word {
            "" => found.is_empty(),
            word => found.iter().any(|question| question.contains(word)),
        };
        let place = self.rows.iter().position(|(other, ..)| other == name).unwrap_or_else(|| {
            self.rows.push((name.to_string(), 0, 0));
            self.rows.len() - 1
        });
        self.rows[place].1 += usize::from(hit);
        self.rows[place].2 += 1;
        if !hit && self.missed.len() < 30 {
            self.missed.push(format!("{name}: {found:?}"));
        }
    }

    #[track_caller]
    fn check(self) {
        let line =
            |(name, hits, all): &(String, usize, usize)| format!("{name:52} {hits:5} of {all}");
        let text = self.rows.iter().map(line).collect::<Vec<_>>().join("\n");
        println!("{text}");
        let well = |(_, hits, all): &(String, usize, usize)| 100 * hits >= 99 * all - 99;
        assert!(self.rows.iter().all(well), "{text}\n{}", self.missed.join("\n"));
    }
}

#[test]
fn mistakes_about_joints_are_asked_about_and_right_recordings_are_not() {
    let mut random = Random(11);
    let mut table = Table::default();
    // Each on four machines.
    for _ in 0..cases::count(250, 0.02) {
        for kind in 0..4 {
            let truth = Numbers::random(&mut random);
            let control = random.uniform(0.4, 1.2) * [-1.0, 1.0][random.below(2)];
            let made = machine(kind, &truth, control);
            let guess = truth.guessed(&mut random);
            let taken = machine(kind, &guess, control);
            let right = recordings(&made, &mut random, MADE);
            for (name, word, kinds, without, spoil) in MISTAKES {
                if !kinds.contains(&kind) {
                    continue;
                }
                let found = questions(&taken, &spoiled(&made, &right, spoil, true));
                table.add(name, word, &found);
                if without {
                    let found = questions(&taken, &spoiled(&made, &right, spoil, false));
                    table.add(&format!("{name}, no rates"), word, &found);
                }
            }
            let slow = recordings(&made, &mut random, [10, 30, 10]);
            table.add("none, 25 frames/s", "", &questions(&taken, &slow));
            let slow = recordings(&made, &mut random, [10, 12, 125]);
            table.add("none, 2 frames/s", "", &questions(&taken, &slow));
            // Oil where the scene has next to none.
            let thick = machine(kind, &Numbers { damping: 3.0, ..truth.clone() }, control);
            let braked = recordings(&thick, &mut random, MADE);
            table.add("none, damped 150 times as much", "", &questions(&taken, &braked));
            if kind == 3 {
                // What the motor does is not much less than what gravity does.
                let idle = machine(kind, &guess, 0.0);
                let strong = machine(kind, &truth, 4.0 * control.signum());
                let driven = recordings(&strong, &mut random, MADE);
                table.add("control left out", "control missing", &questions(&idle, &driven));
            }
        }
    }
    table.check();
}

#[test]
fn what_rests_rolls_or_slides_slowly_is_not_asked_about() {
    let mut random = Random(12);
    let mut table = Table::default();
    for _ in 0..cases::count(1000, 0.008) {
        let (radius, mu) = (random.uniform(0.02, 0.1), random.uniform(0.005, 0.05));
        let body = |shape: &str| {
            scenes::scene(&scenes::on_floor(&format!(
                "[simulation]\ntime_step = 0.01\n[[contact]]\nmu = {mu}\n[[body]]\nname = \"body\"\nmass = 0.4\n\
                 position = [0, 0, {radius}]\nshape = {{ {shape} }}\n"
            )))
        };
        let ball = body(&format!("sphere = {radius}"));
        let cube = body(&format!("box = [{radius}, {radius}, {radius}]"));
        let (noise, every) = (random.uniform(0.0, 1e-3), 10 + random.below(90));
        let motion = |scene: &Scene, speed: f64, spin: f64, random: &mut Random| {
            let mut scene = scene.clone();
            (scene.state.v[0], scene.state.v[4]) = (speed, spin);
            if spin > 0.0 && speed == 0.0 {
                scene.state.q[2] += 0.4;
                scene.state.v[0] = random.uniform(-1.0, 1.0);
            }
            let mut simulation = scene.simulate();
            let mut states = vec![simulation.state().clone()];
            for _ in 1..12 {
                for _ in 0..every {
                    simulation.step();
                }
                states.push(simulation.state().clone());
            }
            for x in states.iter_mut().flat_map(|state| &mut state.q[..3]) {
                *x += noise * (0..12).map(|_| random.uniform(-0.5, 0.5)).sum::<f64>();
            }
            let recorded = Recorded::all(&scene.model);
            let times = (0..12).map(|k| 0.01 * (k * every) as f64).collect();
            Trajectory { name: "slow.csv".into(), times, states, recorded }
        };
        let speed = random.uniform(0.01, 0.5);
        let rolls: Vec<_> =
            (0..10).map(|_| motion(&ball, speed, speed / radius, &mut random)).collect();
        table.add("rolls", "", &questions(&ball, &rolls));
        let rests: Vec<_> = (0..10).map(|_| motion(&cube, 0.0, 0.0, &mut random)).collect();
        table.add("rests", "", &questions(&cube, &rests));
        let tosses: Vec<_> =
            (0..10).map(|_| motion(&cube, 0.0, 20.0 * speed, &mut random)).collect();
        table.add("tosses", "", &questions(&cube, &tosses));
        let slides: Vec<_> = (0..10).map(|_| motion(&cube, speed, 0.0, &mut random)).collect();
        table.add("slides", "", &questions(&cube, &slides));
    }
    table.check();
}

/// A ball that turns by whole turns and a bit from frame to frame: the bit is all that quaternions show of it, and no
/// mistake. Rates in another unit are one where less than a turn lies between frames.
#[test]
fn whole_turns_between_frames_are_no_mistake() {
    let ball = scenes::scene(
        "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 0.4\n\
         position = [0, 0, 1]\nshape = { sphere = 0.05 }\n",
    );
    let tau = std::f64::consts::TAU;
    for (turns, bit) in [(0.0, 0.3), (1.0, 0.3), (2.0, 0.3), (1.0, -0.4)] {
        let degrees = (turns == 0.0).then_some(180.0 / std::f64::consts::PI);
        for factor in [1.0].into_iter().chain(degrees) {
            let rate = (tau * turns + bit) / 0.1;
            let record = |k: usize| {
                let mut state = ball.state.clone();
                let half = 0.5 * rate * 0.1 * k as f64;
                state.q[3..7].copy_from_slice(&[half.cos(), 0.0, half.sin(), 0.0]);
                state.v[4] = factor * rate;
                state
            };
            let times = (0..12).map(|k| 0.1 * k as f64).collect();
            let recorded = Recorded::all(&ball.model);
            let states = (0..12).map(record).collect();
            let recording = Trajectory { name: "turns.csv".into(), times, states, recorded };
            let found = questions(&ball, &[recording.clone(), recording]);
            let asked = found.iter().any(|question| question.contains("angular velocities"));
            assert_eq!(asked, factor != 1.0, "{turns} {bit} {factor}: {found:?}");
        }
    }
}
