//! Boxes and hulls with round edges: against their equation of motion and against capsules, at rest as sharp ones; derivatives
//! in all ways.

use approx::assert_abs_diff_eq;
use stiction::assemble::Description;
use stiction::model::Scene;
use stiction::simulation::Rollout;

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::scenes::{FLOOR, after, scene};

const G: f64 = 9.81;

/// A box that is let go leaning on an edge rolls over it: 1/2 M(a) a'² + m g h(a) stays, with h the height of its centre and
/// M = I + m (h² + h'²), at two lengths of steps.
#[test]
fn a_rounded_box_rocks_as_its_equation_of_motion_has_it() {
    let ([a, b], radius, start) = ([0.06_f64, 0.1_f64], 0.04_f64, 0.45_f64);
    let (mass, inertia) = (0.8, 0.8 / 3.0 * (a * a + b * b));
    let [p, q] = [b - radius, a - radius];
    let height = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        [radius + p * cos + q * sin, q * cos - p * sin]
    };
    let rates = |[angle, rate]: [f64; 2]| {
        let [h, slope] = height(angle);
        let bend = -(h - radius);
        let moment = inertia + mass * (h * h + slope * slope);
        let change = mass * slope * (h + bend) * rate * rate;
        [rate, -(change + mass * G * slope) / moment]
    };
    let time = 0.15_f64;
    let (mut at, step) = ([start, 0.0], 1e-5);
    for _ in 0..(time / step).round() as usize {
        let moved = |k: [f64; 2], by: f64| [at[0] + by * k[0], at[1] + by * k[1]];
        let k1 = rates(at);
        let k2 = rates(moved(k1, 0.5 * step));
        let k3 = rates(moved(k2, 0.5 * step));
        let k4 = rates(moved(k3, step));
        for i in 0..2 {
            at[i] += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    assert!((at[0] - start).abs() > 0.05, "{at:?}");
    let wrong = |dt: f64| {
        let (sin, cos) = (0.5 * start).sin_cos();
        let scene = scene(&format!(
            "[simulation]\ntime_step = {dt:?}\ntolerance = 1e-13\ncompliance = 0\n{FLOOR}
             [[body]]\nname = 'box'\nmass = {mass:?}\nshape = {{ box = [{a:?}, 0.2, {b:?}], radius = {radius:?} }}
             position = [0, 0, {:?}]\norientation = [{cos:?}, 0, {sin:?}, 0]
             [[contact]]\nmu = 2",
            height(start)[0]
        ));
        let state = after(&scene, (time / dt).round() as usize);
        let angle = 2.0 * state.q[5].atan2(state.q[3]);
        assert_abs_diff_eq!(state.q[2], height(angle)[0], epsilon = 1e-4);
        (angle - at[0]).abs()
    };
    let [coarse, fine] = [wrong(1e-3), wrong(5e-4)];
    assert!(coarse < 5e-3, "{coarse}");
    assert!((coarse / fine - 2.0).abs() < 0.2, "{coarse} {fine}");
}

/// At rest it is as high as a sharp one, and slides as far.
#[test]
fn flat_on_the_floor_round_edges_change_nothing() {
    let end = |radius: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{FLOOR}
             [[body]]\nname = 'box'\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\nshape = {{ box = [0.1, 0.08, 0.05]{radius} }}
             position = [0, 0, 0.05]\nvelocity = [1, 0.2, 0]
             [[contact]]\nmu = 0.2"
        );
        after(&scene(&text), 80).q
    };
    let [sharp, round] = [end(""), end(", radius = 0.02")];
    for (a, b) in sharp.iter().zip(&round) {
        assert_abs_diff_eq!(a, b, epsilon = 1e-8);
    }
}

