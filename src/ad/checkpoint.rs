//! Gradients of long computations in steps, in little memory: states are kept at some steps only, and
//! what lies between is computed again when the adjoint sweep gets there.

use super::binomial::advance;
use super::{Dual, Error, LANES, Real, Recording, Var};

/// A computation in steps: x0 = start(p), x(k+1) = step(k, p, x(k)), and the sum of all
/// loss(k, p, x(k)).
///
/// ```
/// use stiction::ad::{Checkpointing, Real, Steps};
///
/// /// How far a damped swing is from rest, summed over all steps; in stiffness and damping.
/// struct Swing;
/// impl Steps for Swing {
///     type Memory = ();
///     type Workspace<T: Real> = ();
///     fn start<T: Real>(&self, _: &[T], state: &mut Vec<T>) {
///         state.extend([T::constant(1.0), T::zero()]);
///     }
///     fn step<T: Real>(&self, _: usize, p: &[T], x: &mut [T], (): &mut (), (): &mut ()) {
///         x[1] -= (p[0] * x[0].sin() + p[1] * x[1]) * 0.01;
///         x[0] += x[1] * 0.01;
///     }
///     fn loss<T: Real>(&self, _: usize, _: &[T], x: &[T], (): &mut ()) -> T {
///         x[0] * x[0]
///     }
/// }
///
/// let p = [2.0, 0.1];
/// let all = Checkpointing::default().gradient(&Swing, 10_000, &p)?;
/// let few = Checkpointing { budget: Some(4096), ..Default::default() }.gradient(&Swing, 10_000, &p)?;
/// assert_eq!(few.gradient, all.gradient); // to the bit
/// assert!(few.report.bytes <= 4096 && all.report.bytes > 100_000);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub trait Steps {
    /// What a step remembers for the next one beside the state, as far as it carries no derivative:
    /// first guesses, modes. Part of each checkpoint, so that a step computed again is the same.
    type Memory: Clone + Default;
    /// Scratch memory; results must not depend on what it holds.
    type Workspace<T: Real>: Default;

    /// Appends the first state to `state`, which is empty.
    fn start<T: Real>(&self, parameters: &[T], state: &mut Vec<T>);

    /// Replaces the state x(k) by x(k+1).
    fn step<T: Real>(
        &self,
        k: usize,
        parameters: &[T],
        state: &mut [T],
        memory: &mut Self::Memory,
        workspace: &mut Self::Workspace<T>,
    );

    /// What x(k) adds to the loss.
    fn loss<T: Real>(
        &self,
        k: usize,
        parameters: &[T],
        state: &[T],
        workspace: &mut Self::Workspace<T>,
    ) -> T;

    /// The size of a memory in bytes, what it owns on the heap included. Asked after the first step,
    /// with what that remembers; it should not grow from there on.
    fn memory_bytes(&self, _: &Self::Memory) -> usize {
        size_of::<Self::Memory>()
    }
}

/// How a step is differentiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accumulation {
    /// The cheaper of the two, judged by the number of inputs of a step: state and parameters.
    #[default]
    Auto,
    /// Each step is recorded on the tape and swept.
    Tape,
    /// The Jacobian of each step is accumulated by lanes of duals: a step becomes one dense block.
    Lanes,
}

/// How the gradient of a computation in [`Steps`] is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpointing {
    /// Memory for checkpoints and the tape of a step, in bytes; without one, every state is kept.
    ///
    /// The tape counts as long as that of the first step is; where a later step records more, it
    /// comes on top, and so does what nodes keep for themselves. One step more is taken to find out.
    pub budget: Option<usize>,
    /// How a step is differentiated.
    pub accumulation: Accumulation,
}

/// Value and gradient of a computation in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsGradient {
    /// The sum of the losses.
    pub value: f64,
    /// Its derivatives in the parameters.
    pub gradient: Vec<f64>,
    /// What it took.
    pub report: CheckpointReport,
}

/// What a gradient in steps took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointReport {
    /// The steps of the computation; each was differentiated once.
    pub steps: usize,
    /// The steps taken without differentiating them, repetitions included:
    /// [`least_advances`](super::least_advances) of `steps` and `checkpoints`.
    pub advances: usize,
    /// How many states could be kept at once.
    pub checkpoints: usize,
    /// The memory for all that, in bytes.
    pub bytes: usize,
    /// How steps were differentiated: not `Auto`.
    pub accumulation: Accumulation,
}

