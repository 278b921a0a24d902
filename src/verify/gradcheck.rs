//! The comparison and its verdict.

use std::collections::BTreeMap;

use super::errors::error;
use super::{Derivatives, Errors, StepProgram};
use crate::ad::Error;
use crate::simulation::StepReport;

/// Residuals from here on are no rounding: what contradicts itself has no solution then.
const NO_SOLUTION: f64 = 1e-3;

/// What was found of one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The input.
    pub name: String,
    /// The worst of all states. Infinite if a derivative is not a number.
    pub worst: Errors,
    /// At how many states its derivative was compared.
    pub cases: usize,
    /// At how many of them the difference was that of one side, because a kink is on the other.
    pub one_sided: usize,
    /// At how many of them there was no difference to compare with.
    pub skipped_at_kinks: usize,
    /// What changes at these kinks, and at how many of them: see [`StepProgram::kink`].
    pub kinks: BTreeMap<String, usize>,
}

/// Derivatives of the same program computed in several ways, compared at one state or many.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradcheck {
    /// One row an input.
    pub rows: Vec<Row>,
    /// How the contact problems of the checked steps were solved. Derivatives hold at a solution:
    /// where there is none they may differ for that reason.
    pub report: StepReport,
    /// The steps where nothing was compared, as their conditions contradict each other: there is no solution that could
    /// have derivatives.
    pub contradictory: StepReport,
    /// What counts as agreement.
    pub tolerances: Errors,
}

impl Default for Gradcheck {
    fn default() -> Self {
        let report = StepReport::default();
        Gradcheck {
            rows: Vec::new(),
            report,
            contradictory: report,
            tolerances: Errors::TOLERANCES,
        }
    }
}

impl Gradcheck {
    /// Differentiates a program with respect to all its inputs and compares.
    ///
    /// # Errors
    /// The errors of [`vjp`](crate::ad::vjp).
    pub fn of(program: &StepProgram) -> Result<Gradcheck, Error> {
        let found = Gradcheck::while_wanted(program, &mut || true)?;
        Ok(found.unwrap_or_else(|| unreachable!("nothing stops it")))
    }

    /// [`of`](Self::of) as long as `go_on` says so, which is asked before each value of a difference and each way to differentiate:
    /// nothing if it said no.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub fn while_wanted(
        program: &StepProgram,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Gradcheck>, Error> {
        let report = program.contact_modes().report;
        let far = report.unsolved > 0 && report.worst.residual > NO_SOLUTION;
        if far && report.conflicts.steps > 0 {
            return Ok(Some(Gradcheck { contradictory: report, ..Gradcheck::default() }));
        }
        let run = |x: &[f64]| program.run(x);
        let Some(derivatives) =
            Derivatives::while_wanted(program, run, program.variables(), go_on)?
        else {
            return Ok(None);
        };
        let mut check = Gradcheck::compare(program.names(), &derivatives);
        check.report = report;
        let all = check.name_kinks(go_on, |input| program.kink(input));
        Ok(all.then_some(check))
    }

    /// Names the nearest kink of each input that has one, as `kink` says. False if `go_on`, asked before each, said no.
    #[must_use]
    pub(super) fn name_kinks(
        &mut self,
        go_on: &mut dyn FnMut() -> bool,
        kink: impl Fn(usize) -> Option<String>,
    ) -> bool {
        let rows = self.rows.iter_mut().enumerate();
        rows.filter(|(_, row)| row.one_sided + row.skipped_at_kinks > 0).all(|(input, row)| {
            let wanted = go_on();
            if wanted {
                row.kinks.extend(kink(input).map(|kink| (kink, 1)));
            }
            wanted
        })
    }

    /// Compares derivatives with respect to inputs of the given names.
    pub fn compare(names: &[String], derivatives: &Derivatives) -> Gradcheck {
        let scales = derivatives.row_scales();
        let mut check = Gradcheck::default();
        for (j, name) in names.iter().enumerate() {
            let tape = derivatives.tape.column(j);
            let against = |other: &[f64]| {
                let pairs = tape.iter().zip(other).zip(&scales);
                pairs.fold(0.0_f64, |worst, ((&a, &b), &scale)| worst.max(error(a, b, scale)))
            };
            let difference = derivatives.differences[j].as_ref();
            let worst = Errors {
                dual_vs_tape: against(derivatives.dual.column(j).as_slice()),
                residual_vs_tape: against(derivatives.residual.column(j).as_slice()),
                unrolled_vs_tape: against(derivatives.unrolled.column(j).as_slice()),
                vs_differences: difference.map_or(0.0, |difference| against(&difference.column)),
            };
            check.rows.push(Row {
                name: name.clone(),
                worst,
                cases: 1,
                one_sided: usize::from(difference.is_some_and(|difference| difference.one_sided)),
                skipped_at_kinks: usize::from(difference.is_none()),
                kinks: BTreeMap::new(),
            });
        }
        check
    }

    /// Adds what was found elsewhere: rows of the same name become one.
    pub fn merge(&mut self, other: &Gradcheck) {
        for row in &other.rows {
            match self.rows.iter_mut().find(|own| own.name == row.name) {
                Some(own) => {
                    own.worst = own.worst.worst(&row.worst);
                    own.cases += row.cases;
                    own.one_sided += row.one_sided;
                    own.skipped_at_kinks += row.skipped_at_kinks;
                    for (kink, count) in &row.kinks {
                        *own.kinks.entry(kink.clone()).or_default() += count;
                    }
                }
                None => self.rows.push(row.clone()),
            }
        }
        self.report.merge(&other.report);
        self.contradictory.merge(&other.contradictory);
    }

    /// The worst of all inputs.
    pub fn max(&self) -> Errors {
        self.rows.iter().fold(Errors::default(), |max, row| max.worst(&row.worst))
    }

    /// How many derivatives, each of one state in one direction, were compared.
    pub fn cases(&self) -> usize {
        self.rows.iter().map(|row| row.cases).sum()
    }

    /// How many of them were compared with the difference of one side, because a kink is on the other.
    pub fn one_sided(&self) -> usize {
        self.rows.iter().map(|row| row.one_sided).sum()
    }

    /// What changes at the kinks that were met, and at how many derivatives.
    pub fn kinks(&self) -> BTreeMap<&str, usize> {
        let mut kinks = BTreeMap::new();
        for (kink, count) in self.rows.iter().flat_map(|row| &row.kinks) {
            *kinks.entry(kink.as_str()).or_default() += count;
        }
        kinks
    }

    /// How many of them had no difference to compare with.
    pub fn skipped_at_kinks(&self) -> usize {
        self.rows.iter().map(|row| row.skipped_at_kinks).sum()
    }

    /// Whether something was compared and all of it agrees.
    pub fn passed(&self) -> bool {
        self.cases() > 0 && self.max().within(&self.tolerances)
    }
}
