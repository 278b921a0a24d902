//! Sparse Jacobians: columns summed by duals, or rows summed by the tape.

use std::sync::OnceLock;

use super::super::recording::WeightedRow;
use super::super::reverse::record;
use super::super::tape::ROWS;
use super::super::{Dual, Error, Function, Real, Var};
use super::check::{direction, wrong_column, wrong_row};
use super::pattern::same;
use super::{Coloring, Pattern};

/// Lanes of a pass of duals, and of the last one if it needs no more.
const LANES: usize = 8;
const FEW_LANES: usize = 4;

// What a pass of duals, a recording, and a sweep of eight rows cost, in evaluations of the function:
// from the bench `sparse`. Only the ratios matter.
const PASS: usize = 10;
const RECORD: usize = 11;
const SWEEP: usize = 28;

/// What is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Columns, forward by duals.
    Columns,
    /// Rows, in reverse by the tape.
    Rows,
}

/// A pattern with its colours: takes the Jacobians (outputs x inputs) of functions with this pattern.
///
/// Where the pattern has fewer entries than the function has dependences, values are wrong unless
/// [verified](Self::verified). An entry more is no harm.
#[derive(Clone, Debug)]
pub struct SparseJacobian {
    pattern: Pattern,
    compression: Compression,
    columns: OnceLock<Coloring>,
    rows: OnceLock<Coloring>,
    verified: bool,
}

impl SparseJacobian {
    /// Colours columns or rows, whichever will be cheaper to evaluate.
    pub fn new(pattern: Pattern) -> Self {
        let mut this = SparseJacobian {
            compression: Compression::Columns,
            columns: OnceLock::new(),
            rows: OnceLock::new(),
            verified: false,
            pattern,
        };
        // No colouring has fewer colours than the longest row (column) has entries. What cannot be
        // the cheaper is not coloured: a dense row alone makes all columns differ.
        let longest_row = this.pattern.longest_row();
        let longest_column = this.pattern.transpose().longest_row();
        let least = (cost_of_columns(longest_row), cost_of_rows(longest_column));
        let by_columns = if least.0 <= least.1 {
            let columns = cost_of_columns(this.column_coloring().count());
            columns <= least.1 || columns <= cost_of_rows(this.row_coloring().count())
        } else {
            let rows = cost_of_rows(this.row_coloring().count());
            rows > least.0 && rows >= cost_of_columns(this.column_coloring().count())
        };
        if !by_columns {
            this.compression = Compression::Rows;
        }
        this
    }

    /// Evaluations also take the product of the Jacobian with a direction, in a lane of its own, and
    /// compare: a pattern that is too small becomes an error. What is smaller than 1e-13 of the
    /// largest entry, or than 1e-8 of its row, may pass.
    pub fn verified(self) -> Self {
        SparseJacobian { verified: true, ..self }
    }

    /// The pattern, in whose order values are.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What [`evaluate`](Self::evaluate) sums.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// How many colours [`evaluate`](Self::evaluate) works with.
    pub fn colors(&self) -> usize {
        match self.compression {
            Compression::Columns => self.column_coloring().count(),
            Compression::Rows => self.row_coloring().count(),
        }
    }

    /// The colours of the columns; found when first asked for.
    pub fn column_coloring(&self) -> &Coloring {
        self.columns.get_or_init(|| Coloring::of_columns(&self.pattern))
    }

    /// The colours of the rows; found when first asked for.
    pub fn row_coloring(&self) -> &Coloring {
        self.rows.get_or_init(|| Coloring::of_rows(&self.pattern))
    }

    /// The outputs of `f` at `x`; the entries of its Jacobian into `values`. Columns take one
    /// evaluation on duals for every eight colours, rows one recording and a sweep for every eight.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x`, the outputs or `values` do not fit the pattern; those of
    /// [`gradient`](super::super::gradient()) by rows. If [verified](Self::verified),
    /// [`Error::MissingInRow`] by columns and [`Error::MissingInColumn`] by rows.
    pub fn evaluate(
        &self,
        f: &impl Function,
        x: &[f64],
        values: &mut [f64],
    ) -> Result<Vec<f64>, Error> {
        if self.compression == Compression::Rows {
            return self.evaluate_by_rows(|x| f.evaluate(x), x, values);
        }
        let mut pass = ColumnPass::new(self, x, values)?;
        let mut outputs = Vec::new();
        while pass.goes_on() {
            outputs = if pass.end - pass.first <= FEW_LANES {
                pass.run::<FEW_LANES>(|x| f.evaluate(x))?
            } else {
                pass.run::<LANES>(|x| f.evaluate(x))?
            };
        }
        pass.finish().map(|()| outputs)
    }

