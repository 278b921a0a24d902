//! What recordings say of numbers that a fit held, once those that are free have followed.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::held_numbers::{Group, held};
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter};
use crate::identify::peers::{Equations, Shares, Sum};
use crate::identify::search::{Fit, LeastSquares, OBSERVABLE, Problem};
use crate::identify::statistics::{UNTELLABLE, beta_below};

/// A claim is made where chance would make it in one of so many fits of right models, all numbers together.
const LEVEL: f64 = 0.05;
/// A step that can be made by less than this part is out of what such numbers can be.
const BARRED: f64 = 1e-3;
/// Recordings that say this part of what the most telling one says of numbers say nothing.
const UNTOLD: f64 = 1e-9;

/// What would be gained by numbers that a fit held.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreTest {
    /// What they are together: `cube/center_of_mass`; of one number its name.
    pub name: String,
    /// Their names.
    pub members: Vec<String>,
    /// Whether the scene has no such numbers: a term of contact, or drag, that is off.
    pub absent: bool,
    /// What they are held at.
    pub held: Vec<f64>,
    /// Where a Newton step would lead, within what such numbers can be.
    pub proposed: Vec<f64>,
    /// The share of the loss that it would take off, as far as the linearisation says; of the first part of the recordings where
    /// that tells more.
    pub gain: f64,
    /// The part of the recordings, from their first frames on, over which it shows most: 1, a half or a quarter.
    pub part: f64,
    /// How likely chance makes as much of them if what they are held at is right.
    pub p_value: f64,
    /// The same for all that was tested together: below 0.05 it is a claim.
    pub adjusted_p_value: f64,
    /// How many recordings would be better explained, of those that say something.
    pub better: usize,
    /// How many say something.
    pub recordings: usize,
    /// The recordings that gain most, by their numbers, the first the most.
    pub strongest: Vec<usize>,
}

impl ScoreTest {
    /// Whether chance would hardly make as much of what is right, and most recordings that say something agree.
    pub fn is_significant(&self) -> bool {
        self.adjusted_p_value < LEVEL && 2 * self.better > self.recordings
    }
}

/// Normal equations at a fit in all numbers that are asked for, the free ones first.
pub(super) struct Scores<'a> {
    h: DMatrix<f64>,
    g: DVector<f64>,
    /// Those of the recordings that are held here.
    recordings: BTreeMap<usize, Equations>,
    shares: &'a Shares,
    /// The free ones that are not held by a bound.
    followers: Vec<usize>,
    cost: f64,
    residuals: usize,
    /// J'J of the priors.
    known: DMatrix<f64>,
}

