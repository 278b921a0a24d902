//! Control-limited iLQR and DDP on the manifold of states (`Tassa14`), with the regularisation schedule of
//! `Tassa12`.

use nalgebra::{DMatrix, DVector};
use stiction::Error;

use super::box_qp;
use super::cost::{Cost, Expansion};
use super::dynamics::Dynamics;

/// Shares of the step that the line search tries are these powers of one half.
const HALVINGS: i32 = 12;
/// Least decrease of the cost as a share of what the quadratic model expects.
const LEAST_DECREASE: f64 = 1e-4;

/// What is to be minimised over.
pub struct Problem<'a> {
    /// The first state.
    pub start: Vec<f64>,
    pub cost: &'a Cost,
    /// Of each input.
    pub limits: Vec<[f64; 2]>,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub iterations: usize,
    /// Converged if an iteration can be expected to decrease the cost by less than this share of it; little gained if
    /// it did not decrease it by more...
    pub cost_tolerance: f64,
    /// ...and converged if no component of the projected gradient is larger.
    pub gradient_tolerance: f64,
    /// Whether the second derivatives of the step count: DDP instead of iLQR.
    pub second_order: bool,
    /// Least and most regularisation, added to the curvature in u.
    pub regularisation: [f64; 2],
}

impl Default for Options {
    fn default() -> Self {
        Options {
            iterations: 60,
            cost_tolerance: 1e-7,
            gradient_tolerance: 1e-8,
            second_order: false,
            regularisation: [1e-6, 1e10],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The expected decrease of the cost or its gradient met its tolerance.
    Converged,
    /// The last step was promised more, but gained less than the tolerance of the cost: slow progress, or a kink.
    LittleGained,
    /// No step lowers the cost, however short and however regularised: at a kink.
    Stalled,
    IterationLimit,
    /// Whoever watches said so.
    Stopped,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::LittleGained => "little gained",
            Status::Stalled => "stalled",
            Status::IterationLimit => "iteration limit",
            Status::Stopped => "stopped",
        }
    }
}

/// A motion and how the search for it went.
#[derive(Clone, Debug)]
pub struct Solution {
    pub states: Vec<Vec<f64>>,
    pub inputs: Vec<DVector<f64>>,
    pub cost: f64,
    /// Largest component of the derivative of the cost by the inputs that their limits let go down, where the last
    /// backward pass was: at this motion if converged or stalled, otherwise at the one before the last step.
    pub gradient: f64,
    /// Accepted steps.
    pub iterations: usize,
    pub status: Status,
    /// The cost at the start and after each iteration.
    pub history: Vec<f64>,
}

/// Feedforward and feedback of a backward pass, and what they promise.
struct Policy {
    k: Vec<DVector<f64>>,
    /// K of u = u_k + K (x (-) x_k), zero for an input at its limit.
    gains: Vec<DMatrix<f64>>,
    /// Change of the cost by a share a of the step: a slope + a^2 curvature.
    slope: f64,
    curvature: f64,
    gradient: f64,
}

/// A motion's derivatives.
struct Model {
    a: Vec<DMatrix<f64>>,
    b: Vec<DMatrix<f64>>,
    costs: Vec<Expansion>,
}

/// Levenberg's schedule: grows and shrinks at a growing rate.
struct Regularisation {
    value: f64,
    rate: f64,
    range: [f64; 2],
}

impl Regularisation {
    const RATE: f64 = 1.6;

    /// False if it is as large as it may be.
    fn increase(&mut self) -> bool {
        self.rate = (self.rate * Self::RATE).max(Self::RATE);
        self.value = (self.value * self.rate).max(self.range[0]);
        self.value <= self.range[1]
    }

    fn decrease(&mut self) {
        self.rate = (self.rate / Self::RATE).min(1.0 / Self::RATE);
        let value = self.value * self.rate;
        self.value = if value >= self.range[0] { value } else { 0.0 };
    }
}

