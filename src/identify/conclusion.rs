//! From recordings to a result and what it is worth: the search, the errors, and how the loss depends on each
//! parameter.
//!
//! Profiles are of the function that was made small, so that one may lead to a lower point than was found. Then the
//! search goes on there: the result is the lowest point that is known.
use super::data::Dataset;
use super::experiment::{Experiment, Method};
use super::search::{
    Around, Checkpoint, Effort, Fit, FitStatus, HalvesTest, Outcome, Problem, Progress, ROUGH,
    fit_from,
};
use super::trust::{
    DERIVATIVE, HALVES, HalfSampling, HalvesByTest, LossProfile, Lower, Others, SAME, Walk,
    fitted_halves, halves_by_test, loss_profile, point_cost, reach,
};
use crate::Error;

/// The result of an identification with all that says how far it can be trusted.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// The result; with errors from halves of the recordings where the experiment asks for them, or the test does.
    pub fit: Fit,
    /// Fits to halves of the recordings, where errors are taken from them.
    pub halves: Option<HalfSampling>,
    /// What fits to halves said of errors by linearisation, where the experiment leaves it to a test; nothing of searches by gradients,
    /// of recordings without noise or fewer than four, and of many parameters.
    pub halves_test: Option<HalvesTest>,
    /// How the loss depends on each parameter that is not fixed; none where that would take far longer than the
    /// search.
    pub profiles: Vec<LossProfile>,
    /// Steps simulated for profiles, those of points the search went on from too.
    pub profile_effort: Effort,
    /// Whether all was done; otherwise somebody ended it.
    pub complete: bool,
}

/// What is being done, for those who watch.
#[derive(Clone, Copy)]
pub enum Doing<'a> {
    /// An iteration of the search.
    Search(Progress<'a>),
    /// So many of so many halves of the recordings are fitted, 0 at first; where a test decides, it may end before.
    Halves(usize, usize),
    /// So many of so many parameters have a profile, 0 at first.
    Profiles(usize, usize),
}

/// A share by which a known loss is lower that a result does not get to, and has to be told.
const NOT_LOWEST: f64 = 1e-3;
/// How often the search goes on from a lower point.
const AGAIN: usize = 3;
/// Work on profiles, in that of the search: about as much where there is use for it, and at most so many times.
const MOST: usize = 8;
/// Simulations of all windows that a search takes at least, to measure other work by.
const SHORT: usize = 20;
/// Values of a profile on each side of the result.
const SIDES: std::ops::RangeInclusive<usize> = 3..=10;

/// Identifies the parameters of `experiment` from `dataset`, [`fit_from`] a checkpoint if there is one; takes errors
/// from halves of the recordings if the experiment asks for it, or if it says nothing and these differ by more than the linearisation
/// says; walks along each parameter, and goes on from a lower
/// point. `watch` may end it by returning false. The same bits on any number of `threads`.
///
/// # Errors
/// Those of [`fit_from`].
pub fn conclude(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
    checkpoint: Option<Checkpoint>,
    watch: &mut dyn FnMut(Doing) -> bool,
) -> Result<Conclusion, Error> {
    let search = |checkpoint, watch: &mut dyn FnMut(Doing) -> bool| {
        let mut tell = |progress: Progress| watch(Doing::Search(progress));
        fit_from(experiment, dataset, threads, checkpoint, &mut tell)
    };
    let mut agreed = |doing: Doing| {
        let go_on = watch(doing);
        // The search asks all processes by itself.
        match doing {
            Doing::Search(_) => go_on,
            _ => dataset.group().agreed(go_on),
        }
    };
    let watch: &mut dyn FnMut(Doing) -> bool = &mut agreed;
    let mut fit = search(checkpoint, watch)?;
    let mut profile_effort = Effort::default();
    loop {
        let (around, mut complete) = match fit.end.around() {
            // How far to look is decided once.
            Some(around) if around.asked == experiment.half_samples => (around.clone(), true),
            _ if fit.status == FitStatus::Stopped => (Around::default(), false),
            _ => look_around(experiment, dataset, &mut fit, threads, watch),
        };
        complete &= fit.status != FitStatus::Stopped;
        let mut halves = errors(experiment, &mut fit, &around);
        let halves_test = around.test;
        let (mut profiles, mut lower) = (Vec::new(), None);
        let last = around.times == AGAIN;
        // A search alone that says itself that it is not at its end is left there.
        if complete && (experiment.profiles || fit.status == FitStatus::Converged) {
            lower = known_before(experiment, dataset, &fit, threads);
        }
        if complete && (lower.is_none() || last) {
            let found = walked(experiment, dataset, (&fit, &around), threads, watch);
            let walked_lower = found.lower;
            (profiles, complete) = (found.profiles, found.complete);
            profile_effort = profile_effort.and(found.effort);
            lower = lowest([lower, walked_lower]);
        }
        let lower = lower.filter(|_| complete);
        let Some(lower) = lower else {
            fit.warnings.extend(jumps(&fit, &profiles));
            return Ok(Conclusion { fit, halves, halves_test, profiles, profile_effort, complete });
        };
        let fell = 1.0 - lower.loss / fit.loss;
        let small = fit.is_rough && fell <= ROUGH;
        let outcome = last.then_some(if small { Outcome::Converged } else { Outcome::Stalled });
        let at = (&*lower.x, &*lower.initial);
        let next = Around { times: around.times + 1, ..around.clone() };
        let begin = fit.end.going_on(experiment.method, at, next, outcome);
        if !last {
            let again = search(Some(begin), watch)?;
            if again.loss < fit.loss || again.status == FitStatus::Stopped {
                fit = again;
                continue;
            }
            // Less than this is rounding, and in rough losses one of many minima.
            if !small && fell > NOT_LOWEST {
                fit.is_not_lowest(fell);
            }
            return Ok(Conclusion { fit, halves, halves_test, profiles, profile_effort, complete });
        }
        // What is begun anew from here comes to the same: nobody watches.
        fit = fit_from(experiment, dataset, threads, Some(begin), &mut |_| true)?;
        if !small {
            fit.warnings.push(format!(
                "after the search went on {AGAIN} times from a lower point, another was met, lower by {:.1} %, \
                 which is the result: minima lie close together here, so take errors from halves of the \
                 recordings (half_samples), or try other starts (starts, seed) and shorter windows",
                100.0 * fell
            ));
        }
        profiles.iter_mut().for_each(|profile| profile.insert(&fit));
        fit.warnings.extend(jumps(&fit, &profiles));
        halves = errors(experiment, &mut fit, &around).or(halves);
        return Ok(Conclusion { fit, halves, halves_test, profiles, profile_effort, complete });
    }
}

