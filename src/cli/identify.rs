//! `stiction identify`

use super::Outcome;
use crate::Error;

/// To be filled.
#[derive(clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments) -> Result<Outcome, Error> {
    Ok(Outcome::Done)
}