/// Minimises the cost from `inputs` on. `watch` sees each accepted motion, the first one too, and returns whether
/// to go on.
///
/// # Errors
/// If the first motion or its derivatives cannot be computed.
pub fn optimise(
    dynamics: &mut Dynamics,
    problem: &Problem,
    inputs: Vec<DVector<f64>>,
    options: &Options,
    watch: &mut dyn FnMut(&Solution) -> bool,
) -> Result<Solution, Error> {
    let inputs: Vec<DVector<f64>> =
        inputs.into_iter().map(|u| clamped(u, &problem.limits)).collect();
    let states = roll_out(dynamics, problem, &inputs)?;
    let cost = problem.cost.total(dynamics, &states, &inputs)?;
    let mut best = Solution {
        states,
        inputs,
        cost,
        gradient: f64::INFINITY,
        iterations: 0,
        status: Status::IterationLimit,
        history: vec![cost],
    };
    let mut regularisation =
        Regularisation { value: 0.0, rate: 1.0, range: options.regularisation };
    if !watch(&best) {
        best.status = Status::Stopped;
        return Ok(best);
    }
    while best.iterations < options.iterations {
        let model = expand(dynamics, problem, &best)?;
        loop {
            let policy = backward(dynamics, problem, &best, &model, regularisation.value, options)?;
            if let Some(policy) = policy {
                best.gradient = policy.gradient;
                let promised = -(policy.slope + policy.curvature);
                let little = promised <= options.cost_tolerance * best.cost.abs()
                    && regularisation.value <= options.regularisation[0];
                if policy.gradient <= options.gradient_tolerance || little {
                    best.status = Status::Converged;
                    return Ok(best);
                }
                if let Some((states, inputs, cost)) = search(dynamics, problem, &best, &policy) {
                    regularisation.decrease();
                    let decrease = best.cost - cost;
                    (best.states, best.inputs, best.cost) = (states, inputs, cost);
                    best.iterations += 1;
                    best.history.push(cost);
                    if !watch(&best) {
                        best.status = Status::Stopped;
                        return Ok(best);
                    }
                    if decrease <= options.cost_tolerance * cost.abs() {
                        best.status = Status::LittleGained;
                        return Ok(best);
                    }
                    break;
                }
            }
            if !regularisation.increase() {
                best.status = Status::Stalled;
                return Ok(best);
            }
        }
    }
    Ok(best)
}

fn clamped(mut u: DVector<f64>, limits: &[[f64; 2]]) -> DVector<f64> {
    u.iter_mut().zip(limits).for_each(|(u, [lower, upper])| *u = u.clamp(*lower, *upper));
    u
}

fn roll_out(
    dynamics: &mut Dynamics,
    problem: &Problem,
    inputs: &[DVector<f64>],
) -> Result<Vec<Vec<f64>>, Error> {
    let mut states = vec![problem.start.clone()];
    for (k, u) in inputs.iter().enumerate() {
        let next = dynamics.step(&states[k], u)?;
        states.push(next);
    }
    Ok(states)
}