impl<'a> Scores<'a> {
    pub fn new(
        extended: &Experiment,
        dataset: &'a Dataset,
        fit: &Fit,
        horizon: usize,
        threads: usize,
    ) -> Option<Scores<'a>> {
        let initial = fit.initial_states.clone();
        let mut problem = Problem::starting_from(extended, dataset, initial, threads);
        problem.set_damping(&vec![0.0; dataset.windows.len()]);
        problem.restrict(1, horizon);
        let held = extended.parameters[fit.parameters.len()..].iter().map(|p| p.start);
        let values: Vec<f64> = fit.parameters.iter().map(|p| p.value).chain(held).collect();
        let space = problem.space.clone();
        let x = space.variables(&values);
        problem.linearize(&x);
        let mut recordings = problem.recordings();
        let (known, mut g) = problem.prior_equations();
        let squares = problem.recording_squares(&x);
        let weights = weights(&squares);
        for (number, (own_h, own_g)) in &mut recordings {
            let weight = weights.get(number).copied().unwrap_or_default();
            *own_h *= weight;
            *own_g *= weight;
        }
        let counted = squares
            .iter()
            .map(|(number, (sum, _))| 0.5 * weights.get(number).copied().unwrap_or_default() * sum);
        let cost = counted.fold(0.0, |sum, own| sum + own);
        let shares = &dataset.shares;
        let n = x.len();
        let own: Vec<usize> = recordings.keys().copied().collect();
        let begin: Vec<f64> = known.iter().chain(&g).copied().collect();
        let places: Vec<usize> = (0..begin.len()).collect();
        let sum = Sum { what: "scores", alike: 0, places: &places, begin: &begin };
        let sums = shares.sum(&sum, &own, |k, to| {
            let (h, g) = &recordings[&own[k]];
            to.extend(h.iter().chain(g));
        });
        let h = DMatrix::from_column_slice(n, n, &sums[..n * n]);
        g = DVector::from_column_slice(&sums[n * n..]);
        take_copies(dataset, &mut recordings);
        if !cost.is_finite() || cost <= 0.0 || !h.iter().chain(&g).all(|x| x.is_finite()) {
            return None;
        }
        let free = space.free().iter().enumerate();
        let follows = |place: usize| {
            let fitted = fit.parameters.get(place);
            fitted.is_some_and(|fitted| !fitted.at_bound && fitted.observable)
        };
        let shows = |k: usize| h[(k, k)] > 0.0;
        let followers = free.filter(|(k, place)| follows(**place) && shows(*k));
        let followers = followers.map(|(k, _)| k).collect();
        let starts = problem.initial_unknowns() * dataset.windows.len();
        let residuals = problem.residual_count().saturating_sub(starts);
        Some(Scores { h, g, recordings, shares, followers, cost, residuals, known })
    }

    /// How much of each follower goes with each of some numbers: rows of H_ff^-1 H_fc.
    fn following(&self, places: &[usize]) -> DMatrix<f64> {
        let own = &self.followers;
        let unit: Vec<f64> =
            own.iter().map(|&i| self.h[(i, i)].sqrt().max(f64::MIN_POSITIVE)).collect();
        let scaled = DMatrix::from_fn(own.len(), own.len(), |a, b| {
            self.h[(own[a], own[b])] / (unit[a] * unit[b])
        });
        let right =
            DMatrix::from_fn(own.len(), places.len(), |a, c| self.h[(own[a], places[c])] / unit[a]);
        let mut solved = inverse_within(&scaled) * right;
        for (a, unit) in unit.iter().enumerate() {
            solved.row_mut(a).unscale_mut(*unit);
        }
        solved
    }

    /// What a gradient, or rows and columns of a matrix, leave once the others follow.
    fn left(&self, following: &DMatrix<f64>, places: &[usize], g: &DVector<f64>) -> DVector<f64> {
        let own =
            DVector::from_iterator(self.followers.len(), self.followers.iter().map(|&i| g[i]));
        DVector::from_iterator(places.len(), places.iter().map(|&c| g[c])) - following.tr_mul(&own)
    }

    fn curvature(
        &self,
        following: &DMatrix<f64>,
        places: &[usize],
        h: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let part = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |a, b| h[(rows[a], columns[b])])
        };
        let across = part(&self.followers, places).tr_mul(following);
        let own = part(&self.followers, &self.followers);
        part(places, places) - &across - across.transpose() + following.tr_mul(&own) * following
    }

    /// Nothing of numbers that leave no trace, or none of their own beside those that are free.
    pub fn test(&self, group: &Group, places: &[usize]) -> Option<ScoreTest> {
        let seen = |(k, place): &(usize, &usize)| {
            let (own, scale) = (self.h[(**place, **place)], group.members[*k].scale);
            own.max(0.0).sqrt() * 10.0 * scale > OBSERVABLE
        };
        let kept: Vec<usize> = places.iter().enumerate().filter(seen).map(|(k, _)| k).collect();
        let members: Vec<&FreeParameter> = kept.iter().map(|&k| &group.members[k]).collect();
        let places: Vec<usize> = kept.iter().map(|&k| places[k]).collect();
        if places.is_empty() {
            return None;
        }
        let following = self.following(&places);
        let score = self.left(&following, &places, &self.g);
        let curvature = self.curvature(&following, &places, &self.h);
        // In units in which each number alone has a curvature of 1, directions of next to none are those of what is free.
        let units: Vec<f64> = places.iter().map(|&c| self.h[(c, c)].sqrt()).collect();
        let scaled = DMatrix::from_fn(places.len(), places.len(), |a, b| {
            curvature[(a, b)] / (units[a] * units[b])
        });
        let told = told_directions(&scaled);
        if told.ncols() == 0 {
            return None;
        }
        let in_units =
            |v: &DVector<f64>| told.tr_mul(&DVector::from_fn(v.len(), |a, _| v[a] / units[a]));
        let mut own_score = in_units(&score);
        let mut own_curvature = told.tr_mul(&scaled) * &told;
        let mut terms = Vec::new();
        let tells = |h: &DMatrix<f64>| {
            let of = places.iter().zip(&units).map(|(&c, unit)| h[(c, c)] / (unit * unit));
            of.fold(0.0, f64::max)
        };
        let all = &self.shares.group;
        let most = self.recordings.values().map(|(h, _)| tells(h)).fold(0.0, f64::max);
        let most = all.gather("most telling", 0, most).into_iter().fold(0.0, f64::max);
        for (&number, (h, g)) in &self.recordings {
            let s = self.left(&following, &places, g);
            if tells(h) > UNTOLD * most {
                terms.push((number, s, self.curvature(&following, &places, h)));
            }
        }
        // What a few recordings say that are far from all others is that they are amplified.
        let curved = own_curvature.clone().cholesky()?;
        let shares: Vec<DVector<f64>> = terms.iter().map(|(_, s, _)| in_units(s)).collect();
        let sizes: Vec<f64> = shares.iter().map(|s| s.dot(&curved.solve(s)).sqrt()).collect();
        let sizes = all.gather("sizes", 0, sizes);
        let before: usize = sizes[..all.rank()].iter().map(Vec::len).sum();
        let weights = capped(&sizes.into_iter().flatten().collect::<Vec<f64>>());
        let own_weights = &weights[before..before + terms.len()];
        let numbers: Vec<usize> = terms.iter().map(|(number, ..)| *number).collect();
        let of_terms = |what, begin: &[f64], term: &mut dyn FnMut(usize, &mut Vec<f64>)| {
            let own_places: Vec<usize> = (0..begin.len()).collect();
            let places = &own_places[..];
            let sum = Sum { what, alike: 0, places, begin };
            self.shares.sum(&sum, &numbers, term)
        };
        let begin: Vec<f64> = own_score.iter().chain(&own_curvature).copied().collect();
        let sums = of_terms("caps", &begin, &mut |k, to| {
            let less = 1.0 - own_weights[k];
            let h = &terms[k].2;
            let in_both = DMatrix::from_fn(places.len(), places.len(), |a, b| {
                h[(a, b)] / (units[a] * units[b])
            });
            to.extend((&shares[k] * less).iter().map(|x| -x));
            to.extend((told.tr_mul(&in_both) * &told * less).iter().map(|x| -x));
        });
        let directions = told.ncols();
        own_score = DVector::from_column_slice(&sums[..directions]);
        own_curvature = DMatrix::from_column_slice(directions, directions, &sums[directions..]);
        for ((_, s, h), weight) in terms.iter_mut().zip(own_weights) {
            *s *= *weight;
            *h *= *weight;
        }
        let step = -(own_curvature.clone().cholesky()?.solve(&own_score));
        let mut step = &told * step;
        step.iter_mut().zip(&units).for_each(|(step, unit)| *step /= unit);
        let share = within_domain(&members, &step);
        let share = if share < BARRED { 0.0 } else { share };
        step *= share;
        let fall =
            |s: &DVector<f64>, h: &DMatrix<f64>| -(s.dot(&step) + 0.5 * step.dot(&(h * &step)));
        let gain = -(0.5 * own_score.dot(&own_curvature.clone().cholesky()?.solve(&own_score)));
        let gain = -gain * share * (2.0 - share) / self.cost;
        let gains: Vec<(usize, f64)> =
            terms.iter().map(|(number, s, h)| (*number, fall(s, h))).collect();
        let gains = all.gather("gains", 0, gains);
        let mut gains: Vec<(usize, f64)> = gains.into_iter().flatten().collect();
        let terms: Vec<DVector<f64>> = terms.iter().map(|(_, s, _)| in_units(s)).collect();
        let p_value = match share > 0.0 {
            true => {
                // The mean of a prior is off by its own deviation, which the followers hand on.
                let own = &self.followers;
                let known =
                    DMatrix::from_fn(own.len(), own.len(), |a, b| self.known[(own[a], own[b])]);
                let known = following.tr_mul(&(known * &following));
                let known = DMatrix::from_fn(places.len(), places.len(), |a, b| {
                    known[(a, b)] / (units[a] * units[b])
                });
                let known = told.tr_mul(&known) * &told;
                let spread = of_terms("spread", known.as_slice(), &mut |k, to| {
                    to.extend((&terms[k] * terms[k].transpose()).iter());
                });
                let spread = DMatrix::from_column_slice(directions, directions, &spread);
                self.p_value(&own_score, &own_curvature, (spread, weights.len()))
            }
            false => 1.0,
        };
        let better = gains.iter().filter(|(_, gain)| *gain > 0.0).count();
        let recordings = gains.len();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1));
        let held: Vec<f64> = members.iter().map(|member| held(member)).collect();
        Some(ScoreTest {
            name: if members.len() == 1 { members[0].name.clone() } else { group.name.clone() },
            members: members.iter().map(|member| member.name.clone()).collect(),
            absent: false,
            proposed: held.iter().zip(step.iter()).map(|(held, step)| held + step).collect(),
            held,
            gain,
            part: 1.0,
            p_value,
            adjusted_p_value: p_value,
            better,
            recordings,
            strongest: gains.iter().filter(|(_, gain)| *gain > 0.0).take(5).map(|g| g.0).collect(),
        })
    }

    /// By how far recordings disagree where there are enough of them; by the mean square of the residuals elsewhere.
    fn p_value(
        &self,
        score: &DVector<f64>,
        curvature: &DMatrix<f64>,
        (disagreement, terms): (DMatrix<f64>, usize),
    ) -> f64 {
        let numbers = score.len();
        // Each number takes one, and what is left must say how far they disagree.
        let by_recordings = terms > 2 * numbers + self.followers.len() + 1;
        let (spread, count) = match by_recordings {
            true => (disagreement, terms),
            false => {
                let freedom = self.residuals.saturating_sub(self.followers.len()).max(1);
                (curvature * (2.0 * self.cost / freedom as f64), freedom)
            }
        };
        let Some(factor) = spread.cholesky() else { return 1.0 };
        let size = score.dot(&factor.solve(score));
        let freedom = count.saturating_sub(numbers).max(1);
        let share = match by_recordings {
            // s'(sum of s s')^-1 s is at most the number of terms, and its share is that of T².
            true => size / count as f64,
            false => size / (size + freedom as f64),
        };
        beta_below((1.0 - share).clamp(0.0, 1.0), 0.5 * freedom as f64, 0.5 * numbers as f64)
    }
}

