//! Soft bodies on shapes that do not move.

use stiction::implicit::VertexContact;
use stiction::soft::{SoftRollout, SoftScene, SoftTangents};
use stiction::verify::{Gradcheck, SoftStepProgram};

use super::sensitivities::all_ways_agree;

const SOLVERS: [&str; 4] = ["coupled", "hybrid", "penalty_linear", "penalty_tanh"];

fn parse(text: &str) -> Result<SoftScene, String> {
    let scene = SoftScene::parse(text, "soft.toml").map_err(|error| error.to_string())?;
    Ok(scene.expect("soft bodies"))
}

/// A block over what it falls on.
fn over(solver: &str, block: &str, ground: &str) -> SoftScene {
    let stiffness = match solver {
        "coupled" => "",
        "hybrid" => "stiffness = 400",
        _ => "stiffness = 400\ndamping = 0.5",
    };
    let text = format!(
        "[simulation]\ntime_step = 0.004\nintegrator = 'bdf2'\nsolver = '{solver}'\n{ground}\n\
         [[contact]]\nmu = 0.4\n{stiffness}\n\
         [[soft]]\nname = 'block'\nshape = {{ box = [0.05, 0.03, 0.02] }}\nresolution = 0.05\n\
         density = 300\nyoungs_modulus = 3e4\npoisson_ratio = 0.3\nviscosity = 2\n{block}"
    );
    parse(&text).unwrap()
}

/// The top of a large box is a half-space for what stays on it.
#[test]
fn the_top_of_a_box_is_a_floor() {
    let start = "position = [0.1, 0.05, 0.3]\nvelocity = [0.4, -0.2, -1]\n\
                 angular_velocity = [2, -3, 1]\norientation = [0.8, 0.36, 0, 0.48]\n";
    for solver in SOLVERS {
        let floor = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = 0.2\n";
        // A box that is turned about the normal, and others.
        for table in [
            "position = [0, 0, -0.8]\nbox = [5, 4, 1]\norientation = [0.8, 0, 0, 0.6]\n",
            "position = [0, 0, -2.8]\nbox = [4, 1, 3]\n",
            "position = [0, 0, -3.8]\nbox = [4, 5, 4]\n",
        ] {
            let ground = format!("[[shape]]\nname = 'floor'\n{table}");
            let scenes = [over(solver, start, floor), over(solver, start, &ground)];
            let [mut one, mut other] = [0, 1].map(|k| SoftRollout::new(&scenes[k]));
            let mut touched = 0;
            for step in 0..80 {
                let [a, b] = [&mut one, &mut other].map(|rollout| rollout.step());
                assert_eq!((a.unsolved, b.unsolved), (0, 0), "{solver} {step} {table}");
                assert_eq!(
                    (a.sticking, a.sliding),
                    (b.sticking, b.sliding),
                    "{solver} {step} {table}"
                );
                touched += a.sticking + a.sliding;
                let [a, b] = [&one, &other].map(|rollout| rollout.states()[0].position.clone());
                let pairs = a.as_flattened().iter().zip(b.as_flattened());
                let apart = pairs.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(apart < 1e-8, "{solver} {step} {table}: {apart:e}");
            }
            assert!(touched > 20, "{solver}");
        }
    }
}

/// What a block falls on, of every form: faces, edges, round sides, a hull, uneven ground.
const GROUNDS: [(&str, &str); 7] = [
    ("sphere", "sphere = 0.2\nposition = [0.02, 0.01, -0.2]"),
    ("capsule", "capsule = [0.1, 0.2]\norientation = [0.6, 0, 0.8, 0]\nposition = [0, 0.02, -0.1]"),
    (
        "cylinder",
        "cylinder = [0.1, 0.3]\norientation = [0.6, 0.8, 0, 0]\nposition = [0.01, 0, -0.1]",
    ),
    ("slope", "box = [0.5, 0.5, 0.1]\norientation = [0.98, 0.199, 0, 0]\nposition = [0, 0, -0.12]"),
    // An edge upwards, on which the middle of the block falls.
    (
        "edge",
        "box = [0.2, 0.5, 0.2]\norientation = [0.924, 0, 0.3825, 0]\nposition = [0.02, 0, -0.29]",
    ),
    (
        "hull",
        "convex = [[-0.3, -0.3, -0.2], [0.3, -0.3, -0.2], [0, 0.3, -0.2], [0, 0, 0.01], [0.1, 0.1, 0]]",
    ),
    (
        "ground",
        "height_field = [[0, 0.02, 0, 0.03], [0.02, -0.03, 0.01, 0], [0, 0.01, -0.02, 0.02], [0.02, 0, 0.02, 0]]\n\
         spacing = [0.08, 0.08]\nposition = [0.01, 0, -0.03]",
    ),
];