fn expand(dynamics: &mut Dynamics, problem: &Problem, at: &Solution) -> Result<Model, Error> {
    let steps = at.inputs.len();
    let (mut a, mut b, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for (k, x) in at.states.iter().enumerate() {
        costs.push(problem.cost.expand(dynamics, x, k == steps)?);
        if k < steps {
            let (a_k, b_k) = dynamics.linearize(x, &at.inputs[k])?;
            a.push(a_k);
            b.push(b_k);
        }
    }
    Ok(Model { a, b, costs })
}

/// The backward pass; nothing if the regularised curvature in u is not positive definite.
fn backward(
    dynamics: &mut Dynamics,
    problem: &Problem,
    at: &Solution,
    model: &Model,
    regularisation: f64,
    options: &Options,
) -> Result<Option<Policy>, Error> {
    let Problem { cost, limits, .. } = problem;
    let (steps, nx, nu) = (at.inputs.len(), dynamics.nx(), dynamics.nu());
    let Expansion { x, xx } = &model.costs[steps];
    let (mut v_x, mut v_xx, mut costate) = (x.clone(), xx.clone(), x.clone());
    let mut policy = Policy {
        k: vec![DVector::zeros(nu); steps],
        gains: vec![DMatrix::zeros(nu, nx); steps],
        slope: 0.0,
        curvature: 0.0,
        gradient: 0.0,
    };
    for k in (0..steps).rev() {
        let (a, b, u) = (&model.a[k], &model.b[k], &at.inputs[k]);
        let l_u = (u - &cost.rest).component_mul(&cost.effort);
        let bounds: Vec<[f64; 2]> =
            u.iter().zip(limits).map(|(u, [lower, upper])| [lower - u, upper - u]).collect();
        let gradient = &l_u + b.tr_mul(&costate);
        for (slope, [lower, upper]) in gradient.iter().zip(&bounds) {
            let held = *lower >= 0.0 && *slope > 0.0 || *upper <= 0.0 && *slope < 0.0;
            policy.gradient = policy.gradient.max(if held { 0.0 } else { slope.abs() });
        }
        let (v_xx_a, v_xx_b) = (&v_xx * a, &v_xx * b);
        let q_x = &model.costs[k].x + a.tr_mul(&v_x);
        let q_u = l_u + b.tr_mul(&v_x);
        let mut q_xx = &model.costs[k].xx + a.tr_mul(&v_xx_a);
        let mut q_ux = b.tr_mul(&v_xx_a);
        let mut q_uu = DMatrix::from_diagonal(&cost.effort) + b.tr_mul(&v_xx_b);
        if options.second_order {
            let second = dynamics.curvature(&at.states[k], u, &v_x)?;
            q_xx += second.view((0, 0), (nx, nx));
            q_ux += second.view((nx, 0), (nu, nx));
            q_uu += second.view((nx, nx), (nu, nu));
        }
        let regularised = &q_uu + DMatrix::identity(nu, nu) * regularisation;
        let start = policy.k.get(k + 1).cloned().unwrap_or_else(|| DVector::zeros(nu));
        let Some(solved) = box_qp::solve(&regularised, &q_u, &bounds, &start) else {
            return Ok(None);
        };
        let (step, gain) = (solved.x, &mut policy.gains[k]);
        let rows = -solved.factor.solve(&q_ux.select_rows(&solved.free));
        solved.free.iter().enumerate().for_each(|(row, &k)| gain.set_row(k, &rows.row(row)));
        policy.slope += step.dot(&q_u);
        policy.curvature += 0.5 * step.dot(&(&q_uu * &step));
        v_x = q_x + gain.tr_mul(&(&q_uu * &step + q_u)) + q_ux.tr_mul(&step);
        let mixed = gain.tr_mul(&q_ux);
        let full = q_xx + gain.tr_mul(&(&q_uu * &*gain)) + &mixed + mixed.transpose();
        v_xx = (&full + full.transpose()) * 0.5;
        costate = &model.costs[k].x + a.tr_mul(&costate);
        policy.k[k] = step;
    }
    Ok(Some(policy))
}

type Motion = (Vec<Vec<f64>>, Vec<DVector<f64>>, f64);

/// The forward pass: the longest step that decreases the cost as it should.
fn search(
    dynamics: &mut Dynamics,
    problem: &Problem,
    at: &Solution,
    policy: &Policy,
) -> Option<Motion> {
    (0..HALVINGS).find_map(|halvings| {
        let share = 0.5_f64.powi(halvings);
        let expected = -share * (policy.slope + share * policy.curvature);
        // A motion that the simulation cannot go on with is no candidate.
        let motion = follow(dynamics, problem, at, policy, share).ok()?;
        let decrease = at.cost - motion.2;
        (decrease > 0.0 && decrease >= LEAST_DECREASE * expected).then_some(motion)
    })
}

fn follow(
    dynamics: &mut Dynamics,
    problem: &Problem,
    at: &Solution,
    policy: &Policy,
    share: f64,
) -> Result<Motion, Error> {
    let (mut states, mut inputs) = (vec![problem.start.clone()], Vec::new());
    for (k, u) in at.inputs.iter().enumerate() {
        let away = dynamics.difference(&at.states[k], &states[k])?;
        let u = clamped(u + &policy.k[k] * share + &policy.gains[k] * away, &problem.limits);
        states.push(dynamics.step(&states[k], &u)?);
        inputs.push(u);
    }
    let cost = problem.cost.total(dynamics, &states, &inputs)?;
    Ok((states, inputs, cost))
}