/// A hull that is hardly more than a line, grown by a radius, is a capsule: on the ground, on a box, under a ball.
#[test]
fn a_rounded_needle_is_a_capsule() {
    let world = |shape: &str, ground: &str| {
        scene(&format!(
            "[simulation]\ntime_step = 0.002\ntolerance = 1e-13\n{ground}
             [[body]]\nname = 'rod'\nmass = 0.3\ninertia = [1e-3, 1e-3, 2e-4]\nshape = {shape}
             position = [0, 0, 0.12]\norientation = [0.8, 0.6, 0, 0]\nvelocity = [0.5, 0.1, -0.5]\nangular_velocity = [1, 2, 3]
             [[body]]\nname = 'ball'\nmass = 0.2\nshape = {{ sphere = 0.03 }}\nposition = [0.02, -0.01, 0.24]\nvelocity = [0.5, 0.1, -1]
             [[contact]]\nmu = 0.4\nrestitution = 0.3"
        ))
    };
    let e = "1e-5";
    let needle = format!(
        "{{ convex = [[{e}, {e}, 0.1], [-{e}, {e}, 0.1], [-{e}, -{e}, 0.1], [{e}, -{e}, 0.1], [{e}, {e}, -0.1], \
         [-{e}, {e}, -0.1], [-{e}, -{e}, -0.1], [{e}, -{e}, -0.1]], radius = 0.02 }}"
    );
    for ground in [FLOOR, "[[shape]]\nname = 'board'\nbox = [1, 1, 0.1]\nposition = [0, 0, -0.1]\n"]
    {
        let capsule = after(&world("{ capsule = [0.02, 0.1] }", ground), 70);
        let rounded = after(&world(&needle, ground), 70);
        for (a, b) in capsule.q.iter().zip(&rounded.q) {
            assert_abs_diff_eq!(a, b, epsilon = 3e-4);
        }
    }
}

