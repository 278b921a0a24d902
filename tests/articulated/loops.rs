//! Closed loops.

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::dynamics::Kinematics;
use stiction::model::Scene;
use stiction::state::State;

use super::{body, parse, rollout};

fn point(scene: &Scene, state: &State<f64>, name: &str, at: [f64; 3]) -> Vector3<f64> {
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
    kinematics.point(body(scene, name), &Vector3::from(at))
}

fn bar(name: &str, parent: &str, joint: &str, length: f64) -> String {
    format!(
        "[[body]]
         name = '{name}'
         {parent}
         joint = {{ type = 'revolute', axis = [0, 1, 0], {joint} }}
         mass = {length:?}
         center_of_mass = [{:?}, 0, 0]
         inertia = [1e-3, {1:?}, {1:?}]
         ",
        0.5 * length,
        length.powi(3) / 12.0
    )
}

/// A four-bar linkage: crank 0.5, coupler 1.2, rocker 0.9, ground 1; the crank is driven. The loop is closed
/// where the joints start.
fn four_bar(speed: f64, time_step: f64) -> String {
    // The crank points along x; the coupler's end is where the circles of coupler and rocker meet.
    let (crank, coupler, rocker, ground): (f64, f64, f64, f64) = (0.5, 1.2, 0.9, 1.0);
    let d = ground - crank;
    let x = (coupler * coupler - rocker * rocker + d * d) / (2.0 * d);
    let z = (coupler * coupler - x * x).sqrt();
    // Turning about +y by a takes x to (cos a, 0, -sin a).
    let first = -z.atan2(x);
    let end = Vector3::new(crank + x, 0.0, z);
    let last = -(end.z).atan2(end.x - ground);
    format!(
        "[simulation]
         time_step = {time_step:?}
         {}{}position = [0.5, 0, 0]
         {}position = [1, 0, 0]
         [[equality]]
         name = 'loop'
         type = 'connect'
         bodies = ['coupler', 'rocker']
         anchors = [[1.2, 0, 0], [0.9, 0, 0]]",
        bar("crank", "", &format!("v = {speed:?}"), crank),
        bar("coupler", "parent = 'crank'", &format!("q = {first:?}"), coupler),
        bar("rocker", "", &format!("q = {last:?}"), rocker),
    )
}

#[test]
fn a_four_bar_linkage_stays_closed() {
    for (speed, time_step) in [(0.0, 1e-3), (5.0, 1e-3), (5.0, 1e-2)] {
        let scene = parse(&four_bar(speed, time_step));
        let mut rollout = rollout(&scene);
        let mut farthest: f64 = 0.0;
        for step in 0..2000 {
            rollout.step(&scene.inputs);
            let ends = [("coupler", 1.2), ("rocker", 0.9)]
                .map(|(name, length)| point(&scene, &rollout.state, name, [length, 0.0, 0.0]));
            let open = (ends[0] - ends[1]).norm();
            assert!(open < 1e-8, "{speed} {time_step}, step {step}: {open}");
            farthest = farthest.max((rollout.state.q[0] - scene.state.q[0]).abs());
        }
        assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
        assert!(farthest > 0.3, "{farthest}");
    }
}

// The motion of the linkage is that of its one degree of freedom: energy changes with the step only.
#[test]
fn a_four_bar_linkage_keeps_its_energy_to_the_order_of_the_step() {
    let change = |time_step: f64| {
        let scene = parse(&four_bar(3.0, time_step));
        let energy = |state: &State<f64>| {
            let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
            kinematics.kinetic_energy() + kinematics.potential_energy(&scene.parameters)
        };
        let mut rollout = rollout(&scene);
        // The velocities of the start do not close the loop; those after the first step do.
        rollout.step(&scene.inputs);
        let start = energy(&rollout.state);
        let mut worst: f64 = 0.0;
        for _ in 0..(0.5 / time_step) as usize {
            rollout.step(&scene.inputs);
            worst = worst.max((energy(&rollout.state) - start).abs());
        }
        worst
    };
    let (coarse, fine) = (change(2e-3), change(5e-4));
    assert!(fine < 0.3 * coarse && fine < 0.1, "{coarse} {fine}");
}

#[test]
fn welded_bodies_move_as_one_and_distances_stay() {
    let scene = parse(
        "[simulation]
         time_step = 0.002
         [[body]]
         name = 'a'
         mass = 1
         shape = { box = [0.1, 0.1, 0.1] }
         angular_velocity = [1, 2, 3]
         [[body]]
         name = 'b'
         mass = 2
         shape = { box = [0.1, 0.2, 0.1] }
         position = [0.5, 0, 0]
         velocity = [0, 0, 1]
         [[body]]
         name = 'c'
         mass = 1
         shape = { sphere = 0.1 }
         position = [0, 1, 0]
         velocity = [1, 0, 0]
         [[contact]]
         collide = false
         [[equality]]
         name = 'weld'
         type = 'weld'
         bodies = ['a', 'b']
         anchors = [[0.25, 0, 0], [-0.25, 0, 0]]
         [[equality]]
         name = 'rope'
         type = 'distance'
         bodies = ['c', 'world']
         anchors = [[0, 0, 0], [0, 0, 0]]
         distance = 1",
    );
    let mut rollout = rollout(&scene);
    for _ in 0..1000 {
        rollout.step(&scene.inputs);
        let state = &rollout.state;
        let ends = [("a", 0.25), ("b", -0.25)].map(|(n, x)| point(&scene, state, n, [x, 0.0, 0.0]));
        assert!((ends[0] - ends[1]).norm() < 1e-8);
        // Quaternions of one rotation.
        let [a, b] = [0, 1].map(|k| state.orientation(k));
        let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        assert!(1.0 - dot.abs() < 1e-15, "{dot}");
        assert_relative_eq!(state.position(2).norm(), 1.0, epsilon = 1e-9);
    }
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
}

