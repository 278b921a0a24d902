//! How the loss depends on each parameter around the result of a fit.
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::search::{Fit, Limits, Problem, Standing, Variables, proceed};

/// What the other parameters do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They stay at the result: a section, which shows kinks and further minima.
    #[default]
    Held,
    /// They, and fitted initial states, are fitted anew at each value, from where they were at the one before.
    Fitted,
}

/// The loss along one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct LossProfile {
    /// Which, by its place among all.
    pub parameter: usize,
    /// Its values, increasing; the result is among them.
    pub values: Vec<f64>,
    /// Mean of the squared residuals at each: 1 is noise alone.
    pub loss: Vec<f64>,
    /// What the others did.
    pub others: Others,
}

/// Values on each side of the result.
const SIDE: usize = 10;
/// How far a profile goes: in standard errors, and in typical changes where there is none.
const ERRORS: f64 = 4.0;
const CHANGES: f64 = 2.0;
/// Trajectories that are enough for a profile.
const ENOUGH: usize = 100;
/// Most iterations of a fit of the others.
const ITERATIONS: usize = 8;

/// The loss of at most about a hundred of the trajectories along `parameter` (by its place), within its bounds.
/// Values at which no body can be are left out. Nothing for a fixed parameter.
pub fn loss_profile(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    (parameter, others): (usize, Others),
    threads: usize,
) -> Option<LossProfile> {
    let free = experiment.parameters.get(parameter).filter(|p| !p.fixed)?;
    let fitted = fit.parameters.get(parameter)?;
    let reach = fitted.standard_error.map_or(CHANGES * free.scale, |error| ERRORS * error);
    let lowest = (fitted.value - reach).max(free.lower);
    let highest = (fitted.value + reach).min(free.upper);
    let part = |end: f64, k: usize| fitted.value + (end - fitted.value) * k as f64 / SIDE as f64;
    let walk = |end: f64| (1..=SIDE).map(move |k| part(end, k)).filter(|x| *x != fitted.value);
    let mut along = Along::new(experiment, dataset, fit, (parameter, others), threads);
    let mut points = along.losses(std::iter::once(fitted.value));
    points.extend(along.losses(walk(highest)));
    points.splice(0..0, along.losses(walk(lowest)).into_iter().rev());
    points.retain(|(_, loss)| loss.is_finite());
    let (values, loss) = points.into_iter().unzip();
    Some(LossProfile { parameter, values, loss, others })
}

/// A walk along one parameter from the result.
struct Along<'a> {
    experiment: Experiment,
    dataset: &'a Dataset,
    fit: &'a Fit,
    parameter: usize,
    others: Others,
    threads: usize,
}

impl<'a> Along<'a> {
    fn new(
        experiment: &Experiment,
        dataset: &'a Dataset,
        fit: &'a Fit,
        (parameter, others): (usize, Others),
        threads: usize,
    ) -> Self {
        let mut experiment = experiment.clone();
        for (free, fitted) in experiment.parameters.iter_mut().zip(&fit.parameters) {
            free.start = fitted.value;
        }
        experiment.parameters[parameter].fixed = true;
        Along { experiment, dataset, fit, parameter, others, threads }
    }

    /// Values with their losses, one after the other from the result on.
    fn losses(&mut self, values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
        let mut x: Option<Vec<f64>> = None;
        let mut initial = self.fit.initial_states.clone();
        let losses = values.map(|value| {
            self.experiment.parameters[self.parameter].start = value;
            let Along { experiment, dataset, threads, .. } = &*self;
            let mut problem =
                Problem::starting_from(experiment, dataset, initial.clone(), *threads);
            problem.restrict(self.dataset.trajectories.len().div_ceil(ENOUGH), usize::MAX);
            let space = problem.space.clone();
            let start = x.take().unwrap_or_else(|| space.start());
            let cost = match self.others {
                Others::Fitted if !space.is_empty() || problem.initial_unknowns() > 0 => {
                    let (lower, upper, scale) = (space.lower(), space.upper(), space.scale());
                    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
                    let limits = Limits { iterations: ITERATIONS, coarse: true };
                    let begin = Standing::new(&start);
                    let found = proceed(&mut problem, begin, variables, limits, &mut |_, _| true);
                    initial.clone_from(&problem.initial);
                    x = Some(found.x);
                    found.cost
                }
                _ => {
                    x = Some(start.clone());
                    problem.cost(&start)
                }
            };
            (value, 2.0 * cost / problem.residual_count().max(1) as f64)
        });
        losses.collect()
    }
}
