//! Islands of many bodies, by dense matrices and by blocks.

use super::allocations;
use crate::scenes::{on_floor, scene, slabs};

// Piles that fall onto each other from small gaps, of which the upper half slides: what touches changes.
#[test]
fn islands_of_many_bodies_allocate_nothing() {
    for count in [8, 18] {
        let speed = |k: usize| if 2 * k > count { 0.3 } else { 0.0 };
        let slabs = slabs(count, 0.0201, |k| [speed(k), 0.05, 0.0]);
        let scene = scene(&on_floor(&format!(
            "[simulation]\ntime_step = 0.002\n[[contact]]\nmu = 0.3\n{slabs}"
        )));
        let (found, _, most) = allocations::<f64>(&scene, |x, _| x);
        assert_eq!(found, 0, "{count} bodies");
        assert!(most >= 4 * count, "{count} bodies: {most}");
    }
}

/// Penalties too, where bodies slide and come to rest.
#[test]
fn steps_by_penalty_allocate_nothing() {
    for solver in ["penalty_linear", "penalty_tanh"] {
        let slabs = slabs(3, 0.0201, |k| [0.2 * k as f64, 0.05, 0.0]);
        let scene = scene(&on_floor(&format!(
            "[simulation]\ntime_step = 0.002\nsolver = '{solver}'\n[[contact]]\nmu = 0.3\nstiffness = 1e4\ndamping = 10\n{slabs}"
        )));
        let (found, _, most) = allocations::<f64>(&scene, |x, _| x);
        assert_eq!(found, 0, "{solver}");
        assert!(most >= 12, "{solver}: {most}");
    }
}
