//! Tasks on soft bodies.

use std::fs;
use std::path::Path;

use serde_json::Value;
use stiction::identify::Outcome;
use stiction::optimize::{Task, optimize};
use stiction::soft::SoftRollout;

use crate::cases::count;
use crate::differences::central;
use crate::folder::Folder;
use crate::shared::shared;
use crate::soft::block;

fn scene() -> String {
    let more = "position = [0, 0, 0.1]\nvelocity = [1, 0.2, -0.5]\nangular_velocity = [0, 5, 1]\n\
                markers = { left = [-0.05, 0, 0], right = [0.05, 0, 0] }";
    block("penalty_tanh", 0.005, more)
}

const TASK: &str = "scene = 'scene.toml'
duration = 0.3
[[variable]]
name = 'block/velocity_x'
scale = 1
[[variable]]
name = 'block/angular_velocity_y'
[[variable]]
name = 'block/viscosity'
[[objective]]
point = 'surface'
target = [0.2, 0.05, 0.03]
from = 0.2
[[objective]]
point = 'left'
target = [0.2, 0, 0]
axes = ['x', 'z']
[[objective]]
from_point = 'left'
to_point = 'right'
direction = [1, 0, 0]
weight = 0.1
";

#[test]
fn gradients_and_jacobians_are_those_of_differences() {
    let folder = Folder::new("soft-task");
    folder.write("scene.toml", &scene());
    folder.write("task.toml", TASK);
    let task = Task::load(folder.path("task.toml")).unwrap();
    let x = task.start();
    let (evaluated, _) = task.jacobian(&x).unwrap();
    assert_eq!(evaluated, task.evaluate(&x));
    assert_eq!(evaluated.residuals.len(), 3 * 21 + 2 + 3);
    assert_eq!(task.gradient(&x).unwrap().0, evaluated.cost);
    differences_agree(&task, 1e-6, 1e-4);
}

/// Jacobian and gradient where a task begins are each other's, and those of differences by `h`; columns of which no number is larger
/// than `least` count as that large.
pub(super) fn differences_agree(task: &Task, h: f64, least: f64) {
    let x = task.start();
    let (evaluated, jacobian) = task.jacobian(&x).unwrap();
    let (_, gradient) = task.gradient(&x).unwrap();
    for j in 0..x.len() {
        let by_rows: f64 =
            (0..evaluated.residuals.len()).map(|i| jacobian[(i, j)] * evaluated.residuals[i]).sum();
        assert!((by_rows - gradient[j]).abs() < 1e-9 * (1e-3 + gradient[j].abs()), "{j}");
        let moved = |h: f64| {
            let mut x = x.clone();
            x[j] += h;
            task.evaluate(&x).residuals
        };
        let expected = central(h, moved);
        let scale = expected.iter().fold(least, |most: f64, x| most.max(x.abs()));
        for (i, expected) in expected.iter().enumerate() {
            let e = (jacobian[(i, j)] - expected).abs() / scale;
            assert!(e < 1e-5, "{i} {j}: {} {expected}", jacobian[(i, j)]);
        }
    }
}

/// From soft contact to stiff: each stage begins where the one before ended.
#[test]
fn continuation_goes_from_stage_to_stage() {
    let folder = Folder::new("continuation");
    folder.write("scene.toml", &scene());
    let text = TASK.replace(
        "duration = 0.3",
        "duration = 0.2\niterations = 6\ncontinuation = { floor-block/stiffness = [100, 400] }",
    );
    // Keys with a slash are quoted.
    let text = text.replace("floor-block/stiffness", "\"floor-block/stiffness\"");
    folder.write("task.toml", &text);
    let task = Task::load(folder.path("task.toml")).unwrap();
    let mut told = Vec::new();
    let found = optimize(&task, &mut |stage, _, _, x| {
        told.push((stage, x.to_vec()));
        true
    })
    .unwrap();
    let values: Vec<f64> = found.stages.iter().map(|stage| stage.values[0].1).collect();
    assert_eq!(values, [100.0, 400.0]);
    let second = told.iter().find(|(stage, _)| *stage == 1).unwrap();
    assert_eq!(second.1, found.stages[0].x);
    assert!(found.evaluated.cost <= task.evaluate(&found.stages[0].x).cost);
}

