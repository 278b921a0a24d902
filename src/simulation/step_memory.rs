//! What a step remembers for the next one.

use crate::ad::Real;
use crate::argmin::Sharing;
use crate::contact::{Impulses, joint_conditions, joint_owner};
use crate::model::Model;
use crate::state::State;

/// What a step remembers for the next one: the impulses it starts its solvers from. An argument and
/// a result, so that a step is a function of its arguments.
#[derive(Debug)]
pub struct StepMemory<T> {
    /// Of each tree the impulses on it.
    pub(super) trees: Vec<Impulses<T>>,
    /// The state before, which steps by BDF2 start from too; empty by others, and before the first.
    pub(super) past: State<T>,
    /// How many steps are over since something has struck, at most [`SMOOTH`].
    pub(super) smooth: usize,
}

/// After what strikes rigidly velocities are what they will be two steps later: bodies go to each other in one, and stop in the next.
pub(super) const SMOOTH: usize = 2;

impl<T> Default for StepMemory<T> {
    fn default() -> Self {
        let past = State { q: Vec::new(), v: Vec::new() };
        StepMemory { trees: Vec::new(), past, smooth: SMOOTH }
    }
}

// By hand: the derived `clone_from` drops the memory it has.
impl<T: Real> Clone for StepMemory<T> {
    fn clone(&self) -> Self {
        StepMemory { trees: self.trees.clone(), past: self.past.clone(), smooth: self.smooth }
    }

    fn clone_from(&mut self, other: &Self) {
        self.trees.clone_from(&other.trees);
        self.past.clone_from(&other.past);
        self.smooth = other.smooth;
    }
}

impl<T: Real> StepMemory<T> {
    /// Forgets the last step, as before the first one, and keeps the memory.
    pub fn clear(&mut self) {
        self.trees.iter_mut().for_each(Impulses::clear);
        self.past.q.clear();
        self.past.v.clear();
        self.smooth = SMOOTH;
    }

    /// Whether it holds the state before that at the start of the next step.
    pub(crate) fn has_past(&self, model: &Model) -> bool {
        self.past.q.len() == model.nq() && self.past.v.len() == model.nv()
    }

    /// Pair and feature of what touched, and of conditions of joints that acted.
    pub(super) fn touching(&self) -> impl Iterator<Item = (usize, usize)> {
        self.trees.iter().flat_map(Impulses::known).map(|&(pair, feature, _)| (pair, feature))
    }

    /// Moves the state before by a tangent vector.
    pub(crate) fn move_past(&mut self, model: &Model, tangent: &[T]) {
        self.past.advance(model.coordinates(), tangent);
    }

    /// Has as many trees as there are.
    pub(crate) fn resize(&mut self, trees: usize) {
        self.trees.resize_with(trees, Impulses::default);
    }

    /// How many numbers it takes to hold all impulses there can be.
    pub fn numbers(model: &Model) -> usize {
        let pairs = (0..model.pairs.len()).map(|pair| numbers_of(model, pair)).sum::<usize>();
        let trees = SHARING * model.trees.len() + model.nv();
        let past = 2 + model.nq() + model.nv();
        pairs + SHARED * model.shared_remembered_points() + joint_conditions(model) + trees + past
    }

    /// Writes the impulses of all points that can touch, pair by pair, into as many numbers: four for each
    /// of the points that can touch at a time, the first the feature plus 1; zeros for those that do not.
    /// Then those of pairs without numbers of their own as they come: five for each, the first the pair plus 1; what
    /// there is no place for is forgotten. Then one number for each limit, dry friction and closed loop; and of each tree how
    /// friction was shared in its island, by four numbers and one a velocity. Last how many steps are still to be smooth, whether there is a state before, and that.
    pub fn write(&self, model: &Model, numbers: &mut [T]) {
        numbers.fill(T::zero());
        let mut first = 0;
        for index in 0..model.pairs.len() {
            let known = self.trees.get(owner(model, index)).map_or(&[][..], Impulses::known);
            let own = known.iter().filter(|(of, ..)| *of == index);
            for (place, &(_, feature, impulse)) in own.enumerate() {
                if place < model.remembered_points(index) {
                    let start = first + 4 * place;
                    numbers[start] = T::constant((feature + 1) as f64);
                    numbers[start + 1..start + 4].copy_from_slice(&impulse);
                }
            }
            first += numbers_of(model, index);
        }
        let (own, end) = (model.pairs.len(), model.pair_end());
        let (shared, rest) =
            numbers[first..].split_at_mut(SHARED * model.shared_remembered_points());
        let (joints, mut rest) = rest.split_at_mut(joint_conditions(model));
        for (tree, entry) in model.trees.iter().enumerate() {
            let (own, after) = rest.split_at_mut(SHARING + entry.v.len());
            rest = after;
            if let Some(Impulses { sharing, .. }) = self.trees.get(tree) {
                let Sharing { unique, contacts, independent, dependent, ref y } = *sharing;
                if !unique && y.is_empty() {
                    continue;
                }
                let said = if unique { UNIQUE } else { SHARED_BY_Y };
                let rank = independent.map_or(0, |rank| rank + 1);
                let numbers = [said, contacts as f64, rank as f64, dependent];
                let all = numbers.iter().chain(y);
                own.iter_mut().zip(all).for_each(|(to, &x)| *to = T::constant(x));
            }
        }
        // Zeros are those of a new memory.
        rest[0] = T::constant((SMOOTH - self.smooth) as f64);
        if self.has_past(model) {
            rest[1] = T::one();
            let past = self.past.q.iter().chain(&self.past.v);
            rest[2..].iter_mut().zip(past).for_each(|(to, &x)| *to = x);
        }
        let mut places = shared.chunks_exact_mut(SHARED);
        for &(of, feature, impulse) in self.trees.iter().flat_map(Impulses::known) {
            if of >= end {
                joints[of - end] = impulse[0];
            } else if of >= own
                && let Some(place) = places.next()
            {
                place[0] = T::constant((of + 1) as f64);
                place[1] = T::constant((feature + 1) as f64);
                place[2..].copy_from_slice(&impulse);
            }
        }
    }

