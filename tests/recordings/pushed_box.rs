//! A box pushed by a hand whose force was recorded: of an independent simulator, and the same file in other units.

use std::fmt::Write;

use stiction::identify::{Dataset, Experiment, FitStatus, fit};

use crate::fixtures::folder::Folder;
use crate::random::Random;

const MASS: f64 = 1.2;
const MU: f64 = 0.31;
/// The force reaches the box so much later than it is recorded, s.
const DELAY: f64 = 0.013;
/// Standard deviations of positions (m) and rotation vectors (rad).
const NOISE: [f64; 2] = [2e-4, 4e-4];

const SCENE: &str = "[simulation]
time_step = 0.005
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'parcel'
mass = 1.0
shape = { box = [0.1, 0.1, 0.05] }
position = [0, 0, 0.05]
[[contact]]
pair = 'floor-parcel'
mu = 0.5
";

/// The force of the hand: it pushes, rests, pushes back, and pushes again.
fn force(t: f64, k: usize) -> f64 {
    let k = k as f64;
    let bumps =
        [(0.1 + 0.05 * k, 0.35, 9.0 + k), (0.75, 0.3, -(8.0 + 1.5 * k)), (1.3, 0.25, 10.0 - k)];
    let of = |(begin, length, most): (f64, f64, f64)| {
        let share = (t - begin) / length;
        let acts = (0.0..1.0).contains(&share);
        if acts { most * (std::f64::consts::PI * share).sin().powi(2) } else { 0.0 }
    };
    bumps.into_iter().map(of).sum()
}

/// Where the box is every 10 ms, and the force that was recorded: m x'' = F - mu m g sign(x'), by parabolas over 10 us.
fn motion(k: usize) -> Vec<[f64; 3]> {
    const STEP: f64 = 1e-5;
    let friction = MU * MASS * 9.81;
    let (mut x, mut v) = (0.0_f64, 0.0_f64);
    let mut rows = Vec::new();
    for step in 0..=180_000 {
        let t = STEP * f64::from(step);
        if step % 1000 == 0 {
            rows.push([t, x, force(t + DELAY, k)]);
        }
        let force = force(t, k);
        if v == 0.0 && force.abs() <= friction {
            continue;
        }
        let against = if v == 0.0 { force.signum() } else { v.signum() };
        let a = (force - friction * against) / MASS;
        let after = v + a * STEP;
        if v * after < 0.0 {
            x += v * v.abs() / (2.0 * a.abs());
            v = 0.0;
        } else {
            x += 0.5 * (v + after) * STEP;
            v = after;
        }
    }
    rows
}

/// Rows as we write them, and as someone with a tracker whose y is up does: ms, mm, x y z w, a force in kN, commas for points.
fn files(random: &mut Random, k: usize) -> [String; 2] {
    let mut ours = String::from("t,px,py,pz,qw,qx,qy,qz,force\n");
    let mut theirs = String::from("Zeit;X;Y;Z;i;j;k;w;Kraft\n");
    let mut normal = |sd: f64| {
        let sum: f64 = (0..12).map(|_| random.uniform(-0.5, 0.5)).sum();
        sd * sum
    };
    for [t, x, force] in motion(k) {
        let [x, y, z] = [x, 0.0, 0.05].map(|x| x + normal(NOISE[0]));
        let turn = [0.0; 3].map(|_| 0.5 * normal(NOISE[1]));
        let w = (1.0 - turn.iter().map(|x| x * x).sum::<f64>()).sqrt();
        let [i, j, k] = turn;
        writeln!(ours, "{t},{x},{y},{z},{w},{i},{j},{k},{force}").unwrap();
        // The frame of the tracker has its y along our z, and its z along our -y: (x, y, z) is (x, z, -y) there. Orientations are those of a
        // marker that stood level in that frame when the box lay level: turned by the same quarter turn, which [recordings] undoes.
        let half = 0.5_f64.sqrt();
        // The inverse of the quarter turn (half, half, 0, 0) times (w, i, j, k), times the quarter turn.
        let p = [half * (w + i), half * (i - w), half * (j + k), half * (k - j)];
        let q = [
            half * (p[0] - p[1]),
            half * (p[1] + p[0]),
            half * (p[2] + p[3]),
            half * (p[3] - p[2]),
        ];
        let row = [1e3 * t, 1e3 * x, 1e3 * z, -1e3 * y, q[1], q[2], q[3], q[0], 1e-3 * force];
        let row = row.map(|x| x.to_string().replace('.', ",")).join(";");
        writeln!(theirs, "{row}").unwrap();
    }
    [ours, theirs]
}