    /// [`evaluate`](Self::evaluate) by columns in duals of `N` lanes: one evaluation of `f` for every
    /// `N` colours.
    ///
    /// # Errors
    /// [`Error::Shape`]; if [verified](Self::verified), [`Error::MissingInRow`].
    pub fn evaluate_by_columns<const N: usize>(
        &self,
        mut f: impl FnMut(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
        x: &[f64],
        values: &mut [f64],
    ) -> Result<Vec<f64>, Error> {
        const { assert!(N > 0, "duals without lanes have no derivatives") };
        let mut pass = ColumnPass::new(self, x, values)?;
        let mut outputs = Vec::new();
        while pass.goes_on() {
            outputs = pass.run::<N>(&mut f)?;
        }
        pass.finish().map(|()| outputs)
    }

    /// [`evaluate`](Self::evaluate) by rows: one recording of `f`, and a sweep for every eight colours.
    ///
    /// # Errors
    /// [`Error::Shape`]; those of [`gradient`](super::super::gradient()); if
    /// [verified](Self::verified), [`Error::MissingInColumn`].
    pub fn evaluate_by_rows(
        &self,
        f: impl FnOnce(&[Var]) -> Vec<Var>,
        x: &[f64],
        values: &mut [f64],
    ) -> Result<Vec<f64>, Error> {
        same(self.pattern.columns(), x.len())?;
        same(self.pattern.nnz(), values.len())?;
        let coloring = self.row_coloring();
        let lane = |i: usize, first: usize| {
            coloring.color(i).and_then(|color| color.checked_sub(first)).filter(|&k| k < ROWS)
        };
        let checked = if self.verified { Some(coloring.count()) } else { None };
        record(x.iter().copied(), f, |recording, x, y| {
            same(self.pattern.rows(), y.len())?;
            let mut sums = vec![[0.0; ROWS]; x.len()];
            let mut products = vec![0.0; if self.verified { x.len() } else { 0 }];
            let mut seeds: Vec<WeightedRow<f64>> = Vec::with_capacity(2 * y.len());
            for first in (0..coloring.count() + usize::from(self.verified)).step_by(ROWS) {
                let check = checked.map(|lane| lane - first).filter(|&lane| lane < ROWS);
                seeds.clear();
                for (i, &output) in y.iter().enumerate() {
                    let own = lane(i, first).map(|lane| (output, lane, 1.0));
                    let check = check.map(|lane| (output, lane, direction(i)));
                    seeds.extend(own.into_iter().chain(check));
                }
                recording.weighted_rows(&seeds, x, &mut sums)?;
                for i in 0..y.len() {
                    let Some(lane) = lane(i, first) else { continue };
                    let entries = &mut values[self.pattern.start(i)..];
                    for (value, &j) in entries.iter_mut().zip(self.pattern.row(i)) {
                        *value = sums[j as usize][lane];
                    }
                }
                if let Some(lane) = check {
                    products.iter_mut().zip(&sums).for_each(|(p, sum)| *p = sum[lane]);
                }
            }
            recording.fault()?;
            if self.verified
                && let Some(column) = wrong_column(&self.pattern, values, &products)
            {
                return Err(Error::MissingInColumn { column });
            }
            Ok(y.iter().map(|y| y.value()).collect())
        })
    }
}

fn cost_of_columns(colors: usize) -> usize {
    PASS * colors.div_ceil(LANES).max(1)
}

fn cost_of_rows(colors: usize) -> usize {
    RECORD + SWEEP * colors.div_ceil(ROWS)
}

/// An evaluation by columns, pass by pass.
struct ColumnPass<'a> {
    jacobian: &'a SparseJacobian,
    x: &'a [f64],
    values: &'a mut [f64],
    products: Vec<f64>,
    /// The first colour of the next pass, and how many there are, with that of the check.
    first: usize,
    end: usize,
}

impl<'a> ColumnPass<'a> {
    fn new(
        jacobian: &'a SparseJacobian,
        x: &'a [f64],
        values: &'a mut [f64],
    ) -> Result<Self, Error> {
        let pattern = &jacobian.pattern;
        same(pattern.columns(), x.len())?;
        same(pattern.nnz(), values.len())?;
        // At least one pass, for the outputs.
        let end = (jacobian.column_coloring().count() + usize::from(jacobian.verified)).max(1);
        Ok(ColumnPass { jacobian, x, values, products: Vec::new(), first: 0, end })
    }

    fn goes_on(&self) -> bool {
        self.first < self.end
    }

    fn run<const N: usize>(
        &mut self,
        f: impl FnOnce(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
    ) -> Result<Vec<f64>, Error> {
        let (pattern, coloring) = (&self.jacobian.pattern, self.jacobian.column_coloring());
        let first = self.first;
        self.first += N;
        let within = |color: usize| color.checked_sub(first).filter(|&lane| lane < N);
        let lanes: Vec<Option<usize>> =
            (0..self.x.len()).map(|j| coloring.color(j).and_then(within)).collect();
        let check = if self.jacobian.verified { within(coloring.count()) } else { None };
        let seed = |(j, (&x, lane)): (usize, (&f64, &Option<usize>))| {
            let mut seeded = Dual::constant(x);
            if let Some(lane) = *lane {
                seeded.tangent[lane] = 1.0;
            }
            if let Some(lane) = check {
                seeded.tangent[lane] = direction(j);
            }
            seeded
        };
        let seeded: Vec<Dual<f64, N>> = self.x.iter().zip(&lanes).enumerate().map(seed).collect();
        let y = f(&seeded);
        same(pattern.rows(), y.len())?;
        for (i, y) in y.iter().enumerate() {
            let entries = &mut self.values[pattern.start(i)..];
            for (value, &j) in entries.iter_mut().zip(pattern.row(i)) {
                if let Some(lane) = lanes[j as usize] {
                    *value = y.tangent[lane];
                }
            }
        }
        if let Some(lane) = check {
            self.products = y.iter().map(|y| y.tangent[lane]).collect();
        }
        Ok(y.into_iter().map(|y| y.value).collect())
    }

    fn finish(self) -> Result<(), Error> {
        if self.jacobian.verified
            && let Some(row) = wrong_row(&self.jacobian.pattern, self.values, &self.products)
        {
            return Err(Error::MissingInRow { row });
        }
        Ok(())
    }
}
