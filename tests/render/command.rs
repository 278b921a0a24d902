//! `stiction render`, and what other commands make of cameras and pushes.

use stiction::Scene;
use stiction::render::ColourPicture;

use super::mask;
use crate::folder::Folder;
use crate::program::{refuses, succeeds};

/// A block with a corner cut out, which its hull is not.
const NOTCHED: &str = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1\n\
    f 4 3 2\nf 4 2 1\nf 4 1 6\nf 4 6 5\nf 10 8 9\nf 10 7 8\nf 10 12 7\nf 10 11 12\n\
    f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";

/// It is pushed, and seen from above.
const SCENE: &str = "[simulation]
    time_step = 0.01
    [[body]]
    name = 'block'
    mass = 2
    shape = { mesh = 'block.obj', scale = [0.1, 0.1, 0.1] }
    [[push]]
    name = 'shove'
    body = 'block'
    force = [9, 3, 20]
    until = 0.105
    [[camera]]
    name = 'a, b'
    size = [48, 40]
    eye = [0.1, 0.1, 2]
    target = [0.1, 0.1, 0]
    up = [0, 1, 0]
    fov_y_deg = 20
    ";

#[test]
fn a_video_is_made_and_fitted_and_its_scene_looks_the_same() {
    let folder = Folder::new("render_command");
    folder.write("block.obj", NOTCHED);
    folder.write("scene.toml", SCENE);
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "40", "-o", "motion.csv"]));
    let drawn = [
        "render",
        "scene.toml",
        "--trajectory",
        "motion.csv",
        "--every",
        "2",
        "--mask",
        "-o",
        "masks.csv",
        "--json",
    ];
    let told: serde_json::Value = serde_json::from_str(&succeeds(&folder.run(&drawn))).unwrap();
    assert_eq!((told["pictures"].as_array().unwrap().len(), &told["empty"]), (21, &0.into()));
    assert!(folder.read("masks.csv").starts_with("t,\"a, b\"\n0,masks_0000.png\n0.02,"));
    // From another mass.
    folder.write("guess.toml", &SCENE.replace("mass = 2", "mass = 5"));
    folder.write("experiment.toml", "scene = 'guess.toml'\ndata = ['masks.csv']\nsubsteps = 2\n[columns]\n'block/*' = false\n\
        [[sensor]]\ncamera = 'a, b'\n[[parameter]]\nname = 'block/density'\nstart = 1667\nlower = 100\nupper = 9000\n");
    succeeds(&folder.run(&["identify", "experiment.toml", "-o", "fit"]));
    let result: serde_json::Value = serde_json::from_str(&folder.read("fit/result.json")).unwrap();
    // 2 kg in 3 dm³.
    let found = result["parameters"][0]["value"].as_f64().unwrap();
    assert!((found / (2.0 / 0.003) - 1.0).abs() < 1e-3, "{found}");
    assert!(result["parameters"][0]["tied"].as_array().unwrap().is_empty());
    assert!(folder.read("fit/report.html").contains("image/png"));
    // The identified scene has the mesh, not its hull.
    let load = |name: &str| Scene::load(folder.path(name)).unwrap();
    let (own, written) = (mask(&load("scene.toml")), mask(&load("fit/scene.toml")));
    assert_eq!(own, written);
    let sum: f64 = own.iter().sum();
    assert!(sum > 0.0 && load("fit/scene.toml").model.pushes.len() == 1);
    // All in one, and without a camera of the scene.
    let moving = ["render", "scene.toml", "--trajectory", "motion.csv", "--every", "20"];
    succeeds(&folder.run(&[&moving[..], &["-o", "m.apng"]].concat()));
    let file = std::fs::File::open(folder.path("m.apng")).unwrap();
    let reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 3);
    let blind = SCENE.split("[[camera]]").next().unwrap();
    folder.write("blind.toml", blind);
    succeeds(&folder.run(&["render", "blind.toml", "-o", "seen.png"]));
    let seen = ColourPicture::load(folder.path("seen.png")).unwrap();
    assert_eq!(seen.size, [640, 480]);
    // It fills the middle of the picture, and reaches no border.
    let behind = seen.values[0];
    assert!(seen.values[240 * 640 + 320] != behind);
    assert!(seen.values.iter().filter(|&&pixel| pixel != behind).count() > 640 * 480 / 12);
    let border =
        |k: usize| k.is_multiple_of(640) || k % 640 == 639 || k / 640 == 0 || k / 640 == 479;
    assert!((0..640 * 480).all(|k| !border(k) || seen.values[k] == behind));
    refuses(&folder.run(&["render", "blind.toml", "--mask", "-o", "a.png"]), &["has no camera"]);
    // The same by colours, of all of it and before a picture of all else.
    let drawn =
        ["render", "guess.toml", "--trajectory", "motion.csv", "--every", "2", "-o", "colours.csv"];
    succeeds(&folder.run(&drawn));
    let [red, green, blue] = [0xeb, 0xf0, 0xf5];
    let empty = ColourPicture { size: [48, 40], values: vec![[red, green, blue]; 48 * 40] };
    empty.write_png(std::fs::File::create(folder.path("empty.png")).unwrap()).unwrap();
    for more in ["", "background = 'empty.png'\nbodies = ['block']\n"] {
        let text = folder.read("experiment.toml").replace("masks.csv", "colours.csv");
        let sensor = format!("camera = 'a, b'\ncompare = 'colour'\n{more}");
        folder.write("colours.toml", &text.replace("camera = 'a, b'\n", &sensor));
        succeeds(&folder.run(&["identify", "colours.toml", "-o", "fit_colours"]));
        let result: serde_json::Value =
            serde_json::from_str(&folder.read("fit_colours/result.json")).unwrap();
        let found = result["parameters"][0]["value"].as_f64().unwrap();
        assert!((found / (2.0 / 0.003) - 1.0).abs() < 1e-3, "{more} {found}");
    }
    // There are no poses to measure.
    refuses(&folder.run(&["evaluate", "experiment.toml"]), &["record no position"]);
}

