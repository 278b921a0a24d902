//! Markers of a soft body beside rigid ones: their numbers are found too, and what led them is in the recordings.

use std::fmt::Write;

use stiction::soft::{SoftRollout, SoftScene};
use stiction::trajectory::Controls;

use super::{fit, load, tells};
use crate::folder::Folder;
use crate::random::Random;

/// A soft block on the floor, and these rigid bodies.
fn scene(rigid: &str, block: &str) -> String {
    format!(
        "[simulation]\ntime_step = 0.004\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n{rigid}\n\
         [[soft]]\nname = 'block'\nshape = {{ box = [0.05, 0.03, 0.02] }}\nresolution = 0.1\ndensity = 300\n\
         youngs_modulus = 3e4\npoisson_ratio = 0.3\nviscosity = 10\n{block}\n\
         markers = {{ a = [-0.05, -0.03, -0.02], b = [0.05, -0.03, -0.02], c = [-0.05, 0.03, 0.02], d = [0.05, 0.03, -0.02] }}\n\
         [[contact]]\nmu = 0.3\n"
    )
}

/// A recording of the markers of a scene each 8 ms for 0.4 s, and of what leads a hand (its columns, and where it is in each row).
fn record(scene: &SoftScene, led: Option<(&str, &str)>, noise: f64, random: &mut Random) -> String {
    let mut scene = scene.clone();
    let controls = led.map(|(text, _)| {
        let rigid = scene.rigid.as_mut().unwrap();
        let controls = Controls::parse(text, "led.csv", &rigid.model).unwrap();
        controls.place(&rigid.model, &mut rigid.state);
        controls
    });
    let mut rollout = SoftRollout::new(&scene);
    let body = &scene.bodies[0];
    let mut text = String::from("t");
    for marker in &body.markers {
        for axis in ["px", "py", "pz"] {
            write!(text, ",block/{}/{axis}", marker.name).unwrap();
        }
    }
    let rows: Vec<&str> = led.map_or(Vec::new(), |(text, _)| text.lines().skip(1).collect());
    if let Some((_, columns)) = led {
        write!(text, ",{columns}").unwrap();
    }
    for step in 0..=100 {
        if step > 0 {
            if let (Some(controls), Some(inputs)) = (&controls, rollout.rigid_inputs()) {
                controls.apply(f64::from(step - 1) * 0.004, 0.004, inputs);
            }
            assert_eq!(rollout.step().unsolved, 0);
        }
        if step % 2 > 0 {
            continue;
        }
        // Of a clock that began earlier.
        write!(text, "\n{}", 7.0 + f64::from(step) * 0.004).unwrap();
        for marker in &body.markers {
            for x in rollout.states()[0].position[marker.node] {
                let half = noise * 3.0_f64.sqrt();
                write!(text, ",{}", x + random.uniform(-half, half)).unwrap();
            }
        }
        if led.is_some() {
            let (_, pose) = rows[step as usize / 2].split_once(',').unwrap();
            write!(text, ",{pose}").unwrap();
        }
    }
    text
}

fn parse(text: &str) -> SoftScene {
    SoftScene::parse(text, "scene.toml").unwrap().unwrap()
}

/// The mass of a box, from how a block bounces off it.
#[test]
fn numbers_of_rigid_bodies_are_found_from_markers() {
    let folder = Folder::new("markers-beside");
    let rigid = "[[body]]\nname = 'box'\nmass = 0.05\nshape = { box = [0.02, 0.04, 0.03] }\nposition = [0.09, 0, 0.03]\n";
    let text = |speed: f64| {
        scene(rigid, &format!("position = [0, 0, 0.0205]\nvelocity = [{speed}, 0, 0]"))
    };
    folder.write("scene.toml", &text(0.9));
    let mut random = Random(5);
    for (name, speed) in [("slow", 0.7), ("fast", 1.0)] {
        let file = record(&parse(&text(speed)), None, 1e-4, &mut random);
        folder.write(&format!("{name}.csv"), &file);
    }
    let experiment = load(
        &folder,
        "scene = 'scene.toml'\ndata = ['slow.csv', 'fast.csv']\niterations = 100\n[noise]\nposition = 1e-4\n\
         [[parameter]]\nname = 'box/mass'\nstart = 0.07\n[[parameter]]\nname = 'floor-block/mu'\nstart = 0.25\n",
    );
    let found = fit(&experiment, 2);
    tells(&found, &[("box/mass", 0.05), ("floor-block/mu", 0.3)]);
}

