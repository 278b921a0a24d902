//! Motions over many steps: flight, orders of the formulas, a puck on an incline (`incline.json`).

use stiction::argmin::{Mode, Status};
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, CondensedContact, ContactStep, History, Momentum, Newton, SolidParameters, VertexContact,
};
use stiction::model::{CellSplit, TetrahedralMesh};
use stiction::soft::{SoftRollout, SoftScene};

use super::numbers::{flat, json, number};
use crate::cases::count;
use crate::shared::shared;

/// Weighted by the mass of density 1: volume and sum of x times it.
fn mean(elements: &Elements, x: &[[f64; 3]]) -> [f64; 3] {
    let weights = elements.unit_weight();
    let volume: f64 = weights.iter().sum();
    [0, 1, 2].map(|k| x.iter().zip(weights).map(|(x, w)| x[k] * w).sum::<f64>() / volume)
}

/// The sum of x cross M v, for density 1.
fn spin(elements: &Elements, x: &[[f64; 3]], v: &[[f64; 3]]) -> [f64; 3] {
    let mut momentum = vec![[0.0; 3]; x.len()];
    elements.add_mass_product(1.0, v, &mut momentum);
    let mut sum = [0.0; 3];
    for (x, p) in x.iter().zip(&momentum) {
        for (k, sum) in sum.iter_mut().enumerate() {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            *sum += x[i] * p[j] - x[j] * p[i];
        }
    }
    sum
}

fn kinetic(elements: &Elements, density: f64, v: &[[f64; 3]]) -> f64 {
    let mut momentum = vec![[0.0; 3]; v.len()];
    elements.add_mass_product(density, v, &mut momentum);
    let of = |(v, p): (&[f64; 3], &[f64; 3])| (0..3).map(|k| v[k] * p[k]).sum::<f64>();
    0.5 * v.iter().zip(&momentum).map(of).sum::<f64>()
}

fn block() -> (TetrahedralMesh, Elements) {
    let mesh = TetrahedralMesh::box_grid([0.2, 0.1, 0.1], [4, 2, 2], CellSplit::Five).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    (mesh, elements)
}

/// Steps without contact.
fn fly(
    elements: &Elements,
    parameters: SolidParameters<f64>,
    fixed: &[bool],
    (bdf, time_step, steps): (Bdf, f64, usize),
    history: &mut History<f64>,
) {
    let mut newton = Newton::default();
    for _ in 0..steps {
        let predicted = bdf.predict(time_step, history);
        let momentum = Momentum { fixed, ..Momentum::of_step(elements, parameters, &predicted) };
        let mut v = history.v.clone();
        let report = newton.solve(&momentum, &mut v);
        assert_eq!(report.status, Status::Solved, "{report:?}");
        history.advance(&predicted, &v);
    }
}

#[test]
fn flight_keeps_momentum() {
    let (mesh, elements) = block();
    let material = SolidMaterial { lame_lambda: 2e3, lame_mu: 5e3, viscosity: 2.0 };
    for (bdf, tolerance) in [(Bdf::One, 1e-12), (Bdf::Two, 1e-12)] {
        let parameters = SolidParameters { material, density: 150.0, gravity: [0.3, -0.2, -9.81] };
        let mut random = crate::random::Random(11);
        let v: Vec<[f64; 3]> = mesh.nodes.iter().map(|_| random.vector(0.2)).collect();
        let start = mean(&elements, &v);
        let time_step = 0.005;
        let mut history = History::start(mesh.nodes.clone(), v, time_step);
        let steps = 40;
        fly(&elements, parameters, &[], (bdf, time_step, steps), &mut history);
        let end = mean(&elements, &history.v);
        for k in 0..3 {
            // The velocity of the centre grows by g t: of BDF2 as well, but for its first step, which begins with
            // v_old = v: sum of (3 v+ - 4 v + v_old) = 2 dt g from there.
            let grown = match bdf {
                Bdf::One => steps as f64 * time_step,
                Bdf::Two => grown_by_bdf2(steps, time_step),
            };
            let expected = start[k] + parameters.gravity[k] * grown;
            assert!((end[k] - expected).abs() < tolerance, "{bdf:?}: {} {expected}", end[k]);
        }
    }
}

