//! Recordings that cannot be right are asked about in the right words, and right ones are not.

use stiction::identify::{Dataset, Experiment, questions};
use stiction::model::Scene;
use stiction::trajectory::{Recorded, Trajectory};

use crate::cases;
use crate::random::Random;
use crate::scenes;

/// Recordings of one experiment.
const RECORDINGS: usize = 20;
const FRAMES: usize = 150;

fn scene(half_extents: [f64; 3]) -> Scene {
    on_slope(half_extents, 0.0)
}

/// A box on ground that falls along x by an angle in rad.
fn on_slope([x, y, z]: [f64; 3], slope: f64) -> Scene {
    let (sin, cos) = slope.sin_cos();
    scenes::scene(&format!(
        "[simulation]\ntime_step = 0.004\n[[contact]]\nmu = 0.3\nrestitution = 0.2\n\
         [[half_space]]\nname = \"floor\"\nnormal = [{sin}, 0, {cos}]\n\
         [[body]]\nname = \"box\"\nmass = 0.4\nposition = [0, 0, {}]\nshape = {{ box = [{x}, {y}, {z}] }}\n",
        z + slope * (x + y + z)
    ))
}

/// About normal, of variance 1.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.uniform(-0.5, 0.5)).sum()
}

/// Tosses and slides with noise; a force of so much of its weight on what slides.
fn recordings(scene: &Scene, random: &mut Random, push: f64) -> Vec<Trajectory> {
    let model = &scene.model;
    let (position, rotation) = (random.uniform(0.0, 1e-3), random.uniform(0.0, 0.01));
    let record = |index: usize| {
        let mut scene = scene.clone();
        let mut state = scene.state.clone();
        let yaw = 0.5 * random.uniform(-3.0, 3.0);
        let [x, y, spin] = random.vector(1.5);
        (state.v[0], state.v[1], state.v[5]) = (x, y, 2.0 * spin);
        state.q[3..7].copy_from_slice(&[yaw.cos(), 0.0, 0.0, yaw.sin()]);
        if index.is_multiple_of(2) && push == 0.0 {
            state.q[2] += random.uniform(0.2, 0.5);
            state.v[3..6].copy_from_slice(&random.vector::<3>(6.0));
            let q: [f64; 4] = random.vector(1.0);
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
            state.q[3..7].copy_from_slice(&q.map(|x| x / norm));
        }
        let speed = x.hypot(y).max(1e-3);
        scene.inputs[0] = push * 0.4 * 9.81 * x / speed;
        scene.inputs[1] = push * 0.4 * 9.81 * y / speed;
        scene.state = state;
        let mut simulation = scene.simulate();
        let mut states = vec![simulation.state().clone()];
        for _ in 1..FRAMES {
            simulation.step();
            states.push(simulation.state().clone());
        }
        for state in &mut states {
            state.q[..3].iter_mut().for_each(|x| *x += position * normal(random));
            state.q[3..].iter_mut().for_each(|x| *x += 0.5 * rotation * normal(random));
            let norm = state.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
            state.q[3..].iter_mut().for_each(|x| *x /= norm);
            state.v[..3].iter_mut().for_each(|x| *x += 0.02 * normal(random));
            state.v[3..].iter_mut().for_each(|x| *x += 0.05 * normal(random));
        }
        Trajectory {
            name: format!("{index}.csv"),
            times: (0..FRAMES).map(|k| 0.004 * k as f64).collect(),
            states,
            recorded: Recorded::all(model),
        }
    };
    (0..RECORDINGS).map(record).collect()
}

/// A mistake: its name, the word that the question about it has, and what it does to a frame: time, q and v.
type Mistake = (&'static str, &'static str, fn(&mut f64, &mut [f64], &mut [f64]));

fn scale(x: &mut [f64], factor: f64) {
    x.iter_mut().for_each(|x| *x *= factor);
}

/// The numbers of a rotation of the world that takes z to y.
fn y_up(q: &mut [f64], v: &mut [f64]) {
    for x in [&mut q[..3], &mut v[..3]] {
        let [_, y, z] = [x[0], x[1], x[2]];
        (x[1], x[2]) = (z, -y);
    }
    let h = 0.5f64.sqrt();
    let [w, x, y, z] = [q[3], q[4], q[5], q[6]];
    q[3..7].copy_from_slice(&[h * (w + x), h * (x - w), h * (y + z), h * (z - y)]);
}

const MISTAKES: [Mistake; 12] = [
    ("none", "", |_, _, _| {}),
    ("positions in mm", "millimetres", |_, q, _| scale(&mut q[..3], 1e3)),
    ("positions and velocities in mm", "millimetres", |_, q, v| {
        scale(&mut q[..3], 1e3);
        scale(&mut v[..3], 1e3);
    }),
    ("positions in cm", "centimetres", |_, q, _| scale(&mut q[..3], 1e2)),
    ("times in ms", "milliseconds", |t, _, _| *t *= 1e3),
    ("frames 10 s apart", "milliseconds", |t, _, _| *t *= 2500.0),
    ("quaternions x, y, z, w", "x, y, z, w", |_, q, _| q[3..7].rotate_left(1)),
    ("y up", "does y point up", |_, q, v| y_up(q, v)),
    ("degrees/s", "degrees/s", |_, _, v| scale(&mut v[3..6], 180.0 / std::f64::consts::PI)),
    ("velocities in mm/s", "mm/s", |_, _, v| scale(&mut v[..3], 1e3)),
    ("floor 5 cm too low", "height of the floor", |_, q, _| q[2] += 0.05),
    ("40 m up", "height of the floor", |_, q, _| q[2] += 40.0),
];