/// What to know of profiles that jump beside the result, in a sentence.
fn jumps(fit: &Fit, profiles: &[LossProfile]) -> Option<String> {
    // Of rounding nothing is said.
    if fit.is_exact() {
        return None;
    }
    let jump = |profile: &LossProfile| {
        let fitted = &fit.parameters[profile.parameter];
        Some((fitted.name.as_str(), profile.jump(fitted.value)?))
    };
    let (names, jumps): (Vec<&str>, Vec<f64>) = profiles.iter().filter_map(jump).unzip();
    let least = jumps.into_iter().reduce(f64::min)?;
    Some(format!(
        "the loss jumps by {:.1} % or more beside the values of {} and hardly rises from there: minima lie close \
         together, of which the search found a deep one; errors are of that one alone, so try other starts (starts, \
         seed) or fewer frames (window), and take the spread of the results for how well these are known",
        100.0 * least,
        names.join(", ")
    ))
}

/// The lowest of some points.
fn lowest(points: [Option<Lower>; 2]) -> Option<Lower> {
    points.into_iter().flatten().min_by(|a, b| a.loss.total_cmp(&b.loss))
}

/// The scene's own parameters, or the start, if the loss there is lower than what was found.
fn known_before(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Option<Lower> {
    let parameters = &experiment.parameters;
    let own: Vec<f64> = parameters.iter().map(|p| p.get(&experiment.scene.parameters)).collect();
    let within =
        own.iter().zip(parameters).all(|(x, p)| p.fixed || (p.lower..=p.upper).contains(x));
    let least = (1.0 - SAME) * fit.loss;
    let scene_is_lower = within && fit.loss_of_scene < least;
    if fit.is_exact() || !(scene_is_lower || fit.loss_at_start < least) {
        return None;
    }
    let problem = Problem::new(experiment, dataset, threads);
    let point = |loss: f64, x: Vec<f64>| Lower { loss, x, initial: problem.initial.clone() };
    let scene = scene_is_lower.then(|| point(fit.loss_of_scene, problem.space.variables(&own)));
    let start =
        (fit.loss_at_start < least).then(|| point(fit.loss_at_start, problem.space.start()));
    lowest([scene, start])
}

/// What walks along the parameters came to.
struct Walked {
    profiles: Vec<LossProfile>,
    lower: Option<Lower>,
    effort: Effort,
    complete: bool,
}

/// Walks along all parameters that are not fixed, to the first lower point, or the lowest of all.
fn walked(
    experiment: &Experiment,
    dataset: &Dataset,
    (fit, around): (&Fit, &Around),
    threads: usize,
    watch: &mut dyn FnMut(Doing) -> bool,
) -> Walked {
    let plan = match experiment.profiles {
        true => walks(experiment, dataset, fit, &around.reach),
        false => Vec::new(),
    };
    let last = around.times == AGAIN;
    // Where the loss is rough, the first lower point is one of many.
    let until_lower = !last && !fit.is_rough;
    let own = plan.first().map(|walk| walk.others);
    // There, sections find lower points that whole profiles would take longer to find.
    let sections = (fit.is_rough && !last && own == Some(Others::Fitted)).then_some(Others::Held);
    let mut found =
        Walked { profiles: Vec::new(), lower: None, effort: Effort::default(), complete: true };
    for others in sections.into_iter().chain(own) {
        found.profiles.clear();
        found.complete = plan.is_empty() || watch(Doing::Profiles(0, plan.len()));
        if !found.complete {
            return found;
        }
        for (number, walk) in plan.iter().enumerate() {
            let walk = Walk { others, until_lower, ..*walk };
            if let Some(mut profile) = loss_profile(experiment, dataset, fit, walk, threads) {
                found.lower = lowest([found.lower.take(), profile.lower.take()]);
                found.effort = found.effort.and(profile.effort);
                found.profiles.push(profile);
            }
            found.complete = watch(Doing::Profiles(number + 1, plan.len()));
            if !found.complete {
                return found;
            }
            if until_lower && found.lower.is_some() {
                break;
            }
        }
        if !last && found.lower.is_some() {
            break;
        }
    }
    found
}

/// Gives a result its errors: those of halves of the recordings, if there are any, about itself. Residuals that are
/// rounding say nothing of errors, but what priors say holds all the same.
fn errors(experiment: &Experiment, fit: &mut Fit, around: &Around) -> Option<HalfSampling> {
    if fit.is_exact() && experiment.parameters.iter().all(|p| p.prior.is_none()) {
        fit.forget_errors();
        return None;
    }
    let whole: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    let made = around.halves.as_ref().map(|halves| halves.values.len());
    let warning = around.test.and_then(|test| test.warning(made.unwrap_or(2 * test.splits)));
    // The same fit may be looked at again.
    let warning = warning.filter(|warning| !fit.warnings.contains(warning));
    fit.warnings.extend(warning);
    let halves = HalfSampling::about(&whole, around.halves.clone()?);
    fit.take_errors(&halves);
    Some(halves)
}

/// Errors from halves of the recordings, if they are asked for, and how far to walk along each parameter; and
/// whether nobody ended it.
fn look_around(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &mut Fit,
    threads: usize,
    watch: &mut dyn FnMut(Doing) -> bool,
) -> (Around, bool) {
    let asked = experiment.half_samples;
    let count = asked.unwrap_or(HALVES);
    let mut complete = true;
    let mut tell = |number: usize| {
        complete = watch(Doing::Halves(number, count));
        complete
    };
    let mut found = HalvesByTest::default();
    match asked {
        None => found = halves_by_test(experiment, dataset, fit, threads, &mut tell),
        Some(count) if count > 0 && !fit.is_exact() && tell(0) => {
            found.halves = fitted_halves(experiment, dataset, fit, count, threads, &mut tell);
        }
        Some(_) => {}
    }
    let HalvesByTest { halves, test } = found;
    let mut around = Around { asked, halves, test, ..Around::default() };
    errors(experiment, fit, &around);
    let each = experiment.parameters.iter().zip(&fit.parameters);
    around.reach = each.map(|(free, fitted)| reach(free, fitted)).collect();
    (around, complete)
}

/// Walks along all parameters that are not fixed; none if they would take far longer than is worth it.
fn walks(experiment: &Experiment, dataset: &Dataset, fit: &Fit, reach: &[[f64; 2]]) -> Vec<Walk> {
    let problem = Problem::starting_from(experiment, dataset, fit.initial_states.clone(), 1);
    // Weights have no meaning one by one.
    let free: Vec<usize> = problem
        .space
        .free()
        .iter()
        .copied()
        .filter(|&k| !experiment.parameters[k].is_weight())
        .collect();
    let Effort { steps, derivative_steps } = fit.effort;
    let work = (steps + DERIVATIVE * derivative_steps) / dataset.simulated().max(1);
    let work = work.max(SHORT);
    // A search that avoids the derivatives by each parameter has too many of them for fits along each.
    let fitted = (experiment.method == Method::LevenbergMarquardt)
        .then(|| (Others::Fitted, point_cost(&problem, fit.is_rough)));
    let affordable = |(others, cost): (Others, usize)| {
        let both_sides = 2 * free.len().max(1) * cost;
        let side = (work / both_sides).clamp(*SIDES.start(), *SIDES.end());
        (side * both_sides <= MOST * work).then_some((others, side))
    };
    let Some((others, side)) = fitted.into_iter().chain([(Others::Held, 1)]).find_map(affordable)
    else {
        return Vec::new();
    };
    let walk = |&parameter: &usize| Walk {
        parameter,
        others,
        side,
        reach: reach[parameter],
        until_lower: false,
    };
    free.iter().map(walk).collect()
}