/// Rounded boxes and hulls on the ground, on each other, on a board, under balls and rods.
const EVERYTHING: &str = "[[half_space]]\nname = 'floor'\nnormal = [0.1, 0, 1]
    [[shape]]
    name = 'board'
    box = [0.3, 0.3, 0.1]
    radius = 0.03
    position = [2, 0, 0]
    orientation = [0.9805806756909202, 0, 0, 0.19611613513818404]
    [[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = { box = [0.1, 0.08, 0.05], radius = 0.02, position = [0.01, 0, 0] }
    position = [0, 0, 0.09]
    orientation = [0.96, 0.28, 0, 0]
    velocity = [0.3, 0.2, -0.5]
    angular_velocity = [0.1, 0.3, 1]
    [[body]]
    name = 'gem'
    mass = 0.2
    shape = { convex = [[0.05, 0, 0], [-0.05, 0, 0], [0, 0.05, 0], [0, -0.05, 0], [0, 0, 0.06], [0, 0, -0.04]], radius = 0.01 }
    position = [0.7, 0, -0.02]
    velocity = [0.4, 0.5, -1]
    [[body]]
    name = 'crate'
    mass = 0.4
    shape = { box = [0.1, 0.1, 0.1], radius = 0.01 }
    position = [2, 0.1, 0.2002]
    velocity = [0.3, 0.1, -0.5]
    angular_velocity = [0.1, -0.3, 1]
    [[body]]
    name = 'lid'
    mass = 0.3
    shape = { convex = [[0.1, 0.1, 0], [-0.1, 0.1, 0], [0.1, -0.1, 0], [-0.1, -0.1, 0], [0, 0, 0.1]], radius = 0.01 }
    position = [2.02, 0.13, 0.3103]
    velocity = [0.2, 0.1, -0.5]
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = { sphere = 0.04 }
    position = [1.85, -0.1, 0.1403]
    velocity = [0.2, 0.1, -0.9]
    [[body]]
    name = 'bead'
    mass = 0.1
    shape = { sphere = 0.04 }
    position = [2.2953, 0.1232, 0.1199]
    velocity = [-0.3, -0.1, -0.6]
    [[body]]
    name = 'arm'
    joint = { type = 'revolute', axis = [0, 1, 0], q = [0.5], v = [-3] }
    position = [-1, 0, 0.455]
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [1e-3, 2e-3, 1e-3]
    shape = { box = [0.05, 0.05, 0.1], radius = 0.03, position = [0, 0, -0.27] }
    [[contact]]
    mu = 0.3
    restitution = 0.2
    ";

#[test]
fn derivatives_of_rounded_shapes_agree_in_all_ways() {
    for setting in ["", "smoothing = 1e-6", "integrator = 'implicit'"] {
        let text = format!("[simulation]\ntime_step = 0.005\ntolerance = 1e-13\n{setting}\n");
        let scene = scene(&(text + EVERYTHING));
        let names =
            ["board", "box", "gem", "crate", "lid", "arm"].map(|name| format!("{name}/radius"));
        let mut moved = [0.0_f64; 6];
        for steps in [0, 1, 3, 6, 12] {
            let found = step_derivatives_agree(setting, &scene, steps);
            for (most, name) in moved.iter_mut().zip(&names) {
                let slot = scene.model.parameter(name).unwrap().slots[0];
                *most = most.max(found.c.column(slot).norm());
            }
        }
        assert!(moved.iter().all(|&most| most > 1e-4), "{setting}: {moved:?}");
        let tally = compare("rounded", &scene, 20, 0.5);
        assert!(tally.structured > 8 && tally.recorded == 0, "{}", tally.structured);
    }
}

/// The same shapes, smaller by a margin at which they touch: the same steps and derivatives, but that sizes of boxes shrink their radii.
#[test]
fn derivatives_within_margins_are_those_of_larger_shapes() {
    // Their inertia would be another where it is that of the shape.
    let own =
        |mass: &str| format!("mass = {mass}\n    inertia = [1e-4, 1.2e-4, 1.5e-4]\n    shape");
    let whole = ["0.4", "0.3", "0.2", "0.1"].iter().fold(EVERYTHING.to_string(), |text, mass| {
        text.replace(&format!("mass = {mass}\n    shape"), &own(mass))
    });
    let smaller = whole
        .replace("sphere = 0.04", "sphere = 0.0395, margin = 5e-4")
        .replace(
            "box = [0.1, 0.1, 0.1], radius = 0.01",
            "box = [0.0995, 0.0995, 0.0995], radius = 0.0095, margin = 5e-4",
        )
        .replace("[0, 0, 0.1]], radius = 0.01", "[0, 0, 0.1]], margin = 0.01");
    assert_eq!(smaller.matches("margin").count(), 4);
    let [whole, smaller] = [&whole, &smaller]
        .map(|text| scene(&format!("[simulation]\ntime_step = 0.005\ntolerance = 1e-13\n{text}")));
    let names = ["ball/mass", "floor-box/mu", "board-ball/restitution", "gem/radius"];
    for steps in [1, 6, 12] {
        let [large, small] =
            [&whole, &smaller].map(|scene| step_derivatives_agree("margins", scene, steps));
        for (a, b) in large.next.q.iter().zip(&small.next.q) {
            assert_abs_diff_eq!(a, b, epsilon = 1e-11);
        }
        assert_abs_diff_eq!(large.a, small.a, epsilon = 1e-8 * large.a.amax());
        for name in names {
            let of = |scene: &Scene, c: &nalgebra::DMatrix<f64>| {
                c.column(scene.model.parameter(name).unwrap().slots[0]).into_owned()
            };
            let [a, b] = [of(&whole, &large.c), of(&smaller, &small.c)];
            assert_abs_diff_eq!(a, b, epsilon = 1e-8 * large.c.amax());
        }
    }
    let tally = compare("margins", &smaller, 20, 0.5);
    assert!(tally.structured > 8 && tally.recorded == 0, "{}", tally.structured);
}

/// Capsules and cylinders rest at the sum of both margins, and a scene that begins within them is none that overlaps.
#[test]
fn what_rests_is_held_at_the_margins() {
    for shape in ["capsule = [0.05, 0.1]", "cylinder = [0.05, 0.1]", "box = [0.2, 0.05, 0.1]"] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n[[shape]]\nname = 'board'\nbox = [1, 1, 0.1]\nmargin = 0.003\nposition = [0, 0, -0.1]
             [[body]]\nname = 'it'\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\nshape = {{ {shape}, margin = 0.002 }}
             position = [0, 0, 0.05]\norientation = [0.7071067811865476, 0.7071067811865476, 0, 0]\n[[contact]]\nmu = 0.5"
        );
        let scene = scene(&text);
        let height = after(&scene, 300).q[2];
        assert_abs_diff_eq!(height, 0.055, epsilon = 2e-5);
        let written = Description::of(&scene, &scene.parameters, "again").to_toml(".");
        assert_eq!(written.matches("margin = 0.00").count(), 2, "{written}");
    }
    let text = "simulation.time_step = 0.01\n[[body]]\nname = 'it'\nmass = 1\nshape = { sphere = 0.1, margin = -1 }";
    let error = Scene::parse(text, "scene.toml").expect_err("less than nothing").to_string();
    assert!(error.contains("margin: must not be negative"), "{error}");
}

