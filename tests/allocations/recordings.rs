//! Recordings allocate on their first run only: chunks, payloads, adjoints and what nodes keep are
//! used again.

use std::fmt::Debug;

use stiction::ad::{self, Dual, LANES, Node, Real, Recording, TapeScalar, Var};
use stiction::argmin::{CoupledContact, DiskQcqp, NonnegativeQp};
use stiction::model::{Parameters, Scene};
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use super::tumble;

/// Runs `f` and returns its result; run again it must return the same, and allocate nothing.
fn assert_allocates_once<Y: PartialEq + Debug>(mut f: impl FnMut() -> Y) -> Y {
    let first = f();
    let mut second = None;
    let info = allocation_counter::measure(|| second = Some(f()));
    assert_eq!(second.as_ref(), Some(&first));
    assert_eq!((info.count_total, info.bytes_total), (0, 0), "{info:?}");
    first
}

/// Some thousand operations: several chunks.
fn long<T: Real>(x: &[T]) -> T {
    let mut y = x[0];
    for _ in 0..1500 {
        y = (y * x[1]).sin() + x[0] * 0.5;
    }
    y
}

/// A node with what it keeps between calls.
struct Kept<T: Real, N: Node> {
    node: N,
    solution: N::Solution,
    workspace: T::Workspace<N>,
}

impl<T: Real, N: Node> Kept<T, N> {
    fn new(node: N) -> Self {
        Kept { node, solution: Default::default(), workspace: Default::default() }
    }

    /// From a cold start, so that every call takes the same path.
    fn call(&mut self, inputs: &[T], outputs: &mut [T], cold: &N::Solution) {
        self.solution.clone_from(cold);
        T::call(&self.node, inputs, outputs, &mut self.solution, &mut self.workspace);
    }
}

#[test]
fn a_gradient_allocates_nothing() {
    let mut slopes = [0.0; 2];
    let run = || (ad::gradient_into(long, &[0.3, 1.1], &mut slopes), slopes);
    assert!(assert_allocates_once(run).0.is_ok());
}

// The record of a refusal, too.
#[test]
fn an_error_allocates_nothing() {
    let kept = Recording::<f64>::start().variable(1.0);
    let mut slopes = [0.0; 2];
    let run = || ad::gradient_into(|x| long(x) * kept, &[0.3, 1.1], &mut slopes);
    assert_eq!(assert_allocates_once(run), Err(ad::Error::StaleVariable));
}

#[test]
fn a_recording_with_adjoints_and_rows_allocates_nothing() {
    let [mut adjoints, mut rows] = [[0.0; 2], [0.0; 2]].map(|x| x.repeat(12));
    assert_allocates_once(|| {
        let mut recording = Recording::<f64>::start();
        let x = [recording.variable(0.3), recording.variable(1.1)];
        let mut y = [x[0]; 12];
        for k in 1..12 {
            y[k] = long(&[y[k - 1], x[1]]);
        }
        recording.adjoints(&[(y[11], 1.0), (y[4], -2.0)], &x, &mut adjoints[..2]).unwrap();
        recording.rows(&y, &x, &mut rows).unwrap();
        (adjoints[0], rows[5], recording.bytes())
    });
}

#[test]
fn nested_recordings_allocate_nothing() {
    let (mut outer, mut inner, mut second) = ([0.0; 2], [0.0; 2], [Dual::constant(0.0); 2]);
    let (found, _) = assert_allocates_once(|| {
        let f = |x: &[Var]| {
            let mut y = long(x);
            for _ in 0..3 {
                let at = [y.value(), x[1].value()];
                ad::gradient_into(long, &at, &mut inner).unwrap();
                let mut recording = Recording::<Dual<f64, 1>>::start();
                let u = at.map(|x| recording.variable(Dual::variable(x, 0)));
                let z = long(&u);
                recording.adjoints(&[(z, Dual::constant(1.0))], &u, &mut second).unwrap();
                y = y * (inner[0] + second[1].tangent[0]) + x[0];
            }
            y
        };
        (ad::gradient_into(f, &[0.3, 1.1], &mut outer), outer)
    });
    assert!(found.is_ok());
}

/// As `ad::hessian` does it, in memory of its own.
fn second_order<const N: usize>()
where
    Dual<f64, N>: TapeScalar,
{
    let mut adjoints = [Dual::<f64, N>::constant(0.0); 2];
    assert_allocates_once(|| {
        let mut recording = Recording::<Dual<f64, N>>::start();
        let x = [0, 1].map(|k| recording.variable(Dual::variable([0.3, 1.1][k], k)));
        let y = long(&x);
        recording.adjoints(&[(y, Dual::constant(1.0))], &x, &mut adjoints).unwrap();
        adjoints.map(|a| (a.value, a.tangent))
    });
}

