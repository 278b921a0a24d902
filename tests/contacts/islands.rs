//! Bodies that do not touch do not know of each other.

use stiction::model::Scene;

use super::{on_floor, rollout};

/// Stacks of two boxes that slide on each other, one for each place along x.
fn stacks(places: &[usize]) -> Scene {
    let mut text = "[[contact]]\nmu = 0.4\nrestitution = 0.2\n".to_string();
    for &place in places {
        let x = 0.5 * place as f64;
        text += &format!(
            "[[body]]
             name = 'low{place}'
             mass = {:?}
             shape = {{ box = [0.06, 0.05, 0.03] }}
             position = [{x:?}, 0, 0.0301]
             velocity = [0.2, 0.1, -0.05]
             [[body]]
             name = 'high{place}'
             mass = 0.3
             shape = {{ box = [0.03, 0.04, 0.02] }}
             position = [{:?}, 0.005, 0.0803]
             velocity = [1, -0.3, -0.05]
             angular_velocity = [0, 0, {:?}]\n",
            0.5 + 0.1 * place as f64,
            x + 0.01,
            2.0 + place as f64
        );
    }
    on_floor("time_step = 0.005", &text)
}

// Bit for bit: whatever else there is, each stack is a problem of its own.
#[test]
fn separate_stacks_do_what_they_do_alone() {
    let places = [0, 1, 2, 3, 4];
    let together = stacks(&places);
    let mut all = rollout(&together);
    let alone: Vec<Scene> = places.iter().map(|&place| stacks(&[place])).collect();
    let mut each: Vec<_> = alone.iter().map(rollout).collect();
    for step in 0..30 {
        let report = all.step(&together.inputs);
        let mut iterations = 0;
        for (place, (own, scene)) in each.iter_mut().zip(&alone).enumerate() {
            iterations += own.step(&scene.inputs).worst.iterations;
            assert_eq!(all.state.q[14 * place..14 * (place + 1)], own.state.q, "step {step}");
            assert_eq!(all.state.v[12 * place..12 * (place + 1)], own.state.v, "step {step}");
        }
        assert_eq!(report.worst.iterations, iterations);
    }
}

// A row of balls, one of which is hit: the impulse goes through all of them within a step if they
// touch, and through one gap a step if they do not.
#[test]
fn islands_grow_with_what_touches() {
    let row = |gap: f64| {
        let ball = |k: usize| {
            format!(
                "[[body]]
                 name = 'b{k}'
                 mass = 1
                 shape = {{ sphere = 0.1 }}
                 position = [{:?}, 0, 0]\n",
                (0.2 + gap) * k as f64
            )
        };
        let balls: String = (0..6).map(ball).collect();
        let mut scene = super::scene(&format!(
            "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.01\n[[contact]]\nmu = 0\n{balls}"
        ));
        scene.state.v[0] = 1.0;
        let mut rollout = rollout(&scene);
        let report = rollout.step(&scene.inputs);
        assert!(report.worst.status.is_solved(), "{report:?}");
        let moving = (0..6).filter(|&k| rollout.state.velocity(k).x > 1e-9).count();
        // Nothing is thrown through its neighbour.
        for k in 1..6 {
            let apart = rollout.state.position(k).x - rollout.state.position(k - 1).x;
            assert!(apart > 0.2 - 1e-7, "{gap}: ball {k} at {apart}");
        }
        moving
    };
    assert_eq!(row(0.0), 6);
    assert_eq!(row(0.05), 1);
    // The first closes its gap and pushes the second, which closes the next, all in one step.
    assert!(row(0.001) > 2);
}
