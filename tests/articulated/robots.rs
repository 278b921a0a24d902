//! Robots that others have described: the MJCF of the pip package gymnasium and the URDF of
//! example-robot-data, against answers of `MuJoCo` and Pinocchio kept in `tests/reference/robots`.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stiction::assemble::Description;
use stiction::dynamics::{Crba, Kinematics, MassMatrix, Rnea, bias, mass_matrix};
use stiction::formats::LoadOptions;
use stiction::model::{Integrator, Scene};

use super::rollout;
use crate::skipped::skip;

/// Where the packages are installed: `$STICTION_ROBOTS`, the `site-packages` they are in.
fn robots() -> Option<PathBuf> {
    let folder = std::env::var_os("STICTION_ROBOTS").map(PathBuf::from);
    if folder.is_none() {
        let why = "STICTION_ROBOTS is not set; pip install --no-deps gymnasium example-robot-data, \
                   and set it to their site-packages";
        skip(why, "STICTION_REQUIRE_ROBOTS");
    }
    folder
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Takes away what the answers leave out: contacts, limits, dry friction, closed loops; of URDF damping.
fn strip(scene: &mut Scene, urdf: bool) {
    scene.model.pairs.clear();
    scene.model.equalities.clear();
    let names: Vec<String> = scene.model.bodies.iter().map(|body| body.name.clone()).collect();
    for body in &mut scene.model.bodies {
        body.joint.limited = false;
    }
    for name in names {
        let fields: &[&str] =
            if urdf { &["friction", "damping", "armature"] } else { &["friction"] };
        for field in fields {
            if let Some(found) = scene.model.parameter(&format!("{name}/{field}")) {
                scene.parameters.values[found.slots[0]] = 0.0;
            }
        }
    }
}

/// The largest difference, relative to the largest entry.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
    let worst = found.iter().zip(expected).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
    worst / scale
}

fn compare(answers: &Value, path: &Path) {
    let name = path.display();
    let mut description = Description::load(path, LoadOptions::default()).unwrap();
    description.settings.time_step = answers["time_step"].as_f64().unwrap();
    let mut scene = description.scene().unwrap();
    let urdf = answers["package"] == "example-robot-data";
    strip(&mut scene, urdf);
    scene.settings.integrator = match answers["integrator"].as_str() {
        Some("RK4") => Integrator::RungeKutta,
        Some("implicit") => Integrator::Implicit,
        Some("implicitfast") => Integrator::ImplicitFast,
        _ => Integrator::SemiImplicit,
    };
    let joints = answers["joints"].as_array().unwrap();
    let moving = scene.model.bodies.iter().filter(|body| body.joint.kind.nv() > 0);
    assert_eq!(joints.len(), moving.clone().count(), "{name}");
    for (joint, body) in joints.iter().zip(moving) {
        let place = (body.joint.name.as_str(), body.joint.q, body.joint.v);
        let [q, v] = ["q", "v"].map(|of| joint[of].as_u64().unwrap() as usize);
        assert_eq!(place, (joint["name"].as_str().unwrap_or(""), q, v), "{name}");
    }
    scene.state.q = numbers(&answers["q"]);
    scene.state.v = numbers(&answers["v"]);

    let (model, parameters) = (&scene.model, &scene.parameters);
    let kinematics = Kinematics::new(model, parameters, &scene.state);
    let mut matrix = MassMatrix::default();
    mass_matrix(model, parameters, &kinematics, &mut Crba::default(), &mut matrix);
    let nv = model.nv();
    let mut dense = vec![0.0; nv * nv];
    matrix.dense(&mut dense);
    let lower: Vec<f64> = (0..nv).flat_map(|i| dense[i * nv..=i * nv + i].to_vec()).collect();
    let rows = answers["mass_matrix"].as_array().unwrap().iter().flat_map(numbers);
    assert!(error(&lower, &rows.collect::<Vec<_>>()) < 1e-9, "{name}: mass matrix");
    let mut forces = vec![0.0; nv];
    bias(parameters, &kinematics, &mut Rnea::default(), &mut forces);
    assert!(error(&forces, &numbers(&answers["bias"])) < 1e-9, "{name}: bias");

    let Some(steps) = answers["steps"].as_array() else { return };
    let mut inputs = vec![0.0; nv];
    if let Some(controls) = answers["controls"].as_array() {
        inputs.extend(controls.iter().map(|x| x.as_f64().unwrap()));
    }
    assert_eq!(inputs.len(), nv + model.nu(), "{name}");
    let mut rollout = rollout(&scene);
    let mut done = 0;
    for row in steps {
        let step = row["step"].as_u64().unwrap() as usize;
        rollout.advance(step - done, &inputs);
        done = step;
        for (found, of) in [(&rollout.state.q, "q"), (&rollout.state.v, "v")] {
            let error = error(found, &numbers(&row[of]));
            assert!(error < 1e-9, "{name}, step {step}, {of}: {error}");
        }
    }
}

fn compare_all(package: &str, least: usize) {
    let Some(folder) = robots() else { return };
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/robots");
    let (mut compared, mut failed) = (0, Vec::new());
    for entry in std::fs::read_dir(reference).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let answers: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if answers["package"] != package {
            continue;
        }
        // Where its wheel puts them.
        let inside =
            if package == "gymnasium" { "" } else { "cmeel.prefix/share/example-robot-data" };
        let file = folder.join(inside).join(answers["file"].as_str().unwrap());
        let outcome = std::panic::catch_unwind(|| compare(&answers, &file));
        compared += 1;
        if let Err(panic) = outcome {
            let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            failed.push(format!("{}: {message}", file.display()));
        }
    }
    assert!(failed.is_empty(), "{} of {compared}:\n{}", failed.len(), failed.join("\n"));
    assert!(compared >= least, "{compared}");
}

#[test]
fn gymnasium_moves_as_in_mujoco() {
    compare_all("gymnasium", 14);
}

#[test]
fn example_robot_data_moves_as_in_pinocchio() {
    compare_all("example-robot-data", 60);
}

/// Two seconds of robots that others simulate, as their files put them: what starts in itself or at its limits is not
/// thrown about.
#[test]
fn robots_of_others_move_plausibly() {
    let Some(folder) = robots() else { return };
    let ours = "cmeel.prefix/share/example-robot-data/robots/tiago";
    let files = [
        "gymnasium/envs/mujoco/assets/ant.xml".to_string(),
        format!("{ours}_description/robots/tiago.urdf"),
        format!("{ours}_description/robots/tiago_no_hand.urdf"),
        format!("{ours}_pro_description/robots/tiago_pro.urdf"),
    ];
    for file in files {
        let description = Description::load(folder.join(&file), LoadOptions::default()).unwrap();
        let scene = description.scene().unwrap();
        let mut rollout = rollout(&scene);
        rollout.advance((2.0 / scene.settings.time_step).round() as usize, &scene.inputs);
        let report = rollout.report;
        assert!(report.unsolved == 0 && report.plausibility.is_whole(), "{file}: {report:?}");
    }
}
