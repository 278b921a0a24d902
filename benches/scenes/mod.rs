//! The shared MJCF scenes, prepared as the script that times MuJoCo on them does.

use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::{JointKind, Scene};
use stiction::simulation::{JointFeedback, Rollout, StepMemory};

/// A scene of the shared folder, settled for 500 steps (motors under joint control, kp 100, kd 2, about the
/// keyframe) and then given the velocity of its keyframe, as `time_mujoco.py` beside it does; without the
/// folder nothing.
pub fn shared(name: &str) -> Option<(Scene, StepMemory<f64>)> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared");
    let folder = std::env::var("STICTION_SHARED").unwrap_or(beside.to_string());
    let path = format!("{folder}/reference/scenes/{name}.xml");
    let Ok(description) = Description::load(&path, LoadOptions::default()) else {
        eprintln!("skipped: {path} is missing (set STICTION_SHARED)");
        return None;
    };
    let mut scene = description.scene().expect("a scene");
    scene.settings.keep_impulses = true;
    if let Some(keyframe) = scene.keyframes.first().cloned() {
        scene.start_at(&keyframe.name, &path).expect("a keyframe");
    }
    let mut memory = StepMemory::default();
    if scene.model.bodies[0].joint.kind != JointKind::Free {
        return Some((scene, memory));
    }
    let velocity = std::mem::take(&mut scene.state.v);
    scene.state.v = vec![0.0; velocity.len()];
    let feedback = JointFeedback { kp: 100.0, kd: 2.0, target: scene.state.q.clone() };
    let (nv, nu) = (scene.model.nv(), scene.model.nu());
    let model = &scene.model;
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut inputs = vec![0.0; nv + nu];
    for _ in 0..500 {
        inputs[nv..].fill(0.0);
        feedback.add(model, &rollout.state, &mut inputs);
        rollout.step(&inputs);
    }
    memory = rollout.memory;
    let mut settled = rollout.state;
    settled.v.iter_mut().zip(&velocity).for_each(|(v, add)| *v += add);
    scene.state = settled;
    scene.inputs = inputs;
    Some((scene, memory))
}
