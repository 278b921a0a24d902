//! The data of the coupled contact problem, and its Delassus matrix.

use super::law::Law;
use crate::ad::Real;
use crate::argmin::block_rows::{BlockRows, RowBlock};
use crate::linalg::{Elimination, dot, solve_lower, solve_lower_transpose, times_lower_transpose};

/// The coupled contact problem as a node.
///
/// Inputs, one after the other (with [`BlockRows`] for the layout of J, and one number a block for
/// the last three): J; L of each tree, row-major, lower triangular; v_p (one number a velocity);
/// target along the first row (m/s); mu of a cone or pyramid, largest impulse of an interval or disk (N s),
/// unused otherwise; compliance c along the first row (1/kg), of a couple that of its contact.
/// Outputs: v+, then lambda, one number a row (N s).
#[derive(Debug, Default)]
pub struct CoupledContact {
    /// The velocities, and which of them each block touches.
    pub rows: BlockRows,
    /// The law of each block.
    pub laws: Vec<Law>,
    /// Relative natural residual at which the problem counts as solved.
    pub tolerance: f64,
    /// How it is solved.
    pub method: ContactMethod,
    /// Whether impulses passed in that solve the problem, or do after a few Newton steps, are taken as they
    /// are: where little changes from step to step that saves most of the work. Not for solutions that are
    /// differentiated: of impulses that are not unique these need not be those of least norm.
    pub keep: bool,
    /// What momenta answer to changes of v+ beyond L L' dv+, where velocities without contact depend on those at the end: S dv+, tree by
    /// tree and row-major, or nothing. It says nothing about values: v_p is what it is at the solution.
    pub rest: Vec<f64>,
}

/// How a [`CoupledContact`] is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactMethod {
    /// Gauss-Seidel, semi-smooth Newton, and what else it takes.
    #[default]
    Newton,
    /// Gauss-Seidel sweeps alone. The result has no derivative: `jvp` and `vjp` give NaN.
    GaussSeidel,
    /// The impulses of the solution passed in are taken as they are (but for how a joint's limit and dry friction
    /// along it share theirs), and differentiated by the conditions in the modes they suggest.
    Given,
}

// By hand: the tape copies nodes into memory it has, which the derived `clone_from` drops.
impl Clone for CoupledContact {
    fn clone(&self) -> Self {
        let mut clone = CoupledContact::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.laws.clone_from(&other.laws);
        (self.tolerance, self.method, self.keep) = (other.tolerance, other.method, other.keep);
        self.rest.clone_from(&other.rest);
    }
}

impl CoupledContact {
    /// `contacts` contacts by Coulomb's law, three rows each, on one tree of `velocities` velocities: J is
    /// then a dense row-major matrix, rows normal, tangent 1, tangent 2 of each contact.
    pub fn on_one_tree(contacts: usize, velocities: usize, tolerance: f64) -> Self {
        let mut node = CoupledContact { tolerance, ..CoupledContact::default() };
        let tree = node.rows.add_tree(velocities);
        for _ in 0..contacts {
            node.add(Law::default(), [tree, tree]);
        }
        node
    }

    /// Adds a block that obeys `law` and touches two trees, or one if they are the same. Trees are
    /// added to `rows` before.
    pub fn add(&mut self, law: Law, trees: [usize; 2]) {
        self.rows.add_block(law.rows(), trees);
        self.laws.push(law);
    }

    /// Adds the friction of a couple at the contact that is block `of`, on the same trees.
    ///
    /// # Panics
    ///
    /// If there is no block `of` yet.
    pub fn add_couple(&mut self, of: usize) {
        self.rows.add_couple(of);
        self.laws.push(Law::of_couple());
    }

    /// Adds friction of a given strength, N s, its limit, on two trees, or one if they are the same: rows and limit stand with
    /// those of other blocks.
    pub fn add_disk(&mut self, trees: [usize; 2]) {
        self.add(Law::of_disk(), trees);
    }

    /// Forgets trees and blocks, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.laws.clear();
        self.rest.clear();
    }

    /// How many inputs there are.
    pub fn input_len(&self) -> usize {
        Layout::new(&self.rows).end
    }

    /// How many outputs there are.
    pub fn output_len(&self) -> usize {
        self.rows.velocities() + self.rows.rows()
    }

    /// L of a tree, among the inputs.
    pub(crate) fn mass_factor<'a, T: Real>(&'a self, inputs: &'a [T], tree: usize) -> &'a [T] {
        self.data(inputs).factor(tree)
    }

    /// A view of inputs, which are as many as [`input_len`](Self::input_len) says.
    pub(crate) fn data<'a, T: Real>(&'a self, inputs: &'a [T]) -> ContactData<'a, T> {
        ContactData::new(&self.rows, &self.laws, inputs)
    }

    /// Whether there is a problem to be solved.
    pub(super) fn is_admissible<T: Real>(&self, inputs: &[T]) -> bool {
        is_admissible(&self.rows, &self.laws, inputs)
    }
}