/// A number by which nothing is rounded changes no more than the last digits.
#[test]
fn a_radius_of_nothing_is_a_sharp_edge() {
    let text = |radius: &str| {
        format!(
            "[simulation]\ntime_step = 0.01\n{FLOOR}[[body]]\nname = 'box'\nmass = 0.5\nshape = {{ box = [0.1, 0.08, 0.05]{radius} }}
             position = [0, 0, 0.2]\norientation = [0.8, 0.6, 0, 0]\nvelocity = [1, 0.2, 0]\nangular_velocity = [3, 2, 1]\n[[contact]]\nmu = 0.3"
        )
    };
    assert_eq!(after(&scene(&text("")), 100).q, after(&scene(&text(", radius = 0")), 100).q);
}

#[test]
fn radii_are_written_back_and_nonsense_refused() {
    let first = scene(&format!("[simulation]\ntime_step = 0.01\n{EVERYTHING}"));
    let written = Description::of(&first, &first.parameters, "again").to_toml(".");
    let second = scene(&written);
    assert_eq!(second.model.parameter_names(), first.model.parameter_names());
    let off = second.parameters.values.iter().zip(&first.parameters.values);
    assert!(off.into_iter().all(|(a, b)| (a - b).abs() < 1e-12), "{written}");
    let body = |shape: &str| {
        format!(
            "[simulation]\ntime_step = 0.01\n{FLOOR}[[body]]\nname = 'it'\nmass = 1\nposition = [0, 0, 3]\nshape = {{ {shape} }}\n[[contact]]\nmu = 0.3"
        )
    };
    for (shape, expected) in [
        ("box = [0.1, 0.2, 0.3], radius = 0.1", "less than the least half extent"),
        ("box = [0.1, 0.2, 0.3], radius = -0.1", "must not be negative"),
        ("box = [0.1, 0.2, 0.3], radius = nan", "finite"),
        ("box = [0.1, 0.2, 0.3], radius = 'wide'", "radius"),
        ("capsule = [0.1, 0.2], radius = 0.1", "no meaning for a capsule"),
        ("sphere = 0.1, radius = 0.1", "no meaning for a sphere"),
    ] {
        let text = body(shape);
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.starts_with("scene.toml:") && error.contains(expected), "{error}");
    }
    // Descriptions that no file has are held to the same.
    for (body, radius) in [("ball", 0.01), ("box", 0.05), ("box", -1e-3), ("gem", f64::NAN)] {
        let mut description = Description::of(&first, &first.parameters, "made");
        let own = description.bodies.iter_mut().find(|own| own.name == body).unwrap();
        own.colliders[0].radius = Some(radius);
        let error = description.scene().expect_err(body).to_string();
        assert!(error.contains("shape.radius: must be that of edges"), "{error}");
    }
    // Upright on a corner only the sharp box would be in the ground.
    let corner = |radius: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n{FLOOR}[[body]]\nname = 'it'\nmass = 1\nposition = [0, 0, 0.1293]
             orientation = [0.9238795325112867, 0.3826834323650898, 0, 0]\nshape = {{ box = [0.1, 0.1, 0.1]{radius} }}\n[[contact]]\nmu = 0.3"
        );
        Scene::parse(&text, "scene.toml")
    };
    let error = corner("").expect_err("a corner in the ground").to_string();
    assert!(error.contains("m deep in"), "{error}");
    corner(", radius = 0.05").unwrap();
}

