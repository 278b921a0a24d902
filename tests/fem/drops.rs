//! Soft bodies dropped on floors and into corners: no vertex passes, contact gives no energy, friction is within its cone.

use stiction::argmin::{Mode, Status};
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, CondensedContact, ContactStep, History, Momentum, SolidParameters, StepChange,
    StepDerivative, VertexContact,
};
use stiction::model::{CellSplit, TetrahedralMesh};

use crate::cases::count;
use crate::differences::central;
use crate::random::Random;

/// The energy of a state: kinetic, elastic, of weight (J).
fn energy(elements: &Elements, parameters: &SolidParameters<f64>, history: &History<f64>) -> f64 {
    let SolidParameters { material, density, gravity } = parameters;
    let mut momentum = vec![[0.0; 3]; history.v.len()];
    elements.add_mass_product(*density, &history.v, &mut momentum);
    let dot = |x: &[f64; 3], y: &[f64; 3]| -> f64 { (0..3).map(|k| x[k] * y[k]).sum() };
    let kinetic: f64 = history.v.iter().zip(&momentum).map(|(v, p)| 0.5 * dot(v, p)).sum();
    let weights = elements.unit_weight().iter().zip(&history.x);
    let height: f64 = weights.map(|(w, x)| density * w * dot(x, gravity)).sum();
    kinetic + elements.energy(material, &history.x) - height
}

/// A rotation by the quaternion of four random numbers.
fn turned(random: &mut Random, x: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let q: [f64; 4] = random.vector(1.0);
    let length = q.iter().map(|q| q * q).sum::<f64>().sqrt();
    let [w, x1, y1, z1] = q.map(|q| q / length);
    let r = [
        [1.0 - 2.0 * (y1 * y1 + z1 * z1), 2.0 * (x1 * y1 - w * z1), 2.0 * (x1 * z1 + w * y1)],
        [2.0 * (x1 * y1 + w * z1), 1.0 - 2.0 * (x1 * x1 + z1 * z1), 2.0 * (y1 * z1 - w * x1)],
        [2.0 * (x1 * z1 - w * y1), 2.0 * (y1 * z1 + w * x1), 1.0 - 2.0 * (x1 * x1 + y1 * y1)],
    ];
    x.iter().map(|x| r.map(|row| (0..3).map(|k| row[k] * x[k]).sum())).collect()
}

/// A floor and, beside it, a wall, for every vertex of the surface.
fn corner(mesh: &TetrahedralMesh, friction: [f64; 2], radius: f64) -> Vec<VertexContact> {
    let both = |node: usize| {
        let floor = VertexContact {
            node,
            normal: [0.0, 0.0, 1.0],
            offset: radius,
            friction: friction[0],
            ..VertexContact::default()
        };
        let wall = VertexContact { normal: [1.0, 0.0, 0.0], friction: friction[1], ..floor };
        [floor, wall]
    };
    mesh.surface_nodes().into_iter().flat_map(both).collect()
}

