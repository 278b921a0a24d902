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

use super::absent_terms::{absent_terms, together};
use super::scores::Scores;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter, Transform, is_weight};
use crate::identify::search::{Fit, FitStatus};
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
pub(super) struct Group {
    pub name: String,
    pub members: Vec<FreeParameter>,
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
pub(super) fn held(candidate: &FreeParameter) -> f64 {
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
