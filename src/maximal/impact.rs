//! Impacts of a system: impulses of the contacts whose gaps are negative, and the velocity after them.
//!
//! With C'C = M^-1 and J_E, J_C the rows of constraints and contacts, A = F'F of (5) and (7) has the factor
//!
//! ```text
//! F = (I - Q Q^-1) C J_C' = C (J_C' - J_E' S^-1 J_E M^-1 J_C'),   Q the range of C J_E',   S = J_E M^-1 J_E'
//! ```
//!
//! and velocities change by C'F f: no eigenvectors as in (S.17)-(S.21), so that it has derivatives everywhere.

use super::constrained_motion::{ConstrainedMotion, coupling};
use super::point_inertia::PointInertia;
use super::point_parameters::PointParameters;
use super::point_rows::PointRows;
use super::point_system::PointSystem;
use super::target_velocity::TargetVelocity;
use crate::ad::Real;
use crate::argmin::{CompressionRestitution, Impact, Report};
use crate::linalg::FactorError;

/// How impulses are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactRule {
    /// Relative residual of the cone programs.
    pub tolerance: f64,
    /// CMr's epsilon (1/kg): added to A in both problems, but not to the velocity between them. 0 is CM.
    pub regularization: f64,
}

impl Default for ImpactRule {
    fn default() -> Self {
        ImpactRule { tolerance: 1e-10, regularization: 0.0 }
    }
}

/// The memory of impacts, which grows with the most contacts that there are at once.
pub struct PointImpact<T: Real> {
    motion: ConstrainedMotion<T>,
    rows: PointRows<T>,
    gaps: Vec<T>,
    values: Vec<f64>,
    /// The contacts that are active, by their place in the system.
    pub active: Vec<usize>,
    target: TargetVelocity<T>,
    aim: Vec<T>,
    coupled: Vec<T>,
    white: Vec<T>,
    factor: Vec<T>,
    touched: Vec<usize>,
    approach: Vec<T>,
    friction: Vec<T>,
    restitution: Vec<T>,
    impulses: Vec<T>,
    /// One for each number of contacts, all of one tolerance and dimension.
    laws: Vec<Option<CompressionRestitution<T>>>,
    tolerance: f64,
    dimension: usize,
    /// How compression and restitution were solved last.
    pub reports: [Report; 2],
}

impl<T: Real> Default for PointImpact<T> {
    fn default() -> Self {
        PointImpact {
            motion: ConstrainedMotion::default(),
            rows: PointRows::default(),
            gaps: Vec::new(),
            values: Vec::new(),
            active: Vec::new(),
            target: TargetVelocity::default(),
            aim: Vec::new(),
            coupled: Vec::new(),
            white: Vec::new(),
            factor: Vec::new(),
            touched: Vec::new(),
            approach: Vec::new(),
            friction: Vec::new(),
            restitution: Vec::new(),
            impulses: Vec::new(),
            laws: Vec::new(),
            tolerance: 0.0,
            dimension: 0,
            reports: Default::default(),
        }
    }
}

impl<T: Real> PointImpact<T> {
    /// Finds the contacts that are active at `x`; says whether there are any.
    pub fn detect(&mut self, system: &PointSystem, x: &[T]) -> bool {
        self.values.clear();
        self.values.extend(x.iter().map(|x| x.value()));
        self.active.clear();
        let contacts = system.contacts().iter().enumerate();
        let touching =
            contacts.filter(|(_, c)| c.geometry.gap(system.layout(), &self.values) < 0.0);
        self.active.extend(touching.map(|(k, _)| k));
        !self.active.is_empty()
    }

