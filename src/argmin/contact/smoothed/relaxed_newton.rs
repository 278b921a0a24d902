//! Newton's method on the conditions of [`SmoothedContact`], on values.

use super::relaxed_conditions::{GIVE, Relaxation, SmoothedContact, Stage, root};
use crate::argmin::contact::law::Support;
use crate::argmin::contact::problem::{ContactData, Delassus};
use crate::linalg::{Lu, norm};

/// Newton steps at a kappa, and halvings of each.
const ITERATIONS: usize = 40;
const HALVINGS: usize = 30;

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonMemory {
    pub delassus: Delassus<f64>,
    /// G, and the matrix of the conditions; row-major.
    pub g: Vec<f64>,
    pub matrix: Vec<f64>,
    pub lu: Lu<f64>,
    /// Impulses and bounds, and those a step starts from.
    pub z: Vec<f64>,
    pub start: Vec<f64>,
    pub u: Vec<f64>,
    pub h: Vec<f64>,
    pub step: Vec<f64>,
}

/// Newton's method on values.
pub(super) struct RelaxedNewton<'a> {
    pub node: &'a SmoothedContact,
    pub data: ContactData<'a, f64>,
    /// kt dt of each block.
    pub creep: &'a [f64],
    pub memory: &'a mut NewtonMemory,
    pub scales: &'a [f64],
    /// What residuals are relative to.
    pub impulse: f64,
    /// A kappa in which nothing is near.
    pub largest_product: f64,
}