/// Recordings count less as they are explained worse than the middle one: what is between impacts is amplified in some, by
/// which all others would drown, whatever is wrong.
fn weights(squares: &BTreeMap<usize, (f64, usize)>) -> BTreeMap<usize, f64> {
    let loss = |(sum, count): &(f64, usize)| sum / (*count).max(1) as f64;
    let mut losses: Vec<f64> = squares.values().map(loss).collect();
    losses.sort_by(f64::total_cmp);
    let middle = losses.get(losses.len() / 2).copied().unwrap_or_default();
    let weight = |own: f64| if own > middle { middle / own } else { 1.0 };
    squares.iter().map(|(&number, own)| (number, weight(loss(own)))).collect()
}

/// Weights by which no size is more than twice the middle one.
fn capped(sizes: &[f64]) -> Vec<f64> {
    let mut sorted = sizes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = 2.0 * sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    sizes.iter().map(|&size| if size > most { most / size } else { 1.0 }).collect()
}

/// How far along a step all numbers stay what they can be, 0 to 1.
fn within_domain(members: &[&FreeParameter], step: &DVector<f64>) -> f64 {
    let share = |(member, &step): (&&FreeParameter, &f64)| {
        let room =
            if step < 0.0 { member.lower - member.start } else { member.upper - member.start };
        if step == 0.0 || room.is_infinite() { 1.0 } else { (room / step).clamp(0.0, 1.0) }
    };
    members.iter().zip(step.iter()).map(share).fold(1.0, f64::min)
}