/// v after steps of v' = 1 from v = v_old = 0 by BDF2, by its recursion 3 v+ = 4 v - v_old + 2 dt.
fn grown_by_bdf2(steps: usize, time_step: f64) -> f64 {
    let (mut v, mut old) = (0.0, 0.0);
    for _ in 0..steps {
        (v, old) = ((4.0 * v - old + 2.0 * time_step) / 3.0, v);
    }
    v
}

#[test]
fn viscosity_does_not_damp_spin() {
    let (mesh, elements) = block();
    let omega = [0.0, 0.0, 2.0];
    let v: Vec<[f64; 3]> =
        mesh.nodes.iter().map(|x| [-omega[2] * x[1], omega[2] * x[0], 0.0]).collect();
    let before = spin(&elements, &mesh.nodes, &v)[2];
    let mut lost = Vec::new();
    for viscosity in [0.0, 100.0] {
        let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 5e4, viscosity };
        let parameters = SolidParameters { material, density: 150.0, gravity: [0.0; 3] };
        let mut history = History::start(mesh.nodes.clone(), v.clone(), 0.001);
        fly(&elements, parameters, &[], (Bdf::Two, 0.001, 200), &mut history);
        lost.push(1.0 - spin(&elements, &history.x, &history.v)[2] / before);
    }
    // What the formula loses by itself is the same with viscosity.
    assert!((lost[1] - lost[0]).abs() < 1e-4, "{lost:?}");
    assert!(lost[0].abs() < 0.01, "{lost:?}");
}

