//! The variables of a search, and the parameters they stand for.

use nalgebra::{DMatrix, DVector};

use crate::ad::{self, Dual, LANES, Real};
use crate::identify::experiment::{
    FreeParameter, Transform, from_log_cholesky, log_cholesky, log_cholesky_scales,
};
use crate::model::Parameters;

/// The variables of a search, which are as many as there are parameters that are not fixed, and in their order.
///
/// Each is the parameter or its logarithm; the numbers of an inertia that are searched for together have
/// as many variables together, their log-Cholesky coordinates ([`Transform`]).
#[derive(Clone, Debug)]
pub struct SearchSpace<'a> {
    parameters: &'a [FreeParameter],
    /// The parameters that are not fixed.
    free: Vec<usize>,
    /// The variables of single parameters, and of inertias: the first, and how many.
    blocks: Vec<(usize, usize)>,
}

impl<'a> SearchSpace<'a> {
    /// The variables of `parameters`.
    pub fn new(parameters: &'a [FreeParameter]) -> Self {
        let free: Vec<usize> = (0..parameters.len()).filter(|&i| !parameters[i].fixed).collect();
        let mut blocks = Vec::new();
        let mut first = 0;
        while first < free.len() {
            let count = inertia(parameters, &free[first..]).unwrap_or(1);
            blocks.push((first, count));
            first += count;
        }
        SearchSpace { parameters, free, blocks }
    }

    /// [`new`](Self::new), but that parameter number `alone` has a variable of its own, as have those of its inertia.
    pub(crate) fn apart(parameters: &'a [FreeParameter], alone: usize) -> Self {
        let SearchSpace { free, blocks, .. } = SearchSpace::new(parameters);
        let parts = |(first, count): (usize, usize)| {
            let members = first..first + count;
            match free[members.clone()].contains(&alone) {
                true => members.map(|member| (member, 1)).collect(),
                false => vec![(first, count)],
            }
        };
        let blocks = blocks.into_iter().flat_map(parts).collect();
        SearchSpace { parameters, free, blocks }
    }

    /// The variables of [`new`](Self::new) at variables of a space where one is [`apart`](Self::apart): with the same
    /// bits where no inertia was taken apart.
    pub(crate) fn rejoined(&self, variables: &[f64]) -> Vec<f64> {
        let whole = SearchSpace::new(self.parameters);
        if whole.blocks == self.blocks {
            return variables.to_vec();
        }
        whole.variables(&self.told(variables))
    }