/// Directions of a matrix with a unit diagonal, or less, that are not next to nothing: columns.
fn told_directions(scaled: &DMatrix<f64>) -> DMatrix<f64> {
    if !scaled.iter().all(|x| x.is_finite()) {
        return DMatrix::zeros(scaled.nrows(), 0);
    }
    let eigen = scaled.clone().symmetric_eigen();
    let told = |k: &usize| eigen.eigenvalues[*k] > TOLD;
    let columns: Vec<_> =
        (0..scaled.nrows()).filter(told).map(|k| eigen.eigenvectors.column(k)).collect();
    if columns.is_empty() {
        return DMatrix::zeros(scaled.nrows(), 0);
    }
    DMatrix::from_columns(&columns)
}

/// A direction of which what is free does all but this part says nothing new.
const TOLD: f64 = 1e-6;

/// The inverse along what is told.
fn inverse_within(scaled: &DMatrix<f64>) -> DMatrix<f64> {
    let n = scaled.nrows();
    let mut inverse = DMatrix::zeros(n, n);
    if n == 0 {
        return inverse;
    }
    let eigen = scaled.clone().symmetric_eigen();
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > UNTELLABLE {
            inverse += vector * vector.transpose() / *value;
        }
    }
    inverse
}

/// Adds what copies say to what their originals say, whoever holds these.
fn take_copies(dataset: &Dataset, recordings: &mut BTreeMap<usize, Equations>) {
    let originals = dataset.originals();
    let copies: Vec<usize> =
        recordings.keys().copied().filter(|&copy| originals[copy] != copy).collect();
    let mut own = Vec::new();
    for copy in copies {
        if let Some((h, g)) = recordings.get_mut(&copy) {
            own.push((copy, h.as_slice().to_vec(), g.as_slice().to_vec()));
            h.fill(0.0);
            g.fill(0.0);
        }
    }
    for (copy, h, g) in dataset.group().gather("copies' sums", 0, own).into_iter().flatten() {
        if let Some((sum_h, sum_g)) = recordings.get_mut(&originals[copy]) {
            *sum_h += DMatrix::from_vec(sum_h.nrows(), sum_h.ncols(), h);
            *sum_g += DVector::from_vec(g);
        }
    }
}
