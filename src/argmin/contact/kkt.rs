//! The optimality conditions of the coupled contact problem at given modes, linearised.
//!
//! In each mode a contact has its own unknowns: none where it breaks; the normal impulse and two
//! tangential ones where it sticks; the normal impulse and the arc along the edge of the friction
//! disk where it slides or is clamped. With e the direction of the arc, d that of the friction (e at
//! right angles), s the slip speed and R = mu lambda_n:
//!
//! | unknown | condition h = 0 | moves lambda by |
//! |---|---|---|
//! | normal | u_n - target + c lambda_n | (1, mu d) sliding or clamped, (1, 0) sticking |
//! | stick  | u_t + a (I - P) lambda_t | each tangent |
//! | slide  | R e.u_t, scaled by 1 / (s + R g) | (0, e) |
//! | clamp  | e.u_t + a (I - P) e.lambda_t | (0, e) |
//!
//! A clamp is the slide of s = 0: along d others keep it from slipping, across d it does so itself.
//! An associated contact that slides has the normal condition along (1, mu d) as well. A pyramid has d of
//! components -1, 0, 1, no arc, and a stick unknown along each axis where d is 0. Blocks of one row
//! have the normal unknown, or none where they break or are at their limit. Which of these a block has, its
//! law [says](super::law::Face).
//!
//! P projects on the range of the tangential rows of all sticking contacts, and of those of the
//! clamps across d: it adds the condition that impulses between contacts that cancel be zero, which
//! is the minimum-norm rule, and leaves the velocities alone, since J v+ lies in that range. Normal
//! rows without compliance join them. `a` only scales.
//!
//! The matrix is K = B G C' + D + a (I - P), with B the conditions' rows, C the unknowns' columns, D
//! diagonal and G = W W': see [`contact_matrix`](super::kkt_matrix).

mod borrower;
mod even_steps;
mod yielding;

use super::kkt_matrix::{ContactMatrix, Shared};
use super::law::{Face, Law, Mode, Support, Tangents};
use super::problem::{ContactData, Delassus};
use super::rule::{PROXIMAL, Selection};
use crate::ad::Real;
use crate::argmin::block_rows::RowBlock;
use crate::linalg::Range;

/// An unknown of the reduced system: its block and what it is.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    block: usize,
    /// First row of the block.
    first: usize,
    kind: Kind,
}

/// A condition that shares the least-norm rule: its unknown; its row in contact space, three numbers from `first` on,
/// which is what the condition asks of velocities; and the impulse of which the rule takes the norm.
#[derive(Clone, Copy, Debug)]
struct Member<T> {
    unknown: usize,
    first: usize,
    rows: usize,
    row: [T; 3],
    impulse: [T; 3],
}

/// Rows of contacts shorter than this part of the longest, less what the others have, count as dependent: at the
/// tolerance of a solver such a row holds nothing.
pub(super) const DEPENDENT: f64 = 1e-7;

/// What is left of rows that count as dependent, relative to the longest, below which it moves nothing.
pub(super) const NEGLIGIBLE: f64 = 1e-9;

/// Whether a problem of many trees has nothing redundant but friction: all that is closed has a compliance.
pub(super) fn shares_only_friction<T: Real>(data: &ContactData<T>, modes: &[Mode]) -> bool {
    data.rows.is_large() && (0..modes.len()).all(|i| modes[i] == Mode::Break || !data.is_rigid(i))
}

/// A block that borrows its normal impulse.
#[derive(Clone, Copy, Debug)]
struct Borrower {
    /// The normal unknown of the block that has it.
    unknown: usize,
    block: usize,
    /// Its first row.
    first: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Normal,
    /// The tangent 0 or 1.
    Stick(usize),
    Slide,
    Clamp,
}

/// Where the conditions are linearised.
#[derive(Clone, Copy)]
pub(super) struct Iterate<'a, T> {
    pub modes: &'a [Mode],
    /// Direction of the friction of contacts that slide or clamp, the sides of pyramids and intervals.
    pub directions: &'a [[T; 2]],
    pub lambda: &'a [T],
    /// Contact velocities.
    pub u: &'a [T],
    /// See [`ContactSolution`](super::ContactSolution).
    pub held: &'a [f64],
}

