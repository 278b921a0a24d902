//! Derivatives of motions of soft bodies in parameters and starts.

use stiction::argmin::Status;
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, ContactStep, DerivativeMemory, History, Momentum, SolidParameters, StepChange,
    StepDerivative, StepSolver, VertexLaw,
};
use stiction::model::{CellSplit, TetrahedralMesh};
use stiction::soft::{
    SoftBody, SoftContact, SoftGround, SoftParameter, SoftRollout, SoftScene, SoftStart,
    SoftTangents,
};

use super::numbers::{error, flat, json, number};
use crate::cases::count;
use crate::differences::central;
use crate::shared::shared;

/// A block thrown at a floor and a wall.
pub(super) fn thrown(law: VertexLaw, moved_before: bool) -> SoftScene {
    let mesh = TetrahedralMesh::box_grid([0.1, 0.06, 0.04], [2, 1, 1], CellSplit::Six).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial { viscosity: 2.0, ..SolidMaterial::from_young(3e4, 0.3) };
    let parameters = SolidParameters { material, density: 300.0, gravity: [0.0, 0.0, -9.81] };
    let start = SoftStart {
        position: [0.4, 0.1, 0.12],
        velocity: [-1.5, 0.3, -0.8],
        angular_velocity: [1.0, -4.0, 2.0],
        ..SoftStart::default()
    };
    let mut body = SoftBody::new("block", mesh, elements, parameters, start);
    body.start_at(start.moved(&[0.0, 0.0, 0.0, 0.2, 0.3, -0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    let damping = if law.is_penalty() { 20.0 } else { 0.0 };
    let floor = SoftContact { friction: 0.4, stiffness: 3e5, damping, by_area: true };
    body.touching = vec![
        floor,
        SoftContact { friction: 0.2, stiffness: 800.0, damping: 0.01 * damping, by_area: false },
    ];
    let ground = |name: &str, normal| SoftGround { name: name.into(), normal, offset: 0.0 };
    let grounds = vec![ground("floor", [0.0, 0.0, 1.0]), ground("wall", [1.0, 0.0, 0.0])];
    body.touch(&grounds, &[]);
    SoftScene {
        time_step: 0.004,
        bdf: Bdf::Two,
        law,
        moved_before,
        grounds,
        bodies: vec![body],
        ..SoftScene::default()
    }
}

const STEPS: usize = 70;

/// Where the block and one of its nodes end, and how fast.
fn end(scene: &SoftScene, steps: usize) -> Vec<f64> {
    let record = scene.record(steps);
    assert!(record.reports.iter().all(|report| report.unsolved == 0));
    let state = &record.states[steps][0];
    let body = &scene.bodies[0];
    let mean = [body.mean(&state.position), body.surface_mean(&state.velocity)];
    mean.into_iter().flatten().chain(state.position[3]).collect()
}

#[test]
fn motions_change_with_parameters_and_starts_as_differences_say_forward_and_backward() {
    for law in VertexLaw::ALL.into_iter().filter(|law| law.has_derivatives()) {
        let scene = thrown(law, law == VertexLaw::Hybrid);
        // Both walls are touched.
        let record = scene.record(STEPS);
        let touched = record.states.iter().map(|state| &state[0].impulse);
        let pushed = |k: usize| touched.clone().flatten().any(|p| p[k] > 1e-5);
        assert!(pushed(0) && pushed(2), "{law:?}");
        all_ways_agree(&scene, 2e-16);
    }
}

/// The end of a motion of one body changes with all parameters alike forward, backward and by differences, of which rounding leaves
/// this much in the numbers of the end.
pub(super) fn all_ways_agree(scene: &SoftScene, rounding: f64) {
    all_ways_agree_after(scene, (STEPS, 1e-5), (rounding, 1e-12));
}

/// The same after so many steps, by differences that are this part of what changes, where derivatives below `nothing` are none.
pub(super) fn all_ways_agree_after(
    scene: &SoftScene,
    (steps, part): (usize, f64),
    (rounding, nothing): (f64, f64),
) {
    let law = scene.law;
    let named = scene.parameters();
    let parameters: Vec<SoftParameter> = named.iter().map(|(_, p)| *p).collect();
    let record = scene.record(steps);
    let mut tangents = SoftTangents::new(scene, &parameters);
    (0..steps).for_each(|_| _ = tangents.step().unwrap());
    let body = &scene.bodies[0];
    let forward: Vec<Vec<f64>> = tangents
        .columns(0)
        .flatten()
        .map(|(x, v)| {
            let mean = [body.mean(x), body.surface_mean(v)];
            mean.into_iter().flatten().chain(x[3]).collect()
        })
        .collect();
    // The adjoint of each number of the end.
    for row in 0..9 {
        let mut weigh = |step: usize, _, x: &mut [[f64; 3]], v: &mut [[f64; 3]]| {
            if step < steps {
                return;
            }
            let k = row % 3;
            let shares = |weights: &[f64]| -> Vec<f64> {
                let total: f64 = weights.iter().sum();
                weights.iter().map(|w| w / total).collect()
            };
            match row / 3 {
                0 => {
                    let shares = shares(body.elements.unit_weight());
                    x.iter_mut().zip(shares).for_each(|(x, share)| x[k] += share);
                }
                1 => {
                    let shares = shares(&body.areas);
                    body.surface.iter().zip(shares).for_each(|(&at, share)| v[at][k] += share);
                }
                _ => x[3][k] += 1.0,
            }
        };
        let gradient = record.gradient(&parameters, &mut weigh).unwrap();
        for (j, (name, _)) in named.iter().enumerate() {
            let scale = forward[j].iter().fold(nothing, |m: f64, x| m.max(x.abs()));
            let e = (gradient[j] - forward[j][row]).abs() / scale;
            assert!(e < 1e-9, "{law:?} {name} {row}: {} {}", gradient[j], forward[j][row]);
        }
    }
    let mut compared = 0;
    for (j, (name, parameter)) in named.iter().enumerate() {
        let value = scene.value(*parameter);
        let Some(size) = difference(scene, (name, *parameter), part) else { continue };
        compared += 1;
        let moved = |h: f64| {
            let mut scene = scene.clone();
            scene.set(*parameter, value + h);
            end(&scene, steps)
        };
        let agree = |size: f64| {
            let expected = central(size, moved);
            let e = error(&forward[j], &expected, rounding / (2e-5 * size));
            if e < 2e-5 { Ok(()) } else { Err(format!("{e:e} {:?} {expected:?}", forward[j])) }
        };
        any_agrees((scene, &format!("{law:?} {name}")), size, agree);
    }
    assert!(4 * compared > 3 * named.len(), "{compared} of {}", named.len());
}

/// Differences of this size agree; with closed loops, of which these may see what they are left open by, larger ones may.
pub(super) fn any_agrees(
    (scene, name): (&SoftScene, &str),
    size: f64,
    agree: impl Fn(f64) -> Result<(), String>,
) {
    let found = agree(size);
    let loops = scene.rigid.as_deref().is_some_and(|rigid| !rigid.model.equalities.is_empty());
    let larger: &[f64] = if loops { &[10.0, 100.0] } else { &[] };
    if found.is_err() && !larger.iter().any(|more| agree(more * size).is_ok()) {
        panic!("{name}: {found:?}");
    }
}

/// How far a parameter is moved for differences that are `part` of what is usual; nothing where it is at the end of what it may be (friction
/// that is none is not in the conditions), or opens a loop that cannot be closed.
pub(super) fn difference(
    scene: &SoftScene,
    (name, parameter): (&str, SoftParameter),
    part: f64,
) -> Option<f64> {
    let value = scene.value(parameter);
    let usual = if name.contains("/inertia/") { 1e-3 } else { 0.1 };
    let size = value.abs().max(usual) * part;
    let mut less = scene.clone();
    less.set(parameter, value - size);
    let solved = less.check().is_ok() && SoftRollout::new(&less).step().unsolved == 0;
    solved.then_some(size)
}

/// Fig. 3 of the paper: the mean of the surface at the end, and its derivative in the throw and the material.
#[test]
fn a_toss_ends_and_changes_as_in_another_program() {
    let Some(file) = json("toss.json") else { return };
    let Some(path) = shared("reference/add/meshes/sphere_r25mm_coarse.msh") else { return };
    let mesh = TetrahedralMesh::load(path).unwrap();
    let of = |name: &str| number(&file["settings"][name]);
    let (steps, time_step) = (of("steps") as usize, of("time_step"));
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial {
        lame_lambda: of("lame_lambda"),
        lame_mu: of("lame_mu"),
        viscosity: of("viscosity"),
    };
    let gravity = [0.0, 0.0, -9.81];
    let parameters = SolidParameters { material, density: of("density"), gravity };
    let mut body = SoftBody::new("ball", mesh, elements, parameters, SoftStart::default());
    let grounds = [SoftGround { name: "floor".into(), normal: [0.0, 0.0, 1.0], offset: -0.05 }];
    let centre = body.mean(&body.mesh.nodes);
    let mut run = |law: VertexLaw, stiffness: f64, throw: &[f64], derive: bool| {
        body.touching = vec![SoftContact { friction: 0.4, stiffness, ..SoftContact::default() }];
        body.touch(&grounds, &[]);
        let contacts = &body.contacts;
        let x = body.mesh.nodes.clone();
        let spin = |x: &[f64; 3]| {
            let arm = [x[0] - centre[0], x[2] - centre[2]];
            [throw[0] - 4.0 * arm[1], throw[1], throw[2] + 4.0 * arm[0]]
        };
        let v: Vec<[f64; 3]> = x.iter().map(spin).collect();
        // As the paper starts: it has moved as it does before.
        let mut history = History::start(x, v, time_step);
        let mut step = ContactStep::start_by(law, history.v.clone());
        let (mut solver, mut memory) = (StepSolver::default(), DerivativeMemory::default());
        let none = StepChange::none(history.x.len(), contacts.len());
        let mut columns = vec![none; if derive { 7 } else { 0 }];
        for (k, column) in columns.iter_mut().enumerate() {
            let material = &mut column.parameters.material;
            match k {
                0..3 => {
                    column.v.iter_mut().for_each(|v| v[k] = 1.0);
                    column.v_old.clone_from(&column.v);
                    column.x_old.iter_mut().for_each(|x| x[k] = -time_step);
                }
                3 => material.lame_lambda = 1.0,
                4 => material.lame_mu = 1.0,
                5 => material.viscosity = 1.0,
                _ => column.friction.fill(1.0),
            }
        }
        for _ in 0..steps {
            let predicted = Bdf::Two.predict(time_step, &history);
            let momentum = Momentum::of_step(&body.elements, parameters, &predicted);
            solver.solve(&momentum, contacts, &mut step);
            assert_eq!(step.report.status, Status::Solved, "{law:?} {:?}", step.report);
            if derive {
                let derivative = StepDerivative::with(memory, momentum, Bdf::Two, contacts, &step);
                let mut derivative = derivative.unwrap();
                for column in &mut columns {
                    let [v, x] = derivative.tangent(column);
                    column.x_old = std::mem::replace(&mut column.x, x);
                    column.v_old = std::mem::replace(&mut column.v, v);
                }
                memory = derivative.into_memory();
            }
            history.advance(&predicted, &step.velocity);
        }
        let slopes: Vec<[f64; 3]> = columns.iter().map(|c| body.surface_mean(&c.x)).collect();
        (body.surface_mean(&history.x), slopes)
    };
    for optimum in file["optima"].as_array().unwrap().iter().take(count(2, 0.5)) {
        let throw = flat(&optimum["v"]);
        let (mean, slopes) = run(VertexLaw::PenaltyLinear, 1e3, &throw, true);
        let e = error(&mean, &flat(&optimum["mean"]), 0.0);
        assert!(e < 1e-8, "{mean:?} {e:e}");
        let by_rows: Vec<f64> = (0..3).flat_map(|i| slopes.iter().map(move |s| s[i])).collect();
        for (found, expected) in by_rows.chunks(7).zip(flat(&optimum["jacobian"]).chunks(7)) {
            let e = error(found, expected, 0.0);
            assert!(e < 1e-7, "{found:?} {expected:?}");
        }
    }
    // The first three are exact, smooth and hybrid.
    for other in file["same_throw"].as_array().unwrap().iter().take(count(6, 0.5)) {
        let law = match other["method"].as_str().unwrap() {
            "exact" => VertexLaw::Coupled,
            "tanh" => VertexLaw::PenaltyTanh,
            "linear" => VertexLaw::PenaltyLinear,
            // The paper's leaves contacts that come to rest to the penalty: another law, if by little.
            _ => continue,
        };
        let stiffness = other["kn"].as_f64().unwrap_or_default();
        let (mean, _) = run(law, stiffness, &flat(&other["v"]), false);
        let expected = flat(&other["mean"]);
        let e = (0..3).fold(0.0, |most: f64, k| most.max((mean[k] - expected[k]).abs()));
        assert!(e < 1e-7, "{law:?} {stiffness}: {mean:?} {expected:?}");
    }
}

/// A block under so much weight that in such steps it would topple, but for the floor: its matrix alone is not positive definite, condensed or
/// not.
#[test]
fn what_would_topple_alone_has_derivatives() {
    for viscosity in ["", "viscosity = 20\n"] {
        let text = format!(
            "gravity = [1, 0.5, -100]\nsimulation = {{ time_step = 0.01, tolerance = 1e-12 }}\n\
             [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[soft]]\nname = 'block'\nshape = {{ box = [0.01, 0.01, 0.02] }}\n\
             resolution = 0.1\ndensity = 500\nyoungs_modulus = 1e6\npoisson_ratio = 0.3\nposition = [0, 0, 0.0201]\n{viscosity}\
             [[contact]]\nmu = 0.5\n"
        );
        let scene = SoftScene::parse(&text, "topples.toml").unwrap().unwrap();
        all_ways_agree_after(&scene, (8, 1e-6), (2e-14, 1e-10));
    }
}