fn on(solver: &str, (name, shape): (&str, &str)) -> SoftScene {
    // Lengths of quaternions to rounding.
    let unit = |line: &str| {
        let Some(numbers) = line.strip_prefix("orientation = [") else { return line.to_string() };
        let numbers = numbers.trim_end_matches(']').split(", ");
        let q: Vec<f64> = numbers.map(|x| x.parse().unwrap()).collect();
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        format!("orientation = {:?}", q.iter().map(|x| x / length).collect::<Vec<_>>())
    };
    let shape: Vec<String> = shape.lines().map(unit).collect();
    let start = "position = [0, 0, 0.06]\nvelocity = [0.3, -0.1, -0.8]\n\
                 angular_velocity = [1, -2, 1]\nradius = 0.004\n";
    over(solver, start, &format!("[[shape]]\nname = '{name}'\n{}", shape.join("\n")))
}

/// All ways to differentiate a step, in which planes turn with the vertices: on what is round they must.
#[test]
fn steps_on_every_shape_pass_by_every_law() {
    for solver in SOLVERS {
        for ground in GROUNDS {
            let scene = on(solver, ground);
            let mut rollout = SoftRollout::new(&scene);
            let mut all = Gradcheck::default();
            let (mut touching, mut turning) = (0, 0);
            for _ in 0..40 {
                let program = SoftStepProgram::new(&rollout, 0);
                let mut turns = false;
                let report = rollout.step_observed(&mut |solved| {
                    turns = solved.contacts.iter().any(|contact| !contact.turning.is_none());
                });
                assert_eq!(report.unsolved, 0, "{solver} {ground:?}");
                let touches = report.sticking + report.sliding > 0;
                touching += usize::from(touches);
                turning += usize::from(turns);
                if touches && touching % 4 == 1 {
                    all.merge(&program.check_while_wanted(&mut || true).unwrap());
                }
            }
            println!(
                "{solver} {} {touching} {turning}: {:?} of {} {}",
                ground.0,
                all.max(),
                all.cases(),
                all.skipped_at_kinks()
            );
            assert!(touching >= 3, "{solver} {ground:?}: {touching}");
            let is_round = ["sphere", "capsule", "cylinder", "edge"].contains(&ground.0);
            assert!(!is_round || turning > 0, "{solver} {ground:?}");
            assert!(all.passed(), "{solver} {ground:?}: {:?}", all.max());
            assert!(all.max().dual_vs_tape < 1e-9, "{solver} {ground:?}: {:?}", all.max());
            assert!(2 * all.skipped_at_kinks() < all.cases(), "{solver} {ground:?}");
        }
    }
}

/// The rows of vertices of a block lie between three capsules: each touches two, whose planes turn both.
#[test]
fn steps_between_two_round_shapes_pass_by_every_law() {
    let capsule = |k: usize| {
        let y = [-0.04, 0.0, 0.04][k];
        format!(
            "[[shape]]\nname = 'log{k}'\ncapsule = [0.05, 0.3]\nposition = [0, {y}, -0.05]\n\
             orientation = [0.7071067811865476, 0, 0.7071067811865475, 0]\n"
        )
    };
    let ground: String = (0..3).map(capsule).collect();
    // On its side, where it has two rows.
    let start = "position = [0, 0.0003, 0.034]\nvelocity = [0.3, 0, -0.3]\nradius = 0.004\n\
                 orientation = [0.7071067811865476, 0.7071067811865475, 0, 0]\n";
    for solver in SOLVERS {
        let scene = over(solver, start, &ground);
        let mut rollout = SoftRollout::new(&scene);
        let (mut all, mut between) = (Gradcheck::default(), 0);
        for step in 0..40 {
            let program = SoftStepProgram::new(&rollout, 0);
            let mut both = 0;
            let report = rollout.step_observed(&mut |solved| {
                let turned =
                    |own: &[VertexContact]| own.iter().filter(|c| !c.turning.is_none()).count();
                both = solved.contacts.chunks(3).filter(|own| turned(own) == 2).count();
            });
            assert_eq!(report.unsolved, 0, "{solver} {step}");
            between += both;
            if both > 0 && between < 40 {
                all.merge(&program.check_while_wanted(&mut || true).unwrap());
            }
        }
        println!(
            "{solver} {between}: {:?} of {} {}",
            all.max(),
            all.cases(),
            all.skipped_at_kinks()
        );
        assert!(between > 0 && all.passed(), "{solver} {between}: {:?}", all.max());
        assert!(all.max().dual_vs_tape < 1e-9, "{solver}: {:?}", all.max());
    }
}

#[test]
fn motions_over_a_sphere_change_with_parameters_and_starts_in_every_way_alike() {
    for solver in SOLVERS {
        let scene = on(solver, ("ball", "sphere = 0.2\nposition = [0.02, 0.01, -0.26]"));
        all_ways_agree(&scene, 2e-16);
        let mut tangents = SoftTangents::new(&scene, &[]);
        let pushed = |tangents: &mut SoftTangents| {
            tangents.step().unwrap();
            tangents.rollout.states()[0].impulse.as_flattened().iter().any(|p| *p != 0.0)
        };
        assert!((0..70).any(|_| pushed(&mut tangents)), "{solver}");
    }
}

