//! Reverse mode: the variable.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::tape::{CONSTANT, TapeScalar};
use super::{Node, Real};

/// A variable of the recording that is active on this thread, or a constant.
///
/// It remembers the recording it belongs to. Computed with in another one, or after its own has
/// ended, it makes the driver return [`Error::StaleVariable`](super::Error::StaleVariable): never a
/// wrong number, in release builds too. Its value, read or compared, is a number like any other.
#[derive(Clone, Copy, Debug)]
pub struct Var<T = f64> {
    value: T,
    index: u32,
    epoch: u64,
    // Not Send: the tape is of this thread.
    thread: PhantomData<*const ()>,
}

impl<T: TapeScalar> Var<T> {
    pub(super) fn independent(value: T) -> Self {
        T::with_tape(|tape| Self::at(value, tape.independent(), tape.epoch()))
    }

    fn at(value: T, index: u32, epoch: u64) -> Self {
        Var { value, index, epoch, thread: PhantomData }
    }

    fn fixed(value: T) -> Self {
        Self::at(value, CONSTANT, 0)
    }

    /// The value in the inner scalar.
    pub fn inner(self) -> T {
        self.value
    }

    /// The index on the tape, noting a fault if the variable does not belong there.
    pub(super) fn index(self) -> u32 {
        T::with_tape(|tape| if tape.owns(self.index, self.epoch) { self.index } else { CONSTANT })
    }

    #[inline(always)]
    fn unary(self, value: T, derivative: T) -> Self {
        if self.index == CONSTANT {
            return Self::fixed(value);
        }
        T::with_tape(|tape| {
            if !tape.owns(self.index, self.epoch) {
                // A stale operand makes a stale result.
                return Self::at(value, 0, self.epoch);
            }
            let index = tape.push([self.index, CONSTANT], [derivative, T::zero()]);
            Self::at(value, index, self.epoch)
        })
    }

    #[inline(always)]
    fn binary(self, other: Self, value: T, dx: T, dy: T) -> Self {
        if self.index == CONSTANT {
            return other.unary(value, dy);
        }
        if other.index == CONSTANT {
            return self.unary(value, dx);
        }
        T::with_tape(|tape| {
            for x in [self, other] {
                if !tape.owns(x.index, x.epoch) {
                    return Self::at(value, 0, x.epoch);
                }
            }
            let index = tape.push([self.index, other.index], [dx, dy]);
            Self::at(value, index, self.epoch)
        })
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
    type Workspace<N: Node> = VarWorkspace<T, N>;

    fn constant(x: f64) -> Self {
        Self::fixed(T::constant(x))
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let slope = if root.value() == 0.0 { T::zero() } else { root.recip() * 0.5 };
        self.unary(root, slope)
    }
    fn abs(self) -> Self {
        let v = self.value();
        let sign = if v > 0.0 {
            1.0
        } else if v < 0.0 {
            -1.0
        } else {
            0.0
        };
        self.unary(self.value.abs(), T::constant(sign))
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.unary(e, e)
    }
    fn ln(self) -> Self {
        self.unary(self.value.ln(), self.value.recip())
    }
    fn sin(self) -> Self {
        self.unary(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Self {
        self.unary(self.value.cos(), -self.value.sin())
    }
    fn tan(self) -> Self {
        let t = self.value.tan();
        self.unary(t, t * t + 1.0)
    }
    fn asin(self) -> Self {
        let slope = (T::one() - self.value * self.value).sqrt().recip();
        self.unary(self.value.asin(), slope)
    }
    fn acos(self) -> Self {
        let slope = -(T::one() - self.value * self.value).sqrt().recip();
        self.unary(self.value.acos(), slope)
    }
    fn atan(self) -> Self {
        self.unary(self.value.atan(), (self.value * self.value + 1.0).recip())
    }
    fn atan2(self, x: Self) -> Self {
        let r2 = self.value * self.value + x.value * x.value;
        let scale = if r2.value() == 0.0 { T::zero() } else { r2.recip() };
        self.binary(x, self.value.atan2(x.value), x.value * scale, -self.value * scale)
    }
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.unary(t, T::one() - t * t)
    }
    fn powi(self, n: i32) -> Self {
        let slope =
            if n == 0 { T::zero() } else { self.value.powi(n.wrapping_sub(1)) * f64::from(n) };
        self.unary(self.value.powi(n), slope)
    }
    fn powf(self, a: f64) -> Self {
        let slope = if a == 0.0 { T::zero() } else { self.value.powf(a - 1.0) * a };
        self.unary(self.value.powf(a), slope)
    }
    fn recip(self) -> Self {
        let r = self.value.recip();
        self.unary(r, -r * r)
    }

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
        let indices: Vec<u32> = inputs.iter().map(|x| x.index()).collect();
        if indices.iter().all(|&i| i == CONSTANT) {
            for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
                *y = Self::fixed(value);
            }
            return;
        }
        T::with_tape(|tape| {
            let first = tape.push_node(node, solution, indices, &w.inputs, &w.outputs);
            for (k, (y, &value)) in outputs.iter_mut().zip(&w.outputs).enumerate() {
                let index = if first == CONSTANT { CONSTANT } else { first + k as u32 };
                *y = Self::at(value, index, tape.epoch());
            }
        });
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
    #[inline]
    fn neg(self) -> Self {
        self.unary(-self.value, -T::one())
    }
}

impl<T: TapeScalar> std::ops::Add for Var<T> {
    type Output = Self;
    #[inline]
    fn add(self, y: Self) -> Self {
        self.binary(y, self.value + y.value, T::one(), T::one())
    }
}

impl<T: TapeScalar> std::ops::Sub for Var<T> {
    type Output = Self;
    #[inline]
    fn sub(self, y: Self) -> Self {
        self.binary(y, self.value - y.value, T::one(), -T::one())
    }
}

impl<T: TapeScalar> std::ops::Mul for Var<T> {
    type Output = Self;
    #[inline]
    fn mul(self, y: Self) -> Self {
        self.binary(y, self.value * y.value, y.value, self.value)
    }
}

impl<T: TapeScalar> std::ops::Div for Var<T> {
    type Output = Self;
    #[inline]
    fn div(self, y: Self) -> Self {
        let r = y.value.recip();
        let quotient = self.value / y.value;
        self.binary(y, quotient, r, -quotient * r)
    }
}

super::operators::with_f64!([T: TapeScalar] Var<T> {
    // x + c is x shifted: the same adjoint, no operation to record.
    add: |x, c| Var { value: x.value + c, ..x },
    sub: |x, c| Var { value: x.value - c, ..x },
    mul: |x, c| x.unary(x.value * c, T::constant(c)),
    div: |x, c| x.unary(x.value / c, T::constant(c.recip())),
});
