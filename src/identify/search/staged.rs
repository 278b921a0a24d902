//! A whole search: stages, starts, and where it stands.

use serde::{Deserialize, Serialize};

use super::adam::{self, AdamStanding};
use super::around::Around;
use super::continuation::{SearchStage, stages, starts};
use super::fingerprint::fingerprint;
use super::lbfgsb::{LbfgsbStanding, lbfgsb};
use super::levenberg_marquardt::{Minimum, Outcome, Standing, Variables, proceed};
use super::window_states::WindowStates;
use super::{Effort, Problem, SearchSpace};
use crate::ad;
use crate::fnv::Fnv;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, Method, WindowLength};
use crate::state::State;

/// An iteration of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The stage it belongs to, from 0.
    pub stage: usize,
    /// The start the search of that stage began from, from 0.
    pub start: usize,
    /// Mean of the squared weighted residuals that count in the stage; nothing if it is not finite.
    pub loss: Option<f64>,
    /// The parameters, fixed ones too.
    pub values: Vec<f64>,
}

/// Where the first stage led from one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartResult {
    /// The parameters at the start.
    pub start: Vec<f64>,
    /// The parameters at the end.
    pub values: Vec<f64>,
    /// The loss there; nothing if it is not finite.
    pub loss: Option<f64>,
    /// The variables there.
    pub(crate) x: Vec<f64>,
}

/// An iteration, for those who watch.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// Its number in the whole search, from 1.
    pub iteration: usize,
    /// The number of its stage, from 0, and how many there are.
    pub stage: (usize, usize),
    /// The number of its start, from 0, and how many there are.
    pub start: (usize, usize),
    /// Mean of the squared weighted residuals that count in the stage.
    pub loss: f64,
    /// The parameters, fixed ones too.
    pub values: &'a [f64],
    checkpoint: &'a dyn Fn() -> Checkpoint,
}

impl Progress<'_> {
    /// All that it takes to go on from here, see [`fit_from`](super::fit_from). Of several processes all have to ask, and the first
    /// one gets it; what the others get is theirs alone.
    pub fn checkpoint(&self) -> Checkpoint {
        (self.checkpoint)()
    }
}

/// Where the search of a stage stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum MethodStanding {
    LevenbergMarquardt(Standing),
    Adam(AdamStanding),
    Lbfgsb(LbfgsbStanding),
}

impl MethodStanding {
    /// Before the first iteration, at `x`.
    fn new(method: Method, x: &[f64]) -> MethodStanding {
        match method {
            Method::LevenbergMarquardt => MethodStanding::LevenbergMarquardt(Standing::new(x)),
            Method::Adam(_) => MethodStanding::Adam(AdamStanding::new(x)),
            Method::Lbfgsb => MethodStanding::Lbfgsb(LbfgsbStanding::new(x)),
        }
    }

    /// With the states of all processes, at the first.
    fn at_first(&self, dataset: &Dataset) -> MethodStanding {
        let mut all = self.clone();
        if let MethodStanding::Adam(AdamStanding { best: Some((.., states)), .. }) = &mut all {
            *states = states.at_first(dataset);
        }
        all
    }
}

/// Where an identification stands between two iterations: all that the rest of it depends on, besides
/// experiment and recordings. Written and read through serde; numbers have to keep their bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    fingerprint: u64,
    stage: usize,
    start: usize,
    standing: MethodStanding,
    windows: WindowStates,
    effort: Effort,
    /// What the recordings told about each variable where the stage began (the diagonal of J'J).
    information: Vec<f64>,
    pub(crate) starts: Vec<StartResult>,
    pub(crate) history: Vec<Iteration>,
    /// Costs with the scene's own parameters and at the start; nothing if not finite.
    pub(crate) cost_of_scene: Option<f64>,
    pub(crate) cost_at_start: Option<f64>,
    around: Option<Around>,
    /// What all the rest hashes to.
    seal: u64,
}

impl Checkpoint {
    /// Whether it is as it was made: no number changed, no list shorter. Lengths and counts of a search depend on
    /// each other in too many ways to be looked through one by one.
    pub fn is_whole(&self) -> bool {
        self.seal == self.hash()
    }

    /// Whether it is of this experiment with these recordings, and [whole](Self::is_whole).
    pub fn is_of(&self, experiment: &Experiment, dataset: &Dataset) -> bool {
        self.is_whole() && self.fingerprint == fingerprint(experiment, dataset)
    }

    fn sealed(self) -> Checkpoint {
        Checkpoint { seal: self.hash(), ..self }
    }