#[test]
fn a_mimic_joint_follows_another() {
    let scene = parse(
        "[simulation]
         time_step = 0.001
         [[body]]
         name = 'a'
         joint = { type = 'revolute', axis = [0, 1, 0] }
         mass = 1
         center_of_mass = [0.3, 0, 0]
         inertia = 0.1
         [[body]]
         name = 'b'
         joint = { type = 'prismatic', axis = [0, 1, 0], q = 0.1 }
         mass = 3
         [[equality]]
         name = 'gear'
         type = 'joint'
         joints = ['b', 'a']
         offset = 0.1
         ratio = -0.5",
    );
    let mut rollout = rollout(&scene);
    // From rest at the height of the pivot, of the work m g c sin q: (I + m c² + M r²) w² / 2.
    for _ in 0..400 {
        rollout.step(&scene.inputs);
        assert_relative_eq!(rollout.state.q[1], 0.1 - 0.5 * rollout.state.q[0], epsilon = 1e-12);
    }
    let (q, w) = (rollout.state.q[0], rollout.state.v[0]);
    let inertia = 0.1 + 0.09 + 3.0 * 0.25;
    assert_relative_eq!(0.5 * inertia * w * w, 9.81 * 0.3 * q.sin(), max_relative = 5e-3);
}

/// Planar linkages with a pin that holds in space, along no axis of the world: of its rows two are parallel, but for
/// rounding.
#[test]
fn redundant_loops_are_solved_in_any_direction() {
    for yaw in [0.0, 0.5, 1.2, 2.0_f64] {
        let (sin, cos) = yaw.sin_cos();
        let crank = [0.27_f64, 0.56, 0.49];
        let link = |name: &str, rest: &str, length: f64, mass: f64| {
            format!(
                "[[body]]\nname = '{name}'\nmass = {mass}\ninertia = 0.003\ncenter_of_mass = [0, 0, {}]\n{rest}\n",
                -0.5 * length
            )
        };
        let hinge = |q: f64, v: f64| {
            format!(
                "joint = {{ type = 'revolute', axis = [{}, {cos}, 0], q = {q}, v = {v} }}",
                -sin
            )
        };
        // The ends of coupler and rocker meet.
        let (first, second) = (0.94_f64, -1.11_f64);
        let down = |angle: f64, length: f64| [-length * angle.sin(), -length * angle.cos()];
        let (a, b) = (down(first, crank[0]), down(second, crank[1]));
        let end = [a[0] + b[0], a[1] + b[1]];
        let c = down(0.58, crank[2]);
        let foot = [end[0] - c[0], 0.44 + end[1] - c[1]];
        let text = [
            "simulation.time_step = 0.005\n".to_string(),
            link(
                "crank",
                &format!("{}\nposition = [0, 0, 0.44]", hinge(first, 0.5)),
                crank[0],
                2.0,
            ),
            link(
                "coupler",
                &format!(
                    "parent = 'crank'\n{}\nposition = [0, 0, {}]",
                    hinge(second - first, 0.0),
                    -crank[0]
                ),
                crank[1],
                2.7,
            ),
            link(
                "rocker",
                &format!(
                    "{}\nposition = [{}, {}, {}]",
                    hinge(0.58, 0.0),
                    foot[0] * cos,
                    foot[0] * sin,
                    foot[1]
                ),
                crank[2],
                0.43,
            ),
            format!(
                "[[equality]]\nname = 'pin'\ntype = 'connect'\nbodies = ['coupler', 'rocker']\nanchors = \
                 [[0, 0, {}], [0, 0, {}]]\n",
                -crank[1], -crank[2]
            ),
        ];
        let scene = parse(&text.concat());
        let mut rollout = rollout(&scene);
        for step in 0..200 {
            let report = rollout.step(&scene.inputs);
            assert!(report.unsolved == 0, "{yaw}, step {step}: {:?}", report.worst);
        }
        let state = &rollout.state;
        let ends = [("coupler", crank[1]), ("rocker", crank[2])]
            .map(|(name, length)| point(&scene, state, name, [0.0, 0.0, -length]));
        assert!((ends[0] - ends[1]).norm() < 1e-9, "{yaw}: {ends:?}");
    }
}