#[test]
fn formulas_are_of_first_and_second_order() {
    // A bar that is held at one end and swings by its weight.
    let mesh = TetrahedralMesh::box_grid([0.2, 0.1, 0.1], [2, 1, 1], CellSplit::Six).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let fixed: Vec<bool> = mesh.nodes.iter().map(|x| x[0] < -0.0999).collect();
    let material = SolidMaterial { lame_lambda: 5e4, lame_mu: 1e5, viscosity: 20.0 };
    let parameters = SolidParameters { material, density: 500.0, gravity: [0.0, 0.0, -9.81] };
    let still = vec![[0.0; 3]; mesh.nodes.len()];
    let end = |bdf: Bdf, steps: usize| {
        let time_step = 0.04 / steps as f64;
        let mut history = History::start(mesh.nodes.clone(), still.clone(), time_step);
        let mut go = |bdf, steps| {
            fly(&elements, parameters, &fixed, (bdf, time_step, steps), &mut history);
        };
        // What starts with an acceleration was not as fast a step before as it is now.
        go(Bdf::One, 1);
        go(bdf, steps - 1);
        history.x
    };
    let exact = end(Bdf::Two, 1600);
    for (bdf, order) in [(Bdf::One, 1.0), (Bdf::Two, 2.0)] {
        let errors = [100, 200].map(|steps| {
            let x = end(bdf, steps);
            let of =
                |(x, y): (&[f64; 3], &[f64; 3])| (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>();
            x.iter().zip(&exact).map(of).sum::<f64>().sqrt()
        });
        let found = (errors[0] / errors[1]).log2();
        assert!((found - order).abs() < 0.1, "{bdf:?}: {found} {errors:?}");
    }
}

#[test]
fn a_puck_on_an_incline_comes_to_rest_and_stays() {
    let Some(file) = json("incline.json") else { return };
    let Some(path) = shared("reference/add/meshes/cylinder_r40_h30mm.msh") else { return };
    let settings = &file["settings"];
    let of = |name: &str| number(&settings[name]);
    let mesh = TetrahedralMesh::load(path).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial {
        lame_lambda: of("lame_lambda"),
        lame_mu: of("lame_mu"),
        viscosity: of("viscosity"),
    };
    let gravity = flat(&settings["gravity"]).try_into().unwrap();
    let parameters = SolidParameters { material, density: of("density"), gravity };
    let floor = |node: usize| VertexContact {
        node,
        normal: [0.0, 0.0, 1.0],
        offset: -0.05,
        friction: 0.4,
        ..VertexContact::default()
    };
    let contacts: Vec<VertexContact> = mesh.surface_nodes().into_iter().map(floor).collect();
    let runs = file["runs"].as_array().unwrap();
    let expected = &runs.iter().find(|run| run["method"] == "exact").unwrap()["at"];
    let mut history = History::start(mesh.nodes.clone(), vec![[0.0; 3]; mesh.nodes.len()], 0.005);
    let mut step = ContactStep::start(history.v.clone());
    let mut solver = CondensedContact::default();
    let mut iterations = Vec::new();
    // 500 steps where all cases are asked for.
    for number in 1..=count(500, 0.3) {
        let predicted = Bdf::One.predict(0.005, &history);
        let momentum = Momentum::of_step(&elements, parameters, &predicted);
        solver.solve(&momentum, &contacts, &mut step);
        assert_eq!(
            step.report.status,
            Status::Solved,
            "{number}: {:?} {:?}",
            step.report,
            step.contact
        );
        iterations.push(step.report.iterations);
        history.advance(&predicted, &step.velocity);
        let touching: Vec<usize> =
            (0..contacts.len()).filter(|&k| step.modes[k] != Mode::Break).collect();
        let slip = |&k: &usize| {
            let v = history.v[contacts[k].node];
            v[0].hypot(v[1])
        };
        let creep = touching.iter().map(slip).sum::<f64>() / touching.len().max(1) as f64;
        let energy = kinetic(&elements, parameters.density, &history.v);
        let Some(expected) = expected.get(number.to_string()).map(flat) else { continue };
        assert_eq!(touching.len(), expected[3] as usize, "{number}");
        let centre = mean(&elements, &history.x);
        // Bouncing, small differences grow.
        let tolerance = if number <= 60 { 1e-6 } else { 1e-4 };
        (0..3).for_each(|k| {
            assert!((centre[k] - expected[k]).abs() < tolerance, "{number}: {centre:?}")
        });
        if number <= 60 {
            assert!((creep - expected[4]).abs() < 1e-6, "{number}: {creep}");
            assert!((energy / expected[5] - 1.0).abs() < 1e-3, "{number}: {energy}");
        } else {
            assert!(creep <= 1e-12, "{number}: {creep:e}");
        }
    }
    let all = iterations.len() as f64;
    let each = iterations.iter().sum::<usize>() as f64 / all;
    assert!(each < 6.0, "{each} iterations a step");
}

/// In flight, a step of a ball takes few iterations: below what rounding leaves of the residual, nothing is searched for.
#[test]
fn rounding_takes_no_iterations() {
    let text = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.0008333333333333334, integrator = 'bdf2', solver = 'penalty_linear' }\n\
                [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[soft]]\nname = 'ball'\nshape = { sphere = 0.025 }\nresolution = 0.012\n\
                density = 600\nlame_lambda = 3e4\nlame_mu = 1.2e4\nviscosity = 8\nposition = [0.35, 0, 0.3]\n\
                velocity = [-0.8, 0.4, -1]\nangular_velocity = [5, -20, 0]\n[[contact]]\nmu = 0.3\nstiffness = 1000\n";
    let scene = SoftScene::parse(text, "ball.toml").unwrap().unwrap();
    let mut rollout = SoftRollout::new(&scene);
    for step in 0..20 {
        let report = rollout.step();
        // 16 to 27 where what falls by chance is followed.
        assert!(report.unsolved == 0 && report.worst.iterations <= 6, "{step}: {report:?}");
        assert!(report.worst.residual < 1e-11, "{step}: {report:?}");
    }
}
