//! Scenes written from descriptions say the same.

use super::{assert_near, read};
use stiction::assemble::Description;
use stiction::model::{Scene, Settings};

/// Reads what was written.
fn again(description: &Description) -> Scene {
    let text = description.to_toml("");
    Scene::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn scenes_are_the_same_after_writing() {
    for text in [include_str!("models/classes.xml"), include_str!("models/arm.urdf")] {
        let mut description = read(text);
        // States by name are comments, and so are looks whose files are not there.
        description.keyframes.clear();
        description.bodies.iter_mut().for_each(|body| body.visuals.clear());
        let before = description.scene().unwrap();
        let after = again(&description);
        assert_eq!(before.model, after.model);
        assert_near(&after.parameters.values, &before.parameters.values, 0.0);
        assert_near(&after.state.q, &before.state.q, 0.0);
        assert_eq!(before.settings, after.settings);
        assert_near(&after.inputs, &before.inputs, 0.0);
    }
}

#[test]
fn inertias_of_others_stay_warnings() {
    // More about x than about y and z together.
    let text = include_str!("models/arm.urdf").replace("ixx=\"0.01\"", "ixx=\"0.1\"");
    let description = read(&text);
    let warned = |scene: Scene| scene.warnings.iter().any(|w| w.field().contains("lower.inertia"));
    assert!(warned(description.scene().unwrap()));
    assert!(warned(again(&description)));
}

#[test]
fn shapes_of_every_kind_are_written() {
    let description = read(include_str!("models/kinds.xml"));
    let (before, after) = (description.scene().unwrap(), again(&description));
    assert_eq!(before.model.nq(), after.model.nq());
    let names = |scene: &Scene| {
        let pairs = scene.model.pairs.iter().map(|pair| pair.name.clone());
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(names(&before), names(&after));
    for (a, b) in before.model.colliders.iter().zip(&after.model.colliders) {
        assert_eq!(
            (&a.name, a.body, a.shape.contact_points()),
            (&b.name, b.body, b.shape.contact_points())
        );
    }
    assert_eq!(before.model.equalities, after.model.equalities);
}

#[test]
fn names_that_scenes_do_not_allow_are_changed() {
    let text = "<mujoco><worldbody><body name='/gravity/ '><joint name='j'/><geom size='1'/></body>\
        <body name='b'><freejoint/><geom size='1' pos='9 0 0'/></body></worldbody>\
        <actuator><motor name='b' joint='j'/></actuator></mujoco>";
    let description = read(text);
    let written = description.to_toml("");
    assert!(written.contains("# Renamed: \"b\" is \"b_2\" here"), "{written}");
    let scene = again(&description);
    assert_eq!(scene.model.bodies[0].name, "gravity_2");
    assert_eq!(scene.model.actuators[0].name, "b_2");
}

#[test]
fn warnings_are_comments_and_states_keyframes() {
    let text = "<mujoco><worldbody><body><joint springyield='1'/><geom size='1'/></body></worldbody>\
        <keyframe><key name='up' qpos='1.5'/></keyframe></mujoco>";
    let written = read(text).to_toml("");
    assert!(written.contains("# Warning: model.xml:1: joint.springyield"), "{written}");
    assert!(written.contains("[[keyframe]]\nname = \"up\"\nq = [1.5]"), "{written}");
}

#[test]
fn scenes_are_described_with_other_numbers() {
    let slides = include_str!("../../examples/slides/scene.toml");
    let mut scenes = vec![Scene::parse(slides, "scene.toml").unwrap()];
    for text in [
        include_str!("models/classes.xml"),
        include_str!("models/arm.urdf"),
        include_str!("models/kinds.xml"),
    ] {
        scenes.push(read(text).scene().unwrap());
    }
    for before in &mut scenes {
        // Numbers that are not in the file.
        for value in &mut before.parameters.values {
            *value *= 1.0 + 1.0 / 1024.0;
        }
        let description = Description::of(before, &before.parameters, "scene.toml");
        for after in [description.scene().unwrap(), again(&description)] {
            let names = |scene: &Scene| scene.model.parameter_names();
            assert_eq!(names(before), names(&after));
            assert_eq!(before.model.pairs, after.model.pairs);
            assert_eq!(before.model.equalities, after.model.equalities);
            assert_eq!(before.model.actuators, after.model.actuators);
            assert_near(&after.state.q, &before.state.q, 1e-15);
            assert_near(&after.state.v, &before.state.v, 0.0);
            assert_near(&after.inputs, &before.inputs, 0.0);
            let compliance =
                before.settings.compliance * before.parameters.relative_compliance(&before.model);
            assert_eq!(Settings { compliance, ..before.settings }, after.settings);
            assert_eq!(before.keyframes, after.keyframes);
            for (name, slot) in names(before).iter().map(|name| {
                let slots = before.model.parameter(name).map(|p| p.slots);
                (name, slots.unwrap_or_default()[0])
            }) {
                // The corners of a hull that is written have its scale, and the settings the compliance.
                if !name.contains("/scale/") && name != "contact/relative_compliance" {
                    let (a, b) = (after.parameters.values[slot], before.parameters.values[slot]);
                    assert!((a - b).abs() <= 1e-15 * b.abs(), "{name} {a} {b}");
                }
            }
        }
    }
}