/// Corners that meet corners and edges beside edges touch as balls and rods do: frictionless and elastic, equal cubes exchange
/// their velocities, boxes and hulls alike; and a sharp one is touched by a round one.
#[test]
fn corners_and_edges_of_rounded_shapes_meet() {
    let core = 0.06;
    let cube = |radius: f64| {
        format!("{{ box = [{0:?}, {0:?}, {0:?}], radius = {radius:?} }}", core + radius)
    };
    let hull = |radius: f64| {
        let side = |bit: usize, k: usize| if k >> bit & 1 == 1 { core } else { -core };
        let corners =
            (0..8).map(|k| format!("[{:?}, {:?}, {:?}]", side(0, k), side(1, k), side(2, k)));
        let corners: Vec<String> = corners.collect();
        format!("{{ convex = [{}], radius = {radius:?} }}", corners.join(", "))
    };
    let sharp = format!("{{ box = [{core:?}, {core:?}, {core:?}] }}");
    for (first, second, radii) in [
        (cube(0.04), cube(0.04), 0.08),
        (cube(0.04), cube(0.01), 0.05),
        (hull(0.04), cube(0.02), 0.06),
        (hull(0.03), hull(0.03), 0.06),
        (sharp, cube(0.05), 0.05),
    ] {
        for (along, aside) in
            [([1.0, 1.0, 1.0], 0.0), ([1.0, 0.0, 1.0], 0.0), ([1.0, 0.0, 1.0], 0.03)]
        {
            let count: f64 = along.iter().sum();
            let apart = 2.0 * core + (radii + 0.004) / count.sqrt();
            let place = [0, 1, 2].map(|k| along[k] * apart + if k == 1 { aside } else { 0.0 });
            let text = format!(
                "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.005\ntolerance = 1e-13\ncompliance = 0
                 [[body]]\nname = 'one'\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\nshape = {first}
                 [[body]]\nname = 'other'\nmass = 0.5\ninertia = [1e-3, 1e-3, 1e-3]\nshape = {second}
                 position = {place:?}\nvelocity = {:?}
                 [[contact]]\nmu = 0\nrestitution = 1",
                along.map(|x: f64| -x)
            );
            let scene = scene(&text);
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            let mut deepest = 0.0_f64;
            for _ in 0..12 {
                rollout.step(&scene.inputs);
                let gaps = rollout.workspace.contacts().map(|record| record.gap);
                deepest = gaps.fold(deepest, f64::min);
            }
            assert_eq!(rollout.report.unsolved, 0);
            assert!(deepest > -1e-9, "{text}\n{deepest}");
            let v = &rollout.state.v;
            let wrong = (0..3).map(|k| (v[k] + along[k]).abs().max(v[6 + k].abs()));
            let wrong = wrong.fold(0.0, f64::max);
            // Beside each other by a little they turn, and rebound at the corners that overlap all the same.
            assert!(aside > 0.0 || wrong < 1e-9, "{text}\n{v:?}");
            assert!(wrong < 0.5, "{text}\n{v:?}");
            let found = step_derivatives_agree("corners", &scene, 2);
            assert!(found.c.iter().all(|x| x.is_finite()));
        }
    }
}
