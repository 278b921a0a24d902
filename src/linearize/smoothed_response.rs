//! The response of a smoothed contact problem, or of one by penalties, forward and transposed, as that of [`ContactResponse`](crate::argmin::ContactResponse):
//! from the adjoints of velocities to those of what the conditions are made of.
//!
//! With h(z, u, target, limits) = 0 the conditions at impulses and bounds z, u = J v+, W = J L^-T and E the impulses in z:
//!
//! ```text
//! (h_z + h_u W W' E) dz = -h_u (dJ v+ + W x0) - h_limit dlimit,    offsets go along with the first row of each block
//! x = x0 + W' E dz
//! ```
//!
//! The conditions of a block know its own numbers alone, which vary all at once, a lane each.

use crate::ad::{Dual, Real};
use crate::argmin::{Perturbation, SmoothedContact, SmoothedSolution};
use crate::linalg::{Lu, solve_lower};

/// Three impulses, the bound of the slip, three velocities, the limit.
const LANES: usize = 8;
type Lanes = Dual<f64, LANES>;
const BOUND: usize = 3;
const VELOCITY: usize = 4;
const LIMIT: usize = 7;

/// The conditions at a solution, factorised. Reused, it allocates nothing.
#[derive(Default)]
pub(crate) struct SmoothedResponse {
    inputs: Vec<Lanes>,
    z: Vec<Lanes>,
    u: Vec<Lanes>,
    h: Vec<Lanes>,
    /// W, in the structure of J.
    spread_rows: Vec<f64>,
    values: Vec<f64>,
    matrix: Vec<f64>,
    row: Vec<f64>,
    moved: Vec<f64>,
    /// Adjoints of kt dt.
    creep: Vec<f64>,
    lu: Lu<f64>,
}

impl SmoothedResponse {
    /// W = J L^-T, in the structure of J.
    pub fn spread_rows(&self) -> &[f64] {
        &self.spread_rows
    }

    /// The adjoints of kt dt of each block; nothing where friction is no penalty.
    pub fn creep(&self) -> &[f64] {
        &self.creep
    }

    /// Of a block its place in z of each lane of z, as many as it has.
    fn places(first: usize, rows: usize, bound: usize) -> impl Iterator<Item = (usize, usize)> {
        let bounds = (rows == 3).then_some((BOUND, bound));
        (0..rows).map(move |r| (r, first + r)).chain(bounds)
    }

    /// False if the conditions are singular.
    #[must_use]
    pub fn factor(
        &mut self,
        node: &SmoothedContact,
        solution: &SmoothedSolution,
        inputs: &[f64],
        outputs: &[f64],
    ) -> bool {
        let rows = &node.rows;
        let data = node.data(inputs);
        self.spread_rows.clear();
        self.spread_rows.extend_from_slice(data.jacobian);
        for block in rows.blocks() {
            for r in 0..block.rows {
                let row = block.row_mut(&mut self.spread_rows, r);
                for (tree, part) in block.parts() {
                    solve_lower(data.factor(tree), part.len(), &mut row[part]);
                }
            }
        }
        let (velocity, z) = outputs.split_at(rows.velocities());
        self.values.clear();
        self.values.resize(rows.rows(), 0.0);
        rows.times(data.jacobian, velocity, &mut self.values);
        let lift = |to: &mut Vec<Lanes>, from: &[f64]| {
            to.clear();
            to.extend(from.iter().map(|&x| Lanes::constant(x)));
        };
        lift(&mut self.inputs, inputs);
        lift(&mut self.z, z);
        lift(&mut self.u, &self.values);
        self.h.clear();
        self.h.resize(z.len(), Lanes::constant(0.0));
        let limits = node.limits();
        let mut bound = rows.rows();
        for (i, block) in rows.blocks().iter().enumerate() {
            for (lane, k) in Self::places(block.first, block.rows, bound) {
                self.z[k] = Lanes::variable(z[k], lane);
            }
            for r in 0..block.rows {
                let k = block.first + r;
                self.u[k] = Lanes::variable(self.values[k], VELOCITY + r);
            }
            let limit = &mut self.inputs[limits.start + i];
            *limit = Lanes::variable(limit.value, LIMIT);
            bound += usize::from(block.rows == 3);
        }
        let (u, blocks) = (&self.u, rows.blocks());
        let velocity = |i: usize, r: usize| u[blocks[i].first + r];
        node.conditions_at(solution, &self.inputs, (&self.z, velocity), &mut self.h);
        self.factor_matrix(node)
    }

