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

use super::absent_terms::{absent_terms, together};
use super::held_numbers::{self, Group, candidate};
use super::scores::{ScoreTest, Scores};
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter};
use crate::identify::search::{Fit, FitStatus};
use crate::identify::statistics::holm;
use crate::model::{Parameters, Scene, SurfaceTerm};

/// First parts of windows have at least so many steps.
const SHORTEST: usize = 8;
/// The part of windows that sensors may be late by.
const LATE: f64 = 0.1;
/// How much further a delay may go than a test proposes.
const FARTHER: f64 = 2.0;
/// What the radius of edges is called.
const RADIUS: &str = "/radius";
/// The first radius of edges that are tried, of the least half extent.
const ROUNDED: f64 = 0.05;
/// Numbers of a scene that are tested at most.
const MOST: usize = 400;
/// Work at most, in that of the search, which counts as so many simulations of all windows at least.
const EFFORT: usize = 2;
const SHORT: usize = 20;

impl ScoreTest {
    /// The experiment with these numbers free, starting at what they are held at, on a scene that has them. `now`: what the
    /// test was made at.
    pub fn freed(&self, experiment: &Experiment, now: &Parameters<f64>) -> Experiment {
        let all = absent_terms(experiment, now);
        let own = all.iter().filter(|term| self.members.contains(&term.name));
        let mut freed = experiment.with_terms(&together(own));
        let change = |sensor: &str| {
            let name = format!("{sensor}/delay");
            let place = self.members.iter().position(|member| *member == name)?;
            Some(FARTHER * (self.proposed[place] - self.held[place]))
        };
        freed.let_delay(change);
        let named = self.members.iter().zip(&self.held);
        let mut found: Vec<FreeParameter> =
            named.filter_map(|(name, &held)| candidate(&freed, name, held)).collect();
        let radii = found.iter_mut().filter(|p| self.absent && p.name.ends_with(RADIUS));
        radii.for_each(|parameter| parameter.start = first_radius(&freed, parameter));
        found.extend(self.companions(&freed));
        freed.parameters.extend(found);
        freed
    }

    /// Whether it is of edges that are sharp in the scene. Where these strike, derivatives at no radius say little of what a few
    /// millimetres do.
    pub(crate) fn is_rounding(&self) -> bool {
        self.absent && self.name.ends_with(RADIUS)
    }

    /// What has no meaning before the others are there, and is free with them: how fast friction at rest is forgotten.
    fn companions(&self, freed: &Experiment) -> Vec<FreeParameter> {
        let pairs = self.members.iter().filter(|_| self.absent);
        let pairs = pairs.filter_map(|member| member.strip_suffix("/mu_static"));
        let speed = |pair: &str| {
            let name = format!("{pair}/{}", SurfaceTerm::StribeckSpeed.name());
            let slot = *freed.parameter(&name)?.slots.first()?;
            candidate(freed, &name, freed.scene.parameters.values[slot])
        };
        pairs.filter_map(speed).collect()
    }
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
    let late = latest(dataset);
    held.let_delay(|_| Some(late));
    let mut extended = held.with_terms(&together(absent.iter()));
    let mut groups = held_numbers::groups(&extended, &extended.scene.parameters);
    if !affordable(count(&groups)) {
        extended = held;
        groups = held_numbers::groups(&extended, &extended.scene.parameters);
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
    let p_values: Vec<f64> = found.iter().map(|test| test.p_value).collect();
    found.iter_mut().zip(holm(&p_values)).for_each(|(test, own)| test.adjusted_p_value = own);
    // Claims by what they gain; what is none by how nearly it is one.
    let order = |test: &ScoreTest| match test.is_significant() {
        true => (0, -test.gain),
        false => (1, test.adjusted_p_value),
    };
    found.sort_by(|a, b| {
        let ((kind, size), (other, more)) = (order(a), order(b));
        kind.cmp(&other).then(size.total_cmp(&more)).then(b.gain.total_cmp(&a.gain))
    });
    found
}

/// Where a search for the radius of edges begins, m.
fn first_radius(experiment: &Experiment, radius: &FreeParameter) -> f64 {
    let Scene { model, parameters, .. } = &experiment.scene;
    let slot = radius.slots.slots.first().copied();
    let own = (0..model.colliders.len()).find(|&k| model.rounding_slot(k) == slot);
    own.map_or(radius.start, |k| {
        ROUNDED * model.colliders[k].shape.thickness(parameters.size(model, k).into())
    })
}

/// How late sensors are looked for, s: that part of every window is not read.
fn latest(dataset: &Dataset) -> f64 {
    let windows = dataset.windows.iter();
    let lengths = windows.map(|w| dataset.time_from(w.trajectory, w.first, w.first + w.steps));
    LATE * lengths.fold(f64::INFINITY, f64::min)
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