/// Inputs of a step (state and parameters) up to which lanes are cheaper than the tape: each group of
/// eight costs two to four evaluations of the step, the tape about nine.
const MOST_LANES: usize = 16;

impl Checkpointing {
    /// The gradient in `parameters` after `count` steps.
    ///
    /// It has the same bits whatever the budget.
    ///
    /// # Errors
    /// [`Error::Budget`] if not even one state fits; those of [`gradient`](super::gradient()).
    pub fn gradient<S: Steps>(
        &self,
        steps: &S,
        count: usize,
        parameters: &[f64],
    ) -> Result<StepsGradient, Error> {
        let mut run = Run::start(steps, parameters);
        let lanes = match self.accumulation {
            Accumulation::Auto => run.state.len() + parameters.len() <= MOST_LANES,
            Accumulation::Tape => false,
            Accumulation::Lanes => true,
        };
        if lanes {
            self.reverse(&mut run, &mut ByLanes::<S>::default(), count)
        } else {
            self.reverse(&mut run, &mut ByTape::<S>::default(), count)
        }
    }

    fn reverse<S: Steps>(
        &self,
        run: &mut Run<S>,
        backward: &mut impl Backward<S>,
        count: usize,
    ) -> Result<StepsGradient, Error> {
        let (overhead, each) = match self.budget {
            Some(_) if count > 0 => {
                let overhead = backward.bytes(run, count)?;
                (overhead + 16 * (run.state.len() + run.parameters.len()), run.bytes_after_a_step())
            }
            _ => (0, run.bytes()),
        };
        let wanted = count.max(1);
        let checkpoints = match self.budget {
            Some(budget) => (budget.saturating_sub(overhead) / each).min(wanted),
            None => wanted,
        };
        if checkpoints == 0 {
            return Err(Error::Budget { needed: overhead + each });
        }
        let mut report = CheckpointReport {
            steps: count,
            advances: 0,
            checkpoints,
            bytes: overhead + checkpoints * each,
            accumulation: backward.accumulation(),
        };
        let mut kept = Checkpoints::with_capacity(checkpoints, run.state.len());
        let mut adjoint = vec![0.0; run.state.len()];
        let mut gradient = vec![0.0; run.parameters.len()];
        // What is left to reverse are the steps before `end`. Losses are summed on the first way
        // through, in their order; `summed` of them are.
        let (mut value, mut summed, mut end) = (0.0, 0, count);
        kept.push(0, run);
        while end > 0 {
            let from = kept.restore(run);
            let (rest, free) = (end - from, checkpoints - kept.len());
            let to = match free {
                _ if rest == 1 => from,
                0 => end - 1,
                _ => from + advance(rest, free + 1),
            };
            for k in from..to {
                if k == summed {
                    value += run.loss(k);
                    summed += 1;
                }
                run.step(k);
            }
            report.advances += to - from;
            if rest > 1 && free > 0 {
                kept.push(to, run);
                continue;
            }
            let losses = backward.step(run, to, to + 1 == count, &mut adjoint, &mut gradient)?;
            if end == count {
                value += losses;
            }
            end = to;
            if to == from {
                kept.pop();
            }
        }
        if count == 0 {
            value = run.loss(0);
        }
        // The first state may be recorded in the memory of the checkpoints.
        drop(kept);
        run.start_adjoint(count == 0, &adjoint, &mut gradient)?;
        Ok(StepsGradient { value, gradient, report })
    }
}

/// The computation on plain numbers, at one of its steps.
struct Run<'a, S: Steps> {
    steps: &'a S,
    parameters: &'a [f64],
    state: Vec<f64>,
    memory: S::Memory,
    workspace: S::Workspace<f64>,
}

impl<'a, S: Steps> Run<'a, S> {
    fn start(steps: &'a S, parameters: &'a [f64]) -> Self {
        let mut state = Vec::new();
        steps.start(parameters, &mut state);
        Run {
            steps,
            parameters,
            state,
            memory: S::Memory::default(),
            workspace: S::Workspace::default(),
        }
    }

    fn step(&mut self, k: usize) {
        let Run { steps, parameters, state, memory, workspace } = self;
        steps.step(k, parameters, state, memory, workspace);
    }

    fn loss(&mut self, k: usize) -> f64 {
        self.steps.loss(k, self.parameters, &self.state, &mut self.workspace)
    }

    /// The size of a checkpoint.
    fn bytes(&self) -> usize {
        size_of::<usize>() + size_of_val(&*self.state) + self.steps.memory_bytes(&self.memory)
    }

