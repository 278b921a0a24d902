//! Linearizations as other programs write them: of a step with contact against differences between states that
//! are converted here, names and units, what is refused.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::linearize::{Convention, Linearization, Linearizer};
use stiction::model::{Scene, System};
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use crate::differences::central;
use crate::random::Random;
use crate::scenes::{on_floor, scene};

const SLIDING: &str = "[simulation]\ntime_step = 0.01\n\
    [[body]]\nname = 'cube'\nmass = 0.4\nposition = [0, 0, 9]\n\
    shape = { box = [0.05, 0.06, 0.07] }\ncenter_of_mass = [0.01, -0.02, 0.015]\n\
    inertia = [1e-3, 1.2e-3, 0.8e-3, 1e-4, -1e-4, 2e-4]\n\
    [[contact]]\nmu = 0.3\n";
const HALF: [f64; 3] = [0.05, 0.06, 0.07];

const JOINED: &str = "[simulation]\ntime_step = 0.01\n\
    [[body]]\nname = 'cube'\nmass = 1\nposition = [0.1, 0.2, 0.3]\norientation = [0.1, 0.7, 0.5, 0.5]\n\
    shape = { box = [0.05, 0.06, 0.07] }\n\
    [[body]]\nname = 'arm'\nparent = 'cube'\nmass = 0.5\ncenter_of_mass = [0.1, 0, 0]\ninertia = 0.01\n\
    joint = { type = 'ball', q = [0.8, 0.6, 0, 0], v = [1, -2, 0.5] }\n\
    [[body]]\nname = 'rod'\nparent = 'arm'\nmass = 0.2\ncenter_of_mass = [0, 0.1, 0]\ninertia = 0.01\n\
    joint = { type = 'prismatic', axis = [1, 0, 0], q = 0.05, v = 0.3 }\n";

fn system(scene: &Scene) -> System<'_, f64> {
    scene.system()
}

fn linearize(scene: &Scene, state: &State<f64>, u: &[f64], inputs: &[&str]) -> Linearization {
    let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let names = PARAMETERS.map(String::from);
    let mut linearizer = Linearizer::new("scene.toml", system(scene), u, &inputs, &names).unwrap();
    linearizer.rollout(state, 1, |_| ()).unwrap()
}

const PARAMETERS: [&str; 2] = ["cube/mass", "gravity/z"];
/// Columns of A, B and C of one free body.
const COLUMNS: usize = 18 + PARAMETERS.len();

/// A free body and what acts on it, as a convention writes them.
#[derive(Clone)]
struct Told {
    q: Vec<f64>,
    v: Vec<f64>,
    u: Vec<f64>,
}

fn vector(numbers: &[f64]) -> Vector3<f64> {
    Vector3::from_column_slice(&numbers[..3])
}

fn joined(first: Vector3<f64>, second: Vector3<f64>) -> Vec<f64> {
    first.iter().chain(&second).copied().collect()
}

/// Where numbers q of a convention put a body.
fn place(convention: Convention, q: &[f64]) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let (first, order) = match convention {
        Convention::Stiction | Convention::Mujoco => (0, [3, 4, 5, 6]),
        Convention::Pinocchio => (0, [6, 3, 4, 5]),
        Convention::Drake => (4, [0, 1, 2, 3]),
    };
    let [w, x, y, z] = order.map(|k| q[k]);
    (vector(&q[first..]), UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}

fn configuration(
    convention: Convention,
    position: Vector3<f64>,
    turn: UnitQuaternion<f64>,
) -> Vec<f64> {
    let [x, y, z]: [f64; 3] = position.into();
    let (w, i, j, k) = (turn.w, turn.i, turn.j, turn.k);
    match convention {
        Convention::Stiction | Convention::Mujoco => vec![x, y, z, w, i, j, k],
        Convention::Pinocchio => vec![x, y, z, i, j, k, w],
        Convention::Drake => vec![w, i, j, k, x, y, z],
    }
}

