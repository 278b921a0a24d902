//! A matrix of derivatives, judged by other ways and by differences.

use nalgebra::DMatrix;

use super::errors::error;
use super::kink::{Break, Line};
use super::ladder::{Ladder, size};
use super::limit::Estimate;
use super::{Agreement, Apart, Entry, Findings, Kink, Place, Verdict};

/// Errors are relative to a derivative, unless it is smaller than this fraction of what rounding of
/// the whole row is relative to.
const SMALL: f64 = 1e-5;
/// How many widths a kink is looked for after, if differences have not converged by then.
const PATIENCE: usize = 7;
/// Relative error up to which narrower differences are tried, and above which a kink is looked for.
const ENOUGH: f64 = 1e-9;
const SUSPICIOUS: f64 = 1e-6;

/// A matrix of derivatives to be checked.
pub(super) struct Subject<'a> {
    pub x: &'a [f64],
    /// The outputs.
    pub y: &'a [f64],
    /// Outputs x inputs.
    pub derivative: &'a DMatrix<f64>,
    /// Relative error of differences.
    pub tolerance: f64,
}

impl Subject<'_> {
    /// What row `i` changes by when an input changes by its size.
    fn row_scale(&self, i: usize) -> f64 {
        let parts = (0..self.x.len()).map(|j| self.derivative[(i, j)].abs() * size(self.x[j]));
        let finite = parts.chain([self.y[i].abs()]).filter(|part| part.is_finite());
        finite.fold(0.0, f64::max)
    }

    /// The least that errors of an entry are relative to.
    fn floor(&self, i: usize, j: usize) -> f64 {
        SMALL * self.row_scale(i) / size(self.x[j])
    }

    /// Weights of the outputs: 1 of a single one; of several between 1/2 and 3/2, over the scale of the output, so
    /// that none hides behind another and none cancels another but by chance.
    pub(super) fn weights(&self) -> Vec<f64> {
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        if self.y.len() == 1 {
            return vec![1.0];
        }
        let weight = |i: usize| {
            let scale = self.row_scale(i);
            let weight = 0.5 + (GOLDEN * (i + 1) as f64).fract();
            if scale > 0.0 { weight / scale } else { weight }
        };
        (0..self.y.len()).map(weight).collect()
    }

    pub(super) fn compare(
        &self,
        way: &str,
        other: &DMatrix<f64>,
        against: &str,
        tolerance: f64,
    ) -> Agreement {
        let mut worst: Option<Apart> = None;
        for (output, input) in self.places() {
            let (found, expected) = (other[(output, input)], self.derivative[(output, input)]);
            let relative = match found == expected {
                true => 0.0,
                false => error(found, expected, self.floor(output, input)),
            };
            if worst.is_none_or(|worst| relative > worst.relative) {
                worst = Some(Apart { output, input, found, expected, relative });
            }
        }
        Agreement { way: way.into(), against: against.into(), worst, tolerance }
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let (m, n) = self.derivative.shape();
        (0..m).flat_map(move |i| (0..n).map(move |j| (i, j)))
    }

    /// Compares with differences of `run`, and looks for kinks where they do not converge.
    pub(super) fn differences(&self, run: &dyn Fn(&[f64]) -> Vec<f64>, findings: &mut Findings) {
        let m = self.y.len();
        let ladders: Vec<Ladder> = (0..self.x.len())
            .map(|j| {
                let enough = |ladder: &Ladder| {
                    ladder.len() >= PATIENCE && (0..m).all(|i| self.converged(ladder, i, j, ENOUGH))
                };
                Ladder::descend(&mut |x| Some(run(x)), self.x, j, &enough)
            })
            .collect();
        for (i, j) in self.places() {
            let ladder = &ladders[j];
            let found = match ladder.len() <= PATIENCE && self.converged(ladder, i, j, SUSPICIOUS) {
                true => None,
                false => self.kink(run, i, j),
            };
            self.judge(ladder, found, (i, j), findings);
        }
    }

    /// Whether the differences from both sides, and from each, agree with each other.
    fn converged(&self, ladder: &Ladder, i: usize, j: usize, within: f64) -> bool {
        let central = ladder.central(i, f64::INFINITY);
        let sides = [ladder.side(i, false), ladder.side(i, true)].map(|side| side.slope);
        let [Some(central), Some(left), Some(right)] = [central, sides[0], sides[1]] else {
            return false;
        };
        let scale = central.value.abs().max(left.value.abs()).max(right.value.abs());
        let scale = scale.max(self.floor(i, j));
        if ladder.len() == PATIENCE && ladder.roughness(i, self.y[i]) > SUSPICIOUS * scale {
            return false;
        }
        [central, left, right].iter().all(|estimate| {
            estimate.error <= within * scale
                && (estimate.value - central.value).abs() <= SUSPICIOUS * scale
        })
    }

    fn kink(&self, run: &dyn Fn(&[f64]) -> Vec<f64>, i: usize, j: usize) -> Option<Break> {
        let mut moved = self.x.to_vec();
        let mut value = |x: f64| {
            moved[j] = x;
            run(&moved).get(i).copied().unwrap_or(f64::NAN)
        };
        Line { x: self.x[j], value: &mut value }.nearest_kink()
    }

    fn judge(
        &self,
        ladder: &Ladder,
        found: Option<Break>,
        (output, input): (usize, usize),
        findings: &mut Findings,
    ) {
        let derivative = self.derivative[(output, input)];
        let floor = self.floor(output, input);
        // Differences count if they do not reach the kink.
        let clear = found.map_or(f64::INFINITY, |kink| (kink.at.abs() - kink.within).max(0.0));
        let central = ladder.central(output, clear);
        let mut verdict = match central {
            _ if derivative.is_nan() => Verdict::Disagrees,
            Some(central) => self.against(derivative, central, floor),
            None => Verdict::Undecided,
        };
        if let Some(kink) = found {
            let (place, at_kink) = self.place(derivative, &kink, floor);
            let place = match verdict {
                Verdict::Agrees if kink.at > 0.0 => Place::Left,
                Verdict::Agrees => Place::Right,
                Verdict::Disagrees => Place::Outside,
                _ => place,
            };
            if verdict == Verdict::Undecided {
                verdict = at_kink;
            }
            let slope = |side: Option<Estimate>| side.map_or(f64::NAN, |slope| slope.value);
            findings.kinks.push(Kink {
                output,
                input,
                distance: if kink.at.abs() <= kink.within { 0.0 } else { kink.at },
                within: kink.within,
                kind: kink.kind,
                left: slope(kink.left.slope),
                right: slope(kink.right.slope),
                derivative,
                place,
            });
        }
        let Estimate { value: difference, error } =
            central.unwrap_or(Estimate { value: f64::NAN, error: f64::INFINITY });
        findings.entries.push(Entry { output, input, derivative, difference, error, verdict });
    }

    /// A derivative is wrong only if it differs by more than tolerance and estimated error.
    fn against(&self, derivative: f64, estimate: Estimate, floor: f64) -> Verdict {
        let bound = self.tolerance * derivative.abs().max(estimate.value.abs()).max(floor);
        let apart = (derivative - estimate.value).abs();
        if derivative == estimate.value && estimate.error == 0.0 {
            return Verdict::Agrees;
        }
        // An infinite derivative has an infinite bound.
        if !bound.is_finite() {
            let decided = estimate.error <= self.tolerance * estimate.value.abs().max(floor);
            return if decided { Verdict::Disagrees } else { Verdict::Undecided };
        }
        if apart > bound && apart > estimate.error {
            Verdict::Disagrees
        } else if apart <= bound && estimate.error <= bound {
            Verdict::Agrees
        } else {
            Verdict::Undecided
        }
    }

    /// Where a derivative at a kink is, and whether it may be there. Beside a kink that is distinguishable
    /// from the point nothing is called wrong: another one between them may hide the slope at the point.
    fn place(&self, derivative: f64, kink: &Break, floor: f64) -> (Place, Verdict) {
        let is = |slope: Option<Estimate>| match slope {
            Some(slope) => self.against(derivative, slope, floor),
            None => Verdict::Undecided,
        };
        let (left, right) = (is(kink.left.slope), is(kink.right.slope));
        let here = kink.at.abs() <= kink.within;
        let side = |right_side: bool| {
            let own = here || (kink.at < 0.0) == right_side;
            if own { Verdict::ValidAtKink } else { Verdict::Undecided }
        };
        if left == Verdict::Agrees {
            return (Place::Left, side(false));
        }
        if right == Verdict::Agrees {
            return (Place::Right, side(true));
        }
        let (Some(l), Some(r)) = (kink.left.slope, kink.right.slope) else {
            // One side only, as at the edge of a domain.
            let wrong = left == Verdict::Disagrees || right == Verdict::Disagrees;
            let slopes = [kink.left.slope, kink.right.slope];
            let unbounded = slopes.into_iter().flatten().any(|slope| slope.value.is_infinite());
            return match wrong && !unbounded {
                true => (Place::Outside, Verdict::Disagrees),
                false => (Place::Unknown, Verdict::Undecided),
            };
        };
        if l.value.is_infinite() || r.value.is_infinite() {
            return (Place::Unknown, Verdict::Undecided);
        }
        if left != Verdict::Disagrees || right != Verdict::Disagrees {
            return (Place::Unknown, Verdict::Undecided);
        }
        let between = derivative > l.value.min(r.value) && derivative < l.value.max(r.value);
        match (between, here) {
            (true, true) => (Place::Between, Verdict::ValidAtKink),
            (false, true) => (Place::Outside, Verdict::Disagrees),
            (true, false) => (Place::Between, Verdict::Undecided),
            (false, false) => (Place::Unknown, Verdict::Undecided),
        }
    }
}
