//! Random beginnings of motions.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::archive::task;

pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

#[test]
fn motions_begin_on_their_constraints_and_touch_nothing() {
    for name in ["BP5-e", "BP5", "CP3-e", "CP3", "BD5", "Rope", "Gyro-e", "Gyro"] {
        let scene = task(name);
        let mut random = random(1);
        let mut impact = stiction::maximal::PointImpact::<f64>::default();
        let mut first = Vec::new();
        for _ in 0..20 {
            let (x, v) = scene.start.as_ref().unwrap().sample(&scene.system, &mut random).unwrap();
            let (phi, rate) = scene.system.violation(&x, &v);
            assert!(phi <= 1e-14 && rate <= 1e-13, "{name}: {phi:e} {rate:e}");
            assert!(!impact.detect(&scene.system, &x), "{name}");
            assert_ne!(first, x, "{name}");
            first = x;
        }
    }
}

#[test]
fn a_start_of_another_kind_is_refused() {
    let (chain, rope) = (task("CP3"), task("Rope"));
    let mut random = random(1);
    let start = chain.start.unwrap();
    assert!(start.sample(&rope.system, &mut random).unwrap_err().contains("tether"));
    let start = task("Gyro").start.unwrap();
    assert!(start.sample(&chain.system, &mut random).unwrap_err().contains("ball joint"));
}

/// A chain hangs from its tether wherever that is; what a start does not fit is refused.
#[test]
fn starts_are_where_they_are_held() {
    let text = std::fs::read_to_string(super::archive::task_file("CP3")).unwrap();
    let top = std::fs::read_to_string(super::archive::task_file("Gyro")).unwrap();
    let mut random = random(2);
    let mut sample = |text: String| {
        let scene = stiction::maximal::PointScene::parse(&text, "a.toml").unwrap();
        scene.start.unwrap().sample(&scene.system, &mut random)
    };
    let (x, _) = sample(text.replace("anchor = [0.0, 0.0]", "anchor = [0.3, 0.5]")).unwrap();
    assert!((f64::hypot(x[0] - 0.3, x[1] - 0.5) - 0.35).abs() <= 1e-14);
    let raised = top.replace("anchor = [0.0, 0.0, 0.0]", "anchor = [0.0, 2.0, 5.0]");
    let (x, _) = sample(raised).unwrap();
    assert!((1.5 * x[2] - 0.5 * x[11] - 5.0).abs() <= 1e-13);
    // A top on its own centre at the origin is nowhere else.
    let centred = top.replace("[1.5, 0.0, 0.0, -0.5]", "[1.0]");
    assert!(sample(centred).is_ok());
    let refused = sample(text.replace("\"chain\"", "\"scattered\"")).unwrap_err();
    assert!(refused.contains("off the constraints"), "{refused}");
    let refused =
        sample(top.replace("[1.5, 0.0, 0.0, -0.5]", "[1.0, 0.0, 0.0, -0.5]")).unwrap_err();
    assert!(refused.contains("off the constraints"), "{refused}");
}