    /// The size of one after the first step, which may remember more than there is at the start.
    fn bytes_after_a_step(&self) -> usize {
        let mut ahead = Run::start(self.steps, self.parameters);
        ahead.step(0);
        ahead.bytes().max(self.bytes())
    }

    /// Adds to `gradient` what reaches the parameters through the first state.
    fn start_adjoint(
        &self,
        no_step: bool,
        adjoint: &[f64],
        gradient: &mut [f64],
    ) -> Result<(), Error> {
        let mut recording = Recording::start();
        let parameters = recording.variables(self.parameters);
        let mut state = Vec::new();
        self.steps.start(&parameters, &mut state);
        let loss = if no_step {
            self.steps.loss(0, &parameters, &state, &mut Default::default())
        } else {
            Var::constant(0.0)
        };
        let seeds: Vec<(Var, f64)> = (state.into_iter().zip(adjoint.iter().copied()))
            .chain(parameters.iter().copied().zip(gradient.iter().copied()))
            .chain([(loss, 1.0)])
            .collect();
        recording.adjoints(&seeds, &parameters, gradient)
    }
}

/// A stack of states with what a step remembers.
struct Checkpoints<M> {
    size: usize,
    numbers: Vec<f64>,
    places: Vec<(usize, M)>,
}

impl<M: Clone> Checkpoints<M> {
    fn with_capacity(checkpoints: usize, size: usize) -> Self {
        Checkpoints {
            size,
            numbers: Vec::with_capacity(checkpoints * size),
            places: Vec::with_capacity(checkpoints),
        }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn push<S: Steps<Memory = M>>(&mut self, k: usize, run: &Run<S>) {
        self.numbers.extend_from_slice(&run.state);
        self.places.push((k, run.memory.clone()));
    }

    /// Goes back to the last one, and says at which step that is.
    fn restore<S: Steps<Memory = M>>(&self, run: &mut Run<S>) -> usize {
        let start = self.numbers.len().saturating_sub(self.size);
        run.state.copy_from_slice(&self.numbers[start..]);
        let Some((k, memory)) = self.places.last() else { return 0 };
        run.memory.clone_from(memory);
        *k
    }

    fn pop(&mut self) {
        self.places.pop();
        self.numbers.truncate(self.places.len() * self.size);
    }
}

/// A way to differentiate one step.
trait Backward<S: Steps> {
    fn accumulation(&self) -> Accumulation;

    /// The memory it takes for the first of `count` steps.
    fn bytes(&mut self, run: &Run<S>, count: usize) -> Result<usize, Error>;