#[test]
fn random_drops_pass_nothing_and_contact_gives_no_energy() {
    let mesh = TetrahedralMesh::box_grid([0.1, 0.05, 0.05], [2, 1, 1], CellSplit::Six).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let mut random = Random(21);
    for number in 0..count(1000, 0.02) {
        let mu = 10.0_f64.powf(random.uniform(3.0, 5.0));
        let material = SolidMaterial {
            lame_lambda: mu * random.uniform(0.0, 3.0),
            lame_mu: mu,
            viscosity: 0.0,
        };
        let parameters = SolidParameters { material, density: 150.0, gravity: [0.0, 0.0, -9.81] };
        let radius = random.uniform(0.0, 0.01);
        let contacts = corner(&mesh, [random.uniform(0.0, 1.2), random.uniform(0.0, 0.5)], radius);
        let x: Vec<[f64; 3]> = turned(&mut random, &mesh.nodes)
            .iter()
            .map(|x| [x[0] + 0.09, x[1], x[2] + 0.09])
            .collect();
        let start = random.vector::<3>(1.0);
        let spread = random.vector::<3>(10.0);
        let v = x
            .iter()
            .map(|x| {
                let arm = [x[0] - 0.09, x[1], x[2] - 0.09];
                let cross = |i: usize, j: usize| spread[i] * arm[j] - spread[j] * arm[i];
                [start[0] - 1.0 + cross(1, 2), start[1] + cross(2, 0), start[2] + cross(0, 1)]
            })
            .collect();
        let mut history = History::start(x, v, 0.005);
        let mut step = ContactStep::start(history.v.clone());
        let mut solver = CondensedContact::default();
        let first = energy(&elements, &parameters, &history);
        let (mut before, scale) = (first, 1e-9 * first.abs());
        for k in 0..80 {
            let predicted = Bdf::One.predict(0.005, &history);
            let momentum = Momentum::of_step(&elements, parameters, &predicted);
            solver.solve(&momentum, &contacts, &mut step);
            let reports = (step.report, step.contact);
            assert_eq!(step.report.status, Status::Solved, "{number} {k}: {reports:?}");
            history.advance(&predicted, &step.velocity);
            for (contact, p) in contacts.iter().zip(&step.impulses) {
                let gap = contact.gap(&history.x[contact.node]);
                assert!(gap > -1e-12, "{number} {k}: {gap:e}");
                let limit = contact.friction * p[0] * (1.0 + 1e-9) + 1e-15;
                assert!(p[0] >= -1e-15 && p[1].hypot(p[2]) <= limit, "{number} {k}: {p:?}");
            }
            // An implicit step takes (v+ - v)'M (v+ - v)/2 out, and contact what it takes. Where the elastic energy is not
            // convex (pressed and turning), E(x+) - E(x) + f.(x+ - x) may be positive and come in.
            let now = energy(&elements, &parameters, &history);
            let mut forces = vec![[0.0; 3]; history.x.len()];
            elements.add_forces(&material, &history.x, &history.v, &mut forces);
            let along = |f: &[[f64; 3]], x: &[[f64; 3]], old: &[[f64; 3]]| -> f64 {
                let change = x.as_flattened().iter().zip(old.as_flattened());
                f.as_flattened().iter().zip(change).map(|(f, (x, old))| f * (x - old)).sum()
            };
            let concave = elements.energy(&material, &history.x)
                - elements.energy(&material, &history.x_old)
                + along(&forces, &history.x, &history.x_old);
            let change: Vec<[f64; 3]> = history
                .v
                .iter()
                .zip(&history.v_old)
                .map(|(v, old)| [0, 1, 2].map(|k| v[k] - old[k]))
                .collect();
            let mut momentum = vec![[0.0; 3]; change.len()];
            elements.add_mass_product(150.0, &change, &mut momentum);
            let lost = 0.5 * along(&momentum, &change, &vec![[0.0; 3]; change.len()]);
            assert!(now + lost - concave <= before + scale, "{number} {k}: {now} after {before}");
            before = now;
        }
        assert!(before < first, "{number}: {before} {first}");
    }
}

