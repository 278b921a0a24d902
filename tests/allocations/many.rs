//! Islands of many bodies.

use super::allocations;
use crate::scenes::{on_floor, scene};

// Piles that fall onto each other from small gaps, of which the upper half slides: what touches changes.
#[test]
fn islands_of_many_bodies_allocate_nothing() {
    for count in [18, 34] {
        let slab = |k: usize| {
            format!(
                "[[body]]
                 name = 'slab{k}'
                 mass = 0.5
                 shape = {{ box = [0.3, 0.2, 0.01] }}
                 position = [0, 0, {:?}]
                 velocity = [{:?}, 0.05, 0]\n",
                0.0101 + 0.0201 * k as f64,
                if 2 * k > count { 0.3 } else { 0.0 }
            )
        };
        let slabs: String = (0..count).map(slab).collect();
        let scene = scene(&on_floor(&format!(
            "[simulation]\ntime_step = 0.002\n[[contact]]\nmu = 0.3\n{slabs}"
        )));
        let (found, _, most) = allocations::<f64>(&scene, |x, _| x);
        assert_eq!(found, 0, "{count} bodies");
        assert!(most >= 4 * count, "{count} bodies: {most}");
    }
}