/// The linearised conditions, factorised.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactModes<T> {
    unknowns: Vec<Unknown>,
    /// Direction of the friction of each contact.
    pub direction: Vec<[T; 2]>,
    /// For slides, R / (s + R g): the scaled weight of e.u_t.
    weight: Vec<T>,
    limit: Vec<T>,
    laws: Vec<Law>,
    modes: Vec<Mode>,
    /// Of each normal unknown that others borrow, in their order: itself, the block that does, and its first row.
    borrowers: Vec<Borrower>,
    matrix: ContactMatrix<T>,
    /// The conditions that share the least-norm rule.
    members: Vec<Member<T>>,
    /// Their unknowns.
    shared: Vec<usize>,
    range: Range<T>,
    /// a: the mean diagonal of G over the members.
    range_scale: f64,
    shortest_row: f64,
    /// By block, what the weight of friction that holds at its limit is multiplied with.
    stretch: Vec<f64>,
    /// y with J y = lambda - held on the members.
    preimage: Vec<T>,
    rows: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> ContactModes<T> {
    /// Sets up and factorises the conditions. False if singular.
    #[must_use]
    pub fn factor(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        selection: Selection,
    ) -> bool {
        let velocities = data.rows.velocities();
        if !self.set_up(data, delassus, at, selection) {
            return match data.rows.is_large() {
                true => self.matrix.factor_by_blocks(&delassus.pattern),
                false => self.matrix.factor(velocities),
            };
        }
        self.shared.clear();
        self.shared.extend(self.members.iter().map(|member| member.unknown));
        let (unknowns, range) = (&self.shared[..], &self.range);
        self.matrix.factor_with(velocities, Shared { unknowns, range, scale: self.range_scale })
    }

    /// Sets up the conditions; whether some share the least-norm rule.
    pub fn set_up(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        selection: Selection,
    ) -> bool {
        let (coarse, dependent) = match selection {
            Selection::CoarseLeastNorm(coarse) => (Some(coarse), Some(coarse)),
            Selection::LeastNorm(dependent) => (None, Some(dependent)),
            Selection::Exact(coarse) => (coarse, None),
            _ => (None, None),
        };
        self.take_unknowns(data, delassus, at, coarse);
        self.range.clear();
        if let Some(dependent) = dependent {
            self.project(data, delassus, at, (coarse.is_some(), dependent));
        }
        self.spread(data, delassus);
        self.take_diagonal(data, delassus, selection);
        dependent.is_some()
    }

    /// The unknowns of each block in its mode.
    fn take_unknowns(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        coarse: Option<f64>,
    ) {
        self.modes.clear();
        self.modes.extend_from_slice(at.modes);
        self.laws.clear();
        self.laws.extend_from_slice(data.laws);
        self.direction.clear();
        self.direction.extend_from_slice(at.directions);
        self.limit.clear();
        self.limit.extend_from_slice(data.limit);
        self.unknowns.clear();
        self.weight.clear();
        for (i, block) in data.blocks().iter().enumerate() {
            let (mode, d) = (at.modes[i], at.directions[i]);
            let mut weight = T::zero();
            let mut push =
                |kind| self.unknowns.push(Unknown { block: i, first: block.first, kind });
            let face = data.laws[i].face(mode, d.map(|d| d.value()), data.limit[i].value());
            if !data.laws[i].has_only_friction()
                && let Face::Closed(_) = face
            {
                push(Kind::Normal);
            }
            match face {
                Face::Apart | Face::AtLimit | Face::Closed(Tangents::None) => {}
                Face::Closed(Tangents::Axes(held)) => {
                    (0..2).filter(|&k| held[k]).for_each(|k| push(Kind::Stick(k)));
                }
                Face::Closed(Tangents::Across) => push(Kind::Clamp),
                Face::Closed(Tangents::Arc) => {
                    let u = &at.u[block.first..];
                    let slip = -(d[0] * u[1] + d[1] * u[2]);
                    let radius = data.limit[i] * at.lambda[block.first];
                    let total = slip + radius * delassus.tangential_scale(i);
                    if total.value() > 0.0 {
                        weight = radius / total;
                    }
                    let creeps = |coarse: f64| slip.value() <= coarse * total.value();
                    push(if coarse.is_some_and(creeps) { Kind::Clamp } else { Kind::Slide });
                }
            }
            self.weight.push(weight);
        }
        self.take_borrowers(data);
    }

    /// B W and C W.
    fn spread(&mut self, data: &ContactData<T>, delassus: &Delassus<T>) {
        self.matrix.clear();
        for (k, &unknown) in self.unknowns.iter().enumerate() {
            let block = &data.blocks()[unknown.block];
            let of = (&self.direction[..], &self.limit[..], &self.laws[..], &self.modes[..]);
            let combinations = [test(of, &self.weight, unknown), motion(of, unknown)];
            let [test, motion] = self.matrix.add(block);
            for (spread, b) in [&mut *test, &mut *motion].into_iter().zip(combinations) {
                add_rows(block, &delassus.w, b, spread);
            }
            for borrower in Borrower::of(&self.borrowers, k) {
                // The same trees in the same order.
                let block = &data.blocks()[borrower.block];
                add_rows(block, &delassus.w, borrower.motion(of), motion);
            }
        }
    }

    /// D: compliance, what turning costs, and the proximal terms.
    fn take_diagonal(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        selection: Selection,
    ) {
        let weight = match selection {
            Selection::LeastNorm(_) | Selection::CoarseLeastNorm(_) | Selection::Exact(_) => 0.0,
            Selection::Proximal => PROXIMAL,
            Selection::Damped(weight) => weight,
            Selection::Even(_) => 0.0,
        };
        let (normal, even) = match selection {
            Selection::Even([normal, weight]) => (T::constant(normal), Some(T::constant(weight))),
            _ => (T::zero(), None),
        };
        let damped = matches!(selection, Selection::Damped(_));
        self.matrix.diagonal.extend(self.unknowns.iter().map(|unknown| {
            let i = unknown.block;
            let (own, scale) = match unknown.kind {
                // The compliance, where there is one, is proximal term enough.
                Kind::Normal if damped || data.is_rigid(i) => {
                    (data.compliance[i], delassus.normal_scale(i))
                }
                Kind::Normal => (data.compliance[i] + normal, 0.0),
                Kind::Stick(..) => (even.unwrap_or(T::zero()), delassus.tangential_scale(i)),
                Kind::Clamp => {
                    let stretched = |even: T| even * T::constant(self.stretch[i]);
                    (even.map_or(T::zero(), stretched), delassus.tangential_scale(i))
                }
                // s / (s + R g) = 1 - g R / (s + R g)
                Kind::Slide => (T::one() - self.weight[i] * delassus.tangential_scale(i), 1.0),
            };
            own + T::constant(weight * scale)
        }));
    }

    /// The range of the rows that share the least-norm rule: the tangential ones of sticking
    /// contacts, those across d of clamps and, without compliance, the normal ones.
    fn project(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        (coarse, dependent): (bool, f64),
    ) {
        let nv = data.rows.velocities();
        self.members.clear();
        self.rows.clear();
        for (k, &unknown) in self.unknowns.iter().enumerate() {
            match unknown.kind {
                Kind::Slide => continue,
                Kind::Normal if !data.is_rigid(unknown.block) => continue,
                Kind::Normal | Kind::Stick(..) | Kind::Clamp => {}
            }
            let block = &data.blocks()[unknown.block];
            // Nothing is to be chosen.
            if block.alone {
                continue;
            }
            let impulse = member(&self.direction, unknown);
            let associated = data.laws[unknown.block].is_associated();
            let row = if associated { self.test(unknown) } else { impulse };
            let start = self.rows.len();
            self.rows.resize(start + nv, T::zero());
            for (r, &b) in row.iter().enumerate().take(block.rows) {
                block.add_times(block.row(&delassus.w, r), b, &mut self.rows[start..]);
            }
            let (first, rows) = (unknown.first, block.rows);
            self.members.push(Member { unknown: k, first, rows, row, impulse });
        }
        self.gather(|r| at.lambda[r] - at.held[r]);
        let square = |row: &[T]| row.iter().map(|x| x.value() * x.value()).sum::<f64>();
        let squares = self.rows.chunks_exact(nv.max(1)).map(square);
        let (trace, least, most) = squares
            .fold((0.0, f64::INFINITY, 0.0), |(sum, least, most), x| {
                (sum + x, f64::min(least, x), f64::max(most, x))
            });
        self.shortest_row = if most > 0.0 { (least / most).sqrt() } else { 0.0 };
        self.range_scale = trace / self.members.len().max(1) as f64;
        let members = self.members.len();
        let rows = &self.rows[..];
        if coarse || !self.range.is_everything(rows, members, nv) {
            self.range.factor_within(rows, members, nv, dependent);
        }
        self.preimage.clear();
        self.preimage.resize(nv, T::zero());
        if self.range.is_deficient() {
            self.range.solve(&self.scratch, &mut self.preimage);
            // From W = J L^-T back to J.
            data.solve_factor_transpose(&mut self.preimage);
        }
    }

    fn test(&self, unknown: Unknown) -> [T; 3] {
        test((&self.direction, &self.limit, &self.laws, &self.modes), &self.weight, unknown)
    }

    fn motion(&self, unknown: Unknown) -> [T; 3] {
        motion((&self.direction, &self.limit, &self.laws, &self.modes), unknown)
    }

    /// Whether the friction of block `i` follows its normal impulse along a direction.
    pub fn follows(&self, i: usize) -> bool {
        follows(&self.laws, &self.modes, i)
    }

    /// Whether block `i` is at a limit of its own.
    pub fn is_at_limit(&self, i: usize) -> bool {
        self.laws[i].support() == Support::Limited && self.modes[i] == Mode::Slide
    }

    /// How fast the normal condition of block `i` changes with mu at fixed impulses: d . u_t of an
    /// associated contact that slides, 0 otherwise.
    pub fn opening(&self, i: usize, u: &[T], blocks: &[RowBlock]) -> T {
        if !self.laws[i].is_associated() || !self.follows(i) {
            return T::zero();
        }
        let (d, first) = (self.direction[i], blocks[i].first);
        d[0] * u[first + 1] + d[1] * u[first + 2]
    }

    /// z <- B' x for a contact-space vector `x`, by unknown.
    pub fn reduce_rows(&self, x: &[T], z: &mut Vec<T>) {
        z.clear();
        z.extend(
            self.unknowns.iter().map(|&unknown| combine(self.test(unknown), &x[unknown.first..])),
        );
    }

    /// x += C z
    pub fn expand_columns(&self, z: &[T], x: &mut [T]) {
        for (&unknown, &z) in self.unknowns.iter().zip(z) {
            for (x, c) in x[unknown.first..].iter_mut().zip(self.motion(unknown)) {
                *x += c * z;
            }
        }
        self.lend(z, x);
    }

    /// The normal unknowns, with their blocks.
    pub fn normals(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let normal = |(k, unknown): (usize, &Unknown)| {
            (unknown.kind == Kind::Normal).then_some((k, unknown.block))
        };
        self.unknowns.iter().enumerate().filter_map(normal)
    }

    /// How many unknowns there are.
    pub fn unknowns(&self) -> usize {
        self.unknowns.len()
    }

    /// Whether friction follows normal impulses that share the rule without being part of their conditions.
    pub fn friction_follows_members(&self) -> bool {
        self.members.iter().any(|member| {
            let Unknown { block, kind, .. } = self.unknowns[member.unknown];
            let normal = kind == Kind::Normal && !self.laws[block].is_associated();
            let slides = |block: usize| self.follows(block) && self.limit[block].value() != 0.0;
            let borrowed = || self.blocks_that_borrow(member.unknown).any(slides);
            normal && (slides(block) || borrowed())
        })
    }

    /// First row in contact space of unknown `k`, its row of B and its column of C there.
    pub fn unknown(&self, k: usize) -> (usize, [T; 3], [T; 3]) {
        let unknown = self.unknowns[k];
        (unknown.first, self.test(unknown), self.motion(unknown))
    }

    /// First row in contact space of the `j`-th condition that shares the rule, and its row there.
    pub fn member(&self, j: usize) -> (usize, [T; 3]) {
        (self.members[j].first, self.members[j].row)
    }

    /// Whether one of the rows that share the rule is shorter than `part` of the longest, less what the others have.
    pub fn is_nearly_dependent(&self, part: f64) -> bool {
        !self.range.is_clear() && self.range.least_pivot() < part
    }

    /// How many of the rows that share the rule are independent, where some are not.
    pub fn independent(&self) -> Option<usize> {
        self.range.is_deficient().then(|| self.range.rank())
    }

    /// The length of the shortest of the rows that share the rule, relative to the longest.
    pub fn shortest_row(&self) -> f64 {
        self.shortest_row
    }

    /// Whether impulses are not unique.
    pub fn shares(&self) -> bool {
        self.range.is_deficient()
    }

    /// y with J y = `lambda` on the conditions that share the rule, where [some do](Self::shares).
    pub fn sharing(&mut self, data: &ContactData<T>, lambda: &[T], y: &mut Vec<T>) {
        self.gather(|r| lambda[r]);
        y.clear();
        y.resize(data.rows.velocities(), T::zero());
        self.range.solve(&self.scratch, y);
        data.solve_factor_transpose(y);
    }

    /// y with J y = lambda - held on the conditions that share the rule, for the change of P with J.
    pub fn preimage(&self) -> &[T] {
        &self.preimage
    }

    /// The conditions that share the least-norm rule, as unknowns, and the range of their rows.
    pub fn members(&self) -> (impl Iterator<Item = usize> + Clone + '_, &Range<T>) {
        (self.members.iter().map(|member| member.unknown), &self.range)
    }

    /// Whether unknown `k` is friction that does not slip.
    pub fn is_held_friction(&self, k: usize) -> bool {
        matches!(self.unknowns[k].kind, Kind::Stick(..) | Kind::Clamp)
    }

    /// K, its rows set up.
    pub fn matrix(&self) -> &ContactMatrix<T> {
        &self.matrix
    }

    /// z <- K^-1 z
    pub fn solve(&mut self, delassus: &Delassus<T>, z: &mut [T]) {
        self.matrix.solve(&delassus.pattern, z);
    }

    /// Sets `held` to (I - P) lambda, so that `lambda` meets the conditions as it is.
    pub fn hold(&mut self, lambda: &[T], held: &mut [f64]) {
        held.fill(0.0);
        if !self.range.is_deficient() {
            return;
        }
        self.gather(|r| lambda[r]);
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            for (held, b) in held[member.first..].iter_mut().zip(member.impulse) {
                *held += (b * x).value();
            }
        }
    }

    /// Puts the rule for the null space in place of what the conditions `h` ask there: P h + a (I - P) (lambda - held).
    pub fn share(&mut self, lambda: &[T], held: &[f64], h: &mut [T]) {
        if !self.range.is_deficient() {
            return;
        }
        self.scratch.clear();
        self.scratch.extend(self.members.iter().map(|member| h[member.unknown]));
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            h[member.unknown] -= x;
        }
        self.gather(|r| lambda[r] - held[r]);
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            h[member.unknown] += x * self.range_scale;
        }
    }

    /// Fills `scratch` with the impulse of each member in the contact-space vector `x`.
    fn gather(&mut self, x: impl Fn(usize) -> T) {
        self.scratch.clear();
        self.scratch.extend(self.members.iter().map(|&Member { first, rows, impulse, .. }| {
            (0..rows).fold(T::zero(), |sum, r| sum + impulse[r] * x(first + r))
        }));
    }
}