#[test]
fn recordings_over_duals_allocate_nothing() {
    second_order::<1>();
    second_order::<4>();
    second_order::<8>();
}

#[test]
fn blocks_allocate_nothing() {
    let mut slopes = [0.0; 2];
    let (found, _) = assert_allocates_once(|| {
        let f = |x: &[Var]| {
            let mut y = [x[0], x[1]];
            for k in 0..3000 {
                let [a, b] = y.map(|y| y.value());
                let inputs = y;
                // Long blocks now and then, so that memory is handed out in several pieces.
                let values = [(a * b).sin(), 0.5 * a + 0.25 * b];
                let c = (a * b).cos();
                if k % 700 == 0 {
                    let many = [y[0]; 600];
                    let jacobian = [1e-3; 1200];
                    Var::block(&many, &values, &jacobian, &mut y).unwrap();
                } else {
                    let jacobian = [b * c, a * c, 0.5, 0.25];
                    Var::block(&inputs, &values, &jacobian, &mut y).unwrap();
                }
            }
            y[0] * y[1]
        };
        (ad::gradient_into(f, &[0.3, 1.1], &mut slopes), slopes)
    });
    assert!(found.is_ok());
}

/// A box on four corners that slides, as inputs of [`CoupledContact`].
fn sliding_box() -> Vec<f64> {
    let mut x = Vec::new();
    for [a, b] in [[-0.3, -0.2], [0.3, -0.2], [-0.3, 0.2], [0.3, 0.2]] {
        x.extend([0.0, 0.0, 1.0, b, -a, 0.0]);
        x.extend([1.0, 0.0, 0.0, 0.0, -0.1, -b]);
        x.extend([0.0, 1.0, 0.0, 0.1, 0.0, a]);
    }
    for i in 0..36 {
        x.push([[0.0, 0.2][usize::from(i / 6 > 2)] + 0.8, 0.0][usize::from(i / 6 != i % 6)]);
    }
    x.extend([1.0, 0.3, -0.4, 0.1, 0.2, 0.5]);
    x.extend([0.0; 4]);
    x.extend([0.2, 0.3, 0.4, 0.5]);
    x.extend([1e-4; 4]);
    x
}

/// A matrix with a diagonal that dominates, and a vector.
fn quadratic(n: usize) -> Vec<f64> {
    let p = |i: usize, k: usize| if i == k { 2.0 + i as f64 } else { 0.3 / (i + k) as f64 };
    let mut x: Vec<f64> = (0..n * n).map(|i| p(i / n, i % n)).collect();
    x.extend((0..n).map(|i| if i % 2 == 0 { -2.0 } else { 1.0 }));
    x
}

/// Calls of three kinds of nodes, one after another, in one recording; the inputs are all variables.
fn nodes<T: TapeScalar>(seed: impl Fn(f64) -> T, one: T) {
    let mut qp = Kept::<Var<T>, _>::new(NonnegativeQp { n: 4, ..Default::default() });
    let mut disks = Kept::<Var<T>, _>::new(DiskQcqp { contacts: 2, ..Default::default() });
    let contact = CoupledContact::on_one_tree(4, 6, 1e-10);
    let len = contact.output_len();
    let mut contact = Kept::<Var<T>, _>::new(contact);
    let (cold_qp, cold_disks, cold_contact) = Default::default();
    let (p, b) = (quadratic(4), sliding_box());
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut adjoints = Vec::new();
    assert_allocates_once(|| {
        let mut recording = Recording::<T>::start();
        let mut sums = [0.0; 3];
        for _ in 0..3 {
            let mark = recording.mark();
            for k in 0..6 {
                x.clear();
                y.clear();
                // A place of the tape keeps the memory of the kind of node that was there.
                match k % 3 {
                    0 => {
                        x.extend(p.iter().map(|&x| recording.variable(seed(x))));
                        y.resize(4, Var::constant(0.0));
                        qp.call(&x, &mut y, &cold_qp);
                    }
                    1 => {
                        x.extend(p.iter().map(|&x| recording.variable(seed(x))));
                        x.extend([0.5, 2.0].map(|x| recording.variable(seed(x))));
                        y.resize(4, Var::constant(0.0));
                        disks.call(&x, &mut y, &cold_disks);
                    }
                    _ => {
                        x.extend(b.iter().map(|&x| recording.variable(seed(x))));
                        y.resize(len, Var::constant(0.0));
                        contact.call(&x, &mut y, &cold_contact);
                    }
                }
                let mut sum = y[0];
                y[1..].iter().for_each(|&y| sum = sum * 0.5 + y);
                adjoints.clear();
                adjoints.resize(x.len(), T::constant(0.0));
                recording.adjoints(&[(sum, one)], &x, &mut adjoints).unwrap();
                sums[k % 3] += adjoints.iter().map(|a| a.value()).sum::<f64>();
            }
            recording.rewind(mark).unwrap();
        }
        assert!(sums.iter().all(|s| s.is_finite() && *s != 0.0), "{sums:?}");
        sums
    });
}