/// A hand that was led into a block in recordings, each its own way, under names of theirs.
#[test]
fn recordings_tell_what_led_a_hand() {
    let folder = Folder::new("markers-led");
    let rigid = "[[body]]\nname = 'hand'\nprescribed = true\nshape = { sphere = 0.03 }\nposition = [-1, 0, 0.03]\n";
    let text = scene(rigid, "position = [0, 0, 0.02001]");
    folder.write("scene.toml", &text);
    let mut random = Random(6);
    for (name, speed, side) in [("slow", 0.25, 0.01), ("fast", 0.5, -0.012)] {
        let mut led = String::from("t,hand/px,hand/py,hand/pz");
        for row in 0..=50 {
            let t = f64::from(row) * 0.008;
            // It goes back at the end.
            let way = if t < 0.3 { speed * t } else { speed * (0.6 - t) };
            write!(led, "\n{t},{},{side},0.03", -0.083 + way).unwrap();
        }
        let file = record(&parse(&text), Some((&led, "x_hand,y_hand,z_hand")), 1e-4, &mut random);
        folder.write(&format!("{name}.csv"), &file);
    }
    let file = "scene = 'scene.toml'\ndata = ['slow.csv', 'fast.csv']\ninputs = ['hand']\niterations = 150\n[columns]\nhand = ['x_hand', 'y_hand', 'z_hand']\n\
         [noise]\nposition = 1e-4\n[[parameter]]\nname = 'block/youngs_modulus'\nstart = 1.5e4\n\
         [[parameter]]\nname = 'floor-block/mu'\nstart = 0.5\n";
    let experiment = load(&folder, file);
    let found = fit(&experiment, 2);
    tells(&found, &[("block/youngs_modulus", 3e4), ("floor-block/mu", 0.3)]);
    assert!((found.loss[1] - 1.0).abs() < 0.2, "{:?}", found.loss);
    // Its columns have the usual names, and an orientation, too.
    let usual = folder.read("slow.csv").replace("x_hand,y_hand,z_hand", "hand/px,hand/py,hand/pz");
    let mut turned = String::new();
    for (k, line) in usual.lines().enumerate() {
        let more = if k == 0 { "hand/qw,hand/qx,hand/qy,hand/qz" } else { "1,0,0,0" };
        writeln!(turned, "{line},{more}").unwrap();
    }
    let plain = file
        .replace("'slow.csv', 'fast.csv'", "'slow.csv'")
        .replace("[columns]\nhand = ['x_hand', 'y_hand', 'z_hand']\n", "");
    folder.write("slow.csv", &usual);
    let without = load(&folder, &plain);
    folder.write("slow.csv", &turned);
    let with = load(&folder, &plain);
    let [first, second] = [without, with].map(|own| fit(&own, 1).parameters);
    for (first, second) in first.iter().zip(&second) {
        assert!((first.value / second.value - 1.0).abs() < 1e-6, "{first:?} {second:?}");
    }
}

