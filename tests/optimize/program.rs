//! `stiction optimize`.

use serde_json::Value;

use crate::folder::Folder;
use crate::program::{refuses, succeeds, succeeds_aloud};

const SCENE: &str = "simulation.time_step = 0.01
[[body]]
name = 'ball'
mass = 2
shape = { sphere = 0.1 }
";

const TASK: &str = "scene = 'scene.toml'
duration = 0.5
[[variable]]
name = 'ball/vx'
[[variable]]
name = 'ball/vz'
upper = 9
[[objective]]
target = [1, 0, 0]
axes = ['x', 'z']
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    folder.write("task.toml", TASK);
    folder
}

#[test]
fn it_finds_a_throw_says_how_and_draws_the_landscape() {
    let folder = folder("optimize");
    let text = succeeds(&folder.run(&["optimize", "task.toml", "--json", "-o", "result.json"]));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result, serde_json::from_str::<Value>(&folder.read("result.json")).unwrap());
    assert_eq!(result["outcome"], "converged");
    assert_eq!(result["method"], "gauss_newton");
    let of = |name: &str| result["variables"][name].as_f64().unwrap();
    assert!((of("ball/vx") - 2.0).abs() < 1e-9, "{result}");
    assert!((of("ball/vz") - 9.81 * 0.01 * 51.0 / 2.0).abs() < 1e-9, "{result}");
    assert!(result["stages"][0]["simulations"].as_u64().unwrap() < 10);
    let output = folder.run(&["optimize", "task.toml"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("iteration    1   cost"));
    assert!(
        output.status.success() && told.contains("converged") && told.contains("ball/vz"),
        "{told}"
    );
    let arguments = [
        "optimize",
        "task.toml",
        "--landscape",
        "ball/vx,ball/vz",
        "--reach",
        "3,3",
        "--grid",
        "7,5",
        "--plot",
        "cost.svg",
        "--json",
    ];
    let text = succeeds(&folder.run(&arguments));
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["cost"].as_array().unwrap().len(), 35);
    let svg = folder.read("cost.svg");
    assert!(svg.starts_with("<svg") && svg.contains("ball/vx"), "{svg}");
}

#[test]
fn the_motion_found_is_written() {
    let folder = folder("optimize-motion");
    folder.write(
        "scene.toml",
        "simulation.time_step = 0.01\n[[soft]]\nname = 'ball'\nshape = { box = [0.1, 0.1, 0.1] }\n\
         resolution = 0.2\ndensity = 100\nyoungs_modulus = 1e5\npoisson_ratio = 0.3\n",
    );
    let soft = TASK.replace("vx", "velocity_x").replace("vz", "velocity_z");
    folder.write("task.toml", &soft);
    let arguments = ["optimize", "task.toml", "--motion", "motion.csv", "--json"];
    succeeds(&folder.run(&arguments));
    let motion = folder.read("motion.csv");
    let last: Vec<f64> =
        motion.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    assert!((last[0] - 0.5).abs() < 1e-12 && (last[1] - 1.0).abs() < 1e-9, "{last:?}");
    folder.write("scene.toml", SCENE);
    folder.write("task.toml", TASK);
    let output = folder.run(&["optimize", "task.toml", "--motion", "motion.csv"]);
    refuses(&output, &["--motion: is of soft bodies"]);
}

#[test]
fn what_is_wrong_with_a_task_is_said_with_line_and_field() {
    let folder = folder("optimize-wrong");
    for (from, to, says) in [
        ("duration = 0.5", "", "task.toml:1: duration: is missing"),
        ("duration = 0.5", "duration = 0.001", "must be from 0.01 s, a step, to"),
        ("duration = 0.5", "duration = 0.5\nmethod = 'newton'", "must be \"gauss_newton\""),
        ("duration = 0.5", "duration = 0.5\nadam = { rate = 0.1 }", "is of method = \"adam\""),
        ("scene.toml", "none.toml", "none.toml"),
        ("'ball/vz'", "'ball/vq'", "task.toml:6: variable.ball/vq.name: is no number of the scene"),
        ("'ball/vz'", "'ball/qw'", "is no number of the scene"),
        ("'ball/vz'", "'ball/vx'", "is a variable twice"),
        (
            "'ball/vz'\nupper = 9",
            "'ball/inertia/xx'\n[[variable]]\nname = 'ball/inertia'",
            "is told twice",
        ),
        ("axes = ['x', 'z']", "from_point = 'centre'", "has no meaning beside target"),
        ("[1, 0, 0]", "[1, 0, 0]\ntime = 0", "no variable moves any objective"),
        ("upper = 9", "upper = -1", "initial: must be within -inf and -1, found 0"),
        ("upper = 9", "knots = 4", "are of inputs"),
        ("'ball/vz'\nupper = 9", "'ball/fz'\nknots = 1", "must be at least 2"),
        ("'ball/vz'\nupper = 9", "'ball/fz'\nknots = 3\ninitial = [1, 2]", "must have 3 values"),
        ("upper = 9", "scale = 0", "scale: must be positive"),
        ("target = [1, 0, 0]", "target = [1, 0]", "must be a list of 3 numbers"),
        ("target = [1, 0, 0]", "", "needs target"),
        ("axes = ['x', 'z']", "axes = ['w']", "must be some of"),
        ("axes = ['x', 'z']", "body = 'cube'", "is no body, found \"cube\"; there are ball"),
        ("axes = ['x', 'z']", "point = 'surface'", "or [x, y, z] in its frame"),
        ("axes = ['x', 'z']", "time = 2", "time: must be within 0 and 0.5 s, found 2"),
        ("axes = ['x', 'z']", "from = 0.4\nuntil = 0.2", "must not be before from"),
        ("axes = ['x', 'z']", "weight = -1", "weight: must be positive"),
        ("axes = ['x', 'z']", "effort = 'motor'", "is no input"),
        (
            "duration",
            "continuation = { 'ball/vx' = [1] }\nduration",
            "is a variable, and cannot be",
        ),
        ("duration", "continuation = { 'ball/mess' = [1] }\nduration", "is no parameter"),
    ] {
        let text = TASK.replacen(from, to, 1);
        assert_ne!(text, TASK);
        folder.write("task.toml", &text);
        refuses(&folder.run(&["optimize", "task.toml"]), &[says]);
    }
    folder.write("task.toml", TASK);
    for (arguments, says) in [
        (&["--landscape", "ball/vx,ball/vy", "--reach", "1,1"][..], "is no variable of the task"),
        (&["--landscape", "ball/vx,ball/vz", "--reach", "1,-1"], "--reach: must be positive"),
        (&["--landscape", "ball/vx,ball/vz", "--reach", "1,1", "--grid", "1,5"], "--grid: must be"),
    ] {
        let all = [&["optimize", "task.toml"], arguments].concat();
        refuses(&folder.run(&all), &[says]);
    }
}