    /// Whether weights of learned terms are searched for.
    pub(crate) fn has_weights(&self) -> bool {
        self.free.iter().any(|&place| self.parameters[place].is_weight())
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// Whether nothing is searched for.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// The parameters that are not fixed, by their places: variable k is that of the k-th, or one of the
    /// inertia it belongs to.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Whether the variables of a free parameter (by its place among these) are those of others too.
    pub fn is_shared(&self, variable: usize) -> bool {
        self.blocks
            .iter()
            .any(|&(first, count)| count > 1 && (first..first + count).contains(&variable))
    }

    /// Where the search starts.
    pub fn start(&self) -> Vec<f64> {
        let start: Vec<f64> = self.parameters.iter().map(|p| p.start).collect();
        self.variables(&start)
    }

    /// Least values of the variables.
    pub fn lower(&self) -> Vec<f64> {
        self.bounds(|p| p.lower, f64::NEG_INFINITY)
    }

    /// Largest values of the variables.
    pub fn upper(&self) -> Vec<f64> {
        self.bounds(|p| p.upper, f64::INFINITY)
    }

    /// Typical changes of the variables.
    pub fn scale(&self) -> Vec<f64> {
        let mut scale = Vec::with_capacity(self.len());
        for &(first, count) in &self.blocks {
            let of = |k: usize| &self.parameters[self.free[first + k]];
            if count == 1 {
                scale.push(of(0).scale * of(0).transform.slope(of(0).start).abs());
            } else {
                let start: Vec<f64> = (0..count).map(|k| of(k).start).collect();
                // The share that scales of the moments of inertia are of their mean.
                let moments = count - 6..count - 3;
                let mean = moments.clone().map(|k| of(k).start).sum::<f64>() / 3.0;
                let share = moments.map(|k| of(k).scale).sum::<f64>() / (3.0 * mean);
                scale.extend(log_cholesky_scales(&start, share));
            }
        }
        scale
    }

    /// The variables at `values` of all parameters, fixed ones too. Not numbers where there is no such body.
    pub fn variables(&self, values: &[f64]) -> Vec<f64> {
        let mut variables = Vec::with_capacity(self.len());
        for block in &self.blocks {
            variables.extend(self.block_variables(*block, &self.of_block(*block, values)));
        }
        variables
    }

    /// The values of all parameters at `variables`; fixed ones have their start.
    pub fn values<T: Real>(&self, variables: &[T]) -> Vec<T> {
        let mut values: Vec<T> = self.parameters.iter().map(|p| T::constant(p.start)).collect();
        for &(first, count) in &self.blocks {
            if count == 1 {
                let place = self.free[first];
                values[place] = self.parameters[place].transform.from_search(variables[first]);
            } else {
                let found = from_log_cholesky(&variables[first..first + count]);
                for (&place, value) in self.free[first..].iter().zip(found) {
                    values[place] = value;
                }
            }
        }
        values
    }

    /// [`values`](Self::values) as they are told: without the rounding of transforms, so that what is at its
    /// start or at a bound is exactly there.
    pub fn told(&self, variables: &[f64]) -> Vec<f64> {
        let start = self.start();
        let mut values = self.values(variables);
        for &(first, count) in &self.blocks {
            if variables[first..first + count] == start[first..first + count] {
                for &place in &self.free[first..first + count] {
                    values[place] = self.parameters[place].start;
                }
            } else if count == 1 {
                let p = &self.parameters[self.free[first]];
                let value = &mut values[self.free[first]];
                if variables[first] <= p.transform.to_search(p.lower) {
                    *value = p.lower;
                } else if variables[first] >= p.transform.to_search(p.upper) {
                    *value = p.upper;
                }
            }
        }
        values
    }

    /// Sets all parameters in `parameters`, fixed ones to their start.
    pub fn set<T: Real>(&self, variables: &[T], parameters: &mut Parameters<T>) {
        for (parameter, value) in self.parameters.iter().zip(self.values(variables)) {
            parameter.set(value, parameters);
        }
    }

    /// Turns normal equations in the variables, J'J and rows of J'r, at `variables` into those in the free
    /// parameters themselves, to first order: with D = d variables / d parameters, D' J'J D and D' J'r.
    /// Their inverse is the covariance of the parameters by the delta method.
    pub fn in_parameters(
        &self,
        variables: &[f64],
        mut h: DMatrix<f64>,
        mut gradients: Vec<DVector<f64>>,
    ) -> (DMatrix<f64>, Vec<DVector<f64>>) {
        let values = self.values(variables);
        for &(first, count) in &self.blocks {
            let own = self.of_block((first, count), &values);
            if count == 1 {
                let slope = self.parameters[self.free[first]].transform.slope(own[0]);
                h.column_mut(first).scale_mut(slope);
                h.row_mut(first).scale_mut(slope);
                gradients.iter_mut().for_each(|g| g[first] *= slope);
            } else {
                let turn = |values: &[Dual<f64, LANES>]| log_cholesky(values);
                let (_, slopes) = ad::jacobian::<LANES>(turn, &own);
                let columns = h.columns(first, count) * &slopes;
                h.columns_mut(first, count).copy_from(&columns);
                let rows = slopes.tr_mul(&h.rows(first, count));
                h.rows_mut(first, count).copy_from(&rows);
                for g in &mut gradients {
                    let part = slopes.tr_mul(&g.rows(first, count));
                    g.rows_mut(first, count).copy_from(&part);
                }
            }
        }
        (h, gradients)
    }

    /// The residuals of the priors, (value - mean) / sd, in the order of the parameters.
    pub fn prior_residuals<T: Real>(&self, variables: &[T]) -> Vec<T> {
        let values = self.values(variables);
        let known = self.free.iter().filter_map(|&i| Some((values[i], self.parameters[i].prior?)));
        known.map(|(value, prior)| (value - T::constant(prior.mean)) / prior.sd).collect()
    }

    fn bounds(&self, of: impl Fn(&FreeParameter) -> f64, none: f64) -> Vec<f64> {
        let mut bounds = vec![none; self.len()];
        for &(first, _) in self.blocks.iter().filter(|(_, count)| *count == 1) {
            let parameter = &self.parameters[self.free[first]];
            bounds[first] = parameter.transform.to_search(of(parameter));
        }
        bounds
    }

    fn of_block(&self, (first, count): (usize, usize), values: &[f64]) -> Vec<f64> {
        self.free[first..first + count].iter().map(|&i| values[i]).collect()
    }

    fn block_variables(&self, (first, count): (usize, usize), values: &[f64]) -> Vec<f64> {
        match count {
            1 => vec![self.parameters[self.free[first]].transform.to_search(values[0])],
            _ => log_cholesky(values),
        }
    }
}

/// How many of the first free parameters are an inertia, if they are.
fn inertia(parameters: &[FreeParameter], free: &[usize]) -> Option<usize> {
    let Transform::Inertial { place: 0, of } = parameters[*free.first()?].transform else {
        return None;
    };
    let members = free.get(..of).filter(|_| of == 6 || of == 10)?;
    let body = parameters[members[0]].inertial_body(0, of)?;
    let whole = members
        .iter()
        .enumerate()
        .all(|(place, &i)| parameters[i].inertial_body(place, of) == Some(body));
    whole.then_some(of)
}