/// A view of the inputs of [`CoupledContact`](super::CoupledContact).
#[derive(Clone, Copy)]
pub(crate) struct ContactData<'a, T> {
    pub rows: &'a BlockRows,
    pub laws: &'a [Law],
    /// J, as `rows` lays it out.
    pub jacobian: &'a [T],
    /// L of each tree, M = L L'.
    pub mass_factor: &'a [T],
    /// v_p
    pub free: &'a [T],
    /// Least velocity along the first row of each block.
    pub target: &'a [T],
    /// mu of each cone, largest impulse of each interval and disk.
    pub limit: &'a [T],
    pub compliance: &'a [T],
}

/// Where each input begins.
pub(super) struct Layout {
    pub jacobian: usize,
    pub mass_factor: usize,
    pub free: usize,
    pub target: usize,
    pub limit: usize,
    pub compliance: usize,
    pub end: usize,
}

impl Layout {
    pub fn new(rows: &BlockRows) -> Self {
        let blocks = rows.blocks().len();
        let mass_factor = rows.entries();
        let free = mass_factor + rows.squares();
        let target = free + rows.velocities();
        let limit = target + blocks;
        let compliance = limit + blocks;
        let end = compliance + blocks;
        Layout { jacobian: 0, mass_factor, free, target, limit, compliance, end }
    }
}

/// Whether laws and inputs fit the rows, and a solution may be looked for.
pub(super) fn is_admissible<T: Real>(rows: &BlockRows, laws: &[Law], inputs: &[T]) -> bool {
    let matches = |(block, law): (&RowBlock, &Law)| block.rows == law.rows();
    // A couple goes with a contact before it, and nothing else does.
    let of_contact = |(i, (block, law)): (usize, (&RowBlock, &Law))| match law.borrows() {
        true => block.normal < i && laws[block.normal].rows() == 3 && !laws[block.normal].borrows(),
        false => block.normal == i,
    };
    laws.len() == rows.blocks().len()
        && rows.blocks().iter().zip(laws).all(matches)
        && rows.blocks().iter().zip(laws).enumerate().all(of_contact)
        && inputs.len() == Layout::new(rows).end
        && ContactData::new(rows, laws, inputs).is_admissible()
}

impl<'a, T: Real> ContactData<'a, T> {
    /// A view of `inputs`, which are as many as [`Layout::end`] says.
    pub fn new(rows: &'a BlockRows, laws: &'a [Law], inputs: &'a [T]) -> Self {
        let at = Layout::new(rows);
        ContactData {
            rows,
            laws,
            jacobian: &inputs[at.jacobian..at.mass_factor],
            mass_factor: &inputs[at.mass_factor..at.free],
            free: &inputs[at.free..at.target],
            target: &inputs[at.target..at.limit],
            limit: &inputs[at.limit..at.compliance],
            compliance: &inputs[at.compliance..at.end],
        }
    }

    /// The blocks of rows.
    pub fn blocks(&self) -> &'a [RowBlock] {
        self.rows.blocks()
    }

    /// Row `r` of block `i` of J.
    pub fn row(&self, i: usize, r: usize) -> &'a [T] {
        self.blocks()[i].row(self.jacobian, r)
    }

    /// L of a tree.
    pub fn factor(&self, tree: usize) -> &'a [T] {
        &self.mass_factor[self.rows.square(tree)]
    }

    /// Whether block `i` has no compliance, so that its impulse may not be unique.
    pub fn is_rigid(&self, i: usize) -> bool {
        self.compliance[i].value() == 0.0
    }

    /// The blocks that borrow their normal impulse, each with the one that has it.
    pub fn couples(&self) -> impl Iterator<Item = (usize, usize)> + use<'a, T> {
        let blocks = self.blocks().iter().enumerate();
        blocks.filter(|(i, block)| block.normal != *i).map(|(i, block)| (i, block.normal))
    }

    /// Gives what borrows its first number that of the block it borrows from, and what has it given that.
    pub fn lend(&self, x: &mut [T]) {
        for (block, law) in self.blocks().iter().zip(self.laws) {
            if law.is_given() {
                x[block.first] = T::one();
            }
        }
        for (couple, of) in self.couples() {
            x[self.blocks()[couple].first] = x[self.blocks()[of].first];
        }
    }

    /// Whether the numbers are such that a solution may be looked for.
    pub fn is_admissible(&self) -> bool {
        let finite = |x: &[T]| x.iter().all(|x| x.value().is_finite());
        let nonnegative = |x: &[T]| x.iter().all(|x| x.value() >= 0.0 && x.value().is_finite());
        let positive_diagonal = |tree| {
            let (n, l) = (self.rows.tree(tree).len(), self.factor(tree));
            (0..n).all(|i| l[i * (n + 1)].value() > 0.0)
        };
        finite(self.jacobian)
            && finite(self.mass_factor)
            && finite(self.free)
            && finite(self.target)
            && nonnegative(self.limit)
            && nonnegative(self.compliance)
            && (0..self.rows.trees()).all(positive_diagonal)
    }

    /// v <- L^-1 v
    pub fn solve_factor(&self, v: &mut [T]) {
        for tree in 0..self.rows.trees() {
            let range = self.rows.tree(tree);
            solve_lower(self.factor(tree), range.len(), &mut v[range]);
        }
    }

    /// v <- L^-T v
    pub fn solve_factor_transpose(&self, v: &mut [T]) {
        for tree in 0..self.rows.trees() {
            let range = self.rows.tree(tree);
            solve_lower_transpose(self.factor(tree), range.len(), &mut v[range]);
        }
    }

    /// y <- L' x
    pub fn times_factor_transpose(&self, x: &[T], y: &mut [T]) {
        for tree in 0..self.rows.trees() {
            let (range, l) = (self.rows.tree(tree), self.factor(tree));
            times_lower_transpose(l, range.len(), &x[range.clone()], &mut y[range]);
        }
    }

    /// v <- M^-1 v
    pub fn solve_mass(&self, v: &mut [T]) {
        self.solve_factor(v);
        self.solve_factor_transpose(v);
    }
}

