//! Shapes that start in each other are pushed apart: `overlap = "push"`, and `--settle`.

use std::fmt::Write;

use serde_json::Value;
use stiction::assemble::Description;
use stiction::model::Scene;
use stiction::simulation::Rollout;

use crate::folder::Folder;
use crate::program::refuses;
use crate::random::Random;
use crate::scenes::on_floor;

/// A scene on level ground which says to push; `bodies` has what comes before [`FLOOR`](crate::scenes::FLOOR).
fn text(bodies: &str) -> String {
    on_floor(&format!(
        "overlap = 'push'\nsimulation.time_step = 0.005\n[[contact]]\nmu = 0.5\n{bodies}"
    ))
}

fn body(name: &str, mass: f64, shape: &str, position: [f64; 3]) -> String {
    format!(
        "[[body]]\nname = '{name}'\nmass = {mass}\nshape = {{ {shape} }}\nposition = {position:?}\n"
    )
}

#[track_caller]
fn pushed(text: &str) -> Scene {
    let scene = Scene::parse(text, "scene.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(scene.warnings.len(), 1, "{:?}", scene.warnings);
    let said = scene.warnings[0].to_string();
    assert!(said.contains("overlap") && said.contains("pushed apart in"), "{said}");
    scene
}

/// The state again, as a scene that is strict and pushes nothing: refused if anything is in anything.
fn holds(scene: &Scene) {
    let mut description = Description::of(scene, &scene.parameters, "again.toml");
    description.strict = true;
    description.push_overlaps = false;
    let again = description.scene().unwrap();
    assert_eq!(again.warnings, []);
}

fn near(found: &[f64], expected: &[f64], most: f64) {
    let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    assert!(errors.fold(0.0, f64::max) <= most, "{found:?}, expected {expected:?}");
}

/// Least in the metric of the mass matrix: each goes the way that the mass of the other one says.
#[test]
fn two_boxes_part_by_their_masses() {
    let boxes = [("a", 1.0, 0.0), ("b", 3.0, 0.05)];
    let bodies: String = boxes
        .iter()
        .map(|&(name, mass, x)| body(name, mass, "box = [0.1, 0.1, 0.1]", [x, 0.0, 1.0]))
        .collect();
    let scene = pushed(&text(&bodies));
    holds(&scene);
    let q = &scene.state.q;
    near(&q[..7], &[-0.1125, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 1e-7);
    near(&q[7..], &[0.0875, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 1e-7);
    assert!(scene.state.v.iter().all(|&v| v == 0.0));
}

#[test]
fn a_stack_in_the_ground_is_lifted() {
    let bodies: String = (0..5)
        .map(|k| body(&format!("b{k}"), 1.0, "box = [0.1, 0.1, 0.1]", [0.0, 0.0, 0.14 * k as f64]))
        .collect();
    let scene = pushed(&text(&bodies));
    holds(&scene);
    // In a row, each as far as those below have to: the ground does not give way.
    for (k, q) in scene.state.q.chunks(7).enumerate() {
        near(q, &[0.0, 0.0, 0.1 + 0.2 * k as f64, 1.0, 0.0, 0.0, 0.0], 1e-6);
    }
    // Where it was put it stays.
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(20, &scene.inputs);
    assert!(rollout.state.v.iter().all(|v| v.abs() < 1e-3), "{:?}", rollout.state.v);
}

/// Shapes of all kinds thrown into each other, at all angles.
fn heap(count: usize, random: &mut Random) -> String {
    const SHAPES: [&str; 5] = [
        "box = [0.1, 0.08, 0.06]",
        "sphere = 0.08",
        "capsule = [0.05, 0.08]",
        "cylinder = [0.06, 0.05]",
        "convex = [[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, -0.1, 0], [0, 0, 0.1], [0, 0, -0.1]]",
    ];
    let mut bodies = String::new();
    for k in 0..count {
        let mut position = random.vector(0.2);
        position[2] += 0.2;
        let turn: [f64; 4] = random.vector(1.0);
        let size = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mass = 1.0 + (k % 3) as f64;
        bodies += &body(&format!("b{k}"), mass, SHAPES[k % SHAPES.len()], position);
        writeln!(bodies, "orientation = {:?}", turn.map(|x| x / size)).unwrap();
    }
    bodies
}

#[test]
fn heaps_are_parted_and_do_not_explode() {
    let mut random = Random(71);
    for _ in 0..6 {
        let scene = pushed(&text(&heap(16, &mut random)));
        holds(&scene);
        let furthest = scene.state.q.chunks(7).flat_map(|q| &q[..3]);
        let furthest = furthest.fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(furthest < 1.0, "{furthest}");
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let mut fastest = 0.0_f64;
        for _ in 0..60 {
            rollout.step(&scene.inputs);
            let speeds = rollout.state.v.chunks(6).flat_map(|v| &v[..3]);
            fastest = speeds.fold(fastest, |most, v| most.max(v.abs()));
        }
        // What falls for 0.3 s, and tips over.
        assert!(fastest < 4.0, "{fastest}");
        assert_eq!(rollout.report.unsolved, 0);
        assert!(rollout.report.plausibility.first.is_none(), "{:?}", rollout.report.plausibility);
    }
}

#[test]
fn bodies_at_one_place_are_parted() {
    for shape in ["box = [0.1, 0.1, 0.1]", "sphere = 0.1", "capsule = [0.1, 0.1]"] {
        let bodies: String =
            (0..4).map(|k| body(&format!("b{k}"), 1.0, shape, [0.0, 0.0, 0.3])).collect();
        holds(&pushed(&text(&bodies)));
    }
}

/// What is shallow is left alone, to the bit.
#[test]
fn what_touches_stays_where_it_is() {
    let bodies = body("a", 1.0, "sphere = 0.1", [0.3, 0.2, 0.0991]);
    let scene = Scene::parse(&text(&bodies), "scene.toml").unwrap();
    assert_eq!(scene.warnings, []);
    assert_eq!(scene.state.q[..3], [0.3, 0.2, 0.0991]);
}

/// Joints give as they can: a finger slides to where it is free, up to its limit, and loops stay closed.
#[test]
fn joints_and_loops_hold() {
    let bodies = "[[body]]\nname = 'finger'\njoint = { type = 'prismatic', axis = [1, 0, 0], limits = [-0.05, 1] }\n\
        mass = 1\nposition = [0, 0, 0.5]\nshape = { box = [0.1, 0.1, 0.1] }\n"
        .to_string()
        + &body("block", 1.0, "box = [0.1, 0.1, 0.1]", [0.08, 0.0, 0.5])
        + &body("end", 1.0, "sphere = 0.02", [0.08, 0.4, 0.5])
        + "[[equality]]\nname = 'rod'\ntype = 'distance'\nbodies = ['block', 'end']\n\
           anchors = [[0, 0, 0], [0, 0, 0]]\ndistance = 0.4\n";
    let scene = pushed(&text(&bodies));
    holds(&scene);
    let q = &scene.state.q;
    assert!(q[0] >= -0.05 - 1e-9 && q[0] < -0.04, "{q:?}");
    assert!((q[1] - q[0] - 0.2).abs() < 1e-6, "{q:?}");
    let apart: f64 = (0..3).map(|k| (q[1 + k] - q[8 + k]).powi(2)).sum();
    assert!((apart.sqrt() - 0.4).abs() < 1e-12, "{apart}");
}

#[test]
fn what_has_no_place_is_refused() {
    let walls = [("left", 1), ("right", -1)].map(|(name, x)| {
        format!("[[half_space]]\nname = '{name}'\nnormal = [{x}, 0, 0]\noffset = -0.08\n")
    });
    let scene = text(&(body("ball", 1.0, "sphere = 0.1", [0.0, 0.0, 0.1]) + &walls.concat()));
    let error = Scene::parse(&scene, "scene.toml").unwrap_err().to_string();
    for says in ["body.ball.position", "2.000e-2 m deep", "found no place for both"] {
        assert!(error.contains(says), "{error}");
    }
}

/// What could not be parted is said to be, where it is no error.
#[test]
fn what_has_no_place_is_not_said_to_have_one() {
    let walls = [("left", 1), ("right", -1)].map(|(name, x)| {
        format!("[[half_space]]\nname = '{name}'\nnormal = [{x}, 0, 0]\noffset = -0.2\n")
    });
    let roomy = text(&(body("ball", 1.0, "sphere = 0.1", [0.0, 0.0, 0.1]) + &walls.concat()));
    let scene = Scene::parse(&roomy, "scene.toml").unwrap();
    let mut description = Description::of(&scene, &scene.parameters, "narrow.toml");
    for wall in description.half_spaces.iter_mut().filter(|wall| wall.name != "floor") {
        wall.offset = -0.08;
    }
    (description.strict, description.push_overlaps) = (false, true);
    let narrow = description.scene().unwrap();
    let said: Vec<String> = narrow.warnings.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("2 could not be pushed apart in"), "{said:?}");
    assert!(said.iter().any(|said| said.contains("found no place for both")), "{said:?}");
    let done = narrow.pushed_apart.as_ref().unwrap();
    assert_eq!((done.pairs, done.left), (2, 2));
    // In the middle, which is as far from both as it can be.
    near(&[done.depth_left], &[0.02], 1e-6);
}

/// A link that turns moves as far as its middle does.
#[test]
fn what_moves_furthest_is_said_of_joints_too() {
    let link = "[[shape]]\nname = 'block'\nbox = [0.1, 0.1, 0.1]\nposition = [0.5, 0, 0.5]\n\
        [[body]]\nname = 'link'\nmass = 1\ninertia = 0.1\ncenter_of_mass = [0.5, 0, 0]\nposition = [0, 0, 0.5]\n\
        joint = { type = 'revolute', axis = [0, 0, 1], q = [0.3] }\n\
        [[body.shape]]\nname = 'tip'\nposition = [0.5, 0, 0]\nsphere = 0.08\n";
    let scene = pushed(&text(link));
    holds(&scene);
    let said = scene.warnings[0].to_string();
    // The chord.
    let way = 2.0 * 0.5 * (0.5 * (scene.state.q[0] - 0.3)).sin().abs();
    assert!(
        way > 0.01 && said.contains(&format!("\"link\" the furthest, by {way:.3e} m")),
        "{said}"
    );
}

/// Only what may touch counts: the slats of a grate are no pairs.
#[test]
fn many_shapes_that_cannot_touch_are_no_reason_to_refuse() {
    let slats: String = (0..2100)
        .map(|k| {
            format!(
                "[[shape]]\nname = 's{k}'\nbox = [10, 0.004, 0.05]\nposition = [0, {}, 0.1]\n",
                0.01 * k as f64
            )
        })
        .collect();
    let scene = text(&(slats + &body("ball", 1.0, "sphere = 0.1", [0.0, 0.0, 0.3])));
    assert_eq!(Scene::parse(&scene, "scene.toml").unwrap().warnings, []);
}

#[test]
fn more_pairs_than_memory_are_refused_before_anything_is_kept() {
    let bodies: String = (0..2100)
        .map(|k| body(&format!("b{k}"), 1.0, "sphere = 0.1", [1e-3 * k as f64 / 2100.0, 0.0, 0.1]))
        .collect();
    let error = Scene::parse(&text(&bodies), "scene.toml").unwrap_err().to_string();
    for says in ["more than 2000000 pairs", "2100 shapes", "80 GB"] {
        assert!(error.contains(says), "{error}");
    }
}

/// What was done, for machines.
#[test]
fn json_says_what_was_pushed_apart() {
    let folder = Folder::new("separation-json");
    let bodies = body("a", 1.0, "box = [0.1, 0.1, 0.1]", [0.0, 0.0, 0.1])
        + &body("b", 3.0, "box = [0.1, 0.1, 0.1]", [0.12, 0.0, 0.1])
        + &body("c", 1.0, "box = [0.1, 0.1, 0.1]", [5.0, 0.0, 0.1]);
    folder.write("scene.toml", &text(&bodies));
    folder.write("apart.toml", &text(&bodies).replace("[0.12, ", "[1.2, "));
    let run = |command: &[&str]| -> Value {
        let output = folder.run(command);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let simulate = ["simulate", "scene.toml", "--steps", "2", "--json"];
    let done = &run(&simulate)["pushed_apart"];
    assert_eq!((&done["pairs"], &done["left"]), (&1.into(), &0.into()));
    assert_eq!(done["deepest"]["pair"], "a-b");
    let number = |path: &str| done.pointer(path).and_then(Value::as_f64).unwrap();
    near(&[number("/deepest/depth"), number("/depth_left")], &[0.08, 0.0], 1e-7);
    // By their masses; the third is where it was.
    assert_eq!(done["bodies"].as_object().unwrap().len(), 2, "{done}");
    near(&[number("/bodies/a"), number("/bodies/b")], &[0.06, 0.02], 1e-6);
    assert!(number("/rounds") >= 1.0 && number("/iterations") >= 1.0, "{done}");
    assert!(number("/worst_residual") <= 1e-10, "{done}");
    for command in [
        &["linearize", "scene.toml", "--steps", "1", "-o", "out.npz", "--json"][..],
        &["bench", "scene.toml", "--steps", "2", "--repeats", "1", "--json"],
        &["gradcheck", "scene.toml", "--steps", "1", "--json"],
    ] {
        assert_eq!(&run(command)["pushed_apart"], done, "{command:?}");
    }
    let apart = run(&["simulate", "apart.toml", "--steps", "2", "--json"]);
    assert_eq!(apart["pushed_apart"], Value::Null);
    let settled = run(&["simulate", "apart.toml", "--steps", "2", "--settle", "0.01", "--json"]);
    assert_eq!(settled["pushed_apart"], Value::Null);
}

/// A keyframe is where the file has it, and nothing was pushed on the way there.
#[test]
fn a_keyframe_was_not_pushed() {
    let bodies = body("a", 1.0, "box = [0.1, 0.1, 0.1]", [0.0, 0.0, 0.1])
        + &body("b", 1.0, "box = [0.1, 0.1, 0.1]", [0.1, 0.0, 0.1])
        + "[[keyframe]]\nname = 'out'\nq = [0, 0, 0.1, 1, 0, 0, 0, 1, 0, 0.1, 1, 0, 0, 0]\n";
    let mut scene = pushed(&text(&bodies));
    assert_eq!(scene.pushed_apart.as_ref().unwrap().pairs, 1);
    scene.start_at("out", "scene.toml").unwrap();
    assert_eq!(scene.pushed_apart, None);
}

#[test]
fn settling_pushes_and_nothing_else_does() {
    let folder = Folder::new("separation");
    let bodies = body("a", 1.0, "box = [0.1, 0.1, 0.1]", [0.0, 0.0, 0.1])
        + &body("b", 1.0, "box = [0.1, 0.1, 0.1]", [0.1, 0.0, 0.1]);
    let plain = text(&bodies).replace("overlap = 'push'\n", "");
    folder.write("scene.toml", &plain);
    let command = ["simulate", "scene.toml", "--steps", "5", "--columns", "a/px,b/px"];
    refuses(&folder.run(&command), &["scene.toml:", "body.b.position", "overlap = \"push\""]);
    let output = folder.run(&[&command[..], &["--settle", "0.01"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 pair of shapes started in each other, \"a-b\""), "{said}");
    assert!(output.status.success(), "{said}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let start: Vec<f64> =
        rows.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    near(&start, &[0.0, -0.05, 0.15], 1e-6);
    // Of a keyframe what is in each other there, not where the file starts.
    let apart = plain.replace("[0.1, 0.0, 0.1]", "[0.5, 0.0, 0.1]");
    let keyframe =
        "[[keyframe]]\nname = 'in'\nq = [0, 0, 0.1, 1, 0, 0, 0, 0.1, 0, 0.1, 1, 0, 0, 0]\n";
    folder.write("scene.toml", &(apart + keyframe));
    let options = ["--settle", "0.01", "--keyframe", "in"];
    let output = folder.run(&[&command[..], &options].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 pair of shapes started in each other, \"a-b\""), "{said}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let start: Vec<f64> =
        rows.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    near(&start, &[0.0, -0.05, 0.15], 1e-6);
    folder.write("scene.toml", &plain.replacen("simulation", "overlap = 'maybe'\nsimulation", 1));
    refuses(&folder.run(&command), &["scene.toml:1: overlap: must be \"refuse\" or \"push\""]);
}
