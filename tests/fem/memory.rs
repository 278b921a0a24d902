//! Steps in the memory of those before.

use stiction::argmin::{Mode, Status};
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, ContactStep, History, Momentum, Newton, Predicted, SolidParameters, StepSolver,
    VertexContact, VertexLaw,
};
use stiction::model::{CellSplit, TetrahedralMesh};
use stiction::soft::{SoftHold, SoftRollout, SoftScene};

// A cube that slides on the floor, and one that flies. Products of larger fronts take memory for a moment.
#[test]
fn steps_allocate_nothing_after_the_first() {
    let mesh = TetrahedralMesh::box_grid([0.1; 3], [1, 1, 1], CellSplit::Five).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let floor = |node| VertexContact {
        node,
        normal: [0.0, 0.0, 1.0],
        offset: -0.05,
        friction: 0.3,
        stiffness: 1e4,
        ..VertexContact::default()
    };
    let contacts: Vec<VertexContact> = mesh.surface_nodes().into_iter().map(floor).collect();
    let formulas = [(Bdf::One, 0.0), (Bdf::Two, 1.0)];
    let cases = formulas.into_iter().flat_map(|case| VertexLaw::ALL.map(|law| (case, law)));
    for ((bdf, viscosity), law) in cases {
        let material = SolidMaterial { lame_lambda: 2e4, lame_mu: 1e4, viscosity };
        let parameters = SolidParameters { material, density: 150.0, gravity: [0.0, 0.0, -9.81] };
        let v = vec![[2.0, 1.0, 0.0]; mesh.nodes.len()];
        let mut history = History::start(mesh.nodes.clone(), v.clone(), 0.005);
        let mut predicted = Predicted::default();
        let (mut solver, mut newton) = (StepSolver::default(), Newton::default());
        let (mut step, mut u) = (ContactStep::start_by(law, v), Vec::new());
        let mut slides = 0;
        let mut run = |steps: usize| {
            for _ in 0..steps {
                bdf.predict_into(0.005, &history, &mut predicted);
                let momentum = Momentum::of_step(&elements, parameters, &predicted);
                u.clone_from(&history.v);
                assert_eq!(newton.solve(&momentum, &mut u).status, Status::Solved);
                solver.solve(&momentum, &contacts, &mut step);
                assert_eq!(step.report.status, Status::Solved);
                slides += step.modes.iter().filter(|mode| **mode == Mode::Slide).count();
                history.advance(&predicted, &step.velocity);
            }
        };
        run(20);
        let info = allocation_counter::measure(|| run(40));
        assert_eq!(info.count_total, 0, "{law:?} {info:?}");
        assert!(slides > 100, "{law:?} {slides}");
    }
}

/// Nor do the searches for where a vertex is nearest to a shape.
#[test]
fn steps_on_shapes_allocate_nothing_after_the_first() {
    for shape in [
        "box = [20, 20, 1]\nposition = [0, 0, -1]",
        "sphere = 50\nposition = [0, 0, -50]",
        "convex = [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0], [0, 0, -3]]",
    ] {
        for law in VertexLaw::ALL {
            let stiffness = if law.yields() { "stiffness = 1e4" } else { "" };
            let text = format!(
                "[simulation]\ntime_step = 0.005\nsolver = '{}'\n[[shape]]\nname = 'ground'\n{shape}\n\
                 [[contact]]\nmu = 0.3\n{stiffness}\n[[soft]]\nname = 'cube'\n\
                 shape = {{ box = [0.05, 0.05, 0.05] }}\nresolution = 0.1\ndensity = 150\n\
                 lame_lambda = 2e4\nlame_mu = 1e4\nviscosity = 1\nposition = [0, 0, 0.05]\n\
                 velocity = [2, 1, 0]\n\
                 [[cable]]\nname = 'line'\npoints = [{{ node = [0.05, 0.05, 0.05] }}, {{ world = [0, 0, 1] }}]\n\
                 stiffness = 0.1\nrest_length = 0.5\ntimes = [0, 1]\npull = [0, 0.1]\n",
                law.name()
            );
            let mut scene = SoftScene::parse(&text, "soft.toml").unwrap().unwrap();
            if shape.starts_with("box") {
                // Led along at its top.
                let times = vec![0.0, 1.0];
                let nodes = (0..scene.bodies[0].position.len())
                    .filter(|&node| scene.bodies[0].mesh.nodes[node][2] > 0.0);
                let displacement = vec![[0.0; 3], [2.0, 1.0, 0.0]];
                let rotation = vec![[0.0; 3], [0.0, 0.0, 0.1]];
                let (name, nodes) = ("hand".to_string(), nodes.collect());
                let hold = SoftHold { name, nodes, carrier: None, times, displacement, rotation };
                let (cables, grounds) = (scene.bodies[0].cables.clone(), scene.grounds.clone());
                scene.bodies[0].tie(cables, vec![hold]);
                let obstacles = scene.obstacles.clone();
                scene.bodies[0].touch(&grounds, &obstacles);
            }
            let mut rollout = SoftRollout::new(&scene);
            let mut slides = 0;
            let mut run = |steps: usize| {
                for _ in 0..steps {
                    let report = rollout.step();
                    assert_eq!(report.unsolved, 0, "{law:?} {shape}");
                    slides += report.sliding;
                }
            };
            run(20);
            let info = allocation_counter::measure(|| run(40));
            assert_eq!(info.count_total, 0, "{law:?} {shape} {info:?}");
            assert!(slides > 100, "{law:?} {shape} {slides}");
        }
    }
}

/// Nor where a soft block lies and slides on a box that slides on the floor, and what a motor turns pushes it.
#[test]
fn steps_of_soft_and_rigid_bodies_allocate_nothing() {
    let text = "[simulation]\ntime_step = 0.004\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
                [[body]]\nname = 'foot'\nmass = 0.1\nshape = { box = [2, 2, 0.02] }\nposition = [0, 0, 0.02]\n\
                [[body]]\nname = 'lid'\nmass = 0.05\nshape = { box = [0.2, 0.2, 0.01] }\nposition = [0, 0, 0.15]\n\
                joint = { type = 'prismatic', axis = [0, 0, 1] }\n[[contact]]\nmu = 0.3\n[[soft]]\nname = 'cube'\n\
                shape = { box = [0.05, 0.05, 0.05] }\nresolution = 0.1\ndensity = 150\nlame_lambda = 2e4\nlame_mu = 1e4\n\
                viscosity = 1\nposition = [0, 0, 0.0901]\nvelocity = [1, 0.5, 0]\n\
                [[soft]]\nname = 'cap'\nshape = { box = [0.05, 0.05, 0.02] }\nresolution = 0.1\ndensity = 150\nlame_lambda = 2e4\n\
                lame_mu = 1e4\nposition = [0, 0, 0.18]\n[[hold]]\nname = 'glue'\nsoft = 'cap'\nto = 'lid'\n\
                box = [[-1, -1, -1], [1, 1, -0.019]]\n";
    let scene = SoftScene::parse(text, "mixed.toml").unwrap().unwrap();
    let mut rollout = SoftRollout::new(&scene);
    let mut slides = 0;
    let mut run = |steps: usize| {
        for _ in 0..steps {
            let report = rollout.step();
            assert_eq!((report.unsolved, report.rigid.unsolved), (0, 0), "{report:?}");
            slides += report.sliding;
        }
    };
    run(15);
    let info = allocation_counter::measure(|| run(20));
    assert_eq!(info.count_total, 0, "{info:?}");
    assert!(slides > 40, "{slides}");
}