/// Velocities or forces of ours, linear in the world and angular in the body, in a convention.
fn seen(convention: Convention, turn: UnitQuaternion<f64>, ours: &[f64]) -> Vec<f64> {
    let (linear, angular) = (vector(ours), vector(&ours[3..]));
    match convention {
        Convention::Stiction | Convention::Mujoco => joined(linear, angular),
        Convention::Pinocchio => joined(turn.inverse() * linear, angular),
        Convention::Drake => joined(turn * angular, linear),
    }
}

/// The other way.
fn unseen(convention: Convention, turn: UnitQuaternion<f64>, theirs: &[f64]) -> Vec<f64> {
    let (first, second) = (vector(theirs), vector(&theirs[3..]));
    match convention {
        Convention::Stiction | Convention::Mujoco => joined(first, second),
        Convention::Pinocchio => joined(turn * first, second),
        Convention::Drake => joined(second, turn.inverse() * first),
    }
}

fn told(convention: Convention, state: &State<f64>, u: &[f64]) -> Told {
    let (position, turn) = place(Convention::Stiction, &state.q);
    Told {
        q: configuration(convention, position, turn),
        v: seen(convention, turn, &state.v),
        u: seen(convention, turn, u),
    }
}

fn ours(convention: Convention, told: &Told) -> (State<f64>, Vec<f64>) {
    let (position, turn) = place(convention, &told.q);
    let q = configuration(Convention::Stiction, position, turn);
    let v = unseen(convention, turn, &told.v);
    (State { q, v }, unseen(convention, turn, &told.u))
}

/// Where a displacement leads: with Drake along and about the axes of the world, with Pinocchio of the body.
fn moved(convention: Convention, q: &[f64], dq: &[f64]) -> Vec<f64> {
    let (position, turn) = place(convention, q);
    let (first, second) = (vector(dq), vector(&dq[3..]));
    let about = UnitQuaternion::from_scaled_axis;
    let (position, turn) = match convention {
        Convention::Stiction | Convention::Mujoco => (position + first, turn * about(second)),
        Convention::Pinocchio => (position + turn * first, turn * about(second)),
        Convention::Drake => (position + second, about(first) * turn),
    };
    configuration(convention, position, turn)
}

/// The displacement that leads from one to another.
fn difference(convention: Convention, from: &[f64], to: &[f64]) -> Vec<f64> {
    let ((p, r), (position, turn)) = (place(convention, from), place(convention, to));
    let (shift, body) = (position - p, (r.inverse() * turn).scaled_axis());
    match convention {
        Convention::Stiction | Convention::Mujoco => joined(shift, body),
        Convention::Pinocchio => joined(r.inverse() * shift, body),
        Convention::Drake => joined((turn * r.inverse()).scaled_axis(), shift),
    }
}

/// Where the step ends in a convention with `[q; v; u; parameters]` displaced.
fn displaced(scene: &Scene, convention: Convention, at: &Told, d: &[f64]) -> Told {
    let mut start = Told { q: moved(convention, &at.q, d), ..at.clone() };
    start.v.iter_mut().zip(&d[6..12]).for_each(|(v, d)| *v += d);
    start.u.iter_mut().zip(&d[12..18]).for_each(|(u, d)| *u += d);
    let mut parameters = scene.parameters.clone();
    for (name, d) in PARAMETERS.iter().zip(&d[18..]) {
        for &slot in &scene.model.parameter(name).unwrap().slots {
            parameters.values[slot] += d;
        }
    }
    let (state, u) = ours(convention, &start);
    let (workspace, mut next) = (&mut Workspace::default(), state.clone());
    let system = System { parameters: &parameters, ..system(scene) };
    step(&system, &state, &u, &mut StepMemory::default(), workspace, &mut next);
    told(convention, &next, &u)
}

/// The columns of `[A B C]` by differences.
fn by_differences(scene: &Scene, convention: Convention, at: &Told) -> Vec<Vec<f64>> {
    let end = displaced(scene, convention, at, &[0.0; COLUMNS]);
    let column = |k: usize| {
        let h = if k < 12 { 1e-5 } else { 4e-5 };
        central(h, |shift| {
            let mut d = [0.0; COLUMNS];
            d[k] = shift;
            let after = displaced(scene, convention, at, &d);
            let dv = after.v.iter().zip(&end.v).map(|(after, end)| after - end);
            difference(convention, &end.q, &after.q).into_iter().chain(dv).collect()
        })
    };
    (0..COLUMNS).map(column).collect()
}

