//! What a fit would gain by numbers of the scene that it held, without another fit: score tests (`Rao48`), by how far the
//! recordings disagree (`White80`), and of many numbers at once (`Holm79`).
//!
//! With J'r of the numbers c that are held and H = J'J, at the fit of the others f,
//!
//! ```text
//! s = g_c - H_cf H_ff^-1 g_f,   S = H_cc - H_cf H_ff^-1 H_fc
//! ```
//!
//! are what is left of the gradient and the curvature once the others have followed: a Newton step is -S^-1 s, and half of
//! s'S^-1 s is what it takes off the cost. If the held values are right, s is a sum over recordings of mean zero, and
//! Hotelling's T² of their terms tells how likely it is to be so large (`Hotelling31`).
//!
//! Impacts amplify what is before them, in some recordings by orders of magnitude, and derivatives hold over a part of the way
//! only. So recordings that are explained worse than the middle one count less, terms of more than twice the middle size are cut
//! to that, and first parts of the recordings are looked at too, each number by the part that tells most, at the price of
//! so many tests.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::absent_terms::{absent_terms, together};
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter, Transform, is_weight};
use crate::identify::search::{Fit, FitStatus, LeastSquares, OBSERVABLE, Problem};
use crate::identify::statistics::{UNTELLABLE, beta_below};
use crate::model::{ParameterRef, Parameters, SurfaceTerm, domain};

/// A claim is made where chance would make it in one of so many fits of right models, all numbers together.
const LEVEL: f64 = 0.05;
/// Of what is switched off, in typical changes: so that it has a derivative.
const NEXT_TO_NOTHING: f64 = 1e-6;
/// First parts of windows have at least so many steps.
const SHORTEST: usize = 8;
/// Numbers of a scene that are tested at most.
const MOST: usize = 400;
/// Work at most, in that of the search, which counts as so many simulations of all windows at least.
const EFFORT: usize = 2;
const SHORT: usize = 20;
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
    /// Whether chance would hardly make as much of what is right.
    pub fn is_significant(&self) -> bool {
        self.adjusted_p_value < LEVEL
    }

    /// The experiment with these numbers free, starting at what they are held at, on a scene that has them. `now`: what the
    /// test was made at.
    pub fn freed(&self, experiment: &Experiment, now: &Parameters<f64>) -> Experiment {
        let all = absent_terms(experiment, now);
        let own = all.iter().filter(|term| self.members.contains(&term.name));
        let mut freed = experiment.with_terms(&together(own));
        let named = self.members.iter().zip(&self.held);
        let found: Vec<FreeParameter> =
            named.filter_map(|(name, &held)| candidate(&freed, name, held)).collect();
        freed.parameters.extend(found);
        freed
    }
}

/// Numbers of the scene that belong together.
struct Group {
    name: String,
    members: Vec<FreeParameter>,
}

