//! Backward differentiation formulas of first and second order (`Hairer96` V.1).

use crate::ad::Real;

/// Which formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bdf {
    /// BDF1, the implicit Euler method.
    #[default]
    One,
    /// BDF2.
    Two,
}

/// Where all nodes are and were a step before: what a step starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History<T> {
    /// m
    pub x: Vec<[T; 3]>,
    /// m/s
    pub v: Vec<[T; 3]>,
    /// A step before; not looked at by BDF1.
    pub x_old: Vec<[T; 3]>,
    /// A step before; not looked at by BDF1.
    pub v_old: Vec<[T; 3]>,
}

/// What a step is from a history: x+ = `x` + `rate` v+, and M (v+ - `v`) = `rate` f.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predicted<T> {
    /// a, s
    pub rate: f64,
    /// x̄, m
    pub x: Vec<[T; 3]>,
    /// v̄, m/s
    pub v: Vec<[T; 3]>,
}

impl Bdf {
    /// a for steps of `time_step` (s).
    pub fn rate(self, time_step: f64) -> f64 {
        match self {
            Bdf::One => time_step,
            Bdf::Two => 2.0 * time_step / 3.0,
        }
    }

    /// The weights of now and of a step before in x̄ and v̄.
    pub fn weights(self) -> [f64; 2] {
        match self {
            Bdf::One => [1.0, 0.0],
            Bdf::Two => [4.0 / 3.0, -1.0 / 3.0],
        }
    }

    /// What a step of `time_step` (s) is.
    pub fn predict<T: Real>(self, time_step: f64, history: &History<T>) -> Predicted<T> {
        let mut predicted = Predicted::default();
        self.predict_into(time_step, history, &mut predicted);
        predicted
    }

    /// The same, in the memory there is.
    pub fn predict_into<T: Real>(
        self,
        time_step: f64,
        history: &History<T>,
        predicted: &mut Predicted<T>,
    ) {
        let [now, before] = self.weights();
        let combine = |x: &[[T; 3]], old: &[[T; 3]], sums: &mut Vec<[T; 3]>| {
            sums.clear();
            if self == Bdf::One {
                return sums.extend_from_slice(x);
            }
            let sum =
                |(x, old): (&[T; 3], &[T; 3])| [0, 1, 2].map(|k| x[k] * now + old[k] * before);
            sums.extend(x.iter().zip(old).map(sum));
        };
        predicted.rate = self.rate(time_step);
        combine(&history.x, &history.x_old, &mut predicted.x);
        combine(&history.v, &history.v_old, &mut predicted.v);
    }
}

impl<T: Real> History<T> {
    /// Of nodes that have moved as they do now in the step before. Where they start with an acceleration that is wrong by
    /// its first order, and so is all that BDF2 makes of it: its first step by BDF1 keeps its second order.
    pub fn start(x: Vec<[T; 3]>, v: Vec<[T; 3]>, time_step: f64) -> Self {
        let before = |(x, v): (&[T; 3], &[T; 3])| [0, 1, 2].map(|k| x[k] - v[k] * time_step);
        let x_old = x.iter().zip(&v).map(before).collect();
        History { x_old, v_old: v.clone(), x, v }
    }

    /// The history after a step to the velocities `v`.
    pub fn advance(&mut self, predicted: &Predicted<T>, v: &[[T; 3]]) {
        std::mem::swap(&mut self.x, &mut self.x_old);
        std::mem::swap(&mut self.v, &mut self.v_old);
        self.x.clear();
        self.x.extend(predicted.positions(v));
        self.v.clear();
        self.v.extend_from_slice(v);
    }
}

impl<T: Real> Predicted<T> {
    /// x̄ + a v
    pub fn positions<'a>(&'a self, v: &'a [[T; 3]]) -> impl Iterator<Item = [T; 3]> + 'a {
        self.x.iter().zip(v).map(|(x, v)| [0, 1, 2].map(|k| x[k] + v[k] * self.rate))
    }
}