// Where a contact is listed twice impulses are not unique, and the general solver of contact problems finds them.
#[test]
fn steps_are_those_of_the_general_solver() {
    let mesh = TetrahedralMesh::box_grid([0.1, 0.05, 0.05], [2, 1, 1], CellSplit::Six).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let mut random = Random(5);
    let mut seen = [0; 2];
    for number in 0..count(3000, 0.1) {
        let viscosity = if number % 2 == 0 { 0.0 } else { random.uniform(0.0, 5.0) };
        let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 1e4, viscosity };
        let parameters = SolidParameters { material, density: 150.0, gravity: [0.0, 0.0, -9.81] };
        let friction = if number % 5 == 0 { 0.0 } else { random.uniform(0.05, 0.8) };
        let floor = |node| VertexContact {
            node,
            normal: [0.0, 0.0, 1.0],
            offset: -0.024,
            friction,
            ..VertexContact::default()
        };
        let contacts: Vec<VertexContact> = mesh.surface_nodes().into_iter().map(floor).collect();
        let start = random.vector::<3>(0.5);
        let spread = |random: &mut Random| {
            let own = random.vector::<3>(0.3);
            [0, 1, 2].map(|k| start[k] + own[k])
        };
        let v: Vec<[f64; 3]> = mesh.nodes.iter().map(|_| spread(&mut random)).collect();
        let history = History::start(mesh.nodes.clone(), v.clone(), 0.005);
        let predicted = Bdf::One.predict(0.005, &history);
        let momentum = Momentum::of_step(&elements, parameters, &predicted);
        let solve = |contacts: &[VertexContact]| {
            let mut step = ContactStep::start(v.clone());
            CondensedContact::default().solve(&momentum, contacts, &mut step);
            assert_eq!(step.report.status, Status::Solved, "{number}: {:?}", step.report);
            step
        };
        let step = solve(&contacts);
        let twice: Vec<VertexContact> = contacts.iter().flat_map(|&c| [c, c]).collect();
        let other = solve(&twice);
        let e =
            super::numbers::error(step.velocity.as_flattened(), other.velocity.as_flattened(), 0.0);
        assert!(e < 1e-10, "{number}: {e:e}");
        let largest = step.impulses.iter().flatten().fold(0.0, |m: f64, p| m.max(p.abs()));
        for ((p, both), mode) in
            step.impulses.iter().zip(other.impulses.as_chunks::<2>().0).zip(&step.modes)
        {
            for k in 0..3 {
                let sum = both[0][k] + both[1][k];
                assert!((p[k] - sum).abs() <= 1e-9 * largest, "{number}: {p:?} {both:?}");
            }
            seen[0] += usize::from(*mode == Mode::Stick);
            seen[1] += usize::from(*mode == Mode::Slide);
        }
    }
    assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
}

#[test]
fn derivatives_in_a_corner_are_those_of_differences() {
    // Pressed against floor and wall, where vertices of the edge touch both and share their friction.
    let mesh = TetrahedralMesh::box_grid([0.1, 0.05, 0.05], [2, 1, 1], CellSplit::Six).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 1e4, viscosity: 1.0 };
    let parameters = SolidParameters { material, density: 150.0, gravity: [-3.0, 2.0, -9.81] };
    let contacts = corner(&mesh, [0.3, 0.2], 0.0);
    let place = |x: &[f64; 3]| [x[0] + 0.0501, x[1], x[2] + 0.0251];
    let x: Vec<[f64; 3]> = mesh.nodes.iter().map(place).collect();
    let v = vec![[-0.05, 0.3, -0.1]; x.len()];
    let solve = |gravity: [f64; 3], friction: f64| {
        let history = History::start(x.clone(), v.clone(), 0.005);
        let predicted = Bdf::Two.predict(0.005, &history);
        let parameters = SolidParameters { gravity, ..parameters };
        let mut contacts = contacts.clone();
        contacts.iter_mut().for_each(|contact| contact.friction += friction);
        let momentum = Momentum::of_step(&elements, parameters, &predicted);
        let mut step = ContactStep::start(v.clone());
        CondensedContact::default().solve(&momentum, &contacts, &mut step);
        assert_eq!(step.report.status, Status::Solved, "{:?}", step.report);
        (predicted, contacts, step)
    };
    let (predicted, all, step) = solve(parameters.gravity, 0.0);
    assert!(step.modes.iter().filter(|mode| **mode != Mode::Break).count() >= 4);
    let momentum = Momentum::of_step(&elements, parameters, &predicted);
    let mut derivative = StepDerivative::new(momentum, Bdf::Two, &all, &step).unwrap();
    let mut change = StepChange::none(x.len(), contacts.len());
    change.parameters.gravity = [0.3, -0.5, 0.2];
    change.friction.fill(0.1);
    let [velocity, _] = derivative.tangent(&change);
    let moved = |h: f64| {
        let gravity = [0, 1, 2].map(|k| parameters.gravity[k] + h * change.parameters.gravity[k]);
        let (_, _, moved) = solve(gravity, 0.1 * h);
        assert_eq!(moved.modes, step.modes);
        moved.velocity.as_flattened().to_vec()
    };
    let expected = central(1e-4, moved);
    let e = super::numbers::error(velocity.as_flattened(), &expected, 0.0);
    assert!(e < 1e-7, "{e:e}");
}

