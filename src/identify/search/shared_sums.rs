//! What a sum over windows is made of where several processes hold them: who has which, what all agree on, and what each
//! recording counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};

use super::Problem;
use super::window_equations::Reduced;
use crate::fnv::Fnv;
use crate::identify::peers::{Equations, Sum};
use crate::simulation::StepReport;

/// Information of a trajectory on a variable beyond this many times the median is capped, if there are as many
/// trajectories; and if at least half of them have this share of what the most sensitive one has.
const CAP: f64 = 10.0;
const LEAST_CAPPED: usize = 10;
const UNTOLD: f64 = 1e-9;

impl Problem<'_> {
    /// How contact problems were solved, of the windows held here, and then everywhere.
    pub(super) fn reports<'r>(&self, own: impl Iterator<Item = &'r StepReport>) -> StepReport {
        let mut report = StepReport::default();
        own.for_each(|own| report.merge(own));
        let all = self.measurement.dataset.group().gather("reports", 0, report);
        let mut all = all.into_iter();
        let mut report = all.next().unwrap_or_default();
        all.for_each(|other| report.merge(&other));
        report
    }

    /// A hash of where is asked, and of what.
    pub(super) fn alike(&self, x: &[f64]) -> u64 {
        let mut hash = Fnv::default();
        hash.add(&Fnv::of(x).to_le_bytes());
        let numbers = [self.active.len(), self.horizon, self.measurement.blur, self.space.len()];
        numbers.iter().for_each(|number| hash.add(&(*number as u64).to_le_bytes()));
        hash.add(&[u8::from(self.hold_initial), u8::from(self.cap_sensitivity)]);
        hash.value()
    }

    /// The recordings of the windows that count and are held here, one a window.
    pub(super) fn own_recordings(&self) -> Vec<usize> {
        let windows = &self.measurement.dataset.windows;
        self.own.iter().map(|&k| windows[k].trajectory).collect()
    }

    /// How many recordings have windows that count.
    pub(super) fn recording_count(&self) -> usize {
        let windows = &self.measurement.dataset.windows;
        let all: BTreeSet<usize> = self.active.iter().map(|&k| windows[k].trajectory).collect();
        all.len()
    }

    /// The sum over the windows that count of a number of each of those held here.
    pub(super) fn sum(&self, what: &str, x: &[f64], own: &[f64]) -> f64 {
        let sum = Sum { what, alike: self.alike(x), places: &[0], begin: &[0.0] };
        let shares = &self.measurement.dataset.shares;
        shares.sum(&sum, &self.own_recordings(), |k, to| to.push(own[k]))[0]
    }

    /// J'J and J'r of each trajectory that is held here in the variables at the last linearised point, initial states
    /// eliminated: the terms of the sums that [`normal_equations`] gives, but for the priors'.
    ///
    /// [`normal_equations`]: super::LeastSquares::normal_equations
    pub(crate) fn recordings(&self) -> BTreeMap<usize, (DMatrix<f64>, DVector<f64>)> {
        let n = self.space.len();
        let nothing = (DMatrix::zeros(n, n), DVector::zeros(n));
        let own = self.measurement.dataset.own_recordings().into_iter();
        let mut recordings: BTreeMap<usize, (DMatrix<f64>, DVector<f64>)> =
            own.map(|k| (k, nothing.clone())).collect();
        for ((own, trajectory), weight) in self.reduced_blocks().zip(self.own_weights()) {
            if let Some((h, g)) = recordings.get_mut(&trajectory) {
                *h += &own.0 * weight;
                *g += &own.1 * weight;
            }
        }
        recordings
    }

    /// The normal equations of each window that counts and is held here in the variables, and its trajectory.
    pub(super) fn reduced_blocks(&self) -> impl Iterator<Item = (Cow<'_, Reduced>, usize)> {
        let windows = &self.measurement.dataset.windows;
        self.blocks
            .iter()
            .zip(&self.own)
            .map(|(block, &k)| (block.reduced(self.damping[k]), windows[k].trajectory))
    }

    /// The weights of the windows that count and are held here.
    pub(super) fn own_weights(&self) -> impl Iterator<Item = f64> {
        let dataset = self.measurement.dataset;
        let all = self.weights.iter().zip(&self.active);
        let own = all.filter(|(_, k)| dataset.holds(dataset.windows[**k].trajectory));
        own.map(|(weight, _)| *weight)
    }

    /// Weights of the windows that count: those of trajectories whose information on a variable is beyond
    /// [`CAP`] times the median count as much as if it were there.
    pub(super) fn sensitivity_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.active.len()];
        if !self.cap_sensitivity || self.recording_count() < LEAST_CAPPED {
            return weights;
        }
        let mut information: BTreeMap<usize, DVector<f64>> = BTreeMap::new();
        for (own, trajectory) in self.reduced_blocks() {
            let own = own.0.diagonal();
            information.entry(trajectory).and_modify(|sum| *sum += &own).or_insert(own);
        }
        let own: BTreeMap<usize, Vec<f64>> =
            information.into_iter().map(|(k, own)| (k, own.iter().copied().collect())).collect();
        let all = self.measurement.dataset.group().gather("sensitivities", 0, own);
        let information: BTreeMap<usize, Vec<f64>> = all.into_iter().flatten().collect();
        if information.is_empty() {
            return weights;
        }
        for i in 0..self.space.len() {
            let mut sizes: Vec<f64> = information.values().map(|own| own[i]).collect();
            sizes.sort_by(f64::total_cmp);
            let cap = CAP * sizes[sizes.len() / 2];
            // What most trajectories say nothing about is left to the few that do.
            if cap <= UNTOLD * sizes[sizes.len() - 1] {
                continue;
            }
            for (weight, &k) in weights.iter_mut().zip(&self.active) {
                let own = information.get(&self.measurement.dataset.windows[k].trajectory);
                let own = own.map_or(0.0, |own| own[i]);
                if own > cap {
                    *weight = weight.min(cap / own);
                }
            }
        }
        weights
    }

    /// The change of the cost of each recording from the last linearised point to where the windows that count, and are held here,
    /// have `costs`: at its last window.
    pub(super) fn changes(&self, costs: &[f64]) -> Vec<Option<f64>> {
        let recordings = self.own_recordings();
        let mut sum = 0.0;
        let changes = costs.iter().zip(&self.blocks).enumerate().map(|(at, (cost, block))| {
            sum += cost - block.cost;
            let last = recordings.get(at + 1) != Some(&recordings[at]);
            last.then(|| std::mem::take(&mut sum))
        });
        changes.collect()
    }

    /// [`normal_equations`](super::LeastSquares::normal_equations) with both halves of J'J added up, which rounding makes differ where
    /// initial states were eliminated: for whoever looks at both.
    pub(crate) fn whole_equations(&self) -> Equations {
        self.summed_equations(|_| 0)
    }

    /// J'J, of its column j from row `first(j)` on, and J'r, those of the priors among them.
    pub(super) fn summed_equations(&self, first: impl Fn(usize) -> usize) -> Equations {
        let n = self.space.len();
        let count = (0..n).map(|j| n - first(j)).sum::<usize>() + n;
        let places: Vec<usize> = (0..count).collect();
        let sum = Sum {
            what: "normal equations",
            alike: self.alike(&self.linearized_at),
            places: &places,
            begin: &vec![0.0; count],
        };
        let mut terms = self.reduced_blocks().zip(self.own_weights());
        let shares = &self.measurement.dataset.shares;
        let mut sums = shares.sum(&sum, &self.own_recordings(), |_, to| {
            let Some(((own, _), weight)) = terms.next() else { return };
            for j in 0..n {
                to.extend(own.0.view((first(j), j), (n - first(j), 1)).iter().map(|x| x * weight));
            }
            to.extend(own.1.iter().map(|x| x * weight));
        });
        let mut g = DVector::from_vec(sums.split_off(count - n));
        let (mut h, mut begin) = (DMatrix::zeros(n, n), 0);
        for j in 0..n {
            let column = &sums[begin..begin + n - first(j)];
            h.view_mut((first(j), j), (n - first(j), 1)).copy_from_slice(column);
            begin += column.len();
        }
        if !self.prior.0.is_empty() {
            let (own_h, own_g) = self.prior_equations();
            h += own_h;
            g += own_g;
        }
        (h, g)
    }
}
