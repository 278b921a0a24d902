//! Steps split at the time of impact: derivatives of bounces are those of the continuous motion.

use stiction::ad::{Dual, LANES};
use stiction::model::Scene;
use stiction::state::State;

use super::{G, final_state, on_floor, scene};

const E: f64 = 0.7;

/// A ball or a box whose lowest point is at `height`, thrown down at `speed`.
fn dropped(shape: &str, height: f64, speed: f64, dt: f64, split: bool) -> Scene {
    on_floor(
        &format!("time_step = {dt:?}\ncompliance = 0\nsplit_impacts = {split}"),
        &format!(
            "[[body]]
             name = 'body'
             mass = 0.3
             shape = {shape}
             position = [0, 0, {:?}]
             velocity = [0, 0, {:?}]
             [[contact]]
             mu = 0.4
             restitution = {E:?}",
            0.05 + height,
            -speed
        ),
    )
}

const HEIGHT: f64 = 0.8;
const SPEED: f64 = 2.0;

/// The apex of the parabola that the state is on after `time`, with derivatives in the height and in the
/// speed at the start.
fn apex(shape: &str, dt: f64, time: f64, split: bool) -> (f64, [f64; 2]) {
    let scene = dropped(shape, HEIGHT, SPEED, dt, split);
    let mut start: State<Dual<f64, LANES>> = scene.state.cast();
    start.q[2] = Dual::variable(start.q[2].value, 0);
    // The speed is downwards.
    start.v[2] = -Dual::variable(-start.v[2].value, 1);
    let state = final_state(&scene, &scene.parameters.cast(), start, (time / dt) as usize);
    // The velocity belongs to half a step before.
    let (z, v) = (state.q[2] - 0.05, state.v[2] - 0.5 * G * dt);
    let apex = z + v * v / (2.0 * G);
    (apex.value, [apex.tangent[0], apex.tangent[1]])
}

// The first apex is e² (h + s²/2g), the second e⁴ of that; and so are their derivatives, at every step.
// Without the split the derivative in the height is 1.
#[test]
fn bounces_depend_on_height_and_speed_as_the_motion_does() {
    for shape in ["{ sphere = 0.05 }", "{ box = [0.07, 0.06, 0.05] }"] {
        for dt in [0.01, 0.005, 0.0037, 0.00125] {
            // The speed that the body has when it starts, half a step after the one it is given.
            let speed = SPEED + 0.5 * G * dt;
            let energy = HEIGHT + speed * speed / (2.0 * G);
            // The fall takes 0.25 s, the first flight 0.64 s, the second 0.45 s.
            for (time, left) in [(0.45, E * E), (1.1, E.powi(4))] {
                let (found, [h, s]) = apex(shape, dt, time, true);
                let name = format!("{shape}, dt = {dt}, t = {time}");
                assert!((found - left * energy).abs() < 1e-9, "{name}: {found} {}", left * energy);
                assert!((h - left).abs() < 1e-7, "{name}: {h} of {left}");
                assert!((s - left * speed / G).abs() < 1e-7, "{name}: {s}");
            }
            let (_, [h, _]) = apex(shape, dt, 0.45, false);
            assert!((h - 1.0).abs() < 1e-9, "without the split: {h}");
        }
    }
}

// Far from the origin rounding leaves less of the speed at which the gap closes.
#[test]
fn a_split_near_an_end_of_the_step_and_far_away_is_differentiated() {
    for (offset, part) in [(0.0, 0.5), (10.0, 2e-6), (1000.0, 1e-2), (1000.0, 0.999)] {
        let (dt, v) = (0.005, 1.0);
        let mut scene = on_floor(
            &format!("time_step = {dt:?}\ncompliance = 0\nsplit_impacts = true"),
            "[[body]]
             name = 'ball'
             mass = 1
             shape = { sphere = 0.05 }
             position = [0, 0, 1]
             velocity = [0, 0, -1]
             [[contact]]
             mu = 0
             restitution = 0.5",
        );
        scene.parameters.values[2] = 0.0;
        let place = scene.model.parameter("floor/offset").unwrap().slots[0];
        scene.parameters.values[place] = offset;
        scene.state.q[2] = offset + 0.05 + part * dt * v;
        let mut start: State<Dual<f64, LANES>> = scene.state.cast();
        start.q[2] = Dual::variable(start.q[2].value, 0);
        let state = final_state(&scene, &scene.parameters.cast(), start, 1);
        assert!((state.v[2].value - 0.5).abs() < 1e-6, "{offset} {part}: {:?}", state.v[2]);
        let found = state.q[2].tangent[0];
        assert!((found + 0.5).abs() < 1e-8, "{offset} {part}: {found}");
    }
}