    /// Step `k` from the state of `run`. Turns the adjoint of x(k+1) into that of x(k) and adds to
    /// `gradient`; returns the loss of x(k), if `last` with that of x(k+1).
    fn step(
        &mut self,
        run: &Run<S>,
        k: usize,
        last: bool,
        adjoint: &mut [f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error>;
}

/// One step with the losses of both ends, in any scalar.
fn step_with_loss<S: Steps, T: Real>(
    steps: &S,
    k: usize,
    last: bool,
    parameters: &[T],
    state: &mut [T],
    memory: &mut S::Memory,
    workspace: &mut S::Workspace<T>,
) -> T {
    let loss = steps.loss(k, parameters, state, workspace);
    steps.step(k, parameters, state, memory, workspace);
    if last { loss + steps.loss(k + 1, parameters, state, workspace) } else { loss }
}

/// What a tape takes beside what is recorded, in bytes: itself, and lists of chunks, epochs and seeds.
const TAPE: usize = 4096;

/// By a recording a step.
struct ByTape<S: Steps> {
    workspace: S::Workspace<Var>,
    memory: S::Memory,
    /// Parameters, then state.
    inputs: Vec<Var>,
    state: Vec<Var>,
    seeds: Vec<(Var, f64)>,
    adjoints: Vec<f64>,
}

impl<S: Steps> Default for ByTape<S> {
    fn default() -> Self {
        ByTape {
            workspace: Default::default(),
            memory: Default::default(),
            inputs: Vec::new(),
            state: Vec::new(),
            seeds: Vec::new(),
            adjoints: Vec::new(),
        }
    }
}

impl<S: Steps> ByTape<S> {
    fn record(&mut self, run: &Run<S>, k: usize, last: bool) -> (Recording, Var) {
        let recording = Recording::start();
        let inputs = run.parameters.iter().chain(&run.state);
        self.inputs.clear();
        recording.extend(&mut self.inputs, inputs.copied());
        let (parameters, state) = self.inputs.split_at(run.parameters.len());
        self.state.clear();
        self.state.extend_from_slice(state);
        self.memory.clone_from(&run.memory);
        let (state, memory) = (&mut self.state, &mut self.memory);
        let loss =
            step_with_loss(run.steps, k, last, parameters, state, memory, &mut self.workspace);
        (recording, loss)
    }
}

impl<S: Steps> Backward<S> for ByTape<S> {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Tape
    }

    fn bytes(&mut self, run: &Run<S>, count: usize) -> Result<usize, Error> {
        let (recording, _) = self.record(run, 0, count == 1);
        recording.fault()?;
        let inputs = self.inputs.len() + self.state.len();
        Ok(recording.bytes() + 2 * inputs * size_of::<(Var, f64)>() + TAPE)
    }

    fn step(
        &mut self,
        run: &Run<S>,
        k: usize,
        last: bool,
        adjoint: &mut [f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        let (mut recording, loss) = self.record(run, k, last);
        // The sums so far are seeds of the parameters, so that terms are added in the order of a
        // recording of all steps.
        self.seeds.clear();
        self.seeds.extend(self.inputs.iter().copied().zip(gradient.iter().copied()));
        self.seeds.extend(self.state.iter().copied().zip(adjoint.iter().copied()));
        self.seeds.push((loss, 1.0));
        self.adjoints.resize(self.inputs.len(), 0.0);
        recording.adjoints(&self.seeds, &self.inputs, &mut self.adjoints)?;
        let (parameters, state) = self.adjoints.split_at(gradient.len());
        gradient.copy_from_slice(parameters);
        adjoint.copy_from_slice(state);
        Ok(loss.value())
    }
}

/// By lanes of duals over the inputs of a step.
struct ByLanes<S: Steps> {
    workspace: S::Workspace<Dual<f64, LANES>>,
    memory: S::Memory,
    /// Parameters, then state.
    inputs: Vec<Dual<f64, LANES>>,
    adjoints: Vec<f64>,
}

impl<S: Steps> Default for ByLanes<S> {
    fn default() -> Self {
        ByLanes {
            workspace: Default::default(),
            memory: Default::default(),
            inputs: Vec::new(),
            adjoints: Vec::new(),
        }
    }
}

impl<S: Steps> Backward<S> for ByLanes<S> {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Lanes
    }

    fn bytes(&mut self, run: &Run<S>, _: usize) -> Result<usize, Error> {
        let inputs = run.parameters.len() + run.state.len();
        Ok(inputs * (size_of::<Dual<f64, LANES>>() + size_of::<f64>()))
    }

    fn step(
        &mut self,
        run: &Run<S>,
        k: usize,
        last: bool,
        adjoint: &mut [f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        let inputs = run.parameters.len() + run.state.len();
        self.adjoints.clear();
        self.adjoints.resize(inputs, 0.0);
        let mut losses = 0.0;
        for first in (0..inputs.max(1)).step_by(LANES) {
            losses = self.pass(run, k, last, first, adjoint);
        }
        let (parameters, state) = self.adjoints.split_at(gradient.len());
        for (sum, &term) in gradient.iter_mut().zip(parameters) {
            *sum += term;
        }
        adjoint.copy_from_slice(state);
        Ok(losses)
    }
}

impl<S: Steps> ByLanes<S> {
    /// Sets the adjoints of the inputs from `first` on, and returns the losses.
    fn pass(&mut self, run: &Run<S>, k: usize, last: bool, first: usize, adjoint: &[f64]) -> f64 {
        let inputs = run.parameters.iter().chain(&run.state).enumerate();
        self.inputs.clear();
        self.inputs.extend(inputs.map(|(j, &x)| Dual::variable(x, j.wrapping_sub(first))));
        self.memory.clone_from(&run.memory);
        let (parameters, state) = self.inputs.split_at_mut(run.parameters.len());
        let memory = &mut self.memory;
        let loss =
            step_with_loss(run.steps, k, last, parameters, state, memory, &mut self.workspace);
        // Nothing flows through a zero adjoint, whatever the tangent.
        let flowing = state.iter().zip(adjoint).filter(|&(_, &a)| a != 0.0);
        let sum = flowing.fold(loss.tangent, |sum, (x, &a)| f64::axpy(a, &x.tangent, &sum));
        for (to, sum) in self.adjoints[first..].iter_mut().zip(sum) {
            *to = sum;
        }
        loss.value
    }
}
