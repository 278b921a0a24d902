//! Learned terms.

use super::{TUMBLE, allocations};
use crate::scenes::{on_floor, scene};

#[test]
fn steps_with_learned_terms_allocate_nothing() {
    let text = on_floor(&format!(
        "{TUMBLE}
        [[learned]]
        name = 'a'
        kind = 'potential'
        of = ['box/px', 'box/qw']
        layers = [4, 3]
        [[learned]]
        name = 'b'
        kind = 'force'
        of = ['box/vx']
        on = ['box/fx', 'box/tz']
        [[learned]]
        name = 'c'
        kind = 'dissipation'
        of = ['box/pz']
        on = ['box/tx']
        [[learned]]
        name = 'd'
        kind = 'friction'
        of = ['floor/x', 'box/y']
        on = 'floor-box'"
    ));
    let mut scene = scene(&text);
    for term in 0..scene.model.learned.len() {
        for slot in scene.model.weight_slots(term) {
            scene.parameters.values[slot] = 0.3 * (1.7 * slot as f64).sin();
        }
    }
    let (count, _, most) = allocations(&scene, |x, _| x);
    assert_eq!(count, 0);
    assert!(most > 0);
}