/// A cube that slides: nearly flat, or on a corner. Its lowest corner is a little below the floor.
fn sliding(random: &mut Random, flat: bool) -> State<f64> {
    let yaw = Vector3::z() * random.uniform(-3.0, 3.0);
    let tilt: [f64; 3] = random.vector(if flat { 1e-3 } else { 3.0 });
    let about = UnitQuaternion::from_scaled_axis;
    let turn = about(yaw) * about(Vector3::from(tilt));
    let rotation = turn.to_rotation_matrix();
    let reach: f64 = (0..3).map(|k| rotation[(2, k)].abs() * HALF[k]).sum();
    let position = Vector3::new(0.3, -0.2, reach - random.uniform(1e-4, 3e-4));
    let [vx, vy, vz, wx, wy, wz] = random.vector(1.0);
    // A corner comes down faster than a turn could lift it.
    let v = if flat {
        vec![vx, vy, -0.1 * vz.abs(), 0.1 * wx, 0.1 * wy, wz]
    } else {
        vec![vx, vy, -0.4, wx, wy, wz]
    };
    State { q: configuration(Convention::Stiction, position, turn), v }
}

#[test]
fn a_sliding_cube_agrees_with_differences_in_each_convention() {
    let scene = scene(&on_floor(SLIDING));
    let mut random = Random(28);
    for case in 0..8 {
        // No mode changes nearby, where the differences would be of something else.
        let mut drawn = std::iter::repeat_with(|| {
            let state = sliding(&mut random, case % 2 == 0);
            let [fx, fy, fz, tx, ty, tz] = random.vector(1.0);
            let u = [0.3 * fx, 0.3 * fy, 0.3 * fz, 0.01 * tx, 0.01 * ty, 0.01 * tz];
            let result = linearize(&scene, &state, &u, &["all"]);
            assert_eq!(result.report().unsolved, 0, "{:?}", result.report());
            (state, u, result)
        });
        let apart = drawn.find(|(.., result)| result.report().worst.margin > 0.01);
        let (state, u, result) = apart.unwrap();
        assert!(!result.modes[0].is_empty());
        for convention in Convention::ALL {
            let name = convention.name();
            let found = result.expressed(convention, &scene.model, "scene.toml").unwrap();
            let at = told(convention, &state, &u);
            for (what, row, expected) in
                [("x", &found.x, [&at.q[..], &at.v].concat()), ("u", &found.u, at.u.clone())]
            {
                for (found, expected) in row.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-14, "{what}, {name}");
                }
            }
            let stacks = [&found.a, &found.b, &found.c];
            let all: Vec<_> =
                stacks.iter().map(|stack| stack.index_axis(ndarray::Axis(0), 0)).collect();
            let all = ndarray::concatenate(ndarray::Axis(1), &all).unwrap();
            let differences = by_differences(&scene, convention, &at);
            assert_eq!(all.ncols(), differences.len());
            for (k, column) in differences.iter().enumerate() {
                for (i, expected) in column.iter().enumerate() {
                    let row = all.row(i);
                    let scale = row.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                    let found = row[k];
                    assert!(
                        (found - expected).abs() < 1e-6 * scale,
                        "{name}, case {case} ({i}, {k}): {found} instead of {expected}"
                    );
                }
            }
        }
    }
}