/// Inputs that were found, as a file that drives the scene to where it was wanted.
#[test]
fn inputs_found_drive_a_simulation() {
    let folder = folder("optimize-controls");
    let text = "scene = 'scene.toml'\nduration = 0.5\n[[variable]]\nname = 'ball/fx'\nknots = 3\ninitial = [1, 1, 1]\n\
                [[variable]]\nname = 'ball/fz'\ninitial = 20\n[[objective]]\ntarget = [0.2, 0, 0.1]\naxes = ['x', 'z']\n";
    folder.write("push.toml", text);
    succeeds(&folder.run(&["optimize", "push.toml", "--controls", "found.csv", "--json"]));
    let found = folder.read("found.csv");
    let rows: Vec<&str> = found.lines().collect();
    assert_eq!((rows[0], rows.len()), ("t,ball/fx,ball/fz", 51));
    assert!(rows[1].starts_with("0.0,") && rows[50].starts_with("0.49,"), "{found}");
    succeeds(&folder.run(&[
        "simulate",
        "scene.toml",
        "--steps",
        "50",
        "--controls",
        "found.csv",
        "-o",
        "motion.csv",
    ]));
    let motion = folder.read("motion.csv");
    let mut lines = motion.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let last: Vec<&str> = lines.last().unwrap().split(',').collect();
    for (name, wanted) in [("px", 0.2), ("pz", 0.1)] {
        let at = names.iter().position(|own| *own == name).unwrap();
        let end: f64 = last[at].parse().unwrap();
        assert!((end - wanted).abs() < 1e-9, "{name}: {end}");
    }
    let output = folder.run(&["optimize", "task.toml", "--controls", "none.csv"]);
    refuses(&output, &["--controls: is of tasks whose variables are inputs"]);
}

/// Throws are found from all starts, the first where variables begin and the others drawn.
#[test]
fn the_best_of_several_starts_is_found_whatever_the_threads() {
    let folder = folder("optimize-starts");
    let text = TASK
        .replace("upper = 9", "lower = -1\nupper = 9")
        .replace("duration", "starts = 4\nseed = 3\nduration");
    folder.write("task.toml", &text);
    let run = |threads: &str| -> Value {
        let arguments = ["optimize", "task.toml", "--json", "--threads", threads];
        serde_json::from_str(&succeeds(&folder.run(&arguments))).unwrap()
    };
    let (one, mut two) = (run("1"), run("2"));
    two["threads"] = one["threads"].clone();
    assert_eq!(one, two);
    assert_eq!(one["seed"], 3);
    let starts = one["starts"].as_array().unwrap();
    assert_eq!((starts.len(), &starts[0]["start"]), (4, &serde_json::json!([0.0, 0.0])));
    let least =
        starts.iter().map(|own| own["cost"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    let best = one["best_start"].as_u64().unwrap() as usize - 1;
    assert_eq!((starts[best]["cost"].as_f64(), one["cost"].as_f64()), (Some(least), Some(least)));
    // Without both bounds within three scales, with both between these.
    for own in &starts[1..] {
        let [vx, vz] = [0, 1].map(|k| own["start"][k].as_f64().unwrap());
        assert!(vx.abs() <= 0.3 && (-1.0..=9.0).contains(&vz) && vx != 0.0, "{own}");
        assert!((own["x"][0].as_f64().unwrap() - 2.0).abs() < 1e-9, "{own}");
    }
    assert!(starts.iter().any(|own| own["start"][1].as_f64().unwrap() > 1.0), "{one}");
    let told = succeeds_aloud(&folder.run(&["optimize", "task.toml"]));
    assert!(told.contains("start  4   converged") && told.contains("the best"), "{told}");
    for (from, to, says) in [
        ("starts = 4", "starts = 0", "starts: must be a whole number of at least 1"),
        ("seed = 3", "seed = -1", "seed: must be a whole number of at least 0"),
    ] {
        folder.write("task.toml", &text.replace(from, to));
        refuses(&folder.run(&["optimize", "task.toml"]), &[says]);
    }
}
