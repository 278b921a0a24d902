//! A mass that shows only over an inertia that is held fixed is said to be that, before a fit and after it.

use stiction::identify::{
    Dataset, Experiment, FreeParameter, Noise, Observability, fit, masses_over_inertia,
};
use stiction::model::Scene;

use crate::scenes::FLOOR;

const NOISE: Noise =
    Noise { position: 0.001, rotation: 0.01, velocity: None, angular_velocity: None };

/// A box that lands on an edge and tumbles; without `body`, under no force of known size.
fn tumbling(body: &str) -> Scene {
    let text = format!(
        "simulation.time_step = 0.005\n{FLOOR}[[body]]\nname = \"box\"\nmass = 0.4\nshape = {{ box = [0.1, 0.05, 0.02] }}\n\
         position = [0, 0, 0.2]\nvelocity = [0.5, 0.2, 0]\nangular_velocity = [3, 1, 2]\n{body}\n\
         [[contact]]\nmu = 0.3\nrestitution = 0.2\n"
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

/// A pendulum of two arms.
fn arms(joint: &str) -> Scene {
    let arm = |name: &str, parent: &str, more: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\n{parent}mass = 0.5\ninertia = [0.002, 0.002, 0.001]\n\
             center_of_mass = [0, 0, -0.1]\njoint = {{ type = 'revolute', axis = [0, 1, 0], {more} }}\n"
        )
    };
    let text = format!(
        "simulation.time_step = 0.005\n{}{}",
        arm("upper", "", &format!("q = 1.0{joint}")),
        arm("lower", "parent = \"upper\"\nposition = [0, 0, -0.2]\n", "q = 0.5"),
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

fn planned(scene: Scene, names: &[&str]) -> (Experiment, Dataset) {
    let own = scene.parameters.clone();
    let free = |name: &&str| {
        let slots = scene.model.parameter(name).unwrap();
        let start = own.values[slots.slots[0]];
        FreeParameter::new(name, slots, start, [0.1 * start, 10.0 * start])
    };
    let parameters = names.iter().map(free).collect();
    let experiment = Experiment::new("planned", scene, parameters, NOISE);
    let dataset = Dataset::planned(&experiment, &own, 0.6).unwrap();
    (experiment, dataset)
}

/// What is said of these parameters of a scene, names of parameters and of bodies.
fn said(scene: Scene, names: &[&str]) -> Vec<(Vec<String>, Vec<String>)> {
    let (experiment, dataset) = planned(scene, names);
    let starts: Vec<f64> = experiment.parameters.iter().map(|p| p.start).collect();
    let seen = Observability::at(&experiment, &dataset, &starts, 2);
    let remarks = seen.remarks.iter().filter(|remark| remark.contains("holds fixed")).count();
    assert_eq!(remarks, seen.masses_over_inertia.len());
    seen.masses_over_inertia.into_iter().map(|found| (found.parameters, found.bodies)).collect()
}

fn one(parameters: &[&str], bodies: &[&str]) -> Vec<(Vec<String>, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    vec![(owned(parameters), owned(bodies))]
}

#[test]
fn without_a_force_of_known_size_a_mass_is_told_by_the_inertia_that_is_held() {
    assert_eq!(said(tumbling(""), &["box/mass"]), one(&["box/mass"], &["box"]));
    assert_eq!(said(tumbling(""), &["box/mass", "floor-box/mu"]), one(&["box/mass"], &["box"]));
    // Gravity is known beside a force, which it is not where it stands alone.
    assert!(said(tumbling("force = [0.4, 0, 0]"), &["box/mass"]).is_empty());
    // What is not asked for is not told.
    assert!(said(tumbling(""), &["floor-box/mu"]).is_empty());
    // What is free is not held: that leaves no trace, and is said to.
    let inertia = ["box/mass", "box/inertia/xx", "box/inertia/yy", "box/inertia/zz"];
    assert!(said(tumbling(""), &inertia).is_empty());
    let one_free = &inertia[..2];
    assert_eq!(said(tumbling(""), one_free), one(one_free, &["box"]));
}

#[test]
fn an_arm_is_weighed_by_what_else_is_known() {
    assert_eq!(said(arms(""), &["upper/mass", "lower/mass"]), {
        one(&["upper/mass", "lower/mass"], &["upper", "lower"])
    });
    // The other arm has a known mass.
    assert!(said(arms(""), &["upper/mass"]).is_empty());
    // A damper, a spring and a drive are forces and inertias of known size.
    for known in [", damping = 0.05", ", stiffness = 0.5", ", armature = 0.01", ", friction = 0.05"]
    {
        assert!(said(arms(known), &["upper/mass", "lower/mass"]).is_empty(), "{known}");
    }
    // Where it is not known, it is one more that only the ratio shows of.
    let names = ["upper/mass", "upper/damping", "lower/mass"];
    assert_eq!(said(arms(", damping = 0.05"), &names), one(&names, &["upper", "lower"]));
}

#[test]
fn a_fit_says_so_too() {
    let (mut experiment, dataset) = planned(tumbling(""), &["box/mass"]);
    experiment.parameters[0].start = 0.5;
    let found = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    assert!((found.parameters[0].value - 0.4).abs() < 0.01, "{:?}", found.parameters);
    let warned = masses_over_inertia(&experiment, &dataset, &found, 2);
    assert!(
        warned.len() == 1 && warned[0].contains("box/mass is the ratio to the inertia"),
        "{warned:?}"
    );
    let (experiment, dataset) = planned(tumbling("force = [0.4, 0, 0]"), &["box/mass"]);
    let found = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    assert!(masses_over_inertia(&experiment, &dataset, &found, 2).is_empty());
}
