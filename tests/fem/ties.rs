//! Cables, springs and holds: forces, motions with closed forms, derivatives, files.

use stiction::ad::{Dual, Real};
use stiction::argmin::Status;
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, Cable, CableKind, CablePoint, History, Momentum, Newton, Predicted, SolidParameters,
};
use stiction::linalg::BlockMatrix;
use stiction::model::{CellSplit, TetrahedralMesh};
use stiction::soft::{SoftRollout, SoftScene};
use stiction::verify::{Gradcheck, SoftStepProgram};

use super::sensitivities::all_ways_agree;
use crate::random::Random;

pub(super) fn parse(text: &str) -> Result<SoftScene, String> {
    let scene = SoftScene::parse(text, "soft.toml").map_err(|error| error.to_string())?;
    Ok(scene.expect("soft bodies"))
}

/// A bar along x, with lines of its own and tables after it.
pub(super) fn bar(settings: &str, own: &str, tables: &str) -> SoftScene {
    bar_of(0.05, settings, own, tables)
}

fn bar_of(resolution: f64, settings: &str, own: &str, tables: &str) -> SoftScene {
    let text = format!(
        "gravity = [0, 0, -9.81]\n[simulation]\n{settings}\n[[soft]]\nname = 'bar'\n\
         shape = {{ box = [0.1, 0.02, 0.02] }}\nresolution = {resolution}\ndensity = 1000\nyoungs_modulus = 2e5\n\
         poisson_ratio = 0.3\nmarkers = {{ tip = [0.1, 0, 0], top = [0, 0, 0.02], root = [-0.1, 0, 0] }}\n{own}\n{tables}"
    );
    parse(&text).unwrap()
}

pub(super) fn run(scene: &SoftScene, steps: usize) -> SoftRollout<'_> {
    let mut rollout = SoftRollout::new(scene);
    for step in 0..steps {
        let report = rollout.step();
        assert_eq!(report.worst.status, Status::Solved, "step {step}: {report:?}");
    }
    rollout
}

/// All kinds: through three nodes and a point, that pushes, that is slack, and that holds one to another.
fn cables() -> Vec<Cable> {
    use CableKind::{Joint, Spring};
    use CablePoint::{Node, World};
    let cable = |points: Vec<CablePoint>, rest_length: f64, kind: CableKind| Cable {
        points,
        rest_length,
        stiffness: 300.0,
        damping: 2.0,
        kind,
    };
    vec![
        cable(vec![World([0.3, 0.1, 0.2]), Node(0), Node(5), Node(7)], 0.2, CableKind::Cable),
        cable(vec![Node(1), Node(6)], 0.4, Spring),
        cable(vec![Node(2), World([0.0, 0.0, 1.0])], 5.0, CableKind::Cable),
        cable(vec![Node(3), Node(4)], 0.0, Joint),
        cable(vec![World([0.1, 0.1, 0.0]), Node(2), World([-0.1, 0.3, 0.0])], 0.1, Spring),
    ]
}