    /// Of everything but the seal. What is printed of a number has all its bits.
    fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.add(format!("{:?}", Checkpoint { seal: 0, ..self.clone() }).as_bytes());
        hash.value()
    }

    /// Iterations so far.
    pub fn iterations(&self) -> usize {
        self.history.len()
    }

    /// Damping of the initial state of each window.
    pub(crate) fn damping(&self) -> &[f64] {
        &self.windows.damping
    }

    /// What was found around its first end; nothing before that.
    pub(crate) fn around(&self) -> Option<&Around> {
        self.around.as_ref()
    }

    /// The same search, going on in its last stage from other variables and initial states; or ending there, as
    /// `outcome` says.
    pub(crate) fn going_on(
        &self,
        method: Method,
        (x, initial): (&[f64], &[State<f64>]),
        around: Around,
        outcome: Option<Outcome>,
    ) -> Checkpoint {
        let standing = match outcome {
            Some(outcome) => MethodStanding::LevenbergMarquardt(Standing::ended(x, outcome)),
            None => MethodStanding::new(method, x),
        };
        let windows = WindowStates { initial: initial.to_vec(), ..self.windows.clone() };
        Checkpoint { standing, windows, around: Some(around), ..self.clone() }.sealed()
    }
}

/// What a search came to.
pub(crate) struct Found {
    pub minimum: Minimum,
    pub stopped: bool,
    pub at: Checkpoint,
}

