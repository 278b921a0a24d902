//! What a step remembers for the next one.

use crate::ad::Real;
use crate::contact::Impulses;
use crate::model::{Model, Solid};

/// What a step remembers for the next one: the impulses it starts its solvers from. An argument and
/// a result, so that a step is a function of its arguments.
#[derive(Clone, Debug, Default)]
pub struct StepMemory<T> {
    /// Of each body the impulses on it.
    pub(super) bodies: Vec<Impulses<T>>,
}

impl<T: Real> StepMemory<T> {
    /// Forgets the last step, as before the first one, and keeps the memory.
    pub fn clear(&mut self) {
        self.bodies.iter_mut().for_each(Impulses::clear);
    }

    pub(super) fn resize(&mut self, bodies: usize) {
        self.bodies.resize_with(bodies, Impulses::default);
    }

    /// How many numbers it takes to hold all impulses there can be.
    pub fn numbers(model: &Model) -> usize {
        (0..model.pairs.len()).map(|pair| numbers_of(model, pair)).sum()
    }

    /// Writes the impulses of all points that can touch, pair by pair, into as many numbers; zeros
    /// for those that do not. Of a body and a half-space: three numbers for each point of the body. Of
    /// two bodies: four for each of the points that can touch at a time, the first the feature plus 1.
    pub fn write(&self, model: &Model, numbers: &mut [T]) {
        numbers.fill(T::zero());
        let mut first = 0;
        for index in 0..model.pairs.len() {
            let pair = &model.pairs[index];
            let known = self.bodies.get(pair.second).map_or(&[][..], Impulses::known);
            let own = known.iter().filter(|(of, ..)| *of == index);
            for (place, &(_, feature, impulse)) in own.enumerate() {
                let start = match pair.first {
                    Solid::HalfSpace(_) => first + 3 * feature,
                    Solid::Body(_) if place < model.remembered_points(index) => {
                        numbers[first + 4 * place] = T::constant((feature + 1) as f64);
                        first + 4 * place + 1
                    }
                    Solid::Body(_) => continue,
                };
                numbers[start..start + 3].copy_from_slice(&impulse);
            }
            first += numbers_of(model, index);
        }
    }

    /// The inverse of [`Self::write`].
    pub fn read(&mut self, model: &Model, numbers: &[T]) {
        self.resize(model.bodies.len());
        self.clear();
        let mut rest = numbers;
        for (index, pair) in model.pairs.iter().enumerate() {
            let known = &mut self.bodies[pair.second];
            let (own, after) = rest.split_at(numbers_of(model, index));
            rest = after;
            match pair.first {
                Solid::HalfSpace(_) => {
                    for (feature, x) in own.chunks_exact(3).enumerate() {
                        known.remember(index, feature, [x[0], x[1], x[2]]);
                    }
                }
                Solid::Body(_) => {
                    for x in own.chunks_exact(4).filter(|x| x[0].value() > 0.0) {
                        known.remember(index, x[0].value() as usize - 1, [x[1], x[2], x[3]]);
                    }
                }
            }
        }
    }

    /// The values, without derivatives.
    pub fn value(&self) -> StepMemory<f64> {
        StepMemory { bodies: self.bodies.iter().map(Impulses::value).collect() }
    }
}

impl StepMemory<f64> {
    /// The same memory as constants of another scalar.
    pub fn cast<T: Real>(&self) -> StepMemory<T> {
        StepMemory { bodies: self.bodies.iter().map(Impulses::cast).collect() }
    }
}

/// How many numbers it takes to hold the impulses of a pair.
fn numbers_of(model: &Model, pair: usize) -> usize {
    match model.pairs[pair].first {
        Solid::HalfSpace(_) => 3 * model.remembered_points(pair),
        Solid::Body(_) => 4 * model.remembered_points(pair),
    }
}