const OURS: &str = "[columns]
'parcel/fx' = { column = 'force', between = 'linear' }
";
const THEIRS: &str = "[columns]
t = { column = 'Zeit', unit = 'ms' }
'parcel/position' = { columns = ['X', 'Y', 'Z'], unit = 'mm' }
'parcel/orientation' = { columns = ['i', 'j', 'k', 'w'], as = 'xyzw' }
'parcel/fx' = { column = 'Kraft', unit = 'kN', between = 'linear' }
[recordings]
up = 'y'
[recordings.tracked]
parcel = { orientation = [0.7071067811865476, 0.7071067811865476, 0, 0] }
";

fn experiment(name: &str, columns: &str, which: usize) -> (Experiment, Dataset) {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    let mut random = Random(11);
    for k in 0..2 {
        folder.write(&format!("push{k}.csv"), &files(&mut random, k)[which]);
    }
    let text = format!(
        "scene = 'scene.toml'\ndata = ['push*.csv']\ninitial_state = 'fitted'\nmax_iterations = 100\n\
         [noise]\nposition = {}\nrotation_deg = {}\n{columns}\
         [[parameter]]\nname = 'parcel/mass'\nstart = 1.0\nlower = 0.2\nupper = 10\n\
         [[parameter]]\nname = 'floor-parcel/mu'\nstart = 0.5\nlower = 0.01\nupper = 1.5\n\
         [[parameter]]\nname = 'parcel/fx/delay'\nstart = 0.0\nlower = -0.05\nupper = 0.05\n",
        NOISE[0],
        NOISE[1].to_degrees(),
    );
    let experiment = folder.experiment(&text).unwrap();
    let dataset = Dataset::load(&experiment).unwrap();
    (experiment, dataset)
}

#[test]
fn a_recorded_push_tells_mass_friction_and_delay() {
    let (ours, dataset) = experiment("pushed", OURS, 0);
    let found = fit(&ours, &dataset, 2, &mut |_| true).unwrap();
    assert_eq!(found.status, FitStatus::Converged, "{found:?}");
    for (parameter, truth) in found.parameters.iter().zip([MASS, MU, DELAY]) {
        let value = parameter.value;
        let [low, high] = parameter.interval.unwrap();
        assert!((value / truth - 1.0).abs() < 0.01, "{}: {value}, not {truth}", parameter.name);
        assert!(
            (low..=high).contains(&truth),
            "{}: {truth} is not in {low} to {high}",
            parameter.name
        );
    }
    // What was written otherwise is the same.
    let (theirs, others) = experiment("pushed-otherwise", THEIRS, 1);
    for (ours, theirs) in dataset.trajectories.iter().zip(&others.trajectories) {
        assert_eq!(ours.times.len(), theirs.times.len());
        for (a, b) in ours.states.iter().zip(&theirs.states) {
            let apart = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
            assert!(apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-10, "{a:?} {b:?}");
        }
    }
    for (ours, theirs) in dataset.inputs.iter().zip(&others.inputs) {
        let [ours, theirs] = [&ours[0].signal, &theirs[0].signal];
        let apart = ours.values().iter().zip(theirs.values()).map(|(a, b)| (a - b).abs());
        assert!(ours.values().len() == 181 && apart.fold(0.0, f64::max) < 1e-12);
    }
    let again = fit(&theirs, &others, 2, &mut |_| true).unwrap();
    for (a, b) in found.parameters.iter().zip(&again.parameters) {
        let error = a.standard_error.unwrap();
        assert!((a.value - b.value).abs() < 0.05 * error, "{}: {} {}", a.name, a.value, b.value);
    }
}