/// Names of x, dx and u, and their units, of a free cube, an arm on a ball joint and a rod that slides.
const WRITTEN: [(Convention, [&str; 6]); 3] = [
    (
        Convention::Mujoco,
        [
            "cube/px cube/py cube/pz cube/qw cube/qx cube/qy cube/qz arm/qw arm/qx arm/qy arm/qz rod/q \
             cube/vx cube/vy cube/vz cube/wx cube/wy cube/wz arm/wx arm/wy arm/wz rod/v",
            "m m m 1 1 1 1 1 1 1 1 m m/s m/s m/s rad/s rad/s rad/s rad/s rad/s rad/s m/s",
            "cube/dpx cube/dpy cube/dpz cube/drx cube/dry cube/drz arm/drx arm/dry arm/drz rod/dq \
             cube/dvx cube/dvy cube/dvz cube/dwx cube/dwy cube/dwz arm/dwx arm/dwy arm/dwz rod/dv",
            "m m m rad rad rad rad rad rad m m/s m/s m/s rad/s rad/s rad/s rad/s rad/s rad/s m/s",
            "cube/fx cube/fy cube/fz cube/tx cube/ty cube/tz arm/tx arm/ty arm/tz rod/f",
            "N N N N_m N_m N_m N_m N_m N_m N",
        ],
    ),
    (
        Convention::Pinocchio,
        [
            "cube/px cube/py cube/pz cube/qx cube/qy cube/qz cube/qw arm/qx arm/qy arm/qz arm/qw rod/q \
             cube/vx cube/vy cube/vz cube/wx cube/wy cube/wz arm/wx arm/wy arm/wz rod/v",
            "m m m 1 1 1 1 1 1 1 1 m m/s m/s m/s rad/s rad/s rad/s rad/s rad/s rad/s m/s",
            "cube/dpx cube/dpy cube/dpz cube/drx cube/dry cube/drz arm/drx arm/dry arm/drz rod/dq \
             cube/dvx cube/dvy cube/dvz cube/dwx cube/dwy cube/dwz arm/dwx arm/dwy arm/dwz rod/dv",
            "m m m rad rad rad rad rad rad m m/s m/s m/s rad/s rad/s rad/s rad/s rad/s rad/s m/s",
            "cube/fx cube/fy cube/fz cube/tx cube/ty cube/tz arm/tx arm/ty arm/tz rod/f",
            "N N N N_m N_m N_m N_m N_m N_m N",
        ],
    ),
    (
        Convention::Drake,
        [
            "cube/qw cube/qx cube/qy cube/qz cube/px cube/py cube/pz arm/qw arm/qx arm/qy arm/qz rod/q \
             cube/wx cube/wy cube/wz cube/vx cube/vy cube/vz arm/wx arm/wy arm/wz rod/v",
            "1 1 1 1 m m m 1 1 1 1 m rad/s rad/s rad/s m/s m/s m/s rad/s rad/s rad/s m/s",
            "cube/drx cube/dry cube/drz cube/dpx cube/dpy cube/dpz arm/drx arm/dry arm/drz rod/dq \
             cube/dwx cube/dwy cube/dwz cube/dvx cube/dvy cube/dvz arm/dwx arm/dwy arm/dwz rod/dv",
            "rad rad rad m m m rad rad rad m rad/s rad/s rad/s m/s m/s m/s rad/s rad/s rad/s m/s",
            "cube/tx cube/ty cube/tz cube/fx cube/fy cube/fz arm/tx arm/ty arm/tz rod/f",
            "N_m N_m N_m N N N N_m N_m N_m N",
        ],
    ),
];