/// A small stiff block on a large sphere, at an angle from the top: it stays where the angle is less than that of friction,
/// and slides where it is more, as on a slope.
#[test]
fn a_block_holds_on_a_sphere_up_to_the_angle_of_friction() {
    let mu = 0.4_f64;
    let run = |share: f64| {
        let angle = share * mu.atan();
        let (sin, cos) = angle.sin_cos();
        let (radius, half) = (100.0, 0.02);
        let out = radius + half;
        let text = format!(
            "[simulation]\ntime_step = 0.004\n\
             [[shape]]\nname = 'ball'\nsphere = {radius}\nposition = [0, 0, {}]\n[[contact]]\nmu = {mu}\n\
             [[soft]]\nname = 'block'\nshape = {{ box = [0.03, 0.03, {half}] }}\nresolution = 0.03\n\
             density = 300\nyoungs_modulus = 1e6\npoisson_ratio = 0.3\nviscosity = 20\n\
             position = [{}, 0, {}]\norientation = [{}, 0, {}, 0]\n",
            -radius,
            out * sin,
            out * cos - radius,
            (angle / 2.0).cos(),
            (angle / 2.0).sin(),
        );
        let scene = parse(&text).unwrap();
        let mut rollout = SoftRollout::new(&scene);
        for _ in 0..150 {
            assert_eq!(rollout.step().unsolved, 0);
        }
        let v = scene.bodies[0].mean(&rollout.states()[0].velocity);
        let along = v[0] * cos - v[2] * sin;
        // As a point with friction mu slides down a slope of that angle, which hardly changes on its way.
        (along, 9.81 * 0.6 * (sin - mu * cos))
    };
    for share in [0.5, 0.95] {
        let (along, _) = run(share);
        assert!(along.abs() < 1e-6, "{share}: {along:e}");
    }
    for share in [1.1, 1.5] {
        let (along, expected) = run(share);
        assert!((along - expected).abs() < 0.03 * expected, "{share}: {along} {expected}");
    }
}

/// Whatever it falls on, exact contact without viscosity makes no energy.
#[test]
fn falling_on_shapes_makes_no_energy() {
    for ground in GROUNDS {
        let mut scene = on("coupled", ground);
        scene.bdf = stiction::implicit::Bdf::One;
        scene.bodies[0].parameters.material.viscosity = 0.0;
        let mut rollout = SoftRollout::new(&scene);
        let total = |rollout: &SoftRollout| rollout.energies().iter().sum::<f64>();
        let mut before = total(&rollout);
        for step in 0..200 {
            assert_eq!(rollout.step().unsolved, 0, "{ground:?} {step}");
            let after = total(&rollout);
            assert!(after <= before + 1e-9, "{ground:?} {step}: {before} {after}");
            before = after;
        }
    }
}

#[test]
fn what_is_no_obstacle_is_refused_with_line_and_field() {
    let refused = |ground: &str, contact: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.004\n{ground}\n[[contact]]\nmu = 0.4\n{contact}\n\
             [[soft]]\nname = 'block'\nshape = {{ box = [0.05, 0.03, 0.02] }}\nresolution = 0.05\n\
             density = 300\nyoungs_modulus = 3e4\npoisson_ratio = 0.3\n"
        );
        parse(&text).unwrap_err()
    };
    for (ground, contact, place, message) in [
        ("[[shape]]\nsphere = 1", "", "soft.toml:3: shape[0].name", "is missing"),
        ("[[shape]]\nname = 'a'\nsphere = -1", "", "soft.toml:5: shape.a.sphere", "positive"),
        (
            "[[shape]]\nname = 'a'\nsphere = 1\nmu = 0.3",
            "",
            "soft.toml:6: shape.a.mu",
            "[[contact]]",
        ),
        ("[[shape]]\nname = 'block'\nsphere = 1", "", "soft[0].name", "taken"),
        (
            "[[shape]]\nname = 'a'\nsphere = 1",
            "pair = 'b-block'",
            "contact",
            "must be one of a-block",
        ),
        (
            "[[shape]]\nname = 'a'\nsphere = 1\norientation = [1, 1, 0, 0]",
            "",
            "shape.a.orientation",
            "unit",
        ),
        (
            "[[body]]\nname = 'a'\nsphere = 1",
            "",
            "soft.toml:5: body.a.sphere",
            "is not a field here",
        ),
        (
            "[[shape]]\nname = 'a'\nsphere = 1\nposition = [nan, 0, 0]",
            "",
            "shape.a.position",
            "finite",
        ),
    ] {
        let found = refused(ground, contact);
        assert!(found.contains(place) && found.contains(message), "{ground}: {found}");
    }
    let inside = parse(
        "[simulation]\ntime_step = 0.004\n[[shape]]\nname = 'a'\nsphere = 1\n[[contact]]\nmu = 0.4\n\
         [[soft]]\nname = 'block'\nshape = { box = [0.05, 0.03, 0.02] }\nresolution = 0.05\n\
         density = 300\nyoungs_modulus = 3e4\npoisson_ratio = 0.3\n",
    );
    let warnings = inside.unwrap().warnings;
    assert!(
        warnings.iter().any(|warning| warning.contains("inside what it touches")),
        "{warnings:?}"
    );
}
