//! Fig. 2 of the paper: a puck dropped on an incline, by each law of contact (`incline.json`).

use std::collections::BTreeMap;

use stiction::argmin::Mode;
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::SolidParameters;
use stiction::implicit::VertexLaw;
use stiction::model::TetrahedralMesh;
use stiction::soft::{SoftBody, SoftContact, SoftGround, SoftRollout, SoftScene, SoftStart};

use super::numbers::{flat, json, number};
use crate::cases::count;
use crate::shared::shared;

/// The puck with contact by a law.
fn scene(law: VertexLaw, stiffness: f64) -> Option<SoftScene> {
    let file = json("incline.json")?;
    let settings = &file["settings"];
    let of = |name: &str| number(&settings[name]);
    let mesh = shared("reference/add/meshes/cylinder_r40_h30mm.msh")?;
    let mesh = TetrahedralMesh::load(mesh).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial {
        lame_lambda: of("lame_lambda"),
        lame_mu: of("lame_mu"),
        viscosity: of("viscosity"),
    };
    let gravity = flat(&settings["gravity"]).try_into().unwrap();
    let parameters = SolidParameters { material, density: of("density"), gravity };
    let mut body = SoftBody::new("puck", mesh, elements, parameters, SoftStart::default());
    body.touching = vec![SoftContact { friction: 0.4, stiffness, ..SoftContact::default() }];
    let ground = SoftGround { name: "floor".into(), normal: [0.0, 0.0, 1.0], offset: -0.05 };
    body.touch(std::slice::from_ref(&ground), &[]);
    let time_step = of("time_step");
    let bodies = vec![body];
    Some(SoftScene { time_step, law, grounds: vec![ground], bodies, ..SoftScene::default() })
}

/// After some steps: the centre of mass, how many vertices touch, and how fast these slip on average.
fn run(scene: &SoftScene, steps: usize) -> BTreeMap<usize, ([f64; 3], usize, f64)> {
    let mut rollout = SoftRollout::new(scene);
    let body = &scene.bodies[0];
    let mut found = BTreeMap::new();
    for step in 1..=steps {
        let mut touching = Vec::new();
        let report = rollout.step_observed(&mut |solved| {
            let modes = solved.step.modes.iter().zip(solved.contacts);
            let modes = modes.filter(|(mode, _)| **mode != Mode::Break);
            touching.extend(modes.map(|(_, contact)| contact.node));
        });
        assert_eq!(report.unsolved, 0, "{:?} {step}: {report:?}", scene.law);
        let state = &rollout.states()[0];
        let slip = |&node: &usize| state.velocity[node][0].hypot(state.velocity[node][1]);
        let creep = touching.iter().map(slip).sum::<f64>() / touching.len().max(1) as f64;
        found.insert(step, (body.mean(&state.position), touching.len(), creep));
    }
    found
}

#[test]
fn penalties_bounce_slide_and_creep_as_in_another_program() {
    let Some(file) = json("incline.json") else { return };
    let steps = count(500, 0.12);
    for (method, law) in [("linear", VertexLaw::PenaltyLinear), ("tanh", VertexLaw::PenaltyTanh)] {
        for expected in file["runs"].as_array().unwrap() {
            if expected["method"] != method || (steps < 500 && expected["kn"] != 100) {
                continue;
            }
            let Some(scene) = scene(law, number(&expected["kn"])) else { return };
            let found = run(&scene, steps);
            for (step, (centre, touching, creep)) in &found {
                let Some(expected) = expected["at"].get(step.to_string()).map(flat) else {
                    continue;
                };
                assert_eq!(*touching, expected[3] as usize, "{law:?} {step}");
                // Bouncing, small differences grow.
                let tolerance = if *step <= 60 { 1e-6 } else { 1e-4 };
                for (x, expected) in centre.iter().zip(&expected) {
                    assert!((x - expected).abs() < tolerance, "{law:?} {step}: {centre:?}");
                }
                if *step <= 60 {
                    assert!((creep - expected[4]).abs() < 1e-6, "{law:?} {step}: {creep}");
                } else if *step == 500 {
                    assert!((creep / expected[4] - 1.0).abs() < 0.01, "{law:?} {step}: {creep}");
                }
            }
        }
    }
}

/// Where all that touches sticks, by friction kt |u|, it creeps at m g sin / (N kt); with the exact cone it does not. And where Newton's
/// method stalls at kinks, stiff penalties are solved all the same, in each step.
#[test]
fn hybrid_does_not_creep_and_stiff_penalties_are_solved_in_each_step() {
    let steps = count(500, 0.1);
    let Some(stiff) = scene(VertexLaw::PenaltyLinear, 1e5) else { return };
    let all = run(&stiff, steps);
    if steps == 500 {
        let (_, touching, creep) = all[&500];
        let body = &stiff.bodies[0];
        let pull = body.mass() * body.parameters.gravity[0];
        let expected = pull / (touching as f64 * 1e5 * stiff.time_step);
        assert!((creep / expected - 1.0).abs() < 1e-2, "{creep} {expected}");
        // The hybrid method tends to exact contact like 1/kn.
        let end = |law, stiffness| run(&scene(law, stiffness).unwrap(), 500)[&500];
        let (exact, ..) = end(VertexLaw::Coupled, 0.0);
        for (stiffness, most) in [(1e2, 2e-3), (1e3, 2e-4), (1e4, 2e-5)] {
            let (centre, _, creep) = end(VertexLaw::Hybrid, stiffness);
            let off = (0..3).fold(0.0, |most: f64, k| most.max((centre[k] - exact[k]).abs()));
            println!("hybrid {stiffness:e}: {off:e} from exact contact, creep {creep:e}");
            assert!(off < most && creep <= 1e-12, "{stiffness}: {off:e} {creep:e}");
        }
    }
}

