//! Sparse Hessians: columns summed by the adjoint sweep over duals.

use super::super::reverse::record;
use super::super::{Dual, Error, Real, TapeScalar, Var};
use super::check::{direction, wrong_row};
use super::pattern::same;
use super::{Coloring, Pattern};

/// A symmetric pattern with its colours: takes the Hessians of functions with this pattern.
///
/// Where the pattern has fewer entries than the Hessian, values are wrong unless
/// [verified](Self::verified). An entry more is no harm.
#[derive(Clone, Debug)]
pub struct SparseHessian {
    pattern: Pattern,
    coloring: Coloring,
    /// Where each entry stands alone: in which row of the sum of columns of which colour.
    sources: Vec<(u32, u32)>,
    verified: bool,
}

impl SparseHessian {
    /// Colours the variables. Either triangle of the pattern will do: mirror images are added.
    ///
    /// # Errors
    /// [`Error::Shape`] if the pattern is not square.
    pub fn new(pattern: Pattern) -> Result<Self, Error> {
        same(pattern.rows(), pattern.columns())?;
        let pattern =
            if pattern.is_symmetric() { pattern } else { pattern.union(&pattern.transpose())? };
        let coloring = Coloring::star(&pattern);
        let sources = sources(&pattern, &coloring);
        Ok(SparseHessian { pattern, coloring, sources, verified: false })
    }

    /// Evaluations also take the product of the Hessian with a direction, in a lane of its own, and
    /// compare: a pattern that is too small becomes an error. What is smaller than 1e-13 of the
    /// largest entry, or than 1e-8 of its row, may pass. The row named has a wrong product: it lacks an
    /// entry, or its neighbour does, from whom it has a value.
    pub fn verified(self) -> Self {
        SparseHessian { verified: true, ..self }
    }

    /// The pattern, symmetric, in whose order values are.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The colours of the variables.
    pub fn coloring(&self) -> &Coloring {
        &self.coloring
    }

    /// The value of `f` at `x`; its gradient and the entries of its Hessian, of both triangles, into
    /// `gradient` and `values`. By recordings over duals of `N` lanes, one for every `N` colours.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x`, `gradient` or `values` do not fit the pattern; those of
    /// [`gradient`](super::super::gradient()). If [verified](Self::verified),
    /// [`Error::MissingInRow`].
    ///
    /// ```
    /// use stiction::ad::Real;
    /// use stiction::ad::sparse::{Pattern, SparseHessian};
    /// let hessian = SparseHessian::new(Pattern::block_tridiagonal(1000, 1)?)?;
    /// let (mut gradient, mut values) = (vec![0.0; 1000], vec![0.0; 2998]);
    /// let energy = hessian.evaluate::<4>(
    ///     |x| x.windows(2).map(|x| (x[1] - x[0]).powi(2)).reduce(|a, b| a + b).unwrap_or(x[0]),
    ///     &[1.0; 1000],
    ///     &mut gradient,
    ///     &mut values,
    /// )?;
    /// assert_eq!((energy, hessian.coloring().count()), (0.0, 3));
    /// assert_eq!(values[..5], [2.0, -2.0, -2.0, 4.0, -2.0]);
    /// # Ok::<(), stiction::ad::Error>(())
    /// ```
    pub fn evaluate<const N: usize>(
        &self,
        mut f: impl FnMut(&[Var<Dual<f64, N>>]) -> Var<Dual<f64, N>>,
        x: &[f64],
        gradient: &mut [f64],
        values: &mut [f64],
    ) -> Result<f64, Error>
    where
        Dual<f64, N>: TapeScalar,
    {
        const { assert!(N > 0, "duals without lanes have no derivatives") };
        same(self.pattern.rows(), x.len())?;
        same(self.pattern.rows(), gradient.len())?;
        same(self.pattern.nnz(), values.len())?;
        let mut value = 0.0;
        let mut products = vec![0.0; if self.verified { x.len() } else { 0 }];
        let mut adjoints = vec![Dual::constant(0.0); x.len()];
        // At least one pass, for value and gradient.
        let end = (self.coloring.count() + usize::from(self.verified)).max(1);
        for first in (0..end).step_by(N) {
            let within = |color: usize| color.checked_sub(first).filter(|&lane| lane < N);
            let check = if self.verified { within(self.coloring.count()) } else { None };
            let seeded = x.iter().enumerate().map(|(j, &x)| {
                let mut seeded = Dual::constant(x);
                if let Some(lane) = self.coloring.color(j).and_then(within) {
                    seeded.tangent[lane] = 1.0;
                }
                if let Some(lane) = check {
                    seeded.tangent[lane] = direction(j);
                }
                seeded
            });
            value = record(seeded, &mut f, |recording, x, y| {
                recording.adjoints(&[(y, Dual::constant(1.0))], x, &mut adjoints)?;
                Ok(y.value())
            })?;
            for (value, &(row, color)) in values.iter_mut().zip(&self.sources) {
                if let Some(lane) = within(color as usize) {
                    *value = adjoints[row as usize].tangent[lane];
                }
            }
            if let Some(lane) = check {
                products.iter_mut().zip(&adjoints).for_each(|(p, a)| *p = a.tangent[lane]);
            }
        }
        gradient.iter_mut().zip(&adjoints).for_each(|(slope, a)| *slope = a.value);
        if self.verified
            && let Some(row) = wrong_row(&self.pattern, values, &products)
        {
            return Err(Error::MissingInRow { row });
        }
        Ok(value)
    }
}

/// Where each entry is read. Mirror images are read at the same place, so values are symmetric to the
/// bit.
fn sources(pattern: &Pattern, coloring: &Coloring) -> Vec<(u32, u32)> {
    // Everything with an entry has a colour.
    let color = |k: usize| coloring.color(k).unwrap_or(0);
    let mut sources = vec![(0, 0); pattern.nnz()];
    let mut counts = vec![0_usize; coloring.count()];
    for i in 0..pattern.rows() {
        let row = pattern.row(i);
        row.iter().for_each(|&j| counts[color(j as usize)] += 1);
        for (k, &j) in row.iter().enumerate() {
            let j = j as usize;
            // Alone in row i of its colour; else column i is alone of its own in row j: a star.
            let source = if counts[color(j)] == 1 { (i, color(j)) } else { (j, color(i)) };
            if j >= i {
                let source = (source.0 as u32, source.1 as u32);
                sources[pattern.start(i) + k] = source;
                if let Some(mirror) = pattern.position(j, i) {
                    sources[mirror] = source;
                }
            }
        }
        row.iter().for_each(|&j| counts[color(j as usize)] = 0);
    }
    sources
}