/// The residual is minus the slope of the energy, and its matrix the derivative by duals; its parts in numbers likewise.
#[test]
fn forces_are_slopes_of_energy_and_matrices_slopes_of_forces() {
    type Scalar = Dual<f64, 1>;
    let mesh = TetrahedralMesh::box_grid([0.2, 0.1, 0.1], [1, 1, 1], CellSplit::Six).unwrap();
    let (mut cables, mut random) = (cables(), Random(4));
    let lists: Vec<Vec<usize>> = cables.iter().map(|own| own.nodes().collect()).collect();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap().coupling(&lists);
    let parameters = SolidParameters {
        material: SolidMaterial::from_young(2e4, 0.3),
        density: 500.0,
        gravity: [0.0, 0.0, -9.81],
    };
    let x: Vec<[f64; 3]> = mesh
        .nodes
        .iter()
        .map(|x| {
            let moved: [f64; 3] = random.vector(0.01);
            [0, 1, 2].map(|k| x[k] + moved[k])
        })
        .collect();
    let v: Vec<[f64; 3]> = x.iter().map(|_| random.vector(1.0)).collect();
    let u: Vec<[f64; 3]> = x.iter().map(|_| random.vector(1.0)).collect();
    let predicted = Bdf::One.predict(0.003, &History::start(x, v, 0.003));
    for damped in [false, true] {
        if !damped {
            cables.iter_mut().for_each(|own| own.damping = 0.0);
        } else {
            cables.iter_mut().for_each(|own| own.damping = 2.0);
        }
        let momentum =
            Momentum { cables: &cables, ..Momentum::of_step(&elements, parameters, &predicted) };
        assert_eq!(momentum.is_symmetric(), !damped);
        let (mut places, mut matrix) = (Vec::new(), BlockMatrix::default());
        momentum.positions(&u, &mut places);
        assert!(momentum.tangent(&u, &places, false, &mut matrix));
        let lifted = Predicted {
            rate: predicted.rate,
            x: predicted.x.iter().map(|x| x.map(Scalar::constant)).collect(),
            v: predicted.v.iter().map(|x| x.map(Scalar::constant)).collect(),
        };
        let constant = SolidParameters {
            material: SolidMaterial {
                lame_lambda: Scalar::constant(parameters.material.lame_lambda),
                lame_mu: Scalar::constant(parameters.material.lame_mu),
                viscosity: Scalar::constant(0.0),
            },
            density: Scalar::constant(parameters.density),
            gravity: parameters.gravity.map(Scalar::constant),
        };
        let generic: Vec<Cable<Scalar>> = cables
            .iter()
            .map(|own| Cable {
                points: own.points.clone(),
                rest_length: Scalar::constant(own.rest_length),
                stiffness: Scalar::constant(own.stiffness),
                damping: Scalar::constant(own.damping),
                kind: own.kind,
            })
            .collect();
        let on_duals =
            Momentum { cables: &generic, ..Momentum::of_step(&elements, constant, &lifted) };
        for _ in 0..5 {
            let d: Vec<[f64; 3]> = u.iter().map(|_| random.vector(1.0)).collect();
            let along: Vec<[Scalar; 3]> = u
                .iter()
                .zip(&d)
                .map(|(u, d)| [0, 1, 2].map(|k| Scalar::new(u[k], [d[k]])))
                .collect();
            let (mut x, mut residual) = (Vec::new(), Vec::new());
            on_duals.positions(&along, &mut x);
            on_duals.residual(&along, &x, &mut residual);
            let mut product = vec![[0.0; 3]; u.len()];
            matrix.add_product(elements.pattern(), &d, &mut product);
            let size = product.as_flattened().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (own, dual) in product.as_flattened().iter().zip(residual.as_flattened()) {
                assert!((own - dual.tangent[0]).abs() < 1e-12 * size, "{own} {dual:?}");
            }
            if !damped {
                let slope = on_duals.potential(&along, &x).tangent[0];
                let expected: f64 = residual
                    .as_flattened()
                    .iter()
                    .zip(d.as_flattened())
                    .map(|(r, d)| r.value * d)
                    .sum();
                assert!(
                    (slope - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                    "{slope} {expected}"
                );
            }
        }
        // On what is positive definite.
        let mut projected = BlockMatrix::default();
        assert!(momentum.tangent(&u, &places, true, &mut projected));
        for _ in 0..100 {
            let d: Vec<[f64; 3]> = u.iter().map(|_| random.vector(1.0)).collect();
            let mut product = vec![[0.0; 3]; u.len()];
            projected.add_product(elements.pattern(), &d, &mut product);
            let square: f64 =
                d.as_flattened().iter().zip(product.as_flattened()).map(|(a, b)| a * b).sum();
            assert!(square > 0.0);
        }
    }
}

/// At rest a spring is longer by weight over stiffness, and a hold bears what it holds.
#[test]
fn what_hangs_pulls_with_its_weight() {
    let damped = "time_step = 0.05";
    let weight = 1000.0 * 0.2 * 0.04 * 0.04 * 9.81;
    let spring = "[[spring]]\nname = 'spring'\npoints = [{ world = [0, 0, 0.22] }, { marker = 'top' }]\n\
                  stiffness = 200\ndamping = 6\nrest_length = 0.2\n";
    let scene = bar_of(0.02, damped, "viscosity = 2e4", spring);
    let rollout = run(&scene, 400);
    let [length, tension] = rollout.states()[0].cables[0];
    assert!((tension / weight - 1.0).abs() < 1e-8, "{tension} {weight}");
    assert!((length - (0.2 + weight / 200.0)).abs() < 1e-8, "{length}");
    // Held at its end, and by a cable that goes from its tip over a point back to itself: both ends pull with the same tension.
    let held = "[[hold]]\nname = 'wall'\nbox = [[-0.1, -1, -1], [-0.099, 1, 1]]\n\
                [[cable]]\nname = 'sling'\npoints = [{ marker = 'tip' }, { world = [0.1, 0, 0.3] }, { marker = 'top' }]\n\
                stiffness = 50\nrest_length = 0.5\n";
    let scene = bar(damped, "viscosity = 2e4", held);
    let rollout = run(&scene, 400);
    let state = &rollout.states()[0];
    let body = &scene.bodies[0];
    let [_, tension] = state.cables[0];
    assert!(tension > 0.1);
    let mut sum = state.holds[0];
    for node in body.markers.iter().filter(|own| own.name != "root").map(|own| own.node) {
        let away = [
            0.1 - state.position[node][0],
            -state.position[node][1],
            0.3 - state.position[node][2],
        ];
        let length = away.iter().map(|x| x * x).sum::<f64>().sqrt();
        (0..3).for_each(|k| sum[k] += tension * away[k] / length);
    }
    let expected = [0.0, 0.0, weight];
    assert!((0..3).all(|k| (sum[k] - expected[k]).abs() < 1e-8 * weight), "{sum:?}");
    // Where it comes to rest is where statics have it.
    let fixed = &body.fixed;
    let cables = [body.cables[0].cable.clone()];
    let parameters = body.parameters;
    let rest = Momentum { fixed, cables: &cables, ..Momentum::at_rest(&body.elements, parameters) };
    let mut x = body.position.clone();
    assert_eq!(Newton::default().solve(&rest, &mut x).status, Status::Solved);
    for (own, other) in x.as_flattened().iter().zip(state.position.as_flattened()) {
        assert!((own - other).abs() < 1e-9, "{own} {other}");
    }
}

/// On a spring a body swings with the period 2 pi sqrt(m / k), and what a slack cable holds falls freely until it is taut, and comes
/// back.
#[test]
fn a_body_on_a_spring_swings_as_a_mass_does() {
    let settings = "time_step = 0.001\nintegrator = 'bdf2'";
    let spring = "[[spring]]\nname = 'spring'\npoints = [{ world = [0, 0, 0.22] }, { marker = 'top' }]\nstiffness = 20\n";
    let text = spring.replace("stiffness = 20", "stiffness = 20\nrest_length = 0.2");
    // Stiff, so that its own sag counts for little.
    let mut scene = bar_of(0.02, settings, "", &text);
    scene.set(scene.parameter("bar/youngs_modulus").unwrap(), 1e9);
    let mass = scene.bodies[0].mass();
    let period = std::f64::consts::TAU * (mass / 20.0).sqrt();
    let steps = (period / 0.001).round() as usize;
    let rollout = run(&scene, steps);
    // After a period it is where it started, and at rest.
    let body = &scene.bodies[0];
    let [_, _, height] = body.mean(&rollout.states()[0].position);
    let swing = 2.0 * mass * 9.81 / 20.0;
    assert!(height.abs() < 2e-4 * swing, "{height} of {swing}");
    // Half of it: the lowest.
    let rollout = run(&scene, steps / 2);
    let [_, _, height] = body.mean(&rollout.states()[0].position);
    assert!((height / swing + 1.0).abs() < 1e-4, "{height} of {swing}");
    let text = text.replace("[[spring]]", "[[cable]]").replace("= 0.2", "= 0.3");
    let mut slack = bar_of(0.02, settings, "", &text);
    slack.set(slack.parameter("bar/youngs_modulus").unwrap(), 1e9);
    let rollout = run(&slack, 100);
    let fallen = rollout.scene().bodies[0].mean(&rollout.states()[0].position)[2];
    // The first step is of BDF1.
    assert!((fallen + 0.5 * 9.81 * 0.1 * 0.1).abs() < 1e-5, "{fallen}");
    assert_eq!(rollout.states()[0].cables[0][1], 0.0);
    // Its lowest place, where all is spent: m g (d + s) = k s² / 2 after a fall of d = 0.1 m.
    let weight = slack.bodies[0].mass() * 9.81;
    let lowest = 0.1 + (weight + (weight * weight + 2.0 * 20.0 * weight * 0.1).sqrt()) / 20.0;
    let mut rollout = SoftRollout::new(&slack);
    let mut least = 0.0_f64;
    for _ in 0..850 {
        assert_eq!(rollout.step().unsolved, 0);
        least = least.min(slack.bodies[0].mean(&rollout.states()[0].position)[2]);
    }
    assert!((least / lowest + 1.0).abs() < 2e-3, "{least} {lowest}");
    let [length, tension] = rollout.states()[0].cables[0];
    assert!(length < 0.3 && tension == 0.0, "it has come back: {length} {tension}");
}

/// A hand that drags a soft box along a floor pulls with mu times what presses on the floor, however the box bends.
#[test]
fn a_hand_that_drags_a_box_pulls_against_friction() {
    let hand = "[[hold]]\nname = 'hand'\nbox = [[0.09, -1, -1], [1, 1, 1]]\ntimes = [0, 0.1, 2]\n\
                displacement = [[0, 0, 0], [0, 0, 0.001], [0.2, 0, 0.001]]\n\
                [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[contact]]\nmu = 0.4\n";
    let scene = bar("time_step = 0.01", "position = [0, 0, 0.02]\nviscosity = 100", hand);
    let rollout = run(&scene, 150);
    let body = &scene.bodies[0];
    let [fx, fy, fz] = rollout.states()[0].holds[0];
    let pressed = body.mass() * 9.81 - fz;
    assert!(pressed > 0.3 * body.mass() * 9.81 && fz > 0.0, "{fz}");
    assert!((fx / (0.4 * pressed) - 1.0).abs() < 1e-4, "{fx} {pressed}");
    assert!(fy.abs() < 1e-3 * fx, "{fy}");
    // Where it is told to be.
    let node = body.holds[0].nodes[0];
    let led = rollout.states()[0].position[node][0] - body.position[node][0];
    assert!((led - 0.2 * 1.4 / 1.9).abs() < 1e-12, "{led}");
}

/// What holds it turns by a right angle, and without gravity the whole bar has turned about it in the end.
#[test]
fn a_hold_that_turns_takes_the_body_along() {
    let hold = "[[hold]]\nname = 'hand'\nbox = [[-0.1, -1, -1], [-0.099, 1, 1]]\ntimes = [0.1, 0.5]\n\
                rotation = [[0, 0, 0], [0, 1.5707963267948966, 0]]\ndisplacement = [[0, 0.7, 2], [0, 1, 2]]\n";
    for integrator in ["bdf1", "bdf2"] {
        let settings = format!("time_step = 0.01\nintegrator = '{integrator}'");
        let mut scene = bar(&settings, "viscosity = 2e4", hold);
        scene.bodies[0].parameters.gravity = [0.0; 3];
        let rollout = run(&scene, 400);
        let body = &scene.bodies[0];
        for (x, start) in rollout.states()[0].position.iter().zip(&body.position) {
            // About y through x = -0.1: x to -z, z to x.
            let expected = [-0.1 + start[2], start[1] + 0.3, -(start[0] + 0.1)];
            assert!((0..3).all(|k| (x[k] - expected[k]).abs() < 1e-7), "{x:?} {expected:?}");
        }
    }
}

/// A bar that is held and turned at one end, pulled at and pressed on a floor by cables and springs that change with time.
fn led(bdf: &str, solver: &str) -> SoftScene {
    let stiffness = if solver == "coupled" { "" } else { "stiffness = 900\ndamping = 2\n" };
    let settings = format!("time_step = 0.004\nintegrator = '{bdf}'\nsolver = '{solver}'");
    let tables = format!(
        "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -0.03\n[[contact]]\nmu = 0.3\n{stiffness}\
         [[hold]]\nname = 'hand'\nbox = [[-0.1, -1, -1], [-0.099, 1, 1]]\ntimes = [0, 0.07, 0.21]\n\
         displacement = [[0.02, 0, 0.01], [0.03, 0.005, 0.006], [0.06, 0, 0.008]]\n\
         rotation = [[0, 0, 0], [0.1, 0.2, 0.1], [0.3, 0.1, -0.1]]\n\
         [[cable]]\nname = 'tendon'\npoints = [{{ marker = 'root' }}, {{ marker = 'top' }}, {{ marker = 'tip' }}]\n\
         stiffness = 150\ndamping = 0.4\ntimes = [0.02, 0.15]\npull = [0.002, 0.02]\n\
         [[spring]]\nname = 'weight'\npoints = [{{ node = [0.1, 0.02, -0.02] }}, {{ world = [0.12, 0.03, -0.2] }}]\n\
         stiffness = 30\ndamping = 0.2\nrest_length = 0.1\n\
         [[spring]]\nname = 'pin'\npoints = [{{ marker = 'top' }}, {{ world = [0, 0.01, 0.05] }}]\nstiffness = 20\n\
         damping = 0.1\nrest_length = 0\n"
    );
    bar(&settings, "viscosity = 3\nvelocity = [0.1, 0.05, -0.3]", &tables)
}

#[test]
fn motions_that_are_led_change_as_differences_say_forward_and_backward() {
    for (bdf, solver) in [("bdf1", "coupled"), ("bdf2", "coupled"), ("bdf2", "penalty_tanh")] {
        let mut scene = led(bdf, solver);
        scene.moved_before = solver == "penalty_tanh";
        let record = scene.record(70);
        let states = || record.states.iter().map(|state| &state[0]);
        assert!(states().any(|state| state.impulse.iter().any(|p| p[2] > 1e-5)), "it is pressed");
        assert!(states().next_back().unwrap().cables.iter().all(|[_, tension]| *tension > 0.1));
        let names: Vec<String> = scene.parameters().into_iter().map(|(name, _)| name).collect();
        for name in [
            "tendon/stiffness",
            "tendon/pull_1",
            "weight/rest_length",
            "hand/displacement_2_x",
            "hand/rotation_1_y",
        ] {
            assert!(names.iter().any(|own| own == name), "{names:?}");
        }
        // What a hold makes a motion forget changes it by as little as rounding.
        all_ways_agree(&scene, 1e-14);
    }
}

#[test]
fn steps_that_are_led_pass_in_all_ways() {
    for solver in ["coupled", "penalty_linear"] {
        let scene = led("bdf2", solver);
        let mut rollout = SoftRollout::new(&scene);
        let mut all = Gradcheck::default();
        for step in 0..60 {
            if step % 12 == 0 {
                let program = SoftStepProgram::new(&rollout, 0);
                let check = program.check_while_wanted(&mut || true).unwrap();
                assert!(!check.rows.is_empty(), "{solver} {step}");
                all.merge(&check);
            }
            assert_eq!(rollout.step().unsolved, 0);
        }
        assert!(all.passed(), "{solver}: {:?}", all.max());
        assert!(all.max().residual_vs_tape < 1e-9 && all.max().dual_vs_tape < 1e-10);
        assert!(2 * all.skipped_at_kinks() < all.cases(), "{solver}");
    }
}

#[test]
fn what_is_wrong_is_said_with_line_and_field() {
    let cable = |points: &str, more: &str| {
        format!("[[cable]]\nname = 'tendon'\npoints = [{points}]\nstiffness = 10\n{more}")
    };
    let hold = |more: &str| format!("[[hold]]\nname = 'hand'\n{more}");
    let both = "{ marker = 'tip' }, { world = [0, 0, 1] }";
    let all = "box = [[-1, -1, -1], [1, 1, 1]]";
    for (text, says) in [
        (cable("{ marker = 'tip' }", ""), "cable.tendon.points: must be two points or more"),
        (cable("{ world = [0, 0, 0] }, { world = [0, 0, 1] }", ""), "one of them of the body"),
        (cable("{ marker = 'tap' }, { world = [0, 0, 1] }", ""), "there is no \"tap\"; bar has"),
        (
            cable("{ node = [100, 0, 0] }, { world = [0, 0, 1] }", ""),
            "is outside of the mesh, which goes from [-0.1,",
        ),
        (cable("{ tip = 1 }, { world = [0, 0, 1] }", ""), "is not a field here"),
        (
            cable("{ marker = 'tip', world = [0, 0, 1] }, { world = [0, 0, 1] }", ""),
            "must be one of { marker",
        ),
        (
            cable(both, "soft = 'rod'"),
            "cable.tendon.soft: the scene has no [[soft]] \"rod\"; it has bar",
        ),
        (cable(both, "damping = -1"), "cable.tendon.damping: must not be negative"),
        (cable(both, "rest_length = -1"), "cable.tendon.rest_length: must not be negative"),
        (cable(both, "").replace("= 10", "= 0"), "cable.tendon.stiffness: must be positive"),
        (cable("{ marker = 'tip' }, { marker = 'tip' }", ""), "has the same point twice"),
        (
            cable("{ node = [0.1, 0.02, 0.02] }, { world = [0.1, 0.02, 0.02] }", ""),
            "cable.tendon.rest_length: is missing",
        ),
        (
            cable(both, "times = [0, 1]\npull = [0, 3]"),
            "cable.tendon.pull: must not be more than its rest length",
        ),
        (
            cable(both, "rest_length = 0\ntimes = [0]\npull = [0]").replace("cable", "spring"),
            "spring.tendon.pull: is of a spring or a cable",
        ),
        (cable(both, "pull = [0, 1]"), "cable.tendon.times: is missing beside pull"),
        (cable(both, "times = [0, 1]"), "cable.tendon.times: has no meaning without pull"),
        (cable(both, "times = [1, 0]\npull = [0, 1]"), "cable.tendon.times: must be ascending"),
        (cable(both, "times = [0, 1]\npull = [0]"), "cable.tendon.pull: must be told 2 times"),
        (hold(""), "hold.hand: must say which nodes"),
        (
            hold("box = [[5, 5, 5], [6, 6, 6]]"),
            "hold.hand.box: has no node inside: the mesh goes from [-0.1",
        ),
        (hold("markers = ['tap']"), "hold.hand.markers: there is no \"tap\""),
        (
            hold(&format!("{all}\ndisplacement = [[0, 0, 0]]")),
            "hold.hand.times: is missing beside displacement or rotation",
        ),
        (
            hold(&format!("{all}\ntimes = [0]\ndisplacement = [[0, 0]]")),
            "hold.hand.displacement: must be three numbers",
        ),
        (
            hold(&format!("{all}\n[[hold]]\nname = 'other'\nmarkers = ['tip']")),
            "hold.other: holds the node at [0.1",
        ),
        (hold(&format!("{all}\n[[hold]]\nname = 'bar'\nmarkers = ['tip']")), "\"bar\" is taken"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n[[soft]]\nname = 'bar'\nshape = {{ box = [0.1, 0.02, 0.02] }}\nresolution = 0.05\n\
             density = 1000\nyoungs_modulus = 2e5\npoisson_ratio = 0.3\nmarkers = {{ tip = [0.1, 0, 0] }}\n{text}\n"
        );
        let error = parse(&text).unwrap_err();
        assert!(error.contains(says), "{error}\n{says}");
        assert!(error.starts_with("soft.toml:"), "{error}");
    }
}