    /// v <- the velocity (m/s) after the impacts of the contacts found by [`detect`](Self::detect) at `x` (m), with parameters that
    /// [`PointSystem::check`] accepts.
    ///
    /// # Errors
    /// If the constraints do not determine their impulses. Whether the cone programs were solved is said by `reports`.
    pub fn apply(
        &mut self,
        system: &PointSystem,
        inertia: &PointInertia<T>,
        parameters: &PointParameters<T>,
        rule: ImpactRule,
        x: &[T],
        v: &mut [T],
    ) -> Result<(), FactorError> {
        let d = system.dimension();
        self.rows.clear(d);
        self.gaps.clear();
        self.friction.clear();
        self.restitution.clear();
        for &k in &self.active {
            let contact = &system.contacts()[k];
            self.gaps.push(contact.geometry.rows(system.layout(), x, &mut self.rows));
            self.friction.push(parameters.friction[contact.surface]);
            self.restitution.push(parameters.restitution[contact.surface]);
        }
        self.motion.linearise(system, inertia, x);
        let constraints = &self.motion.jacobian;
        self.target.set(system, &self.gaps, &self.rows, constraints, &mut self.aim)?;
        self.set_factor(system, inertia)?;
        self.rows.times(v, &mut self.approach);
        let contacts = self.active.len();
        if self.tolerance != rule.tolerance || self.dimension != d {
            self.laws.clear();
            (self.tolerance, self.dimension) = (rule.tolerance, d);
        }
        if self.laws.len() <= contacts {
            self.laws.resize_with(contacts + 1, || None);
        }
        let law = self.laws[contacts]
            .get_or_insert_with(|| CompressionRestitution::new(contacts, d, rule.tolerance));
        let (compression, restitution) = law.solve(&Impact {
            factor: &self.factor,
            velocity: &self.approach,
            target: &self.aim,
            friction: &self.friction,
            restitution: &self.restitution,
            regularization: rule.regularization,
        });
        self.impulses.clear();
        self.impulses.extend(compression.iter().zip(restitution).map(|(&c, &r)| c + r));
        self.reports = [law.compression_solution.report, law.restitution_solution.report];
        // v += C'F f
        self.white.clear();
        self.white.resize(system.coordinates(), T::zero());
        for (&row, entries) in
            self.touched.iter().zip(self.factor.chunks_exact(self.impulses.len()))
        {
            let products = entries.iter().zip(&self.impulses);
            self.white[row] = products.fold(T::zero(), |sum, (&a, &f)| sum + a * f);
        }
        inertia.colour(&mut self.white);
        v.iter_mut().zip(&self.white).for_each(|(v, &change)| *v += change);
        Ok(())
    }

    /// F, without the rows of coordinates that no contact moves.
    fn set_factor(
        &mut self,
        system: &PointSystem,
        inertia: &PointInertia<T>,
    ) -> Result<(), FactorError> {
        let (d, size) = (system.dimension(), system.coordinates());
        let (rows, constraints) = (&self.rows, &self.motion.jacobian);
        let n = rows.len();
        self.coupled.clear();
        for j in 0..n {
            for i in 0..constraints.len() {
                self.coupled.push(coupling(inertia, constraints, i, rows, j));
            }
        }
        let equations = constraints.len();
        if equations > 0 {
            let solved = self.motion.solve(&self.coupled)?;
            self.coupled.copy_from_slice(solved);
        }
        // Columns of F one after the other.
        self.white.clear();
        self.white.resize(n * size, T::zero());
        for (j, column) in self.white.chunks_exact_mut(size).enumerate() {
            self.rows.add_row(j, T::constant(1.0), column);
            for i in 0..equations {
                self.motion.jacobian.add_row(i, -self.coupled[j * equations + i], column);
            }
            inertia.whiten(column);
        }
        self.touched.clear();
        let is_moved = |component: usize| {
            (0..n).any(|j| self.rows.row(j).any(|(p, _)| system.component_of(p) == component))
        };
        let mut last = (usize::MAX, false);
        for point in 0..system.points() {
            let component = system.component_of(point);
            if component != last.0 {
                last = (component, is_moved(component));
            }
            if last.1 {
                self.touched.extend((0..d).map(|k| point * d + k));
            }
        }
        self.factor.clear();
        for &row in &self.touched {
            self.factor.extend(self.white.iter().skip(row).step_by(size).take(n));
        }
        Ok(())
    }
}