impl RelaxedNewton<'_> {
    /// Starts where all contacts push each other at this kappa.
    pub fn start(&mut self, kappa: f64) {
        let z = &mut self.memory.z;
        z.fill(0.0);
        let mut cone = self.node.rows.rows();
        for (i, block) in self.node.rows.blocks().iter().enumerate() {
            let start = (kappa * self.scales[i]).sqrt();
            if self.node.laws[i].is_one_sided() {
                z[block.first] = start;
            }
            if self.node.laws[i].rows() == 3 {
                z[cone] = start / self.scales[i];
                cone += 1;
            }
        }
    }

    /// u at z.
    pub fn velocities(&mut self) {
        let NewtonMemory { delassus, z, u, .. } = &mut *self.memory;
        let rows = self.node.rows.rows();
        u.resize(rows, 0.0);
        delassus.velocity(&self.node.rows, &z[..rows], u);
        // b is less the targets.
        for (block, target) in self.data.blocks().iter().zip(self.data.target) {
            u[block.first] += target;
        }
    }

    /// u and h at z; the largest condition.
    fn conditions(&mut self, stage: Stage) -> f64 {
        self.velocities();
        let NewtonMemory { z, u, h, .. } = &mut *self.memory;
        h.resize(z.len(), 0.0);
        let blocks = self.data.blocks();
        let velocity = |i: usize, r: usize| u[blocks[i].first + r];
        self.node.conditions((&self.data, self.creep), (stage, self.scales), (z, velocity), h);
        let largest =
            h.iter().fold(0.0, |most: f64, x| if x.abs() <= most { most } else { x.abs() });
        largest / self.impulse
    }

    /// The derivatives of the conditions in z, with u = G lambda + b.
    pub fn linearize(&mut self, stage: Stage) -> bool {
        let NewtonMemory { g, matrix, lu, z, u, .. } = &mut *self.memory;
        let (n, rows) = (z.len(), self.node.rows.rows());
        matrix.clear();
        matrix.resize(n * n, 0.0);
        // Adds the weights of z and of u to a condition.
        let mut add = |row: usize, of_z: &[(usize, f64)], of_u: &[(usize, f64)]| {
            let row = &mut matrix[row * n..(row + 1) * n];
            for &(k, weight) in of_z {
                row[k] += weight;
            }
            for &(k, weight) in of_u {
                for (x, g) in row.iter_mut().zip(&g[k * rows..(k + 1) * rows]) {
                    *x += weight * g;
                }
            }
        };
        let mut cone = rows;
        let data = &self.data;
        for (i, block) in data.blocks().iter().enumerate() {
            let (first, scale) = (block.first, self.scales[i]);
            let give = self.node.give(block.rows);
            let c = data.compliance[i] + give / scale;
            let product = stage.kappa * scale;
            let slack = u[first] - data.target[i] + c * z[first];
            let x = z[first] - slack * scale;
            match self.node.laws[i].support() {
                Support::Bilateral => {
                    let give = GIVE - give;
                    add(first, &[(first, c * scale + give)], &[(first, scale)]);
                }
                support => {
                    let slope = match support {
                        Support::Limited => {
                            let (low, high) = (x + data.limit[i], x - data.limit[i]);
                            (rise(low, product) - rise(high, product)) * 0.5
                        }
                        _ => (1.0 + rise(x, product)) * 0.5,
                    };
                    let own = 1.0 - slope * (1.0 - c * scale);
                    if support == Support::Borrowed {
                        let normal = data.blocks()[block.normal].first;
                        add(first, &[(first, 1.0), (normal, -1.0)], &[]);
                    } else if support == Support::Given {
                        add(first, &[(first, 1.0)], &[]);
                    } else {
                        add(first, &[(first, own)], &[(first, slope * scale)]);
                    }
                    if block.rows == 1 {
                        continue;
                    }
                    let (mu, tangents) = (data.limit[i], [first + 1, first + 2]);
                    if let Relaxation::Penalty(friction) = self.node.relaxation {
                        add(cone, &[(cone, scale)], &[]);
                        let slip = tangents.map(|k| u[k]);
                        let square = slip[0] * slip[0] + slip[1] * slip[1];
                        let kt = self.creep[i] * stage.share;
                        let [phi, by_limit, by_square] = friction.slopes(kt, mu * z[first], square);
                        for (k, &own) in tangents.iter().enumerate() {
                            let turn = [0, 1].map(|l| {
                                let along = if k == l { phi } else { 0.0 };
                                (tangents[l], along + 2.0 * by_square * slip[k] * slip[l])
                            });
                            add(own, &[(own, 1.0), (first, by_limit * mu * slip[k])], &turn);
                        }
                    } else if mu > 0.0 {
                        let x = mu * z[first] - z[cone] * scale;
                        let y = tangents.map(|k| z[k] - u[k] * scale);
                        let r = norm(&y);
                        let [a, b] = [x + r, x - r];
                        let [high, low] = [root(a, product), root(b, product)];
                        let sum = high + low;
                        let along = x / sum + 0.5;
                        // d sum = by_x dx + by_r dr,  dr = y dy / r
                        let (by_x, by_r) = (a / high + b / low, a / high - b / low);
                        let unit = y.map(|y| if r > 0.0 { y / r } else { 0.0 });
                        let center = 0.5 + 0.25 * by_x;
                        add(
                            cone,
                            &[
                                (first, mu * (1.0 - center)),
                                (cone, center * scale),
                                (tangents[0], -0.25 * by_r * unit[0]),
                                (tangents[1], -0.25 * by_r * unit[1]),
                            ],
                            &[0, 1].map(|k| (tangents[k], 0.25 * by_r * unit[k] * scale)),
                        );
                        let turn = (1.0 - x * by_x / sum) / sum;
                        let swell = -x * by_r / (sum * sum);
                        for k in 0..2 {
                            let felt = [0, 1].map(|l| {
                                let own = if k == l { along } else { 0.0 };
                                own + y[k] * swell * unit[l]
                            });
                            let same = |l: usize| if k == l { 1.0 } else { 0.0 };
                            add(
                                tangents[k],
                                &[
                                    (first, -y[k] * turn * mu),
                                    (cone, y[k] * turn * scale),
                                    (tangents[0], same(0) - felt[0]),
                                    (tangents[1], same(1) - felt[1]),
                                ],
                                &[0, 1].map(|l| (tangents[l], felt[l] * scale)),
                            );
                        }
                    } else {
                        add(cone, &[(cone, scale)], &[]);
                        tangents.iter().for_each(|&k| add(k, &[(k, 1.0)], &[]));
                    }
                    cone += 1;
                }
            }
        }
        lu.factor(matrix, n)
    }

    /// Newton steps at a stage until the conditions hold to `tolerance`; returns their residual.
    pub fn solve(&mut self, stage: Stage, tolerance: f64, steps: &mut usize) -> f64 {
        let mut residual = self.conditions(stage);
        for _ in 0..ITERATIONS {
            if residual <= tolerance || !self.linearize(stage) {
                break;
            }
            *steps += 1;
            let NewtonMemory { lu, z, start, h, step, .. } = &mut *self.memory;
            step.clone_from(h);
            lu.solve(step);
            start.clone_from(z);
            let (mut length, mut better) = (1.0, false);
            for _ in 0..HALVINGS {
                let NewtonMemory { z, start, step, .. } = &mut *self.memory;
                for (z, (&start, &step)) in z.iter_mut().zip(start.iter().zip(&*step)) {
                    *z = start - length * step;
                }
                let reached = self.conditions(stage);
                if reached < (1.0 - 1e-4 * length) * residual {
                    (residual, better) = (reached, true);
                    break;
                }
                length *= 0.5;
            }
            if !better {
                // At rounding.
                let NewtonMemory { z, start, .. } = &mut *self.memory;
                z.clone_from(start);
                self.conditions(stage);
                break;
            }
        }
        residual
    }
}

/// The slope of [`root`] in x.
fn rise(x: f64, product: f64) -> f64 {
    match x == 0.0 && product == 0.0 {
        true => 1.0,
        false => x / root(x, product),
    }
}
