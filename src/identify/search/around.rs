//! What is found around the end of a search, by which it may go on: kept in checkpoints.

use serde::{Deserialize, Serialize};

use super::Effort;

/// What was found around the first end of a search, and how often it has gone on since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Around {
    /// How often it went on from a lower point.
    pub times: usize,
    /// How far away lower points are looked for along each parameter, down and up.
    pub reach: Vec<[f64; 2]>,
    /// How many halves of the recordings were asked for, if that was said.
    pub asked: Option<usize>,
    /// What fits to halves of the recordings came to, where errors are taken from them.
    pub halves: Option<Halves>,
    /// What they said of the linearisation, where nothing was asked for.
    pub test: Option<HalvesTest>,
}

/// What fits to halves of the recordings came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Halves {
    /// All parameters, by half.
    pub values: Vec<Vec<f64>>,
    /// From how many squares errors are estimated.
    pub freedom: f64,
    /// Their work.
    pub effort: Effort,
}

/// Whether fits to halves of the recordings differ by what the linearisation says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HalvesTest {
    /// The squares of their differences over what the linearisation says, mean over splits and parameters, and corrected for that
    /// being estimated: about 1 where it holds.
    pub statistic: f64,
    /// Beyond this errors are taken from halves.
    pub threshold: f64,
    /// Splits of the recordings into two halves that were tested.
    pub splits: usize,
    /// Whether the work allowed ended it before there were as many fits as are good for errors.
    pub is_cut_short: bool,
    /// The work of all fits to halves.
    pub effort: Effort,
}

impl HalvesTest {
    /// Whether errors are taken from halves.
    pub fn is_beyond(&self) -> bool {
        // What is not a number is no agreement.
        self.statistic.total_cmp(&self.threshold).is_gt()
    }

    /// Where errors come from, and why, in a sentence.
    pub fn sentence(&self) -> String {
        let HalvesTest { statistic, threshold, splits, .. } = *self;
        let said = format!(
            "mean square {statistic:.2}, {splits} splits; up to {threshold:.2} is taken for chance"
        );
        match self.is_beyond() {
            true => format!(
                "errors are taken from fits to halves of the recordings, which differ {:.1} times as much as derivatives at \
                 the result say ({said})",
                statistic.sqrt()
            ),
            false => format!(
                "errors are taken from derivatives at the result: fits to halves of the recordings differ by what they say \
                 ({said})"
            ),
        }
    }

    /// What to know where the work allowed was used up.
    pub(crate) fn warning(&self, halves: usize) -> Option<String> {
        self.is_cut_short.then(|| {
            let rest = match self.is_beyond() {
                true => "so that intervals are wide",
                false => "which cannot tell for sure that derivatives at the result say enough",
            };
            format!(
                "there are {halves} fits to halves of the recordings only, {rest}: more would take more than twice the work of \
                 the search; --half-samples 20 (half_samples) makes them, 0 none"
            )
        })
    }
}
