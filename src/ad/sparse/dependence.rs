//! Detection of patterns: a scalar that knows which inputs it depends on.

use std::cmp::Ordering;

use super::super::reverse::record;
use super::super::{Error, Node, Real, Var, operators};
use super::Pattern;
use super::pattern::same;

/// Words of a set of inputs.
const WORDS: usize = 4;
/// How many inputs one evaluation tells apart.
const WINDOW: usize = WORDS * u64::BITS as usize;

/// A value and the set of inputs it was computed from (`Griewank08` 7.2: propagation of index
/// domains).
///
/// What it finds is structural: `x * 0.0` and `x - x` depend on x. Branches see the value, and so do
/// `max`, `min`, `abs` and `copysign`: the operand taken counts, the other does not. `signum`,
/// `floor` and their like are constants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dependence {
    value: f64,
    on: [u64; WORDS],
    /// Whether it is anything else than [`Real::zero`](num_traits::Zero::zero). A partial derivative
    /// that a program computes may be zero at this point only (`abs` at 0, a weight that is 0), and
    /// the adjoint sweep must go on through it.
    occurs: bool,
}

impl Dependence {
    /// The input of number `bit` in the window, if it is in there.
    fn input(value: f64, bit: usize) -> Self {
        let mut on = [0; WORDS];
        if let Some(word) = on.get_mut(bit / u64::BITS as usize) {
            *word = 1 << (bit % u64::BITS as usize);
        }
        Dependence { value, on, occurs: true }
    }

    /// The inputs of the window `first..` it depends on, below `end`.
    fn inputs(self, first: usize, end: usize) -> impl Iterator<Item = usize> {
        // Most sets are nearly empty: from one bit to the next, the lowest cleared each time.
        let bits = |word: u64| {
            let rest = |&word: &u64| Some(word & (word - 1)).filter(|&word| word != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), rest)
                .map(|word| word.trailing_zeros() as usize)
        };
        let words = self.on.into_iter().enumerate();
        words
            .flat_map(move |(k, word)| bits(word).map(move |bit| first + k * 64 + bit))
            .filter(move |&input| input < end)
    }

    fn of(self, value: f64) -> Self {
        Dependence { value, occurs: true, ..self }
    }

    fn with(self, other: Self, value: f64) -> Self {
        let on = std::array::from_fn(|k| self.on[k] | other.on[k]);
        Dependence { value, on, occurs: self.occurs || other.occurs }
    }
}

/// The pattern of the Jacobian of `f` (outputs x inputs), by one evaluation for every 256 inputs.
///
/// It holds for the branches that `f` takes at `x`; where others may be taken elsewhere, unite those
/// of several points ([`Pattern::union`]). All outputs of a [`Node`] depend on all its inputs.
///
/// # Errors
/// [`Error::Shape`] if `f` does not always have as many outputs; [`Error::PatternTooLarge`].
///
/// ```
/// use stiction::ad::Real;
/// use stiction::ad::sparse::jacobian_pattern;
/// let larger = |x: &[_]| vec![Real::max(x[0], x[1])];
/// let (left, right) = (jacobian_pattern(larger, &[2.0, 1.0])?, jacobian_pattern(larger, &[1.0, 2.0])?);
/// assert!(left.contains(0, 0) && !left.contains(0, 1));
/// assert_eq!(left.union(&right)?.nnz(), 2);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn jacobian_pattern(
    mut f: impl FnMut(&[Dependence]) -> Vec<Dependence>,
    x: &[f64],
) -> Result<Pattern, Error> {
    let mut places = Vec::new();
    let mut rows = None;
    for first in (0..x.len().max(1)).step_by(WINDOW) {
        let outputs = f(&window(x, first).collect::<Vec<_>>());
        same(*rows.get_or_insert(outputs.len()), outputs.len())?;
        for (row, output) in outputs.iter().enumerate() {
            places.extend(output.inputs(first, x.len()).map(|column| (row, column)));
        }
    }
    Pattern::from_triplets(rows.unwrap_or(0), x.len(), places)
}

