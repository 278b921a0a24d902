//! The islands of a large step, solved on several threads: no island looks at another, so that all have the same bits as
//! on one thread.
//!
//! Only values are solved so. The tape is of one thread, and duals have the work of whole rollouts to be spread.

use std::any::Any;

use super::contact_problem::{ContactProblem, Posed};
use super::islands::{Island, Islands};
use super::problems::Problems;
use crate::ad::Real;
use crate::model::System;
use crate::parallel::each;

/// A thread has so many constraints to solve at least. One takes about a microsecond, to start a thread some tens.
const WORTH: usize = 200;

/// Solves the islands that have a `dirty` tree on as many as `threads` threads. False, and nothing is done, where
/// there are derivatives, or not enough to do for two.
pub(super) fn solve<T: Real>(
    threads: usize,
    posed: &Posed<T>,
    (islands, dirty): (&Islands, &[bool]),
    problems: &mut Problems<T>,
) -> bool {
    if threads <= 1 {
        return false;
    }
    let work = || islands.iter().filter(|island| island.trees.iter().any(|&tree| dirty[tree]));
    let constraints: usize = work().map(|island| island.constraints.len()).sum();
    let threads = threads.min(constraints / WORTH);
    if threads <= 1 || work().nth(1).is_none() {
        return false;
    }
    let Some(problems) = (problems as &mut dyn Any).downcast_mut::<Problems<f64>>() else {
        return false;
    };
    let System { model, settings, .. } = *posed.system;
    let parameters = (posed.system.parameters as &dyn Any).downcast_ref();
    let (motion, points) = (posed.motion as &dyn Any, posed.points as &dyn Any);
    let (joints, memory) = (posed.joints as &dyn Any, posed.memory as &dyn Any);
    let parts = (
        parameters,
        motion.downcast_ref(),
        points.downcast_ref(),
        joints.downcast_ref(),
        memory.downcast_ref(),
    );
    let (Some(parameters), Some(motion), Some(points), Some(joints), Some(memory)) = parts else {
        return false;
    };
    let system = &System { model, parameters, settings };
    let posed = Posed { system, motion, points, joints, memory, event: posed.event };
    let mut all: Vec<(Island, &mut ContactProblem<f64>)> = problems.of_each(work());
    each(threads, &mut all, |(island, problem)| problem.solve(&posed, island));
    true
}