#[test]
fn other_commands_take_pushes() {
    let folder = Folder::new("commands_with_pushes");
    folder.write("block.obj", NOTCHED);
    folder.write("scene.toml", SCENE);
    for inputs in ["controls", "all", "shove/u"] {
        succeeds(&folder.run(&[
            "linearize",
            "scene.toml",
            "--steps",
            "12",
            "--inputs",
            inputs,
            "-o",
            "l.npz",
        ]));
    }
    succeeds(&folder.run(&["linearize", "scene.toml", "--steps", "12", "-o", "l.json"]));
    succeeds(&folder.run(&["gradcheck", "scene.toml", "--steps", "2"]));
    succeeds(&folder.run(&["bench", "scene.toml", "--steps", "5"]));
    folder.write("u.csv", "t,shove\n0,0\n0.05,0.5\n");
    let ball = SCENE.replace("mesh = 'block.obj', scale = [0.1, 0.1, 0.1]", "sphere = 0.1");
    folder.write("ball.toml", &ball);
    succeeds(&folder.run(&[
        "simulate",
        "ball.toml",
        "--steps",
        "40",
        "--controls",
        "u.csv",
        "-o",
        "m.csv",
    ]));
    // Half of it from 0.05 to 0.105 s: 9 N / 2 kg.
    let last = folder
        .read("m.csv")
        .lines()
        .last()
        .unwrap()
        .split(',')
        .nth(8)
        .unwrap()
        .parse::<f64>()
        .unwrap();
    assert!((last - 0.5 * 4.5 * 0.055).abs() < 1e-9, "{last}");
    refuses(
        &folder.run(&["render", "scene.toml", "--trajectory", "m.csv", "-o", "m.csv"]),
        &["m.csv", "would be replaced"],
    );
    refuses(&folder.run(&["render", "scene.toml", "-o", "a.jpg"]), &["must end in .png"]);
    refuses(&folder.run(&["render", "scene.toml", "-o", "a.apng"]), &["give a --trajectory"]);
    refuses(&folder.run(&["render", "scene.toml", "--bodies", "a", "-o", "a.png"]), &["--mask"]);
    refuses(
        &folder.run(&["render", "scene.toml", "--camera", "c", "-o", "a.png"]),
        &["there is no camera \"c\"; there are a, b"],
    );
    refuses(
        &folder.run(&["render", "scene.toml", "--trajectory", "m.csv", "-o", "a.png"]),
        &["one name for many pictures"],
    );
}

/// A step by itself has no time: pushes act as far as they are asked to.
#[test]
fn transitions_push_when_they_are_told_to() {
    let scene = Scene::parse(
        &SCENE.replace("mesh = 'block.obj', scale = [0.1, 0.1, 0.1]", "sphere = 0.1"),
        "s.toml",
    )
    .unwrap();
    let mut f =
        stiction::transition::Transition::new("s.toml", std::sync::Arc::new(scene)).unwrap();
    assert_eq!(f.nu(), 6);
    let x = f.initial_state();
    let mut next = x.clone();
    f.step(&x, &[0.0; 6], &mut next).unwrap();
    assert_eq!(next[7], 0.0);
    f.select_inputs(&["shove/u".to_string()]).unwrap();
    assert_eq!(f.initial_input(), [0.0]);
    f.step(&x, &[1.0], &mut next).unwrap();
    assert!((next[7] - 0.045).abs() < 1e-15);
}