#[test]
fn what_is_no_step_is_said() {
    let mesh = TetrahedralMesh::box_grid([0.1; 3], [1, 1, 1], CellSplit::Five).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 1e4, viscosity: 0.0 };
    let parameters = SolidParameters { material, density: 150.0, gravity: [0.0, 0.0, -9.81] };
    let v = vec![[0.0; 3]; mesh.nodes.len()];
    let history = History::start(mesh.nodes.clone(), v.clone(), 0.005);
    let predicted = Bdf::One.predict(0.005, &history);
    let solve = |contact: VertexContact, v: &[[f64; 3]], fixed: &[bool]| {
        let momentum = Momentum { fixed, ..Momentum::of_step(&elements, parameters, &predicted) };
        let mut step = ContactStep::start(v.to_vec());
        CondensedContact::default().solve(&momentum, &[contact], &mut step);
        step.report.status
    };
    let sound = VertexContact {
        node: 0,
        normal: [0.0, 0.0, 1.0],
        offset: -0.06,
        friction: 0.3,
        ..VertexContact::default()
    };
    assert_eq!(solve(sound, &v, &[]), Status::Solved);
    let held = vec![true; v.len()];
    for (contact, v, fixed) in [
        (VertexContact { node: 99, ..sound }, &v, &[][..]),
        (VertexContact { normal: [0.0, 0.0, 2.0], ..sound }, &v, &[]),
        (VertexContact { offset: f64::NAN, ..sound }, &v, &[]),
        (VertexContact { friction: -0.1, ..sound }, &v, &[]),
        (sound, &vec![[f64::NAN; 3]; v.len()], &[]),
        (sound, &vec![[0.0; 3]; 2], &[]),
        (sound, &v, &held),
    ] {
        assert_eq!(solve(contact, v, fixed), Status::InvalidInput, "{contact:?}");
    }
}

#[test]
fn a_solver_serves_one_body_after_another() {
    // As many nodes and elements, coupled otherwise.
    let meshes = [[2, 1, 1], [1, 2, 1]]
        .map(|cells| TetrahedralMesh::box_grid([0.1; 3], cells, CellSplit::Six).unwrap());
    let mut shared = CondensedContact::default();
    for mesh in &meshes {
        let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
        let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 1e4, viscosity: 1.0 };
        let parameters = SolidParameters { material, density: 150.0, gravity: [1.0, 0.0, -9.81] };
        let v = vec![[0.0; 3]; mesh.nodes.len()];
        let history = History::start(mesh.nodes.clone(), v.clone(), 0.005);
        let predicted = Bdf::One.predict(0.005, &history);
        let momentum = Momentum::of_step(&elements, parameters, &predicted);
        let floor = |node| VertexContact {
            node,
            normal: [0.0, 0.0, 1.0],
            offset: -0.05,
            friction: 0.5,
            ..VertexContact::default()
        };
        let contacts: Vec<VertexContact> = mesh.surface_nodes().into_iter().map(floor).collect();
        let [first, second] = [&mut shared, &mut CondensedContact::default()].map(|solver| {
            let mut step = ContactStep::start(v.clone());
            solver.solve(&momentum, &contacts, &mut step);
            assert_eq!(step.report.status, Status::Solved);
            step.velocity
        });
        assert_eq!(first, second);
    }
}