/// Sequential quadratic programs (`Geilinger20` 4.1) come where exact contact does: after sliding as far as a direction of friction that is
/// kept makes of it, and to rest without creep; in more iterations where vertices slide (Fig. 2c).
#[test]
fn quadratic_programs_slide_and_stick_as_exact_contact_does_in_more_iterations() {
    let steps = count(500, 0.3);
    let Some(exact) = scene(VertexLaw::Coupled, 0.0) else { return };
    let Some(quadratic) = scene(VertexLaw::Sqp, 0.0) else { return };
    let [(one, spent), (other, more)] = [&exact, &quadratic].map(|scene| {
        let mut rollout = SoftRollout::new(scene);
        let mut iterations = Vec::new();
        for step in 1..=steps {
            let report = rollout.step();
            assert_eq!(report.unsolved, 0, "{:?} {step}: {report:?}", scene.law);
            iterations.push(report.worst.iterations);
        }
        let state = rollout.states()[0].clone();
        (scene.bodies[0].mean(&state.position), iterations)
    });
    let off = (0..3).fold(0.0_f64, |most, k| most.max((one[k] - other[k]).abs()));
    let density = quadratic.parameter("puck/density").unwrap();
    let gradient = quadratic.record(3).gradient(&[density], &mut |_, _, _, _| ());
    let said = gradient.unwrap_err().to_string();
    assert!(said.contains("\"sqp\" has no derivatives"), "{said}");
    let sum = |all: &[usize]| all[40..100].iter().sum::<usize>();
    println!("{off:e} m apart, iterations of steps 41 to 100: {} and {}", sum(&spent), sum(&more));
    assert!(off < 1e-3, "{off:e}");
    assert!(sum(&more) > 2 * sum(&spent), "{spent:?} {more:?}");
    if steps == 500 {
        let (.., creep) = run(&quadratic, steps)[&steps];
        assert!(creep < 1e-12, "{creep:e}");
    }
}

/// Fig. 5: down a slope of 20 degrees against a wall, of more friction than the floor, by each law: every step is solved to 1e-10, and
/// the block comes to rest, on less friction than holds it in the corner that floor and wall make.
#[test]
fn down_a_slope_and_against_a_wall_every_step_is_solved() {
    // With the friction of the paper it would not start to slide: it is pushed.
    let laws = ["coupled", "hybrid", "penalty_linear", "penalty_tanh"];
    for (law, (mu, push)) in
        laws.iter().flat_map(|law| [(0.2, 0.0), (0.4, 1.0)].map(|own| (*law, own)))
    {
        let stiffness = if law == "coupled" { "" } else { "stiffness = 1000\n" };
        let text = format!(
            "gravity = [{}, 0, {}]\nsimulation = {{ time_step = 0.005, integrator = 'bdf2', solver = '{law}' }}\n\
             [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[half_space]]\nname = 'wall'\nnormal = [-1, 0, 0]\noffset = -0.1\n\
             [[soft]]\nname = 'block'\nshape = {{ box = [0.04, 0.03, 0.02] }}\nresolution = 0.03\ndensity = 150\n\
             lame_lambda = 1e3\nlame_mu = 1e4\nviscosity = 0.1\nposition = [0, 0, 0.05]\nvelocity = [{push}, 0, 0]\nangular_velocity = [0, 5, 0]\n\
             [[contact]]\npair = 'floor-block'\nmu = {mu}\n{stiffness}[[contact]]\npair = 'wall-block'\nmu = 0.8\n{stiffness}",
            9.81 * 20.0_f64.to_radians().sin(),
            -9.81 * 20.0_f64.to_radians().cos(),
        );
        let scene = SoftScene::parse(&text, "slope.toml").unwrap().unwrap();
        let mut rollout = SoftRollout::new(&scene);
        let (mut worst, mut at_wall) = (0.0_f64, 0);
        for step in 0..500 {
            let mut against = false;
            let report = rollout.step_observed(&mut |solved| {
                let touching = solved.step.modes.iter().zip(solved.contacts);
                let mut touching = touching.filter(|(mode, _)| **mode != Mode::Break);
                against |= touching.any(|(_, contact)| contact.normal[0] < -0.5);
            });
            assert_eq!(report.unsolved, 0, "{law} {step}: {report:?}");
            worst = worst.max(report.worst.residual);
            at_wall += usize::from(against);
        }
        let state = &rollout.states()[0];
        let speed = state.velocity.iter().flatten().fold(0.0_f64, |most, v| most.max(v.abs()));
        let front = state.position.iter().map(|x| x[0]).fold(f64::NEG_INFINITY, f64::max);
        println!(
            "{law} {mu}: {worst:.1e}, {at_wall} steps at the wall, {speed:.1e} m/s, front {front}"
        );
        assert!(worst < 1e-10, "{law}: {worst:e}");
        assert!(at_wall > 0 && speed < 1e-2, "{law} {mu}: {at_wall} {speed}");
        // What slides by itself leans on the wall, into which penalties yield by the weight on it.
        assert!(mu > 0.3 || at_wall > 100 && (front - 0.1).abs() < 2e-3, "{law}: {front}");
    }
}