/// The contact-space view of the problem: contact velocities are `u = G lambda + b`. G is never
/// formed: what it does goes through the velocities.
#[derive(Clone, Debug, Default)]
pub(super) struct Delassus<T> {
    /// W = J L^-T, so that G = J M^-1 J' = W W'   [LeLidec21] (5)
    pub w: Vec<T>,
    /// The diagonal blocks of G, nine numbers a block, row-major in its rows.
    pub diagonal: Vec<[T; 9]>,
    /// b = J v_p, less the target in the first row of each block.
    pub b: Vec<T>,
    /// That of matrices of velocities, where these are factorised by blocks.
    pub pattern: Elimination,
    /// W' lambda
    y: Vec<T>,
    /// The first rows of blocks that borrow their normal impulse, each with the row that has it: they feel the same.
    borrowed: Vec<[usize; 2]>,
}

impl<T: Real> Delassus<T> {
    /// Takes over another, in the memory there is.
    pub fn copy_from(&mut self, other: &Self) {
        self.w.clone_from(&other.w);
        self.diagonal.clone_from(&other.diagonal);
        self.b.clone_from(&other.b);
        self.pattern.clone_from(&other.pattern);
        self.y.clone_from(&other.y);
        self.borrowed.clone_from(&other.borrowed);
    }

    pub fn assemble(&mut self, data: &ContactData<T>) {
        self.w.clear();
        self.w.extend_from_slice(data.jacobian);
        self.diagonal.clear();
        self.b.clear();
        self.y.clear();
        self.y.resize(data.rows.velocities(), T::zero());
        if data.rows.is_large() {
            data.rows.decide(&mut self.pattern);
        }
        for (i, block) in data.blocks().iter().enumerate() {
            let mut diagonal = [T::zero(); 9];
            for r in 0..block.rows {
                let row = block.row_mut(&mut self.w, r);
                for (tree, part) in block.parts() {
                    solve_lower(data.factor(tree), part.len(), &mut row[part]);
                }
                let row = block.row(&self.w, r);
                for c in 0..=r {
                    let g = dot(row, block.row(&self.w, c));
                    diagonal[r * block.rows + c] = g;
                    diagonal[c * block.rows + r] = g;
                }
                self.b.push(block.times(data.row(i, r), data.free));
            }
            self.diagonal.push(diagonal);
            self.b[block.first] -= data.target[i];
        }
        self.borrowed.clear();
        for (couple, of) in data.couples() {
            let first = [couple, of].map(|i| data.blocks()[i].first);
            self.borrowed.push(first);
            self.b[first[0]] = self.b[first[1]];
            let [across, along] = [self.diagonal[couple][8], self.diagonal[couple][4]];
            self.diagonal[couple][0] = self.diagonal[of][0];
            // Of one row its own scale is that of both.
            self.diagonal[couple][8] = if across.value() > 0.0 { across } else { along };
        }
    }

    /// u <- W y of an impulse y, by which the first rows of blocks that borrow it feel what those feel that have it.
    pub fn felt(&self, rows: &BlockRows, y: &[T], u: &mut [T]) {
        rows.times(&self.w, y, u);
        for &[couple, of] in &self.borrowed {
            u[couple] = u[of];
        }
    }

    /// u <- G lambda + b
    pub fn velocity(&mut self, rows: &BlockRows, lambda: &[T], u: &mut [T]) {
        rows.transpose_times(&self.w, lambda, &mut self.y);
        self.felt(rows, &self.y, u);
        for (u, &b) in u.iter_mut().zip(&self.b) {
            *u += b;
        }
    }

    /// Diagonal of the first row of block `i`.
    pub fn normal_scale(&self, i: usize) -> f64 {
        self.diagonal[i][0].value()
    }

    /// Mean of the tangential diagonal of block `i`, of three rows.
    pub fn tangential_scale(&self, i: usize) -> f64 {
        0.5 * (self.diagonal[i][4].value() + self.diagonal[i][8].value())
    }

    /// The largest contact velocity without impulses: what residuals are relative to.
    pub fn velocity_scale(&self) -> f64 {
        self.b.iter().map(|b| b.value().abs()).fold(0.0, f64::max)
    }
}
