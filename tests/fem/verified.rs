//! `stiction gradcheck` and `linearize` of soft bodies, and what the first finds.

use serde_json::Value;
use stiction::implicit::{NewtonSettings, StepChange, VertexLaw};
use stiction::soft::SoftRollout;
use stiction::verify::{Gradcheck, SoftStepProgram};

use super::sensitivities::thrown;
use crate::folder::Folder;
use crate::program::{refuses, succeeds};
use crate::soft::block;

/// All ways to differentiate, at states before, in and after impacts by every law.
#[test]
fn steps_pass_by_every_law() {
    for law in VertexLaw::ALL.into_iter().filter(|law| law.has_derivatives()) {
        let scene = thrown(law, false);
        let mut rollout = SoftRollout::new(&scene);
        let mut all = Gradcheck::default();
        let (mut touched, mut touching, mut states) = (false, 0, 0);
        for step in 0..70 {
            if step % 20 == 0 || touched && touching < 6 {
                let program = SoftStepProgram::new(&rollout, 0);
                let check = program.check_while_wanted(&mut || true).unwrap();
                assert!(!check.rows.is_empty(), "{law:?} {step}");
                all.merge(&check);
                states += 1;
                touching += usize::from(touched);
            }
            let report = rollout.step();
            assert_eq!(report.unsolved, 0);
            touched = report.sticking + report.sliding > 0;
        }
        println!("{law:?} {:?} of {} {}", all.max(), all.cases(), all.skipped_at_kinks());
        for row in &all.rows {
            println!("{row:?}");
        }
        assert!(all.passed(), "{law:?}: {:?}", all.max());
        assert!(all.max().residual_vs_tape < 1e-9 && all.max().dual_vs_tape < 1e-10);
        assert!(touching >= 3, "{law:?}: {touching}");
        assert!(2 * all.skipped_at_kinks() < all.cases(), "{law:?}");
        // All numbers have an effect somewhere, but those of what is not touched.
        let names: Vec<&str> = all.rows.iter().map(|row| row.name.as_str()).collect();
        for name in ["block/viscosity", "block/lame_mu", "floor-block/mu", "block/before"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert_eq!(all.report.steps, states);
    }
}

/// By how much nodes are said to move faster than they do, in all directions alike, is left of the momentum whole: nothing
/// stretches.
#[test]
fn what_a_wrong_derivative_leaves_is_seen() {
    let scene = thrown(VertexLaw::PenaltyLinear, false);
    let body = &scene.bodies[0];
    let program = SoftStepProgram::new(&SoftRollout::new(&scene), 0);
    let (nodes, contacts) = (body.position.len(), body.contacts.len());
    let none = StepChange::none(nodes, contacts);
    let rest = vec![[0.0; 3]; nodes];
    assert_eq!(program.left_over(&none, &rest), rest);
    // In flight M du is what is left, over the mass of the nodes, which sums up to that of the body.
    let left = program.left_over(&none, &vec![[0.5, 0.0, -0.25]; nodes]);
    for (k, expected) in [0.5, 0.0, -0.25].into_iter().enumerate() {
        let weights = body.elements.unit_weight();
        let sum: f64 = left.iter().zip(weights).map(|(left, weight)| left[k] * weight).sum();
        let mean = sum / weights.iter().sum::<f64>();
        assert!((mean - expected).abs() < 1e-12, "{mean} {expected}");
    }
}

#[test]
fn a_step_that_is_not_solved_is_not_compared() {
    let mut scene = thrown(VertexLaw::Coupled, false);
    scene.newton = NewtonSettings { iterations: 1, ..scene.newton };
    let check = SoftStepProgram::new(&SoftRollout::new(&scene), 0);
    let check = check.check_while_wanted(&mut || true).unwrap();
    assert!(check.rows.is_empty() && !check.passed());
    assert_eq!((check.report.steps, check.report.unsolved), (1, 1));
}

#[test]
fn the_program_checks_steps_and_says_what_it_found() {
    let folder = Folder::new("soft-gradcheck");
    folder.write("scene.toml", &block("hybrid", 0.002, "position = [0, 0, 0.021]"));
    let run = ["gradcheck", "scene.toml", "--steps", "3", "--duration", "0.1"];
    let text = succeeds(&folder.run(&run));
    assert!(text.starts_with("largest relative difference from the adjoint"), "{text}");
    assert!(text.contains("block/shape_rate") && text.ends_with("passed\n"), "{text}");
    let text = succeeds(&folder.run(&[&run[..], &["--json"]].concat()));
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["status"], "passed");
    assert_eq!(found["states"]["checked"], 3);
    assert!(found["max_forward_vs_adjoint"].as_f64().unwrap() < 1e-9, "{text}");
    assert!(found["max_vs_differences"].as_f64().unwrap() > 0.0, "{text}");
    for option in [&["--keyframe", "a"][..], &["--floating-base"]] {
        let output = folder.run(&[&run[..], option].concat());
        refuses(&output, &[option[0], "is not for scenes with [[soft]] bodies"]);
    }
    refuses(
        &folder.run(&["gradcheck", "scene.toml", "--duration=-1"]),
        &["--duration", "must be between 0 and 10000 s"],
    );
    let cut = folder.run(&[&run[..], &["--limit", "0"]].concat());
    assert_eq!(cut.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&cut.stderr).contains("0 of 3 states were checked"), "{cut:?}");
}