    fn factor_matrix(&mut self, node: &SmoothedContact) -> bool {
        let rows = &node.rows;
        let n = self.z.len();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.row.resize(rows.rows(), 0.0);
        self.moved.resize(rows.velocities(), 0.0);
        let mut bound = rows.rows();
        for block in rows.blocks() {
            for (_, condition) in Self::places(block.first, block.rows, bound) {
                let h = &self.h[condition];
                // h_u W W'
                self.moved.fill(0.0);
                for r in 0..block.rows {
                    let row = block.row(&self.spread_rows, r);
                    block.add_times(row, h.tangent[VELOCITY + r], &mut self.moved);
                }
                rows.times(&self.spread_rows, &self.moved, &mut self.row);
                let own = &mut self.matrix[condition * n..(condition + 1) * n];
                own[..self.row.len()].copy_from_slice(&self.row);
                for (lane, k) in Self::places(block.first, block.rows, bound) {
                    own[k] += h.tangent[lane];
                }
            }
            bound += usize::from(block.rows == 3);
        }
        self.lu.factor(&self.matrix, n)
    }

    /// From the perturbation at fixed impulses to the velocities x, a column each.
    pub fn respond(&mut self, node: &SmoothedContact, perturbation: &mut Perturbation<f64>) {
        let rows = &node.rows;
        let Perturbation { columns, moving, x, rows: turned, offsets, limits, .. } = perturbation;
        let columns = *columns;
        let mut own = vec![0.0; rows.velocities()];
        let mut right = vec![0.0; self.z.len()];
        for column in 0..columns {
            own.iter_mut()
                .zip(x.iter().skip(column).step_by(columns))
                .for_each(|(own, x)| *own = *x);
            self.row.resize(rows.rows(), 0.0);
            rows.times(&self.spread_rows, &own, &mut self.row);
            let mut bound = rows.rows();
            for (i, block) in rows.blocks().iter().enumerate() {
                let along = |r: usize| {
                    let k = block.first + r;
                    let turned = if column < *moving { turned[k * *moving + column] } else { 0.0 };
                    let offset = if r == 0 { offsets[i * columns + column] } else { 0.0 };
                    self.row[k] + turned + offset
                };
                let limit = limits.get(i * columns + column).copied().unwrap_or(0.0);
                for (_, condition) in Self::places(block.first, block.rows, bound) {
                    let h = &self.h[condition];
                    right[condition] = -h.tangent[LIMIT] * limit
                        - (0..block.rows).map(|r| h.tangent[VELOCITY + r] * along(r)).sum::<f64>();
                }
                bound += usize::from(block.rows == 3);
            }
            self.lu.solve(&mut right);
            rows.transpose_times(&self.spread_rows, &right[..rows.rows()], &mut self.moved);
            x.iter_mut()
                .skip(column)
                .step_by(columns)
                .zip(&self.moved)
                .for_each(|(x, moved)| *x += moved);
        }
    }

    /// The velocity along a row at the solution (m/s).
    pub fn speed(&self, row: usize) -> f64 {
        self.u[row].value
    }

    /// On entry `adjoint.x` holds the adjoints of the velocities, of one column; on return `adjoint` those of the
    /// perturbation.
    pub fn respond_transpose(&mut self, node: &SmoothedContact, adjoint: &mut Perturbation<f64>) {
        let rows = &node.rows;
        let n = self.z.len();
        let mut w = std::mem::take(&mut self.row);
        w.clear();
        w.resize(rows.rows(), 0.0);
        rows.times(&self.spread_rows, &adjoint.x, &mut w);
        w.resize(n, 0.0);
        self.lu.solve_transpose(&mut w);
        for numbers in [&mut adjoint.rows, &mut adjoint.offsets, &mut adjoint.limits] {
            numbers.fill(0.0);
        }
        adjoint.rotations.fill(0.0);
        self.creep.clear();
        self.creep.resize(node.creep_range().len(), 0.0);
        let mut bound = rows.rows();
        for (i, block) in rows.blocks().iter().enumerate() {
            for (_, condition) in Self::places(block.first, block.rows, bound) {
                let h = &self.h[condition];
                for r in 0..block.rows {
                    adjoint.rows[block.first + r] -= h.tangent[VELOCITY + r] * w[condition];
                }
                adjoint.limits[i] -= h.tangent[LIMIT] * w[condition];
            }
            adjoint.offsets[i] = adjoint.rows[block.first];
            // Friction by penalty is one of kt dt u.
            if let Some(creep) = self.creep.get_mut(i).filter(|_| block.rows == 3) {
                let kt = self.inputs[node.creep_range()][i].value;
                let turned =
                    (1..3).map(|r| adjoint.rows[block.first + r] * self.u[block.first + r].value);
                *creep = if kt > 0.0 { turned.sum::<f64>() / kt } else { 0.0 };
            }
            bound += usize::from(block.rows == 3);
        }
        rows.transpose_times(&self.spread_rows, &adjoint.rows, &mut self.moved);
        adjoint.x.iter_mut().zip(&self.moved).for_each(|(x, &moved)| *x += moved);
        self.row = w;
    }
}
