//! Conditions that nothing meets together are named.

use serde_json::Value;

use crate::folder::Folder;
use crate::program::succeeds;

/// A bar of 0.3 m on a hinge at `x`.
fn bar(name: &str, x: f64, joint: &str) -> String {
    format!(
        "[[body]]\nname = '{name}'\njoint = {{ type = 'revolute', axis = [0, 1, 0]{joint} }}\n\
         position = [{x:?}, 0, 0]\nmass = 1\ninertia = 0.01\ncenter_of_mass = [0.15, 0, 0]\n"
    )
}

fn tied(kind: &str, bodies: [&str; 2], more: &str) -> String {
    format!("[[equality]]\nname = '{kind}-tie'\ntype = '{kind}'\nbodies = {bodies:?}\n{more}\n")
}

const ENDS: &str = "anchors = [[0.3, 0, 0], [0.3, 0, 0]]";

/// What a simulation of a few steps says: its exit code, its warnings, which conditions contradict each other.
fn said(name: &str, parts: &[String]) -> (Option<i32>, String, Value) {
    let folder = Folder::new(name);
    folder.write("scene.toml", &format!("[simulation]\ntime_step = 0.002\n{}", parts.concat()));
    let output = folder.run(&["simulate", "scene.toml", "--json", "--steps", "10"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said, json["solver"]["contradicting"].clone())
}

#[test]
fn conditions_that_contradict_each_other_are_named() {
    // The bars do not reach each other.
    let parts = [
        bar("left", 0.0, ""),
        bar("right", 1.0, ", q = 3.1"),
        tied("connect", ["left", "right"], ENDS),
    ];
    let (code, text, names) = said("far", &parts);
    assert_eq!((code, names), (Some(1), vec!["equality connect-tie"].into()), "{text}");
    assert!(
        text.contains("equality connect-tie: cannot be closed, and is open by 4.0e-1"),
        "{text}"
    );
    // A limit is violated where a weld holds; what takes no part is not named.
    let parts = [
        bar("free", 0.0, ", limits = [0.5, 1.0]"),
        bar("held", 2.0, ", limits = [0.5, 1.0]"),
        tied("weld", ["held", "world"], "anchors = [[0.3, 0, 0], [2.3, 0, 0]]"),
    ];
    let (code, text, names) = said("held", &parts);
    let both = vec!["lower limit of held", "equality weld-tie"];
    assert_eq!((code, names), (Some(3), both.into()), "{text}");
    assert!(text.contains("equality weld-tie: contradict each other"), "{text}");
    // There is nothing to differentiate, and it does not take long to find out: no difference is taken.
    let output = Folder::new("held-gradcheck");
    output.write("scene.toml", &format!("[simulation]\ntime_step = 0.002\n{}", parts.concat()));
    let output = output.run(&["gradcheck", "scene.toml", "--json", "--steps", "2"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warned = String::from_utf8(output.stderr).unwrap();
    assert_eq!((&json["cases"], &json["contradictory"]), (&0.into(), &2.into()), "{warned}");
    assert!(
        output.status.code() == Some(3)
            && warned.contains("in 2 of 2 steps conditions contradict each other or"),
        "{warned}"
    );
    // So are limits that are violated from the start, each with how far.
    let beyond = "body.held.joint.q: is 0, 5.000e-1 rad beyond its limits 0.5 and 1: it is pushed back at 5.0e1 rad/s";
    assert!(text.contains(beyond), "{text}");
    // Limits of two joints that one ratio ties.
    let parts = [
        bar("left", 0.0, ", limits = [0.5, 1.0]"),
        bar("right", 1.0, ", limits = [-1.0, 0.1]"),
        "[[equality]]\nname = 'same'\ntype = 'joint'\njoints = ['left', 'right']\nratio = 1\n"
            .into(),
    ];
    let (_, text, names) = said("limits", &parts);
    let mut names: Vec<&str> = names.as_array().unwrap().iter().flat_map(Value::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["equality same", "lower limit of left", "upper limit of right"], "{text}");
    // Two ratios that cannot both be.
    let tie = |name: &str, offset: f64| {
        format!(
            "[[equality]]\nname = '{name}'\ntype = 'joint'\njoints = ['left', 'right']\nratio = 1\noffset = {offset}\n"
        )
    };
    let bars = || [bar("left", 0.0, ""), bar("right", 1.0, "")];
    let [left, right] = bars();
    let (_, text, names) = said("ratios", &[left, right, tie("one", 0.0), tie("other", 0.3)]);
    assert_eq!(names, Value::from(vec!["equality one", "equality other"]), "{text}");
    // Redundant and consistent: nothing is said.
    let [left, right] = bars();
    let parts = [left, right, tie("one", 0.0), tie("other", 0.0)];
    let (code, text, names) = said("redundant", &parts);
    assert_eq!((code, text.as_str(), names), (Some(0), "", Value::Null));
}

#[test]
fn a_damper_and_a_weld_to_a_body_that_is_led_elsewhere_are_named() {
    let folder = Folder::new("led");
    let model = |height: f64| {
        format!(
            "<mujoco><worldbody><body name='target' mocap='true' pos='0 0 {height}'/>\
             <body name='arm' pos='0 0 1'><joint name='hinge' type='hinge' axis='0 1 0' damping='1e11'/>\
             <geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02'/></body></worldbody>\
             <equality><weld name='grab' body1='arm' body2='target' relpose='0 0 0 1 0 0 0'/></equality></mujoco>"
        )
    };
    folder.write("led.xml", &model(5.0));
    let output = folder.run(&["simulate", "led.xml", "--json", "--steps", "10"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("equality grab: cannot be closed, and is open by 4.0e0"), "{text}");
}

#[test]
fn what_nothing_moves_is_said_where_it_is_read() {
    let folder = Folder::new("immovable");
    let scene = |height: f64| {
        let body = |name: &str, height: f64| {
            format!(
                "[[body]]\nname = '{name}'\nmass = 1\ninertia = 0.1\njoint = {{ type = 'fixed' }}\n\
                 position = [0, 0, {height:?}]\n"
            )
        };
        let ball = "[[body]]\nname = 'ball'\nmass = 1\nshape = { sphere = 0.1 }\n";
        let tie = tied("weld", ["low", "high"], "anchors = [[0, 0, 0], [0, 0, 0]]");
        format!(
            "[simulation]\ntime_step = 0.01\n{}{}{ball}{tie}",
            body("low", 0.0),
            body("high", height)
        )
    };
    folder.write("scene.toml", &scene(1.0));
    let output = folder.run(&["simulate", "scene.toml", "--json"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let says = "ties low and high, neither of which anything moves, and is open by 1.000e0 m";
    assert!(output.status.success() && text.contains(says), "{text}");
    folder.write("scene.toml", &scene(0.0));
    succeeds(&folder.run(&["simulate", "scene.toml", "--json"]));
}