/// After a bounce the Jacobian changes its orientation from piece to piece, and what only goes down ends between them.
#[test]
fn whole_steps_find_a_throw_that_bounces_to_the_last_digit() {
    let folder = Folder::new("bounce");
    folder.write("scene.toml", &scene());
    let variables: String = ["x", "y", "z"]
        .map(|k| format!("[[variable]]\nname = 'block/velocity_{k}'\nscale = 0.1\n"))
        .concat();
    let task = |target: &[f64]| {
        let text = format!(
            "scene = 'scene.toml'\nduration = 0.3\n{variables}[[objective]]\npoint = 'surface'\ntarget = {target:?}\n"
        );
        folder.write("task.toml", &text);
        Task::load(folder.path("task.toml")).unwrap()
    };
    let origin = task(&[0.0; 3]);
    let truth = origin.start();
    let end = origin.evaluate(&truth).residuals;
    let mut task = task(&end);
    for (variable, off) in task.variables.iter_mut().zip([0.08, -0.05, 0.06]) {
        variable.initial[0] += off;
    }
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
    assert!(found.evaluated.cost <= 1e-20, "{found:?}");
    assert!(found.stages[0].simulations <= 20, "{found:?}");
}

#[test]
fn what_says_one_thing_in_two_ways_is_refused() {
    let folder = Folder::new("soft-clash");
    folder.write("scene.toml", &scene());
    let text = TASK.replace("block/viscosity", "block/lame_mu")
        + "[[variable]]\nname = 'block/poisson_ratio'\n";
    folder.write("task.toml", &text);
    let error = Task::load(folder.path("task.toml")).unwrap_err().to_string();
    assert!(
        error.contains("block/poisson_ratio.name: is told twice, beside block/lame_mu"),
        "{error}"
    );
}

/// Fig. 3: both optima of the toss, from where the paper found its own (with other meshes), and one from its start.
#[test]
fn both_optima_of_the_papers_toss_are_found() {
    let Some(mesh) = shared("reference/add/meshes/sphere_r25mm_coarse.msh") else { return };
    let Some(file) = shared("reference/add/toss.json") else { return };
    let file: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let folder = Folder::new("toss");
    folder.write("ball.msh", &fs::read_to_string(mesh).unwrap());
    let scene = "gravity = [0, 0, -9.81]
[simulation]
time_step = 0.001
integrator = 'bdf2'
first_step = 'moved_before'
solver = 'penalty_linear'
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
offset = -0.05
[[soft]]
name = 'ball'
mesh = 'ball.msh'
density = 150
lame_lambda = 10
lame_mu = 10000
viscosity = 0.0125
angular_velocity = [0, -4, 0]
[[contact]]
mu = 0.4
stiffness = 1000
";
    folder.write("scene.toml", scene);
    let starts = [[0.4876, 0.0038, 0.1723], [0.516, -0.004, 0.060], [0.45, 0.0, 0.4]];
    if count(2, 0.0) == 1 {
        return;
    }
    for (k, start) in starts.iter().enumerate() {
        let variable = |(axis, x): (&str, &f64)| {
            format!("[[variable]]\nname = 'ball/velocity_{axis}'\ninitial = {x}\nscale = 0.1\n")
        };
        let variables: String = ["x", "y", "z"].into_iter().zip(start).map(variable).collect();
        folder.write(
            "task.toml",
            &format!(
                "scene = 'scene.toml'\nduration = 0.25\n{variables}[[objective]]\npoint = 'surface'\ntarget = [0.1, 0, -0.025]\n"
            ),
        );
        let task = Task::load(folder.path("task.toml")).unwrap();
        let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
        assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
        assert!(found.evaluated.cost <= 1e-20, "{found:?}");
        // The reference spins about the centre of mass, the scene about the origin of the mesh: v = v_o + w x c.
        let scene = task.soft_scene(&found.x).unwrap();
        let ball = &scene.bodies[0];
        let [cx, _, cz] = ball.mean(&ball.mesh.nodes);
        let v = [found.x[0] - 4.0 * cz, found.x[1], found.x[2] + 4.0 * cx];
        let optimum = |k: usize| -> Vec<f64> {
            let v = file["optima"][k]["v"].as_array().unwrap();
            v.iter().map(|x| x.as_f64().unwrap()).collect()
        };
        let off = |k: usize| {
            v.iter().zip(optimum(k)).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
        };
        let (first, second) = (off(0), off(1));
        println!("from {start:?}: {} simulations, {v:?}", found.stages[0].simulations);
        match k {
            0 => assert!(first < 1e-6, "{v:?}"),
            1 => assert!(second < 1e-6, "{v:?}"),
            _ => assert!(first.min(second) < 1e-6, "{v:?}"),
        }
        if k < 2 {
            assert!(found.stages[0].simulations <= 15, "{found:?}");
        }
    }
}