/// The changes that are written, against differences of motions that are written.
#[test]
fn the_program_writes_how_a_motion_changes() {
    let folder = Folder::new("soft-linearize");
    let scene = |more: &str| {
        let markers = "markers = { top = [0, 0, 0.02] }\nposition = [0, 0, 0.03]";
        block("penalty_tanh", 0.002, &format!("{markers}\n{more}"))
    };
    folder.write("scene.toml", &scene("velocity = [0.8, 0, 0]"));
    let names = "floor-block/mu,block/velocity_x";
    let run = |output: &str, more: &[&str]| {
        let run = ["linearize", "scene.toml", "--steps", "60", "-o", output];
        folder.run(&[&run[..], more].concat())
    };
    succeeds(&run("all.json", &["--parameters", names]));
    let found: Value = serde_json::from_str(&folder.read("all.json")).unwrap();
    assert_eq!(found["meta"]["parameter_names"][1], "block/velocity_x");
    assert_eq!(found["meta"]["parameter_values"][0], 0.35);
    let outputs: Vec<String> =
        serde_json::from_value(found["meta"]["output_names"].clone()).unwrap();
    assert_eq!(outputs.len(), 12);
    let motion = |text: &str, file: &str| -> Vec<f64> {
        folder.write(file, text);
        succeeds(&folder.run(&["simulate", file, "--steps", "60", "-o", "motion.csv"]));
        let csv = folder.read("motion.csv");
        let last = csv.lines().last().unwrap().split(',').skip(1);
        last.map(|x| x.parse().unwrap()).collect()
    };
    let h = 1e-5;
    let number = |value: &Value| value.as_f64().unwrap();
    let base = scene("velocity = [0.8, 0, 0]");
    let here = motion(&base, "here.toml");
    let changes: [&dyn Fn(f64) -> String; 2] =
        [&|h| base.replace("mu = 0.35", &format!("mu = {}", 0.35 + h)), &|h| {
            scene(&format!("velocity = [{}, 0, 0]", 0.8 + h))
        }];
    for (k, change) in changes.into_iter().enumerate() {
        let [above, below] = [h, -h].map(|h| motion(&change(h), "moved.toml"));
        // Centre of mass and its velocity, place of the marker; a file of motions has no velocity of it.
        for i in 0..9 {
            let difference = (above[i] - below[i]) / (2.0 * h);
            let slope = number(&found["dy_dp"][60][i][k]);
            assert!(
                (slope - difference).abs() < 1e-5 * (1.0 + slope.abs()),
                "{k} {i}: {slope} {difference}"
            );
            assert!((number(&found["y"][60][i]) - here[i]).abs() < 1e-12, "{i}");
        }
        assert!(number(&found["dy_dp"][60][0][k]).abs() > 1e-2);
    }
    succeeds(&run("all.npz", &[]));
    refuses(
        &run("no.npz", &["--parameters", "block/mass"]),
        &["block/mass", "is no parameter", "block/density"],
    );
    refuses(&run("no.npz", &["--inputs", "forces"]), &["--inputs", "[[soft]]"]);
    refuses(&run("no.npz", &["--convention", "mujoco"]), &["--convention"]);
    refuses(&run("no.csv", &[]), &["must end in .npz or .json"]);
    assert!(!folder.path("no.npz").exists());
}
