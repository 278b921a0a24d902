//! What the contacts and their solver did in each step of a rollout, as CSV.

use std::io;

use crate::argmin::Mode;
use crate::contact::ContactRecord;
use crate::model::Model;
use crate::simulation::StepReport;

const CONTACTS: [&str; 14] = [
    "step",
    "t",
    "pair",
    "point",
    "mode",
    "target",
    "gap",
    "impulse_n",
    "impulse_t1",
    "impulse_t2",
    "friction",
    "couple_n",
    "couple_t1",
    "couple_t2",
];
const SOLVER: [&str; 10] = [
    "step",
    "t",
    "status",
    "iterations",
    "residual",
    "margin",
    "contacts",
    "complementarity",
    "cone",
    "dissipation",
];

/// Two tables that grow with the rollout. Steps count from 1; `t` is the end of the step, so that
/// it is the row of the trajectory that the step led to.
pub(super) struct ContactLog {
    /// A row for each touching contact: gap at the start of the step in m, impulse in N s on the
    /// second body of the pair in the contact frame; `friction` says which coefficient it had. Couples in N m s, about the
    /// normal and the tangents.
    contacts: csv::Writer<Vec<u8>>,
    /// A row for each step; the margin is `inf` without contacts.
    solver: csv::Writer<Vec<u8>>,
    started: bool,
}

impl ContactLog {
    pub fn new() -> ContactLog {
        let writer = || csv::Writer::from_writer(Vec::new());
        ContactLog { contacts: writer(), solver: writer(), started: false }
    }

    /// Adds a step.
    pub fn add<'a>(
        &mut self,
        model: &Model,
        step: usize,
        time: f64,
        contacts: impl Iterator<Item = &'a ContactRecord>,
        report: &StepReport,
    ) -> io::Result<()> {
        self.start()?;
        let (step, time) = (step.to_string(), time.to_string());
        let mut touching = 0;
        for contact in contacts.filter(|contact| contact.mode != Mode::Break) {
            touching += 1;
            let [normal, first, second] = contact.impulse.map(text);
            let couples = contact.frame_couple().map(text);
            self.contacts.write_record([
                &step,
                &time,
                &model.pair_name(contact.pair),
                &contact.feature.to_string(),
                contact.mode.name(),
                contact.target.name(),
                &text(contact.gap),
                &normal,
                &first,
                &second,
                contact.regime.name(),
                &couples[0],
                &couples[1],
                &couples[2],
            ])?;
        }
        self.solver.write_record([
            &step,
            &time,
            report.worst.status.name(),
            &report.worst.iterations.to_string(),
            &text(report.worst.residual),
            &text(report.worst.margin),
            &touching.to_string(),
            &text(report.residuals.complementarity),
            &text(report.residuals.cone),
            &text(report.residuals.dissipation),
        ])?;
        Ok(())
    }

    /// The texts of both files: contacts, solver.
    pub fn finish(mut self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        self.start()?;
        let inner = |writer: csv::Writer<Vec<u8>>| {
            writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
        };
        Ok((inner(self.contacts)?, inner(self.solver)?))
    }

    /// Writes the headers before the first row.
    fn start(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.started, true) {
            self.contacts.write_record(CONTACTS)?;
            self.solver.write_record(SOLVER)?;
        }
        Ok(())
    }
}

/// The shortest text of a number, with an exponent where that is shorter; never -0.
fn text(x: f64) -> String {
    format!("{:?}", x + 0.0)
}