/// b . x over the rows there are.
fn combine<T: Real>(b: [T; 3], x: &[T]) -> T {
    b.into_iter().zip(x).fold(T::zero(), |sum, (b, &x)| sum + b * x)
}

fn follows(laws: &[Law], modes: &[Mode], i: usize) -> bool {
    laws[i].rows() == 3 && matches!(modes[i], Mode::Slide | Mode::Clamp)
}

/// Directions, limits, laws and modes of all blocks.
type Blocks<'a, T> = (&'a [[T; 2]], &'a [T], &'a [Law], &'a [Mode]);

/// The column of an unknown in contact space: how it moves the contact's impulse.
fn motion<T: Real>((direction, limit, laws, modes): Blocks<T>, unknown: Unknown) -> [T; 3] {
    match unknown.kind {
        Kind::Normal if follows(laws, modes, unknown.block) => {
            let (mu, d) = (limit[unknown.block], direction[unknown.block]);
            [T::one(), mu * d[0], mu * d[1]]
        }
        _ => member(direction, unknown),
    }
}

/// Adds rows of a block of W, times `b`, to `sum`.
#[inline(always)]
fn add_rows<T: Real>(block: &RowBlock, w: &[T], b: [T; 3], sum: &mut [T]) {
    for (r, &b) in b.iter().enumerate().take(block.rows) {
        if b.is_zero() && T::ORDER == 0 {
            continue;
        }
        for (sum, &w) in sum.iter_mut().zip(block.row(w, r)) {
            *sum += b * w;
        }
    }
}

/// The row of a condition in contact space: what it asks of the contact's velocity.
fn test<T: Real>(of: Blocks<T>, weight: &[T], unknown: Unknown) -> [T; 3] {
    let (i, (direction, _, laws, _)) = (unknown.block, of);
    match unknown.kind {
        Kind::Normal if laws[i].is_associated() => motion(of, unknown),
        Kind::Slide => {
            let (d, w) = (direction[i], weight[i]);
            [T::zero(), -d[1] * w, d[0] * w]
        }
        _ => member(direction, unknown),
    }
}

/// The direction of an unknown by itself.
fn member<T: Real>(direction: &[[T; 2]], unknown: Unknown) -> [T; 3] {
    let (zero, one) = (T::zero(), T::one());
    let d = direction[unknown.block];
    match unknown.kind {
        Kind::Normal => [one, zero, zero],
        Kind::Stick(0) => [zero, one, zero],
        Kind::Stick(..) => [zero, zero, one],
        Kind::Slide | Kind::Clamp => [zero, -d[1], d[0]],
    }
}
