//! All derivatives of a step against each other: duals (`jvp`), the tape (`vjp`), `linearize`, duals through the
//! residual of the contact problem, and differences where both sides keep their modes.
//!
//! Each family at one state; at 1,000 in a full run (`STICTION_CASES=full`), which takes hours.

use stiction::linearize::{JacobianWorkspace, Selection, StepJacobian, step_jacobian};
use stiction::verify::{Derivatives, StepProgram};

use super::scenes::{self, Family};
use crate::cases;
use crate::random::Random;

/// The largest differences, relative to the largest entry of a row and to no less than 1.
#[derive(Clone, Copy, Debug, Default)]
struct Apart {
    states: usize,
    tape: f64,
    linearize: f64,
    residual: f64,
    differences: f64,
    compared: usize,
}

fn compare(family: &Family, states: usize) -> Apart {
    let system = family.scene.system();
    let nv = system.model.nv();
    let inputs: Vec<usize> = (0..nv + system.model.nu()).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let (mut workspace, mut jacobian) = (JacobianWorkspace::default(), StepJacobian::default());
    let (mut random, mut apart) = (Random(5), Apart::default());
    for _ in 0..states {
        let sample = family.sample(&mut random);
        let (state, u) = (&sample.state, &sample.inputs);
        let mut memory = sample.memory.clone();
        step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut jacobian);
        if jacobian.report.unsolved > 0 {
            continue;
        }
        apart.states += 1;
        assert_eq!(jacobian.dual_steps, 0, "{}", family.name);
        let program = StepProgram::new(system, state, u, &sample.memory, 1);
        let at = program.variables();
        let Derivatives { tape, dual, residual, differences, .. } =
            Derivatives::of(&program, |x| program.run(x), at).unwrap();
        let first = at.len() - 3 * nv - system.model.nu();
        for (i, row) in dual.row_iter().enumerate() {
            let scale = row.amax().max(1.0);
            let worst = |most: &mut f64, x: f64, y: f64| *most = most.max((x - y).abs() / scale);
            for j in 0..at.len() {
                worst(&mut apart.tape, tape[(i, j)], row[j]);
                worst(&mut apart.residual, residual[(i, j)], row[j]);
                if let Some(found) = j.checked_sub(first) {
                    let found = match found.checked_sub(2 * nv) {
                        None => jacobian.a[(i, found)],
                        Some(k) => jacobian.b[(i, k)],
                    };
                    worst(&mut apart.linearize, found, row[j]);
                }
                if let Some(found) = differences[j].as_ref().filter(|found| !found.one_sided) {
                    worst(&mut apart.differences, found.column[i], row[j]);
                    apart.compared += 1;
                }
            }
        }
    }
    apart
}

/// How far apart the tape, `linearize`, the residual and differences may be from duals.
///
/// The exceptions are of feet and plates where tilts make rows nearly dependent. There the least of what is held is divided by
/// 1e-7 of the longest row, and what a size changes without any motion by the compliance, so that rounding comes to as much.
/// Differences are then those of velocities near zero, held by friction to the tolerance of the solver.
fn bounds(name: &str) -> [f64; 4] {
    match name {
        "plate on six boxes, compliance 0" => [1e-9, 1e-9, 3e-6, 1e-5],
        "plate on six boxes, compliance 1e-6" => [1e-6, 1e-9, 1e-6, 1e-5],
        "plate on six boxes, compliance 1e-3" => [3e-9, 1e-9, 2e-8, 1e-4],
        "table on balls and capsules" => [5e-9, 1e-9, 1e-8, 1e-5],
        _ if name.contains("feet, compliance 0.000001") => [1e-9, 1e-9, 1e-7, 2e-4],
        _ if name.contains("feet") => [1e-9, 1e-9, 1e-8, 2e-5],
        _ => [1e-9, 1e-9, 1e-8, 1e-5],
    }
}

#[test]
fn all_derivatives_of_a_step_agree() {
    let states = cases::count(1000, 0.001);
    let mut wrong = Vec::new();
    for family in scenes::all() {
        let apart = compare(&family, states);
        println!("{}: {apart:?}", family.name);
        let Apart { tape, linearize, residual, differences, compared, .. } = apart;
        let agree = 10 * apart.states >= 9 * states && compared > 0;
        let found = [tape, linearize, residual, differences];
        if !(agree && found.iter().zip(bounds(&family.name)).all(|(found, most)| *found < most)) {
            wrong.push(format!("{}: {apart:?}", family.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