/// What would be gained by each of the numbers of the scene that the fit held, claims first. Nothing where the search
/// was not at its end, where the recordings hold no noise, or where it would take far longer than the search.
pub fn score_tests(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Vec<ScoreTest> {
    let ended = !matches!(fit.status, FitStatus::Stopped | FitStatus::Infeasible);
    if !ended || fit.is_exact() {
        return Vec::new();
    }
    let free = experiment.parameters.iter().filter(|p| !p.fixed).count();
    let spent = fit.effort.steps.max(fit.effort.derivative_steps);
    let spent = spent.max(SHORT * dataset.simulated());
    let count = |groups: &[Group]| groups.iter().map(|group| group.members.len()).sum::<usize>();
    // Parts of windows take as much again at most.
    let affordable = |numbers: usize| {
        let passes = (numbers + free).div_ceil(crate::ad::LANES);
        numbers <= MOST && passes * dataset.simulated() <= EFFORT * spent
    };
    // What is off is there, and does nothing; it is left out first where all would be too much.
    let absent = absent_terms(experiment, &fit.identified);
    let mut held = experiment.clone();
    held.scene.parameters.clone_from(&fit.identified);
    let mut extended = held.with_terms(&together(absent.iter()));
    let mut groups = self::groups(&extended, &extended.scene.parameters);
    if !affordable(count(&groups)) {
        extended = held;
        groups = self::groups(&extended, &extended.scene.parameters);
    }
    if groups.is_empty() || !affordable(count(&groups)) {
        return Vec::new();
    }
    // Each for itself: sets of an inertia are log-Cholesky coordinates only where all are free.
    extended.parameters.extend(groups.iter().flat_map(|group| group.members.clone()));
    let horizons = horizons(dataset);
    let scores: Vec<Option<Scores>> = horizons
        .iter()
        .map(|&horizon| Scores::new(&extended, dataset, fit, horizon, threads))
        .collect();
    let mut first = free;
    let mut found = Vec::new();
    for group in &groups {
        let places: Vec<usize> = (first..first + group.members.len()).collect();
        first += group.members.len();
        let all = horizons.iter().zip(&scores);
        let tests = all.filter_map(|(&horizon, scores)| {
            let part = horizon as f64 / horizons[0] as f64;
            Some(ScoreTest { part, ..scores.as_ref()?.test(group, &places)? })
        });
        let best = tests.min_by(|a, b| a.p_value.total_cmp(&b.p_value));
        found.extend(best.map(|mut test| {
            test.absent = absent.iter().any(|term| test.members.contains(&term.name));
            test.p_value = (test.p_value * scores.len() as f64).min(1.0);
            test
        }));
    }
    adjust(&mut found);
    // Claims by what each number gains; what is none by how nearly it is one.
    let order = |test: &ScoreTest| match test.is_significant() {
        true => (0, -test.gain / test.members.len() as f64),
        false => (1, test.adjusted_p_value),
    };
    found.sort_by(|a, b| {
        let ((kind, size), (other, more)) = (order(a), order(b));
        kind.cmp(&other).then(size.total_cmp(&more)).then(b.gain.total_cmp(&a.gain))
    });
    found
}

/// How many recorded steps of each window are looked at: all, and first parts of them, over which less is amplified.
fn horizons(dataset: &Dataset) -> Vec<usize> {
    let longest = dataset.windows.iter().map(|window| window.steps).max().unwrap_or_default();
    let parts = [1, 2, 4].map(|part| longest.div_ceil(part));
    let mut horizons = parts.to_vec();
    horizons.retain(|&steps| steps == longest || steps >= SHORTEST);
    horizons.dedup();
    horizons
}

/// What could be free and is not.
fn candidate(experiment: &Experiment, name: &str, held: f64) -> Option<FreeParameter> {
    let slots = experiment.scene.model.parameter(name)?;
    let (lower, upper) = domain(name);
    let mut parameter = FreeParameter::new(name, slots, held, [lower, upper]);
    parameter.transform = Transform::None;
    if held == 0.0 {
        parameter.scale = usual_change(name).unwrap_or(parameter.scale);
    }
    // Dry friction that is nothing has no row in a contact problem, nor a derivative.
    if held == 0.0 && name.ends_with("/friction") {
        parameter.start = NEXT_TO_NOTHING * parameter.scale;
    }
    Some(parameter)
}

/// A typical change of what is off.
fn usual_change(name: &str) -> Option<f64> {
    let (_, field) = name.rsplit_once('/')?;
    let couple = |term: SurfaceTerm, change: f64| (field == term.name()).then_some(change);
    couple(SurfaceTerm::TorsionRadius, 1e-2)
        .or_else(|| couple(SurfaceTerm::RollingResistance, 1e-3))
        .or_else(|| name.contains("/drag/").then_some(0.1))
}

/// What a candidate is held at: nothing where it is next to nothing.
fn held(candidate: &FreeParameter) -> f64 {
    let off = candidate.start == NEXT_TO_NOTHING * candidate.scale;
    if off && candidate.name.ends_with("/friction") { 0.0 } else { candidate.start }
}

/// The numbers of the scene that are not free, those of one thing together.
fn groups(experiment: &Experiment, now: &Parameters<f64>) -> Vec<Group> {
    let is_free = |slots: &ParameterRef| {
        let free = experiment.parameters.iter().filter(|p| !p.fixed);
        free.flat_map(|p| &p.slots.slots).any(|slot| slots.slots.contains(slot))
    };
    let find = experiment.scene.model.parameter_finder();
    let mut groups: BTreeMap<String, Vec<FreeParameter>> = BTreeMap::new();
    for name in experiment.scene.model.parameter_names() {
        // Weight is known, and how the solver gives way is no property of bodies.
        if name.starts_with("gravity/") || name.starts_with("contact/") || is_weight(&name) {
            continue;
        }
        let Some(slots) = find(&name).filter(|slots| !is_free(slots)) else { continue };
        let held = now.values[slots.slots[0]];
        let Some(candidate) = candidate(experiment, &name, held) else { continue };
        let part = name.rsplit_once('/').filter(|(_, last)| {
            ["x", "y", "z", "xx", "yy", "zz", "xy", "xz", "yz", "lower", "upper"].contains(last)
        });
        let whole = part.map_or(name.as_str(), |(whole, _)| whole);
        groups.entry(whole.to_string()).or_default().push(candidate);
    }
    let group = |(name, members): (String, Vec<FreeParameter>)| match &members[..] {
        [one] => Group { name: one.name.clone(), members },
        _ => Group { name, members },
    };
    groups.into_iter().map(group).collect()
}

/// Normal equations at a fit in all numbers that are asked for, the free ones first.
struct Scores {
    h: DMatrix<f64>,
    g: DVector<f64>,
    recordings: Vec<(DMatrix<f64>, DVector<f64>)>,
    /// The free ones that are not held by a bound.
    followers: Vec<usize>,
    cost: f64,
    residuals: usize,
    /// J'J of the priors.
    known: DMatrix<f64>,
}

impl Scores {
    fn new(
        extended: &Experiment,
        dataset: &Dataset,
        fit: &Fit,
        horizon: usize,
        threads: usize,
    ) -> Option<Scores> {
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
        let (mut h, mut cost) = (known.clone(), 0.0);
        for (number, (own_h, own_g)) in recordings.iter_mut().enumerate() {
            let weight = weights.get(&number).copied().unwrap_or_default();
            *own_h *= weight;
            *own_g *= weight;
            cost += 0.5 * weight * squares.get(&number).map_or(0.0, |(sum, _)| *sum);
        }
        for (own_h, own_g) in &recordings {
            h += own_h;
            g += own_g;
        }
        for (copy, original) in dataset.originals().into_iter().enumerate() {
            if copy != original {
                let nothing = (DMatrix::zeros(x.len(), x.len()), DVector::zeros(x.len()));
                let (own_h, own_g) = std::mem::replace(&mut recordings[copy], nothing);
                recordings[original].0 += own_h;
                recordings[original].1 += own_g;
            }
        }
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
        Some(Scores { h, g, recordings, followers, cost, residuals, known })
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
    fn test(&self, group: &Group, places: &[usize]) -> Option<ScoreTest> {
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
        let most = self.recordings.iter().map(|(h, _)| tells(h)).fold(0.0, f64::max);
        for (number, (h, g)) in self.recordings.iter().enumerate() {
            let s = self.left(&following, &places, g);
            if tells(h) > UNTOLD * most {
                terms.push((number, s, self.curvature(&following, &places, h)));
            }
        }
        // What a few recordings say that are far from all others is that they are amplified.
        let curved = own_curvature.clone().cholesky()?;
        let shares: Vec<DVector<f64>> = terms.iter().map(|(_, s, _)| in_units(s)).collect();
        let sizes: Vec<f64> = shares.iter().map(|s| s.dot(&curved.solve(s)).sqrt()).collect();
        let weights = capped(&sizes);
        for (((_, s, h), share), weight) in terms.iter_mut().zip(&shares).zip(&weights) {
            let less = 1.0 - weight;
            own_score -= share * less;
            let in_both = DMatrix::from_fn(places.len(), places.len(), |a, b| {
                h[(a, b)] / (units[a] * units[b])
            });
            own_curvature -= told.tr_mul(&in_both) * &told * less;
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
        let mut gains: Vec<(usize, f64)> =
            terms.iter().map(|(number, s, h)| (*number, fall(s, h))).collect();
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
                self.p_value(&own_score, &own_curvature, &terms, known)
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
        terms: &[DVector<f64>],
        known: DMatrix<f64>,
    ) -> f64 {
        let numbers = score.len();
        // Each number takes one, and what is left must say how far they disagree.
        let by_recordings = terms.len() > 2 * numbers + self.followers.len() + 1;
        let (spread, count) = match by_recordings {
            true => {
                let mut sum = known;
                terms.iter().for_each(|s| sum += s * s.transpose());
                (sum, terms.len())
            }
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

/// `Holm79`: of m tests the k-th least p value counts m + 1 - k times, and no less than those before it.
fn adjust(tests: &mut [ScoreTest]) {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    order.sort_by(|&a, &b| tests[a].p_value.total_cmp(&tests[b].p_value));
    let mut least = 0.0_f64;
    for (k, &at) in order.iter().enumerate() {
        least = least.max(((tests.len() - k) as f64 * tests[at].p_value).min(1.0));
        tests[at].adjusted_p_value = least;
    }
}