#[test]
fn names_and_units_follow_the_numbers() {
    let scene = Scene::parse(JOINED, "scene.toml").unwrap();
    let result = linearize(&scene, &scene.state, &scene.inputs, &["all"]);
    let ours: Vec<String> = scene.model.configuration_names();
    for (convention, written) in WRITTEN {
        let told = result.expressed(convention, &scene.model, "scene.toml").unwrap();
        let meta = told.meta(&system(&scene));
        assert_eq!(meta["convention"], convention.name());
        let keys = [
            "state_names",
            "state_units",
            "tangent_names",
            "tangent_units",
            "input_names",
            "input_units",
        ];
        for (key, expected) in keys.into_iter().zip(written) {
            let words = meta[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
            let expected = expected.split_whitespace().map(|word| word.replace('_', " "));
            assert!(words.eq(expected), "{key}, {}: {}", convention.name(), meta[key]);
        }
        // A number of q is the same under the same name.
        for (k, name) in written[0].split_whitespace().take(scene.model.nq()).enumerate() {
            let place = ours.iter().position(|other| other == name).unwrap();
            for stacks in [(&told.x, &result.x), (&told.f, &result.f)] {
                assert_eq!(stacks.0[(0, k)].to_bits(), stacks.1[(0, place)].to_bits(), "{name}");
            }
        }
    }
}

#[test]
fn names_of_conventions_are_read_back() {
    for convention in Convention::ALL {
        assert_eq!(Convention::named(convention.name()), Some(convention));
    }
    assert_eq!(Convention::named("Drake"), None);
    assert_eq!(Convention::default(), Convention::Stiction);
}

#[test]
fn forces_that_turn_are_taken_together() {
    use Convention::{Drake, Pinocchio};
    type Case<'a> = (&'a [&'a str], Convention, Option<(&'a str, &'a str)>);
    let scene = Scene::parse(JOINED, "scene.toml").unwrap();
    let all = "cube/fx, cube/fy, cube/fz, cube/tx, cube/ty, cube/tz";
    let cases: [Case; 6] = [
        (&["cube/fy"], Pinocchio, Some(("cube/fy", all))),
        (&["rod/f", "cube/tz", "cube/fx"], Drake, Some(("cube/fx", all))),
        (&["arm/ty", "arm/tx"], Drake, Some(("arm/tx", "arm/tx, arm/ty, arm/tz"))),
        (&["arm/ty", "arm/tx"], Pinocchio, None),
        (&["rod/f"], Drake, None),
        (&["cube/fx"], Convention::Mujoco, None),
    ];
    for (inputs, convention, refused) in cases {
        let result = linearize(&scene, &scene.state, &scene.inputs, inputs);
        let told = result.expressed(convention, &scene.model, "scene.toml");
        let name = convention.name();
        match refused {
            None => {
                let told = told.unwrap();
                assert_eq!((&told.inputs[..], told.b.dim()), (&result.inputs[..], result.b.dim()));
            }
            Some((input, together)) => {
                let expected = format!(
                    "scene.toml: {input}: is written in another frame in the convention {name}: \
                     select all of {together}, or none"
                );
                assert_eq!(told.err().unwrap().to_string(), expected);
            }
        }
    }
}

#[test]
fn the_order_of_selected_forces_stays_with_their_names() {
    let scene = Scene::parse(JOINED, "scene.toml").unwrap();
    let u: Vec<f64> = (1..=scene.model.nv()).map(|k| k as f64).collect();
    let mixed = [
        "rod/f", "cube/tz", "cube/fx", "cube/ty", "cube/fy", "cube/tx", "arm/ty", "cube/fz",
        "arm/tz", "arm/tx",
    ];
    for convention in Convention::ALL {
        let [plain, shuffled] = [&["all"][..], &mixed].map(|inputs| {
            let result = linearize(&scene, &scene.state, &u, inputs);
            result.expressed(convention, &scene.model, "scene.toml").unwrap()
        });
        for (k, name) in shuffled.inputs.iter().enumerate() {
            let place = plain.inputs.iter().position(|other| other == name).unwrap();
            assert!((shuffled.u[(0, k)] - plain.u[(0, place)]).abs() < 1e-12, "{name}");
            for row in 0..plain.b.dim().1 {
                let error = (shuffled.b[(0, row, k)] - plain.b[(0, row, place)]).abs();
                assert!(error < 1e-12, "{}, {name}: {error:e}", convention.name());
            }
        }
        let error = (&shuffled.a - &plain.a).iter().fold(0.0, |worst: f64, x| worst.max(x.abs()));
        assert!(error < 1e-12, "{}: {error:e}", convention.name());
    }
}

#[test]
fn what_is_expressed_is_not_expressed_again() {
    let scene = Scene::parse(JOINED, "scene.toml").unwrap();
    let result = linearize(&scene, &scene.state, &scene.inputs, &["all"]);
    let told = result.expressed(Convention::Drake, &scene.model, "scene.toml").unwrap();
    let error = told.expressed(Convention::Pinocchio, &scene.model, "scene.toml").err().unwrap();
    assert_eq!(error.to_string(), "scene.toml: convention: is in the convention drake already");
}