// The derivative is exact for the discrete map, too: it agrees with differences.
#[test]
fn the_split_is_differentiated_exactly() {
    let run = |height: f64, e: f64| {
        let mut scene = dropped("{ box = [0.07, 0.06, 0.05] }", height, 0.5, 0.01, true);
        scene.state.q[3..].copy_from_slice(&[0.98, 0.12, 0.05, 0.15]);
        let n = scene.state.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        scene.state.q[3..].iter_mut().for_each(|x| *x /= n);
        scene.state.v[3..].copy_from_slice(&[2.0, -1.0, 3.0]);
        let slot = scene.model.parameter("floor-body/restitution").unwrap().slots[0];
        let mut parameters = scene.parameters.cast::<Dual<f64, LANES>>();
        parameters.values[slot] = Dual::variable(e, 1);
        let mut start: State<Dual<f64, LANES>> = scene.state.cast();
        start.q[2] = Dual::variable(start.q[2].value, 0);
        let end = final_state(&scene, &parameters, start, 42);
        assert!(end.v[2].value > -1.0);
        end.q.into_iter().chain(end.v).collect::<Vec<_>>()
    };
    let at = run(0.8, E);
    let h = 1e-6;
    for (input, sides) in [[run(0.8 + h, E), run(0.8 - h, E)], [run(0.8, E + h), run(0.8, E - h)]]
        .into_iter()
        .enumerate()
    {
        let mut largest = 0.0_f64;
        for ((x, up), down) in at.iter().zip(&sides[0]).zip(&sides[1]) {
            let difference = (up.value - down.value) / (2.0 * h);
            let error = (x.tangent[input] - difference).abs() / difference.abs().max(1.0);
            assert!(error < 1e-6, "input {input}: {} {difference}", x.tangent[input]);
            largest = largest.max(difference.abs());
        }
        assert!(largest > 0.1, "input {input} moves nothing");
    }
}

// Two balls in free space, the gap between them d: where they are at the end depends on d as in the
// continuous motion, x2 = ... - (1 + e) v / 2 (T - d / v), so d x2 / d d = 1 + (dx of the impact).
#[test]
fn balls_that_collide_depend_on_the_gap_as_the_motion_does() {
    let (v, e) = (1.3, 0.6);
    let end = |split: bool| {
        let scene = scene(&format!(
            "gravity = [0, 0, 0]
             [simulation]
             time_step = 0.01
             compliance = 0
             split_impacts = {split}
             [[contact]]
             mu = 0.3
             restitution = {e:?}
             [[body]]
             name = 'a'
             mass = 1
             shape = {{ sphere = 0.1 }}
             velocity = [{v:?}, 0, 0]
             [[body]]
             name = 'b'
             mass = 1
             shape = {{ sphere = 0.1 }}
             position = [0.53, 0, 0]"
        ));
        let mut start: State<Dual<f64, LANES>> = scene.state.cast();
        start.q[7] = Dual::variable(start.q[7].value, 0);
        let state = final_state(&scene, &scene.parameters.cast(), start, 60);
        // Momentum: the velocities after a central impact of equal masses.
        assert!((state.v[6].value - 0.5 * (1.0 + e) * v).abs() < 1e-12);
        assert!((state.v[0].value - 0.5 * (1.0 - e) * v).abs() < 1e-12);
        [state.q[0], state.q[7]]
    };
    // Strikes at t = d / v, from where a goes on at (1 - e) v / 2, b at (1 + e) v / 2.
    let [a, b] = end(true);
    let (d, t) = (0.33, 0.6);
    assert!((a.value - (d + 0.5 * (1.0 - e) * v * (t - d / v))).abs() < 1e-12, "{}", a.value);
    assert!((b.value - (0.53 + 0.5 * (1.0 + e) * v * (t - d / v))).abs() < 1e-12, "{}", b.value);
    assert!((a.tangent[0] - (1.0 - 0.5 * (1.0 - e))).abs() < 1e-9, "{}", a.tangent[0]);
    assert!((b.tangent[0] - (1.0 - 0.5 * (1.0 + e))).abs() < 1e-9, "{}", b.tangent[0]);
    let [_, b] = end(false);
    assert!((b.tangent[0] - 1.0).abs() < 1e-9, "without the split: {}", b.tangent[0]);
}

