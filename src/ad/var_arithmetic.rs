//! What is computed with variables is recorded: arithmetic, elementary functions, blocks, nodes.

use std::cmp::Ordering;
use std::panic::Location;

use super::cursor::{CONSTANT, Origin, STALE, TIMELESS};
use super::push::{aside, epochs, factor_node, push, stale};
use super::{Error, Node, Real, TapeScalar, Var, instance};

impl<T: TapeScalar> Var<T> {
    /// A variable of no operands, in the active recording.
    pub(super) fn independent(value: T) -> Self {
        let origin = (&"variable", Location::caller());
        let index = push(CONSTANT, CONSTANT, T::zero(), T::zero(), origin);
        Self::at(value, index, epochs::<T>()[0])
    }

    /// The index on the tape; that of constants, with a fault noted, if it does not belong there.
    #[inline]
    pub(super) fn index(self) -> u32 {
        if self.epoch == TIMELESS
            || epochs::<T>().contains(&self.epoch)
            || T::with_tape(|tape| tape.holds(self.epoch))
        {
            return self.index;
        }
        stale::<T>();
        CONSTANT
    }

    #[inline(always)]
    #[track_caller]
    fn unary(self, function: &'static &'static str, value: T, slope: T) -> Self {
        let epoch = T::with_cursor(|cursor| cursor.epoch());
        if self.epoch == epoch {
            let origin = (function, Location::caller());
            let index = push(self.index, aside::<T>(), slope, T::zero(), origin);
            return Self::at(value, index, epoch);
        }
        let origin = (function, Location::caller());
        self.combine(Self::fixed(value), value, slope, T::zero(), origin)
    }

    #[inline(always)]
    #[track_caller]
    fn binary(self, function: &'static &'static str, other: Self, value: T, dx: T, dy: T) -> Self {
        let epoch = T::with_cursor(|cursor| cursor.epoch());
        if self.epoch == epoch && other.epoch == epoch {
            let origin = (function, Location::caller());
            let index = push(self.index, other.index, dx, dy, origin);
            return Self::at(value, index, epoch);
        }
        self.combine(other, value, dx, dy, (function, Location::caller()))
    }

    /// The same with operands that are constants, older than the last mark, or stale.
    #[inline(never)]
    fn combine(self, other: Self, value: T, dx: T, dy: T, origin: Origin) -> Self {
        if self.is_constant() && other.is_constant() {
            return Self::fixed(value);
        }
        let epochs = epochs::<T>();
        let mut indices = [CONSTANT; 2];
        let mut partials = [T::zero(); 2];
        for (k, (x, p)) in [(self, dx), (other, dy)].into_iter().enumerate() {
            if x.is_constant() {
                indices[k] = aside::<T>();
            } else if epochs.contains(&x.epoch) || T::with_tape(|tape| tape.holds(x.epoch)) {
                (indices[k], partials[k]) = (x.index, p);
            } else {
                stale::<T>();
                // A stale operand makes a stale result.
                return Self::stale(value);
            }
        }
        Self::at(value, push(indices[0], indices[1], partials[0], partials[1], origin), epochs[0])
    }

    /// Records outputs of known values with their Jacobian in `inputs` (outputs x inputs, row-major)
    /// as one entry of the tape: a preaccumulated block. What led from the inputs to the outputs,
    /// computed on plain numbers or on duals, is not recorded.
    ///
    /// # Errors
    /// [`Error::Shape`] if the Jacobian has not `values.len() * inputs.len()` entries, or `outputs`
    /// another length than `values`.
    ///
    /// ```
    /// use stiction::ad::{Real, Var, gradient};
    /// let (_, dx) = gradient(
    ///     |x| {
    ///         let mut y = [Var::constant(0.0)];
    ///         Var::block(x, &[6.0], &[2.0, 3.0], &mut y).expect("a Jacobian of 1 x 2");
    ///         y[0] * 10.0
    ///     },
    ///     &[3.0, 2.0],
    /// )?;
    /// assert_eq!(dx, [20.0, 30.0]);
    /// # Ok::<(), stiction::ad::Error>(())
    /// ```
    pub fn block(
        inputs: &[Self],
        values: &[T],
        jacobian: &[T],
        outputs: &mut [Self],
    ) -> Result<(), Error> {
        for (expected, found) in [
            (values.len(), outputs.len()),
            (values.len().saturating_mul(inputs.len()), jacobian.len()),
        ] {
            if expected != found {
                return Err(Error::Shape { expected, found });
            }
        }
        let all = Self::outputs(inputs, values, outputs);
        if let Some(first) = all {
            // Alive, as `outputs` has found; asking again would enter the tape from within.
            let indices = inputs.iter().map(|x| x.index);
            T::with_tape(|tape| tape.push_block(first, values.len(), indices, jacobian));
        }
        Ok(())
    }