fn spoiled(recordings: &[Trajectory], (_, _, spoil): Mistake, with_rates: bool) -> Vec<Trajectory> {
    let mut recordings = recordings.to_vec();
    for recording in &mut recordings {
        for (time, state) in recording.times.iter_mut().zip(&mut recording.states) {
            spoil(time, &mut state.q, &mut state.v);
        }
        if !with_rates {
            recording.recorded.v.fill(false);
        }
    }
    recordings
}

#[test]
fn mistakes_are_asked_about_and_right_recordings_are_not() {
    let repetitions = cases::count(1000, 0.015);
    let mut random = Random(7);
    // Name, asked in the right words.
    let mut table: Vec<(String, usize)> = Vec::new();
    let mut others = Vec::new();
    for _ in 0..repetitions {
        let half = [(); 3].map(|()| random.uniform(0.02, 0.08));
        let scene_of = scene(half);
        let right = recordings(&scene_of, &mut random, 0.0);
        // What is flat does not tip when it is pushed.
        let mut flat = half;
        flat.sort_by(|a, b| b.total_cmp(a));
        let flat = scene(flat);
        let pushed = recordings(&flat, &mut random, 0.6);
        let mut asked = Vec::new();
        for mistake in MISTAKES {
            for with_rates in [true, false] {
                let of_rates = mistake.1.ends_with("/s");
                if !with_rates && of_rates {
                    continue;
                }
                let found = questions(&scene_of, &spoiled(&right, mistake, with_rates));
                let rates = if with_rates { "" } else { ", no velocities" };
                asked.push((format!("{}{rates}", mistake.0), mistake.1, found));
            }
        }
        let larger = scene(half.map(|x| 10.0 * x));
        let smaller = scene(half.map(|x| 0.1 * x));
        asked.push(("body 10 times too large".into(), "size", questions(&larger, &right)));
        asked.push(("body 10 times too small".into(), "size", questions(&smaller, &right)));
        asked.push(("force left out".into(), "force or an input", questions(&flat, &pushed)));
        for (place, (name, word, found)) in asked.into_iter().enumerate() {
            let hit = match word {
                "" => found.is_empty(),
                word => found.iter().any(|question| question.contains(word)),
            };
            if table.len() <= place {
                table.push((name.clone(), 0));
            }
            table[place].1 += usize::from(hit);
            if !hit {
                others.push(format!("{name}: {found:?}"));
            }
        }
    }
    let lines = table.iter().map(|(name, hits)| format!("{name:44} {hits:5} of {repetitions}"));
    let text = lines.collect::<Vec<_>>().join("\n");
    println!("{text}");
    others.truncate(20);
    let least = (0.99 * repetitions as f64).floor() as usize;
    assert!(table.iter().all(|(_, hits)| *hits >= least), "{text}\n{}", others.join("\n"));
}

/// The ground that counts is the one that is there.
#[test]
fn boxes_on_slopes_are_judged_by_the_slope() {
    let repetitions = cases::count(1000, 0.005);
    let mut random = Random(8);
    let mut hits = [0; 4];
    let mut others = Vec::new();
    for _ in 0..repetitions {
        let half = [(); 3].map(|()| random.uniform(0.02, 0.08));
        let scene_of = on_slope(half, random.uniform(0.05, 0.5));
        let right = recordings(&scene_of, &mut random, 0.0);
        let lifted = spoiled(&right, ("", "", |_, q, _| q[2] += 0.05), true);
        let asked = [
            (questions(&scene_of, &right), ""),
            (questions(&scene_of, &lifted), "height of the floor"),
            (questions(&scene_of, &spoiled(&right, MISTAKES[1], false)), "millimetres"),
            (questions(&scene_of, &spoiled(&right, MISTAKES[4], false)), "milliseconds"),
        ];
        for (hits, (found, word)) in hits.iter_mut().zip(asked) {
            let hit =
                if word.is_empty() { found.is_empty() } else { found.concat().contains(word) };
            *hits += usize::from(hit);
            if !hit {
                others.push(format!("{word}: {found:?}"));
            }
        }
    }
    others.truncate(20);
    println!("on slopes: none, floor 5 cm too low, mm, ms: {hits:?} of {repetitions}");
    let least = (0.99 * repetitions as f64).floor() as usize;
    assert!(hits.iter().all(|hits| *hits >= least), "{hits:?}\n{}", others.join("\n"));
}

#[test]
fn built_in_recordings_are_not_asked_about() {
    let experiment = Experiment::builtin().unwrap();
    let dataset = Dataset::builtin(&experiment).unwrap();
    let found = questions(&experiment.scene, &dataset.trajectories);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn nothing_is_made_of_numbers_that_say_nothing() {
    let scene = scene([0.05; 3]);
    assert!(questions(&scene, &[]).is_empty());
    let recording = |x: f64, dt: f64| {
        let mut states = vec![scene.state.clone(); 12];
        states.iter_mut().enumerate().for_each(|(k, state)| state.q[0] = x * k as f64);
        Trajectory {
            name: "motion.csv".into(),
            times: (0..12).map(|k| dt * k as f64).collect(),
            states,
            recorded: Recorded::all(&scene.model),
        }
    };
    for x in [0.0, 1e-300, 1.0, 1e300, f64::MAX, f64::NAN] {
        for dt in [0.0, 1e-300, 0.01, 1e300] {
            // Whatever is said, it is said.
            assert!(questions(&scene, &[recording(x, dt)]).len() < 10);
        }
    }
}