#[test]
fn nodes_allocate_nothing() {
    nodes::<f64>(|x| x, 1.0);
}

#[test]
fn nodes_over_duals_allocate_nothing() {
    let seeded = |x: f64| Dual::new(x, std::array::from_fn(|k| x.powi(k as i32)));
    nodes::<Dual<f64, LANES>>(seeded, Dual::constant(1.0));
}

/// Rolls the scene out on the tape, a recording a step: the Jacobian of each step in the state and
/// the parameters, by rows, and back to the mark.
fn rollout(text: &str) -> f64 {
    let scene = Scene::parse(text, "scene.toml").unwrap();
    let mut parameters: Parameters<Var> = scene.parameters.cast();
    let inputs: Vec<Var> = scene.inputs.iter().map(|&x| Var::constant(x)).collect();
    let mut workspace = Workspace::default();
    let (mut state, mut next) = (scene.state.cast::<Var>(), State::default());
    let start: State<Var> = scene.state.cast();
    let (mut variables, mut outputs) = (Vec::<Var>::new(), Vec::<Var>::new());
    let mut jacobian = Vec::new();
    let mut memory = StepMemory::default();
    assert_allocates_once(|| {
        memory.clear();
        let mut recording = Recording::<f64>::start();
        for x in &mut parameters.values {
            *x = recording.variable(x.value());
        }
        let system = scene.system_with(&parameters);
        state.q.copy_from_slice(&start.q);
        state.v.copy_from_slice(&start.v);
        let mut sum = 0.0;
        for _ in 0..100 {
            let mark = recording.mark();
            for x in state.q.iter_mut().chain(&mut state.v) {
                *x = recording.variable(x.value());
            }
            step(&system, &state, &inputs, &mut memory, &mut workspace, &mut next);
            variables.clear();
            variables.extend(state.q.iter().chain(&state.v).chain(&parameters.values));
            outputs.clear();
            outputs.extend(next.q.iter().chain(&next.v));
            jacobian.clear();
            jacobian.resize(variables.len() * outputs.len(), 0.0);
            recording.rows(&outputs, &variables, &mut jacobian).unwrap();
            sum += jacobian.iter().sum::<f64>();
            recording.rewind(mark).unwrap();
            std::mem::swap(&mut state, &mut next);
        }
        sum
    })
}

#[test]
fn a_rollout_on_the_tape_allocates_nothing() {
    assert!(rollout(&tumble()).is_finite());
}

/// All steps in one recording, and the gradient of where the body ends. The staggered solver starts
/// from variables of the last step, so that there is no rewinding between its steps.
fn recorded_as_a_whole(text: &str) -> [f64; 2] {
    let scene = Scene::parse(text, "scene.toml").unwrap();
    let mut parameters: Parameters<Var> = scene.parameters.cast();
    let inputs: Vec<Var> = scene.inputs.iter().map(|&x| Var::constant(x)).collect();
    let mut workspace = Workspace::default();
    let start: State<Var> = scene.state.cast();
    let (mut state, mut next) = (start.clone(), State::default());
    let mut memory = StepMemory::default();
    let mut adjoints = vec![0.0; parameters.values.len()];
    assert_allocates_once(|| {
        memory.clear();
        let mut recording = Recording::<f64>::start();
        for x in &mut parameters.values {
            *x = recording.variable(x.value());
        }
        let system = scene.system_with(&parameters);
        state.q.copy_from_slice(&start.q);
        state.v.copy_from_slice(&start.v);
        // An even number, so that both states come back to their places.
        for _ in 0..80 {
            step(&system, &state, &inputs, &mut memory, &mut workspace, &mut next);
            std::mem::swap(&mut state, &mut next);
        }
        let seeds = [(state.q[0], 1.0), (state.q[1], 0.5)];
        recording.adjoints(&seeds, &parameters.values, &mut adjoints).unwrap();
        [state.q[0].value(), adjoints.iter().sum()]
    })
}

#[test]
fn a_rollout_in_one_recording_allocates_nothing() {
    let staggered =
        tumble().replace("time_step = 0.01", "time_step = 0.01\n    solver = 'staggered'");
    for text in [&tumble(), &staggered] {
        let [place, slope] = recorded_as_a_whole(text);
        assert!(place != 0.0 && slope.is_finite() && slope != 0.0);
    }
}