/// Goes through all stages, from the beginning or from where another search stood.
pub(crate) fn search(
    experiment: &Experiment,
    dataset: &Dataset,
    problem: &mut Problem,
    checkpoint: Option<Checkpoint>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Found, ad::Error> {
    let space = problem.space.clone();
    let scale = space.scale();
    let (lower, upper) = (space.lower(), space.upper());
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let (plan, points) = match experiment.method {
        Method::LevenbergMarquardt => (stages(experiment, dataset), starts(experiment, &space)),
        Method::Adam(_) | Method::Lbfgsb => {
            (vec![SearchStage::whole(experiment)], vec![space.start()])
        }
    };
    let points = if plan.len() > 1 { points } else { points[..1].to_vec() };
    // Short windows see an impact or two, and have derivatives that hold.
    problem.cap_sensitivity = experiment.window == WindowLength::Whole;
    let begun = checkpoint.filter(|checkpoint| checkpoint.is_of(experiment, dataset));
    let mut resumed = begun.is_some();
    let mut at = begun.unwrap_or_else(|| begin(experiment, dataset, problem, &space));
    problem.initial.clone_from(&at.windows.initial);
    problem.set_damping(&at.windows.damping);
    problem.effort = at.effort;
    loop {
        let stage = &plan[at.stage.min(plan.len() - 1)];
        problem.restrict(stage.every, stage.horizon);
        problem.blur(stage.blur);
        problem.hold_initial = stage.hold_initial;
        if std::mem::take(&mut resumed) {
            problem.forget_next_linearisation(standing_point(&at.standing));
        }
        let counted = problem.residual_count().max(1) as f64;
        let mut stopped = false;
        let numbers = ((at.stage, plan.len()), (at.start, points.len()));
        let standing = at.standing.clone();
        let point = points[at.start.min(points.len() - 1)].clone();
        let mut tell = |standing: MethodStanding,
                        x: &[f64],
                        cost: Option<f64>,
                        problem: &Problem| {
            let values = space.told(x);
            let loss = cost.map(|cost| 2.0 * cost / counted);
            let (stage, start) = (at.stage, at.start);
            if matches!(&standing, MethodStanding::LevenbergMarquardt(at) if at.iterations == 1) {
                let finite = |told: f64| if told.is_finite() { told } else { 0.0 };
                at.information = problem.information().into_iter().map(finite).collect();
            }
            at.history.push(Iteration { stage, start, loss, values: values.clone() });
            at.standing = standing;
            let checkpoint = || {
                let windows = problem.window_states().at_first(dataset);
                let standing = at.standing.at_first(dataset);
                let now = Checkpoint { windows, standing, effort: problem.effort, ..at.clone() };
                now.sealed()
            };
            let go_on = watch(Progress {
                iteration: at.history.len(),
                stage: numbers.0,
                start: numbers.1,
                loss: loss.unwrap_or(f64::INFINITY),
                values: &values,
                checkpoint: &checkpoint,
            });
            stopped = !dataset.group().agreed(go_on);
            !stopped
        };
        let minimum = match (standing, experiment.method) {
            (MethodStanding::Adam(standing), Method::Adam(settings)) => {
                let most = experiment.max_iterations;
                let mut tell = |standing: &AdamStanding, cost: f64, problem: &Problem| {
                    let cost = cost.is_finite().then_some(cost);
                    tell(MethodStanding::Adam(standing.clone()), &standing.x, cost, problem)
                };
                adam::adam(problem, standing, variables, settings, most, &mut tell)?
            }
            (MethodStanding::Lbfgsb(standing), Method::Lbfgsb) => {
                let most = experiment.max_iterations;
                let mut tell = |standing: &LbfgsbStanding, problem: &Problem| {
                    let told = MethodStanding::Lbfgsb(standing.clone());
                    tell(told, standing.point(), standing.cost, problem)
                };
                lbfgsb(problem, standing, variables, most, &mut tell)?
            }
            (standing, _) => {
                let standing = match standing {
                    MethodStanding::LevenbergMarquardt(standing) => standing,
                    _ => Standing::new(&point),
                };
                let mut tell = |standing: &Standing, problem: &mut Problem| {
                    let told = MethodStanding::LevenbergMarquardt(standing.clone());
                    tell(told, &standing.x, standing.cost, problem)
                };
                proceed(problem, standing, variables, stage.limits, &mut tell)
            }
        };
        if stopped || at.stage + 1 >= plan.len() {
            if at.stage + 1 < plan.len() {
                problem.restrict(1, usize::MAX);
                problem.blur(usize::MAX);
                problem.hold_initial = false;
            }
            at.windows = problem.window_states();
            (at.effort, at.seal) = (problem.effort, 0);
            return Ok(Found { minimum, stopped, at });
        }
        let mut next = minimum.x.clone();
        // What went to where it leaves no trace, as a restitution near 0 does, would stay there.
        if at.stage + 1 < plan.len() {
            let told = problem.information();
            for (i, (told, before)) in told.iter().zip(&at.information).enumerate() {
                let place = space.free()[i];
                if *told <= LOST * before && !experiment.parameters[place].is_weight() {
                    next[i] = points[at.start][i];
                }
            }
        }
        if at.stage == 0 && points.len() > 1 {
            at.starts.push(StartResult {
                start: space.told(&points[at.start]),
                values: space.told(&minimum.x),
                loss: minimum.cost.is_finite().then_some(2.0 * minimum.cost / counted),
                x: next.clone(),
            });
            at.start += 1;
            if let Some(point) = points.get(at.start) {
                at.standing = MethodStanding::LevenbergMarquardt(Standing::new(point));
                continue;
            }
            at.start = best(&at.starts);
            next.clone_from(&at.starts[at.start].x);
        }
        at.stage += 1;
        at.standing = MethodStanding::LevenbergMarquardt(Standing::new(&next));
    }
}

/// A variable that the recordings tell less about than this share of what they told before has been lost sight
/// of: the next stage takes it from its start. (Weights say little alone, and start from chance.)
const LOST: f64 = 1e-3;

/// The start whose first stage came to the least loss; the first of those that are as good but for this share.
fn best(starts: &[StartResult]) -> usize {
    const AS_GOOD: f64 = 1e-2;
    let loss = |result: &StartResult| result.loss.unwrap_or(f64::INFINITY);
    let least = starts.iter().map(loss).fold(f64::INFINITY, f64::min);
    starts.iter().position(|result| loss(result) <= (1.0 + AS_GOOD) * least).unwrap_or(0)
}

fn standing_point(standing: &MethodStanding) -> Option<&[f64]> {
    match standing {
        MethodStanding::LevenbergMarquardt(standing) if standing.iterations > 0 => {
            Some(&standing.x)
        }
        _ => None,
    }
}

/// Before the first iteration.
fn begin(
    experiment: &Experiment,
    dataset: &Dataset,
    problem: &mut Problem,
    space: &SearchSpace,
) -> Checkpoint {
    let parameters = &experiment.parameters;
    let own: Vec<f64> = parameters.iter().map(|p| p.get(&experiment.scene.parameters)).collect();
    let mut cost = |x: &[f64]| Some(problem.cost(x)).filter(|cost| cost.is_finite());
    let cost_of_scene = cost(&space.variables(&own));
    let cost_at_start = cost(&space.start());
    let standing = MethodStanding::new(experiment.method, &space.start());
    Checkpoint {
        fingerprint: fingerprint(experiment, dataset),
        stage: 0,
        start: 0,
        standing,
        windows: problem.window_states(),
        effort: problem.effort,
        information: Vec::new(),
        starts: Vec::new(),
        history: Vec::new(),
        cost_of_scene,
        cost_at_start,
        around: None,
        seal: 0,
    }
}
