//! Files of many shapes: what others write, and what the library does.

use std::fmt::Write;

use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::Scene;

use super::{groups, materials, run};

/// A scene as it is after it was written and read.
fn again(scene: &Scene) -> Scene {
    let text = Description::of(scene, &scene.parameters, "many.toml").to_toml("");
    let again = Scene::parse(&text, "again.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(scene.model, again.model);
    assert_eq!(scene.parameters, again.parameters);
    assert_eq!(scene.state, again.state);
    assert_eq!(materials(scene), materials(&again));
    again
}

#[track_caller]
fn value(scene: &Scene, name: &str) -> Option<f64> {
    scene.model.parameter(name).map(|found| scene.parameters.values[found.slots[0]])
}

#[test]
fn scenes_of_many_shapes_are_written_and_read() {
    again(&groups(12));
}

/// As after an identification: other numbers than those of the file.
#[test]
fn numbers_that_changed_are_written_and_read() {
    let mut scene = groups(12);
    for (name, number) in
        [("contact/mu", 0.55), ("c.arm/a/mu", 0.65), ("a.base/b-a.arm/a/restitution", 0.25)]
    {
        let slot = scene.model.parameter(name).unwrap().slots[0];
        scene.parameters.values[slot] = number;
        assert_eq!(value(&again(&scene), name), Some(number));
    }
}

/// Balls in stacks of two on a plane, of which `friction` says the rest.
fn balls(friction: impl Fn(usize) -> String) -> String {
    let mut text = "<mujoco><option timestep='0.005'/><worldbody>\
        <geom name='floor' type='plane' size='9 9 1' friction='0.2'/>"
        .to_string();
    for k in 0..70 {
        let (x, z) = (0.3 * (k / 2) as f64, 0.0999 + 0.1998 * (k % 2) as f64);
        write!(
            text,
            "<body name='b{k}' pos='{x} {} {z}'><freejoint/>\
             <geom name='g{k}' type='sphere' size='0.1' mass='1' {}/></body>",
            0.001 * (k % 3) as f64,
            friction(k)
        )
        .unwrap();
    }
    text + "</worldbody><contact><pair geom1='g2' geom2='g3' friction='0.9 0.9'/>\
            <exclude body1='b4' body2='b5'/></contact></mujoco>"
}

#[test]
fn mjcf_of_many_geoms_shares_the_numbers_of_geoms() {
    let text = balls(|k| format!("friction='{}'", 0.1 + 0.01 * k as f64));
    let read = |text: &str| Description::parse_xml(text, "model.xml", LoadOptions::default());
    let scene = read(&text).unwrap().scene().unwrap();
    assert_eq!(scene.model.pairs.len(), 70 + 1, "each over the plane, and one that is named");
    assert!(scene.model.parameter_count() < 70 * 40);
    let materials = materials(&scene);
    let mu = |name: &str| materials.iter().find(|(n, _)| n == name).map(|(_, [mu, ..])| *mu);
    for (first, second, expected) in
        [(0, 1, Some(0.11)), (2, 3, Some(0.9)), (4, 5, None), (10, 69, Some(0.79))]
    {
        let names = [first, second].map(|k| scene.model.colliders[k].name.as_str());
        let found = mu(&names.join("-"));
        assert!(found.zip(expected).is_none_or(|(a, b)| (a - b).abs() < 1e-15), "{names:?}");
        assert_eq!(found.is_some(), expected.is_some(), "{names:?}");
    }
    let moves = [&scene, &again(&scene)].map(|scene| run(scene, &scene.parameters, 5));
    assert_eq!(moves[0], moves[1]);
}

/// A URDF says nothing of friction. What the scene made of it says of all pairs is one number.
#[test]
fn urdf_of_many_links_shares_what_the_scene_says() {
    let mut text = "<robot name='r'><link name='base'><inertial><mass value='2'/>\
        <inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
        .to_string();
    for k in 0..70 {
        write!(
            text,
            "<link name='l{k}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>\
             <collision><geometry><sphere radius='0.1'/></geometry></collision></link>\
             <joint name='j{k}' type='continuous'><parent link='base'/><child link='l{k}'/>\
             <origin xyz='{} 0 0'/><axis xyz='0 1 0'/></joint>",
            0.3 * k as f64
        )
        .unwrap();
    }
    text += "</robot>";
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let mut description = Description::parse_xml(&text, "r.urdf", options).unwrap();
    description.settings.time_step = 0.005;
    let bare = description.scene().unwrap();
    assert!(bare.model.pairs.is_empty() && !bare.model.has_contacts());
    let written = description.to_toml("");
    assert!(written.contains("collide = false"), "{written}");
    let says = written.replacen("collide = false", "mu = 0.4\nrestitution = 0.2", 1);
    let scene = Scene::parse(&says, "r.toml").unwrap();
    assert!(scene.model.pairs.is_empty() && scene.model.colliders_touch());
    assert_eq!((value(&scene, "contact/mu"), value(&scene, "l0-l1/mu")), (Some(0.4), None));
    assert_eq!(materials(&scene).len(), 70 * 69 / 2);
    again(&scene);
}
