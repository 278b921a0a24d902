//! `stiction gradcheck` of soft bodies, alone or beside rigid ones.

use std::path::Path;

use super::agreement_table::{Ways, json, table, warn_of_kinks};
use super::patience::Patience;
use crate::Error;
use crate::cli::interrupt;
use crate::cli::outcome::Outcome;
use crate::cli::output;
use crate::soft::{SoftRollout, SoftScene};
use crate::verify::{Gradcheck, MixedStepProgram, SoftStepProgram};

const SOFT: Ways = Ways {
    with: "adjoint",
    others: &[
        ("forward", "forward_vs_adjoint", |e| e.dual_vs_tape),
        ("residual", "residual_vs_adjoint", |e| e.residual_vs_tape),
        ("differences", "vs_differences", |e| e.vs_differences),
    ],
};

const MIXED: Ways = Ways {
    with: "adjoint",
    others: &[
        ("forward", "forward_vs_adjoint", |e| e.dual_vs_tape),
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
        let mut go_on = || patience.lasts();
        let found = match MixedStepProgram::new(&rollout) {
            // Of all bodies together.
            Some(program) => program.check_while_wanted(&mut go_on).map(|found| vec![found]),
            None => (0..scene.bodies.len())
                .map(|body| SoftStepProgram::new(&rollout, body).check_while_wanted(&mut go_on))
                .collect(),
        };
        let Some(found) = found else { break 'states };
        for found in &found {
            without += usize::from(found.rows.is_empty());
            check.merge(found);
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
    let ways = if scene.rigid.is_some() { &MIXED } else { &SOFT };
    let checks = [(name, check)];
    let [(_, check)] = &checks;
    if as_json {
        let mut object = json(&checks, check, ways);
        object.insert("states".into(), states);
        object.insert("without_derivative".into(), without.into());
        output::print(&output::json_text(object));
    } else {
        output::print(&table(&checks, check, ways));
    }
    let good = check.passed() && without == 0 && !interrupt::interrupted();
    Ok(if good { Outcome::Done } else { Outcome::Failed })
}