    /// Makes `outputs` variables of the given values, and returns the index of the first: constants,
    /// and none, if all `inputs` are, or if one is stale.
    fn outputs(inputs: &[Self], values: &[T], outputs: &mut [Self]) -> Option<u32> {
        let epoch = T::with_cursor(|cursor| cursor.epoch());
        let constant = inputs.iter().all(|x| x.is_constant());
        // Also notes what is stale.
        let alive = |x: &Self| x.epoch == epoch || x.is_constant() || x.index() != CONSTANT;
        let alive = inputs.iter().all(alive);
        if constant || !alive {
            let epoch = if alive { TIMELESS } else { STALE };
            for (y, &value) in outputs.iter_mut().zip(values) {
                *y = Self::at(value, CONSTANT, epoch);
            }
            return None;
        }
        for (y, &value) in outputs.iter_mut().zip(values) {
            *y = Self::independent(value);
        }
        // None if the tape is full.
        outputs.first().map(|y| y.index).filter(|&first| first != CONSTANT)
    }
}

/// Memory of a node called on the tape.
pub struct VarWorkspace<T: Real, N: Node> {
    inner: T::Workspace<N>,
    inputs: Vec<T>,
    outputs: Vec<T>,
}

impl<T: Real, N: Node> Default for VarWorkspace<T, N> {
    fn default() -> Self {
        VarWorkspace { inner: Default::default(), inputs: Vec::new(), outputs: Vec::new() }
    }
}

impl<T: TapeScalar> Real for Var<T> {
    const ORDER: usize = T::ORDER + 1;
    const INSTANCE: Option<usize> = instance::variable(T::INSTANCE);
    type Workspace<N: Node> = VarWorkspace<T, N>;

    fn constant(x: f64) -> Self {
        Self::fixed(T::constant(x))
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn vanishes(self) -> bool {
        self.is_constant() && self.value.vanishes()
    }

    super::elementary::methods!();

    fn call<N: Node>(
        node: &N,
        inputs: &[Self],
        outputs: &mut [Self],
        solution: &mut N::Solution,
        w: &mut VarWorkspace<T, N>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), T::zero());
        T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);
        // Factorised before there are outputs: none without derivatives are left by a panic.
        let constant = inputs.iter().all(|x| x.is_constant());
        let solved = (!constant).then(|| factor_node(node, solution, &w.inputs, &w.outputs));
        if let Some(first) = Self::outputs(inputs, &w.outputs, outputs)
            && let Some(solved) = solved
        {
            let indices = inputs.iter().map(|x| x.index);
            T::with_tape(|tape| tape.push_solved(solved, first, indices, &w.inputs, &w.outputs));
        }
    }
}

impl<T: TapeScalar> Default for Var<T> {
    fn default() -> Self {
        Self::constant(0.0)
    }
}

impl<T: PartialEq> PartialEq for Var<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialOrd> PartialOrd for Var<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: TapeScalar> num_traits::Zero for Var<T> {
    fn zero() -> Self {
        Self::constant(0.0)
    }
    fn is_zero(&self) -> bool {
        self.value.is_zero()
    }
}

impl<T: TapeScalar> num_traits::One for Var<T> {
    fn one() -> Self {
        Self::constant(1.0)
    }
}

impl<T: TapeScalar> std::ops::Neg for Var<T> {
    type Output = Self;
    #[inline(always)]
    #[track_caller]
    fn neg(self) -> Self {
        self.unary(&"neg", -self.value, -T::one())
    }
}

impl<T: TapeScalar> std::ops::Add for Var<T> {
    type Output = Self;
    #[inline(always)]
    #[track_caller]
    fn add(self, y: Self) -> Self {
        self.binary(&"add", y, self.value + y.value, T::one(), T::one())
    }
}

impl<T: TapeScalar> std::ops::Sub for Var<T> {
    type Output = Self;
    #[inline(always)]
    #[track_caller]
    fn sub(self, y: Self) -> Self {
        self.binary(&"sub", y, self.value - y.value, T::one(), -T::one())
    }
}

impl<T: TapeScalar> std::ops::Mul for Var<T> {
    type Output = Self;
    #[inline(always)]
    #[track_caller]
    fn mul(self, y: Self) -> Self {
        self.binary(&"mul", y, self.value * y.value, y.value, self.value)
    }
}

impl<T: TapeScalar> std::ops::Div for Var<T> {
    type Output = Self;
    #[inline(always)]
    #[track_caller]
    fn div(self, y: Self) -> Self {
        let r = y.value.recip();
        let quotient = self.value / y.value;
        self.binary(&"div", y, quotient, r, -quotient.guarded_product(r))
    }
}

super::operators::with_f64!([T: TapeScalar] Var<T> {
    // x + c is x shifted: the same adjoint, no operation to record.
    add: |x, c| Var::at(x.value + c, x.index, x.epoch),
    sub: |x, c| Var::at(x.value - c, x.index, x.epoch),
    mul: |x, c| x.unary(&"mul", x.value * c, T::constant(c)),
    div: |x, c| x.unary(&"div", x.value / c, T::constant(c.recip())),
});