/// Two sliders that motors press into a block from both sides, as one column says of both; it is empty where nothing changes.
#[test]
fn recordings_tell_what_motors_did() {
    let folder = Folder::new("markers-motors");
    let slider = |name: &str, x: f64, along: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 0.05\nshape = {{ sphere = 0.02 }}\nposition = [{x}, 0, 0.02]\n\
             joint = {{ type = 'prismatic', axis = [{along}, 0, 0], damping = 1 }}\n\
             [[actuator]]\nname = '{name}_motor'\njoint = '{name}'\ntype = 'motor'\n"
        )
    };
    let rigid = slider("left", -0.075, 1.0) + &slider("right", 0.075, -1.0);
    let text = scene(&rigid, "position = [0, 0, 0.02001]");
    folder.write("scene.toml", &text);
    let mut led = String::from("t,left_motor,right_motor");
    for row in 0..=50 {
        let force = if row < 25 { 0.6 } else { 0.1 };
        write!(led, "\n{},{force},{force}", f64::from(row) * 0.008).unwrap();
    }
    let file = record(&parse(&text), Some((&led, "tau,spare")), 1e-4, &mut Random(7));
    let sparse: Vec<String> = file
        .lines()
        .enumerate()
        .map(|(k, line)| match k {
            0 | 1 | 26 => line.to_string(),
            _ => format!("{},,", line.rsplitn(3, ',').last().unwrap()),
        })
        .collect();
    folder.write("squeeze.csv", &sparse.join("\n"));
    let experiment = load(
        &folder,
        "scene = 'scene.toml'\ndata = ['squeeze.csv']\ninputs = ['left_motor', 'right_motor']\niterations = 100\n\
         [columns]\nleft_motor = 'tau'\nright_motor = 'tau'\n[noise]\nposition = 1e-4\n\
         [[parameter]]\nname = 'block/youngs_modulus'\nstart = 2e4\n",
    );
    let found = fit(&experiment, 2);
    tells(&found, &[("block/youngs_modulus", 3e4)]);
    assert!((found.loss[1] - 1.0).abs() < 0.3, "{:?}", found.loss);
}

#[cfg(feature = "cli")]
#[test]
fn what_is_wrong_with_inputs_is_said() {
    use crate::program::refuses;
    let folder = Folder::new("markers-inputs-wrong");
    let rigid = "[[body]]\nname = 'hand'\nprescribed = true\nshape = { sphere = 0.03 }\nposition = [-1, 0, 0.03]\n\
         [[body]]\nname = 'box'\nmass = 1\nshape = { sphere = 0.03 }\nposition = [1, 0, 0.03]\n";
    folder.write("scene.toml", &scene(rigid, "position = [0, 0, 0.02001]"));
    let markers: String = ["a", "b", "c", "d"]
        .map(|name| format!(",block/{name}/px,block/{name}/py,block/{name}/pz"))
        .concat();
    let row = ",0.1".repeat(12);
    folder.write(
        "push.csv",
        &format!("t{markers},hand/px,hand/py,rest,none\n0{row},1,2,,\n0.1{row},1,2,0,\n"),
    );
    let text = "scene = 'scene.toml'\ndata = ['push.csv']\ninputs = ['hand']\n[[parameter]]\nname = 'box/mass'\n";
    for (from, to, says) in [
        (
            "['hand']",
            "['box']",
            "inputs: must be bodies with prescribed = true, and inputs, found \"box\"; there are hand, ",
        ),
        ("['hand']", "['hand', 'hand']", "inputs: names \"hand\" twice"),
        (
            "\n[[parameter]]",
            "\nseen = 'points'\n[[parameter]]",
            "inputs: are not for seen = \"points\"",
        ),
        (
            "",
            "",
            "push.csv:1: hand/pz: the column is missing: it is among the inputs of the experiment",
        ),
        (
            "\n[[parameter]]",
            "\n[columns]\nhand = ['x', 'y']\n[[parameter]]",
            "columns.hand: must be the names of three columns",
        ),
        (
            "'box/mass'",
            "'box/mass'\nlower = -1",
            "box/mass.lower: must be from 0.000000001 to below upper",
        ),
        ("'box/mass'", "'box/half_extents/x'", "is no parameter of the scene"),
        (
            "'box/mass'",
            "'hand/set_vx'",
            "inputs: name what hand/set_vx is: it cannot be a [[parameter]] as well",
        ),
        (
            "\n[[parameter]]",
            "\n[columns]\nhand = ['hand/px', 'hand/py', 'hand/px']\n[[parameter]]",
            "push.csv:1: hand/px: is named twice: for hand/pz",
        ),
        (
            "\n[[parameter]]",
            "\n[columns]\nhand = ['hand/px', 'hand/py', 'rest']\n[[parameter]]",
            "push.csv:1: hand/px: must have a pose in the first row and in the last",
        ),
        (
            "['hand']",
            "['hand', 'box/fx']\n[columns]\nhand = ['hand/px', 'hand/py', 'block/a/px']\n'box/fx' = 'none'",
            "push.csv:1: none: has no value in any row",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        folder.write("experiment.toml", &changed);
        refuses(&folder.run(&["identify", "experiment.toml"]), &[says]);
    }
}
