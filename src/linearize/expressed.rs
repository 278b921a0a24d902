//! Linearisations in the conventions of other programs.

use nalgebra::DMatrix;

use super::convention::{Convention, Place, joints, vector};
use super::trajectory::Linearization;
use crate::Error;
use crate::model::Model;
use crate::spatial::{cross_matrix, rotation_matrix};
use crate::state::Coordinates;

/// Forces of a joint that a convention writes otherwise: where they are among u, in our order, and the map
/// from theirs to ours.
struct Forces {
    places: Vec<usize>,
    joint: Place,
}

impl Linearization {
    /// The same in another convention. `name` stands for the scene in messages.
    ///
    /// # Errors
    /// If u holds some but not all generalised forces of a joint whose forces that convention writes in another
    /// frame, or if this one is not in [`Convention::Stiction`].
    pub fn expressed(
        &self,
        convention: Convention,
        model: &Model,
        name: &str,
    ) -> Result<Linearization, Error> {
        if self.convention != Convention::Stiction {
            let message = format!("is in the convention {} already", self.convention.name());
            return Err(Error::input(name, None, "convention", message));
        }
        let mut new = self.clone();
        new.convention = convention;
        if matches!(convention, Convention::Stiction | Convention::Mujoco) {
            return Ok(new);
        }
        let forces = self.forces(convention, model, name)?;
        for k in 0..self.times.len() {
            let row = |stack: &ndarray::Array2<f64>| stack.row(k).to_vec();
            let matrix = |stack: &ndarray::Array3<f64>| {
                let (_, rows, columns) = stack.dim();
                DMatrix::from_fn(rows, columns, |i, j| stack[(k, i, j)])
            };
            let (x, end, mut u) = (row(&self.x), row(&self.f), row(&self.u));
            let (mut a, mut b) = (matrix(&self.a), matrix(&self.b));
            for forces in &forces {
                forces.express(convention, &x, &mut u, &mut a, &mut b);
            }
            let after = convention.tangent_map(model, &end, false);
            let before = convention.tangent_map(model, &x, true);
            let (a, b, c) = (&after * a * before, &after * b, &after * matrix(&self.c));
            for (stack, matrix) in [(&mut new.a, a), (&mut new.b, b), (&mut new.c, c)] {
                for i in 0..matrix.nrows() {
                    for j in 0..matrix.ncols() {
                        stack[(k, i, j)] = matrix[(i, j)];
                    }
                }
            }
            let states = [(&mut new.x, x), (&mut new.f, end)];
            let states = states.map(|(stack, x)| (stack, convention.state(model, &x)));
            for (stack, numbers) in states.into_iter().chain([(&mut new.u, u)]) {
                stack.row_mut(k).iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
            }
        }
        for Forces { places, joint: (coordinates, ..) } in &forces {
            if convention == Convention::Drake && *coordinates == Coordinates::Pose {
                let names: Vec<String> = places.iter().map(|&p| self.inputs[p].clone()).collect();
                for (&place, name) in places.iter().zip(names[3..].iter().chain(&names[..3])) {
                    new.inputs[place].clone_from(name);
                }
            }
        }
        Ok(new)
    }

    /// The joints whose forces are among u and written otherwise.
    fn forces(
        &self,
        convention: Convention,
        model: &Model,
        name: &str,
    ) -> Result<Vec<Forces>, Error> {
        let mut all = Vec::new();
        let known = model.input_names();
        for joint in joints(model) {
            let (coordinates, _, v) = joint;
            let own = coordinates == Coordinates::Pose
                || coordinates == Coordinates::Rotation && convention == Convention::Drake;
            let range = v..v + coordinates.nv();
            let place = |k: usize| self.inputs.iter().position(|input| *input == known[k]);
            let places: Vec<usize> = range.clone().filter_map(place).collect();
            if !own || places.is_empty() {
                continue;
            }
            if places.len() < range.len() {
                let message = format!(
                    "is written in another frame in the convention {}: select all of {}, or none",
                    convention.name(),
                    known[range].join(", ")
                );
                return Err(Error::input(name, None, &self.inputs[places[0]], message));
            }
            all.push(Forces { places, joint });
        }
        Ok(all)
    }
}

impl Forces {
    /// Writes u, B and what the turning of the frame does to A (still over our tangent vectors).
    fn express(
        &self,
        convention: Convention,
        x: &[f64],
        u: &mut [f64],
        a: &mut DMatrix<f64>,
        b: &mut DMatrix<f64>,
    ) {
        let (coordinates, q, v) = self.joint;
        let Some((at, first)) = coordinates.quaternion() else { return };
        let q = &x[q + at..q + at + 4];
        let r = rotation_matrix([q[0], q[1], q[2], q[3]]);
        let ours: Vec<f64> = self.places.iter().map(|&place| u[place]).collect();
        // Which three turn, how theirs become ours, and how ours change with a turn in the body.
        let (turning, to_ours, change) = match convention {
            Convention::Drake => (first, r.transpose(), cross_matrix(vector(&ours[first..]))),
            _ => (0, r, -r * cross_matrix(r.transpose() * vector(&ours))),
        };
        let columns = DMatrix::from_fn(b.nrows(), 3, |i, j| b[(i, self.places[turning + j])]);
        let felt = &columns * change;
        for j in 0..3 {
            let mut column = a.column_mut(v + first + j);
            column += felt.column(j);
        }
        let turned = columns * to_ours;
        let theirs = to_ours.transpose() * vector(&ours[turning..]);
        for j in 0..3 {
            b.set_column(self.places[turning + j], &turned.column(j));
            u[self.places[turning + j]] = theirs[j];
        }
        if convention == Convention::Drake && coordinates == Coordinates::Pose {
            for j in 0..3 {
                b.swap_columns(self.places[j], self.places[3 + j]);
                u.swap(self.places[j], self.places[3 + j]);
            }
        }
    }
}
