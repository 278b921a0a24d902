//! Islands on several threads: the same bits as on one.

use std::fmt::Write;

use stiction::contact::{ContactRecord, JointRecord};
use stiction::model::Scene;
use stiction::simulation::{Rollout, StepReport};
use stiction::state::State;

use super::on_floor;
use crate::random::Random;

/// Towers that are struck, tip and fall, next to arms that swing against their limits.
fn towers(count: usize) -> Scene {
    let mut random = Random(91);
    let mut text = "[[contact]]\nmu = 0.4\nrestitution = 0.2\n".to_string();
    for k in 0..count {
        let [x, y] = [(k % 8) as f64, (k / 8) as f64];
        for level in 0..5 {
            let [vx, vy, vz, turn] = random.vector(0.5);
            write!(
                text,
                "[[body]]\nname = 't{k}_{level}'\nmass = 1\nshape = {{ box = [0.1, 0.08, 0.05] }}\n\
                 position = [{x}, {y}, {}]\nvelocity = [{vx}, {vy}, {vz}]\nangular_velocity = [0, 0, {turn}]\n",
                0.05 + 0.1005 * level as f64
            )
            .unwrap();
        }
    }
    for k in 0..20 {
        write!(
            text,
            "[[body]]\nname = 'arm{k}'\njoint = {{ type = 'revolute', axis = [0, 1, 0], limits = [-0.01, 0.02], v = {} }}\n\
             position = [{k}, -5, 1]\nmass = 1\ninertia = 0.1\ncenter_of_mass = [0.1, 0, 0]\n",
            random.uniform(-1.0, 1.0)
        )
        .unwrap();
    }
    on_floor("time_step = 0.005", &text)
}

/// What a rollout came to: states and reports of all steps, and what all contacts and joints did in the last ones.
#[derive(Debug, PartialEq)]
struct Run {
    states: Vec<State<f64>>,
    reports: Vec<StepReport>,
    contacts: Vec<ContactRecord>,
    joints: Vec<JointRecord>,
    /// The most contacts that there were in a step.
    most: usize,
}

fn run(scene: &Scene, threads: usize) -> Run {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.workspace.use_threads(threads);
    let (states, reports, most) = (Vec::new(), Vec::new(), 0);
    let mut run = Run { states, reports, contacts: Vec::new(), joints: Vec::new(), most };
    for _ in 0..25 {
        run.reports.push(rollout.step(&scene.inputs));
        run.states.push(rollout.state.clone());
        let before = run.contacts.len();
        run.contacts.extend(rollout.workspace.contacts());
        run.most = run.most.max(run.contacts.len() - before);
        run.joints.extend(rollout.workspace.joints());
    }
    run
}

#[test]
fn threads_do_not_change_a_bit() {
    let scene = towers(40);
    let alone = run(&scene, 1);
    // Enough for several threads, of which each takes 200 constraints or more.
    assert!(alone.most > 600 && !alone.joints.is_empty(), "{}", alone.most);
    for threads in [2, 3, 5, 16] {
        assert!(run(&scene, threads) == alone, "{threads} threads");
    }
}

/// A workspace that was used on threads serves other scenes after.
#[test]
fn a_workspace_goes_on_to_others() {
    let (large, small) = (towers(24), towers(2));
    let mut rollout = Rollout::new(large.system(), large.state.clone());
    rollout.workspace.use_threads(4);
    rollout.advance(5, &large.inputs);
    let mut other = Rollout::new(small.system(), small.state.clone());
    std::mem::swap(&mut other.workspace, &mut rollout.workspace);
    other.advance(10, &small.inputs);
    let mut fresh = Rollout::new(small.system(), small.state.clone());
    fresh.advance(10, &small.inputs);
    assert_eq!(other.state, fresh.state);
}