    /// The inverse of [`Self::write`], of as many numbers. What names no pair or no point is left out.
    pub fn read(&mut self, model: &Model, numbers: &[T]) {
        self.resize(model.trees.len());
        self.clear();
        let mut rest = numbers;
        for index in 0..model.pairs.len() {
            let (own, after) = rest.split_at(numbers_of(model, index));
            rest = after;
            for x in own.chunks_exact(4).filter(|x| x[0].value() >= 1.0) {
                let feature = x[0].value() as usize - 1;
                self.trees[owner(model, index)].remember(index, feature, [x[1], x[2], x[3]]);
            }
        }
        let (shared, rest) = rest.split_at(SHARED * model.shared_remembered_points());
        let (joints, mut rest) = rest.split_at(joint_conditions(model));
        for (entry, impulses) in model.trees.iter().zip(&mut self.trees) {
            let (own, after) = rest.split_at(SHARING + entry.v.len());
            rest = after;
            let [said, contacts, rank, dependent] = [0, 1, 2, 3].map(|k| own[k].value());
            let y = own[SHARING..].iter().map(|x| x.value());
            // Numbers that no step has written say nothing.
            let is_known = [SHARED_BY_Y, UNIQUE].contains(&said) && dependent.is_finite();
            if !(is_known && y.clone().all(f64::is_finite)) {
                continue;
            }
            let sharing = &mut impulses.sharing;
            sharing.unique = said == UNIQUE;
            (sharing.contacts, sharing.dependent) = (contacts as usize, dependent);
            sharing.independent = (rank as usize).checked_sub(1);
            if !sharing.unique {
                sharing.y.extend(y);
            }
        }
        self.smooth = SMOOTH - (rest[0].value() as usize).min(SMOOTH);
        if rest[1].value() == 1.0 && rest.iter().all(|x| x.value().is_finite()) {
            let (q, v) = rest[2..].split_at(model.nq());
            self.past.q.extend_from_slice(q);
            self.past.v.extend_from_slice(v);
        }
        for x in shared.chunks_exact(SHARED).filter(|x| x[0].value() > 0.0) {
            let [pair, feature] = [x[0], x[1]].map(|x| (x.value() as usize).checked_sub(1));
            let (Some(pair), Some(feature)) = (pair, feature) else { continue };
            if (model.pairs.len()..model.pair_end()).contains(&pair) {
                self.trees[owner(model, pair)].remember(pair, feature, [x[2], x[3], x[4]]);
            }
        }
        for (id, &impulse) in joints.iter().enumerate() {
            let impulse = [impulse, T::zero(), T::zero()];
            if let Some(tree) = joint_owner(model, id) {
                self.trees[tree].remember(model.pair_end() + id, 0, impulse);
            }
        }
    }

    /// The values, without derivatives.
    pub fn value(&self) -> StepMemory<f64> {
        let mut memory = StepMemory::default();
        self.value_into(&mut memory);
        memory
    }

    /// The same into memory of the caller's.
    pub(super) fn value_into(&self, memory: &mut StepMemory<f64>) {
        memory.resize(self.trees.len());
        for (from, to) in self.trees.iter().zip(&mut memory.trees) {
            from.value_into(to);
        }
        for (from, to) in [(&self.past.q, &mut memory.past.q), (&self.past.v, &mut memory.past.v)] {
            to.clear();
            to.extend(from.iter().map(|x| x.value()));
        }
        memory.smooth = self.smooth;
    }
}

impl StepMemory<f64> {
    /// The same memory as constants of another scalar.
    pub fn cast<T: Real>(&self) -> StepMemory<T> {
        let mut memory = StepMemory::default();
        self.cast_into(&mut memory);
        memory
    }

    /// The same into memory of the caller's.
    pub fn cast_into<T: Real>(&self, memory: &mut StepMemory<T>) {
        self.cast_impulses_into(memory);
        self.past.cast_into(&mut memory.past);
        memory.smooth = self.smooth;
    }

    /// The impulses alone.
    pub(super) fn cast_impulses_into<T: Real>(&self, memory: &mut StepMemory<T>) {
        memory.resize(self.trees.len());
        for (from, to) in self.trees.iter().zip(&mut memory.trees) {
            from.cast_into(to);
        }
    }
}

/// How many numbers it takes to hold an impulse of a pair without numbers of its own.
const SHARED: usize = 5;

/// How many numbers it takes to say how friction is shared, besides y.
const SHARING: usize = 4;

/// The first of them, where there is a y, and where impulses are unique.
const SHARED_BY_Y: f64 = 1.0;
const UNIQUE: f64 = 2.0;

/// How many numbers it takes to hold the impulses of a pair.
fn numbers_of(model: &Model, pair: usize) -> usize {
    4 * model.remembered_points(pair)
}

/// The tree that remembers the impulses of a pair: that of the second solid that moves.
fn owner(model: &Model, pair: usize) -> usize {
    let (first, second) = model.solids(pair);
    let [first, second] = model.moving_bodies(first, second);
    second.or(first).and_then(|body| model.bodies[body].tree).unwrap_or(0)
}