/// The pattern of the Hessian of `f`, symmetric, by one recording and one sweep for every 256 inputs.
///
/// The tape runs over [`Dependence`]: partial derivatives know what they depend on, so the sweep
/// leaves in each adjoint the inputs that the gradient's entry depends on. That first derivatives
/// vanish at `x` hides nothing. For the branches taken at `x`, as [`jacobian_pattern`].
///
/// # Errors
/// As [`gradient`](super::super::gradient()); [`Error::PatternTooLarge`].
///
/// ```
/// use stiction::ad::sparse::hessian_pattern;
/// let pattern = hessian_pattern(|x| x[0] * x[1] + x[2] * 3.0, &[0.0; 3])?;
/// assert_eq!(pattern.iter().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn hessian_pattern(
    mut f: impl FnMut(&[Var<Dependence>]) -> Var<Dependence>,
    x: &[f64],
) -> Result<Pattern, Error> {
    let mut places = Vec::new();
    let mut adjoints = vec![Dependence::default(); x.len()];
    for first in (0..x.len()).step_by(WINDOW) {
        record(window(x, first), &mut f, |recording, x, y| {
            recording.adjoints(&[(y, Dependence::constant(1.0))], x, &mut adjoints)
        })?;
        for (row, adjoint) in adjoints.iter().enumerate() {
            for column in adjoint.inputs(first, x.len()) {
                // Either triangle may have more, where a derivative is decided by a branch.
                places.extend([(row, column), (column, row)]);
            }
        }
    }
    Pattern::from_triplets(x.len(), x.len(), places)
}

/// All inputs, those from `first` on told apart.
fn window(x: &[f64], first: usize) -> impl Iterator<Item = Dependence> {
    x.iter().enumerate().map(move |(j, &x)| Dependence::input(x, j.wrapping_sub(first)))
}

/// Memory of a node called on [`Dependence`].
pub struct DependenceWorkspace<N: Node> {
    inner: N::Workspace<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl<N: Node> Default for DependenceWorkspace<N> {
    fn default() -> Self {
        DependenceWorkspace { inner: Default::default(), inputs: Vec::new(), outputs: Vec::new() }
    }
}

macro_rules! unary {
    ($($f:ident)*) => {$(
        fn $f(self) -> Self {
            self.of(Real::$f(self.value))
        }
    )*};
}

macro_rules! binary {
    ($($f:ident)*) => {$(
        fn $f(self, other: Self) -> Self {
            self.with(other, Real::$f(self.value, other.value))
        }
    )*};
}

// Not `elementary::methods!`: slopes are of no use here, and x^0 must be the constant that it is.
impl Real for Dependence {
    // Not 0: code that cuts derivatives short where there are none must not cut dependences.
    const ORDER: usize = 1;
    type Workspace<N: Node> = DependenceWorkspace<N>;

    fn constant(x: f64) -> Self {
        Dependence { value: x, on: [0; WORDS], occurs: true }
    }
    fn value(self) -> f64 {
        self.value
    }
    fn vanishes(self) -> bool {
        self.value == 0.0 && !self.occurs
    }
    fn flat(self) -> Self {
        self.of(0.0)
    }

    unary! {
        recip sqrt cbrt abs exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh
        tanh asinh acosh atanh
    }
    binary!(pow atan2 hypot rem);

    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    fn powi(self, n: i32) -> Self {
        if n == 0 { Self::constant(1.0) } else { self.of(Real::powi(self.value, n)) }
    }
    fn powf(self, a: f64) -> Self {
        if a == 0.0 { Self::constant(1.0) } else { self.of(Real::powf(self.value, a)) }
    }

    /// The values by `f64`; each output depends on what any input depends on.
    fn call<N: Node>(
        node: &N,
        inputs: &[Self],
        outputs: &mut [Self],
        solution: &mut N::Solution,
        w: &mut DependenceWorkspace<N>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), 0.0);
        node.primal(&w.inputs, &mut w.outputs, solution, &mut w.inner);
        let all = inputs.iter().fold(Self::constant(0.0), |all, &x| all.with(x, 0.0));
        for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
            *y = all.of(value);
        }
    }
}

impl PartialEq for Dependence {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Dependence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl num_traits::Zero for Dependence {
    fn zero() -> Self {
        Self::default()
    }
    fn is_zero(&self) -> bool {
        self.value == 0.0
    }
}

impl num_traits::One for Dependence {
    fn one() -> Self {
        Self::constant(1.0)
    }
}

impl std::ops::Neg for Dependence {
    type Output = Self;
    fn neg(self) -> Self {
        Dependence { value: -self.value, ..self }
    }
}

macro_rules! operator {
    ($($Op:ident $op:ident;)*) => {$(
        impl std::ops::$Op for Dependence {
            type Output = Self;
            fn $op(self, other: Self) -> Self {
                self.with(other, self.value.$op(other.value))
            }
        }
    )*};
}

operator! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

operators::with_f64!([] Dependence {
    add: |x, c| x.of(x.value + c),
    sub: |x, c| x.of(x.value - c),
    mul: |x, c| x.of(x.value * c),
    div: |x, c| x.of(x.value / c),
});
