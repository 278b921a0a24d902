//! `stiction gradcheck` of soft bodies.

use std::path::Path;

use super::agreement_table::{Ways, json, table, warn_of_kinks};
use super::patience::Patience;
use crate::Error;
use crate::cli::interrupt;
use crate::cli::outcome::Outcome;
use crate::cli::output;
use crate::soft::{SoftRollout, SoftScene};
use crate::verify::{Gradcheck, SoftStepProgram};

const SOFT: Ways = Ways {
    with: "adjoint",
    others: &[
        ("forward", "forward_vs_adjoint", |e| e.dual_vs_tape),
        ("residual", "residual_vs_adjoint", |e| e.residual_vs_tape),
        ("differences", "vs_differences", |e| e.vs_differences),
    ],
};

/// Checks the steps of all bodies from `states` states of `total` steps of the scene.
pub(super) fn run(
    scene: &SoftScene,
    path: &Path,
    (states, total): (usize, usize),
    mut patience: Patience,
    as_json: bool,
) -> Result<Outcome, Error> {
    for warning in &scene.warnings {
        output::warn(warning);
    }
    interrupt::catch();
    let name = path.display().to_string();
    let (mut check, mut without) = (Gradcheck::default(), 0);
    let stride = (total / states).max(1);
    let mut rollout = SoftRollout::new(scene);
    patience.asked = states;
    'states: for number in 0..states {
        // The state before the first check is the scene's.
        for _ in 0..if number == 0 { 0 } else { stride } {
            if !patience.lasts() {
                break 'states;
            }
            rollout.step();
        }
        for body in 0..scene.bodies.len() {
            let program = SoftStepProgram::new(&rollout, body);
            let Some(found) = program.check_while_wanted(&mut || patience.lasts()) else {
                break 'states;
            };
            without += usize::from(found.rows.is_empty());
            check.merge(&found);
        }
        patience.checked += 1;
        patience.progress.set(patience.checked);
    }
    let states = patience.told();
    if without > 0 {
        output::warn(&format!(
            "{name}: {without} of {} steps were not solved, or their conditions determine no derivative: nothing is \
             compared there",
            check.report.steps
        ));
    }
    warn_of_kinks(&name, &check);
    let checks = [(name, check)];
    let [(_, check)] = &checks;
    if as_json {
        let mut object = json(&checks, check, &SOFT);
        object.insert("states".into(), states);
        object.insert("without_derivative".into(), without.into());
        output::print(&output::json_text(object));
    } else {
        output::print(&table(&checks, check, &SOFT));
    }
    let good = check.passed() && without == 0 && !interrupt::interrupted();
    Ok(if good { Outcome::Done } else { Outcome::Failed })
}