// A box slides squarely into another at rest, both stop: with v1² = v² - 2 mu g d at the impact, the second goes
// ((1 + e) / 2)² v1² / (2 mu g) far. Without the split the distance d has another derivative, since the time of
// impact is that of a step.
#[test]
fn collisions_of_boxes_that_slide_depend_on_their_start_as_the_motion_does() {
    let (mu, d, speed) = (0.3, 0.2, 1.6);
    let share = (0.5 * (1.0 + E)).powi(2);
    let run = |dt: f64, split: bool, distance: f64| {
        let body = |name: &str, x: f64| {
            format!(
                "[[body]]
                 name = '{name}'
                 mass = 0.3
                 shape = {{ box = [0.05, 0.05, 0.05] }}
                 position = [{x:?}, 0, 0.05]\n"
            )
        };
        let scene = on_floor(
            &format!("time_step = {dt:?}\nsplit_impacts = {split}"),
            &format!(
                "{}velocity = [{speed:?}, 0, 0]\n{}
                 [[contact]]
                 pair = 'floor-a'
                 mu = {mu:?}
                 [[contact]]
                 pair = 'floor-b'
                 mu = {mu:?}
                 [[contact]]
                 pair = 'a-b'
                 mu = 0.2
                 restitution = {E:?}",
                body("a", -0.1 - distance),
                body("b", 0.0)
            ),
        );
        let mut start: State<Dual<f64, LANES>> = scene.state.cast();
        start.q[0] = Dual::variable(start.q[0].value, 0);
        start.v[0] = Dual::variable(start.v[0].value, 1);
        let state = final_state(&scene, &scene.parameters.cast(), start, (1.0 / dt) as usize);
        assert!(state.v[6].value.abs() < 1e-9, "still moves at {}", state.v[6].value);
        let x = state.q[7];
        (x.value, [x.tangent[0], x.tangent[1]])
    };
    for dt in [0.004, 0.002, 0.0007] {
        // Wherever in its step the impact is.
        for k in 0..6 {
            let distance = d + k as f64 * 0.23 * dt * speed;
            let way = share * (speed * speed / (2.0 * mu * G) - distance);
            let (found, [by_place, by_speed]) = run(dt, true, distance);
            // Of first order in the step.
            let near = |x: f64, truth: f64| (x / truth - 1.0).abs() < 12.0 * dt;
            assert!(near(found, way), "{dt}: {found} {way}");
            assert!(near(by_place, share), "{dt}: {by_place} {share}");
            let slope = share * speed / (mu * G);
            assert!(near(by_speed, slope), "{dt}: {by_speed} {slope}");
            // The derivative is that of the map.
            let step = 1e-6;
            let difference = (run(dt, true, distance - step).0 - run(dt, true, distance + step).0)
                / (2.0 * step);
            assert!((difference - by_place).abs() < 1e-5, "{dt}: {difference} {by_place}");
        }
        let (_, [by_place, _]) = run(dt, false, d);
        assert!((by_place / share - 1.0).abs() > 0.2, "{dt}: {by_place}");
    }
}
