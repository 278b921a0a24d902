//! Blocks whose normal impulse is that of another: what they do belongs to its normal unknown.

use super::super::problem::ContactData;
use super::{Blocks, Borrower, ContactModes, Kind, Unknown, follows};
use crate::ad::Real;

impl Borrower {
    /// Those of unknown `k`, of all that there are.
    pub fn of(all: &[Borrower], k: usize) -> impl Iterator<Item = &Borrower> {
        let start = all.partition_point(|borrower| borrower.unknown < k);
        all[start..].iter().take_while(move |borrower| borrower.unknown == k)
    }

    /// How its impulse moves with the unknown.
    pub fn motion<T: Real>(&self, (direction, limit, laws, modes): Blocks<T>) -> [T; 3] {
        let (mu, d) = (limit[self.block], direction[self.block]);
        let along = |d: T| if follows(laws, modes, self.block) { mu * d } else { T::zero() };
        [T::one(), along(d[0]), along(d[1])]
    }
}

impl<T: Real> ContactModes<T> {
    /// Those of the unknowns there are, which stand by block.
    pub(super) fn take_borrowers(&mut self, data: &ContactData<T>) {
        self.borrowers.clear();
        for (block, of) in data.couples() {
            // The normal unknown of a block is the first of its own.
            let unknown = self.unknowns.partition_point(|unknown| unknown.block < of);
            let normal = |own: &Unknown| own.block == of && own.kind == Kind::Normal;
            if self.unknowns.get(unknown).is_some_and(normal) {
                self.borrowers.push(Borrower { unknown, block, first: data.blocks()[block].first });
            }
        }
        self.borrowers.sort_unstable_by_key(|borrower| (borrower.unknown, borrower.block));
    }

    /// Adds to `x`, in contact space, what unknowns `z` move of blocks that borrow them.
    pub(super) fn lend(&self, z: &[T], x: &mut [T]) {
        for borrower in &self.borrowers {
            let z = z[borrower.unknown];
            for (x, c) in x[borrower.first..].iter_mut().zip(borrower.motion(self.of_blocks())) {
                *x += c * z;
            }
        }
    }

    /// What borrows the normal impulse that unknown `k` is: its first row in contact space, and how that moves it.
    pub fn borrowers(&self, k: usize) -> impl Iterator<Item = (usize, [T; 3])> + '_ {
        Borrower::of(&self.borrowers, k)
            .map(|borrower| (borrower.first, borrower.motion(self.of_blocks())))
    }

    /// The blocks that borrow the normal impulse that unknown `k` is.
    pub(super) fn blocks_that_borrow(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        Borrower::of(&self.borrowers, k).map(|borrower| borrower.block)
    }

    fn of_blocks(&self) -> Blocks<'_, T> {
        (&self.direction, &self.limit, &self.laws, &self.modes)
    }
}