/// The finger of the example: its tip goes where it is wanted, at both times.
#[test]
fn a_cable_is_pulled_so_that_the_tip_of_a_finger_goes_where_it_is_wanted() {
    let folder = Folder::new("soft-finger");
    let scene = include_str!("../../examples/soft_finger/scene.toml");
    // Coarser, and in longer steps.
    let scene = scene.replace("resolution = 0.01", "resolution = 0.02");
    folder.write("scene.toml", &scene.replace("time_step = 0.01", "time_step = 0.025"));
    let reach = include_str!("../../examples/soft_finger/reach.toml");
    let reach = reach.replace("0, 0, 0.01]", "0, 0, 0]").replace("0, 0, 0.02]", "0, 0, 0.005]");
    folder.write("reach.toml", &reach);
    let task = Task::load(folder.path("reach.toml")).unwrap();
    let (cost, gradient) = task.gradient(&[0.004, 0.012]).unwrap();
    assert!(cost > 1e-6);
    let expected = central(1e-6, |h| {
        vec![task.evaluate(&[0.004 + h, 0.012]).cost, task.evaluate(&[0.004, 0.012 + h]).cost]
    });
    // By the first variable and by the second: differences are of one at a time.
    for (k, (own, other)) in gradient.iter().zip(&expected).enumerate() {
        assert!((own - other).abs() < 1e-6 * other.abs(), "{k}: {own} {other}");
    }
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
    assert!(found.evaluated.cost <= 1e-18, "{found:?}");
    assert!(found.x[0] > found.x[1] && found.x[1] > 0.0, "{:?}", found.x);
}

/// A solid whose top is beside its base is tossed so that it ends upright where it is wanted (`Geilinger20` Fig. 4).
#[test]
fn a_solid_lands_upright() {
    let folder = Folder::new("upright");
    for file in ["scene.toml", "solid.msh", "task.toml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/soft_upright").join(file);
        folder.write(file, &std::fs::read_to_string(path).unwrap());
    }
    let mut task = Task::load(folder.path("task.toml")).unwrap();
    assert_eq!((task.starts, task.stages()), (10, 5));
    task.continuation.clear();
    // Near one of its tosses: from elsewhere rounding decides between them.
    for (variable, initial) in task.variables.iter_mut().zip([-1.1, 0.9, 0.2, 0.2, 0.4, 0.0]) {
        variable.initial = vec![initial];
    }
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    println!("{:?} {} {:?}", found.outcome, found.evaluated.cost, found.x);
    assert_eq!((found.outcome, found.evaluated.unsolved), (Outcome::Converged, 0));
    assert!((2.0 * found.evaluated.cost).sqrt() <= task.accuracy);
    // It stands where it is wanted, also half a second later.
    let scene = found.task.soft_scene(&found.x).unwrap();
    let mut rollout = SoftRollout::new(&scene);
    (0..300).for_each(|_| assert_eq!(rollout.step().unsolved, 0));
    let markers = &scene.bodies[0].markers;
    let [base, top] = [0, 1].map(|k| rollout.states()[0].position[markers[k].node]);
    let rise = (top[2] - base[2]) / 0.07;
    assert!(rise > 0.99 && base[0].abs() < 0.02 && base[1].abs() < 0.02, "{base:?} {top:?}");
    let off = (2.0 * task.evaluate(&task.start()).cost).sqrt();
    assert!(off > 10.0 * task.accuracy, "{off}");
}
