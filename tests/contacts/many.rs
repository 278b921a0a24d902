//! Islands of many bodies, whose matrices are factorised by blocks.

use approx::assert_relative_eq;
use stiction::ad::{Dual, LANES, Real};
use stiction::argmin::Mode;
use stiction::model::Scene;

use super::{G, final_state, on_floor, rollout};

const BODIES: usize = 40;
const MASS: f64 = 0.5;

/// Slabs of one size on each other, under gravity that leans by `lean` m/s² along x.
fn slabs(lean: f64, mu: f64) -> Scene {
    let slab = |k: usize| {
        format!(
            "[[body]]
             name = 'slab{k}'
             mass = {MASS:?}
             shape = {{ box = [0.3, 0.2, 0.01] }}
             position = [0, 0, {:?}]\n",
            0.01 + 0.02 * k as f64
        )
    };
    let bodies: String = (0..BODIES).map(slab).collect();
    let mut scene = on_floor("time_step = 0.005", &format!("[[contact]]\nmu = {mu:?}\n{bodies}"));
    scene.parameters.values[..3].copy_from_slice(&[lean, 0.0, -G]);
    scene
}

/// Each contact of a pile at rest carries a quarter of the friction above it: that is the least norm.
#[test]
fn contacts_of_a_pile_share_friction_evenly() {
    let lean = 0.3;
    let scene = slabs(lean, 0.5);
    let mut rollout = rollout(&scene);
    rollout.advance(100, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    let dt = scene.settings.time_step;
    let mut carried = [0.0; 2];
    let mut seen = 0;
    for contact in rollout.workspace.contacts() {
        assert_eq!(contact.mode, Mode::Stick);
        // The bodies above are as many as the second is from the top.
        let above = contact.bodies.iter().flatten().max().map_or(0, |&body| BODIES - body);
        let impulse = contact.world_impulse();
        let share = 0.25 * MASS * above as f64 * dt;
        assert_relative_eq!(impulse.x, -share * lean, max_relative = 1e-7);
        assert!(impulse.y.abs() < 1e-9 * share * G, "{impulse}");
        carried[0] += impulse.z;
        carried[1] += share * G;
        seen += 1;
    }
    assert_eq!(seen, 4 * BODIES);
    assert_relative_eq!(carried[0], carried[1], max_relative = 1e-8);
}

/// A pile that slides on the floor as one: v = (lean - mu G) t, whatever its bodies share.
#[test]
fn a_pile_that_slides_as_one_is_differentiated_as_its_formula_says() {
    let (lean, mu, steps) = (0.5, 0.02, 20);
    let scene = slabs(lean, 0.5);
    let slot = |name: &str| scene.model.parameter(name).unwrap().slots[0];
    let mut parameters = scene.parameters.cast::<Dual<f64, LANES>>();
    let floor = slot("floor-slab0/mu");
    parameters.values[floor] = Dual::variable(mu, 0);
    parameters.values[0] = Dual::variable(lean, 1);
    let mass = slot("slab20/mass");
    parameters.values[mass] += Dual::variable(0.0, 2);
    let end = final_state(&scene, &parameters, scene.state.cast(), steps);
    let time = steps as f64 * scene.settings.time_step;
    for body in 0..BODIES {
        let v = end.v[6 * body];
        assert_relative_eq!(v.value(), (lean - mu * G) * time, max_relative = 1e-9);
        assert_relative_eq!(v.tangent[0], -G * time, max_relative = 1e-7);
        assert_relative_eq!(v.tangent[1], time, max_relative = 1e-7);
        assert!(v.tangent[2].abs() < 1e-7 * time, "{}", v.tangent[2]);
    }
}
