//! A Newton step on the conditions of the coupled contact problem at given modes. Generic, so that it
//! also carries derivatives.

use super::super::kkt::{ContactModes, Iterate};
use super::super::law::{Face, Mode, Tangents};
use super::super::problem::{ContactData, Delassus};
use super::super::rule::Selection;
use super::super::solution::ContactSolution;
use crate::ad::Real;

/// Where the iterations are.
#[derive(Clone, Debug, Default)]
pub(in crate::argmin::contact) struct NewtonState<T> {
    pub delassus: Delassus<T>,
    pub modes: ContactModes<T>,
    /// The impulses.
    pub lambda: Vec<T>,
    /// The velocities under them, u = G lambda + b.
    pub u: Vec<T>,
    /// The mode of each block in the next step.
    pub guess: Vec<Mode>,
    /// Direction of the friction of each block that slides or clamps; sides of pyramids, intervals.
    pub directions: Vec<[T; 2]>,
    step: Vec<T>,
}

impl<T: Real> NewtonState<T> {
    /// Starts on a problem, without impulses.
    pub fn start(&mut self, data: &ContactData<T>) {
        self.delassus.assemble(data);
        for x in [&mut self.lambda, &mut self.u] {
            x.clear();
            x.resize(data.rows.rows(), T::zero());
        }
    }

    /// The same where another iteration on the same problem has begun.
    pub fn start_like(&mut self, data: &ContactData<T>, other: &Self) {
        self.delassus.copy_from(&other.delassus);
        for x in [&mut self.lambda, &mut self.u] {
            x.clear();
            x.resize(data.rows.rows(), T::zero());
        }
    }

    /// Brings `u` up to date.
    pub fn follow(&mut self, data: &ContactData<T>) {
        self.delassus.velocity(data.rows, &self.lambda, &mut self.u);
    }

    /// Sets the modes to those of `solution`, and the directions of friction.
    pub fn take_modes(&mut self, data: &ContactData<T>, solution: &ContactSolution) {
        self.guess.clear();
        self.guess.extend_from_slice(&solution.modes);
        self.directions.clear();
        for (i, block) in data.blocks().iter().enumerate() {
            let slips = solution.modes[i] == Mode::Slide;
            self.directions.push(if data.laws[i].turns() && slips {
                let u = &self.u[block.first..];
                let size = (u[1] * u[1] + u[2] * u[2]).sqrt();
                [-u[1] / size, -u[2] / size]
            } else {
                solution.directions[i].map(T::constant)
            });
        }
    }

    /// Puts `lambda` where the modes say, and takes a Newton step on their conditions. Returns
    /// the length of the step relative to `lambda`, or nothing if the conditions are singular.
    pub fn newton_step(
        &mut self,
        data: &ContactData<T>,
        selection: Selection,
        held: &[f64],
    ) -> Option<f64> {
        self.enter(data);
        let NewtonState { delassus, modes, lambda, u, step, directions, guess } = self;
        let at = Iterate { modes: guess, directions, lambda, u, held };
        if !modes.factor(data, delassus, &at, selection) {
            return None;
        }
        // h, with the compliance in the normal rows
        modes.reduce_rows(u, step);
        for (k, i) in modes.normals() {
            step[k] += data.compliance[i] * lambda[data.blocks()[i].first];
        }
        if matches!(selection, Selection::LeastNorm(_)) {
            modes.share(lambda, held, step);
        }
        modes.solve(delassus, step);
        for s in step.iter_mut() {
            *s = -*s;
        }
        u.fill(T::zero());
        modes.expand_columns(step, u);
        let largest = |x: &[T]| x.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
        let length = largest(u) / largest(lambda).max(f64::MIN_POSITIVE);
        for (i, block) in data.blocks().iter().enumerate() {
            let (moved, x) = (&u[block.range()], &mut lambda[block.range()]);
            let turns = modes.follows(i) && data.laws[i].turns();
            if !turns {
                for (x, &moved) in x.iter_mut().zip(moved) {
                    *x += moved;
                }
                continue;
            }
            // Sliding contacts turn along the circle, so that they stay on it.
            let d = directions[i];
            let radius = data.limit[i] * x[0];
            // The part of the motion across d is the arc.
            let arc = d[0] * moved[2] - d[1] * moved[1];
            let normal = x[0] + moved[0];
            let mut turned = d;
            if radius.value() > 0.0 {
                let angle = arc / radius;
                let t = [d[0] - d[1] * angle, d[1] + d[0] * angle];
                let size = (t[0] * t[0] + t[1] * t[1]).sqrt();
                turned = [t[0] / size, t[1] / size];
            }
            directions[i] = turned;
            x[0] = normal;
            for k in 0..2 {
                x[1 + k] = data.limit[i] * normal * turned[k];
            }
        }
        self.follow(data);
        Some(length)
    }

    /// Puts each block on the face of its mode.
    fn enter(&mut self, data: &ContactData<T>) {
        data.lend(&mut self.lambda);
        for (i, block) in data.blocks().iter().enumerate() {
            let (x, d) = (&mut self.lambda[block.range()], self.directions[i]);
            let sides = d.map(|d| d.value());
            match data.laws[i].face(self.guess[i], sides, data.limit[i].value()) {
                Face::Apart => x.fill(T::zero()),
                Face::AtLimit => x[0] = data.limit[i] * d[0],
                Face::Closed(Tangents::None) => {}
                Face::Closed(tangents) => {
                    let radius = data.limit[i] * positive(x[0]);
                    for k in (0..2).filter(|&k| !tangents.hold(k)) {
                        x[1 + k] = radius * d[k];
                    }
                }
            }
        }
        self.follow(data);
    }
}

fn positive<T: Real>(x: T) -> T {
    if x.value() > 0.0 { x } else { T::zero() }
}
