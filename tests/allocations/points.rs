//! Systems of points.

use stiction::maximal::{Formulation, ImpactRule, PointScene, PointStep};

/// Whole motions of every task twice in the same memory: the second time allocates nothing, impacts included.
#[test]
fn steps_of_points_allocate_nothing() {
    for (name, state) in [
        ("CP3", [0.35, 0.0, 0.75, 0.0, 1.1, 0.0, 0.0, -1.0, 0.0, -2.0, 0.0, -3.0].to_vec()),
        ("BP5-e", {
            let places = [0.2, 0.2, 0.5, 0.2, 0.8, 0.2, 0.3, 0.7, 0.7, 0.7];
            [&places[..], &[2.0, 0.5, -1.0, 1.5, 0.7, -2.0, 1.0, -1.0, -2.0, -1.0]].concat()
        }),
    ] {
        let path = format!("{}/examples/diffcosim/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let scene = PointScene::load(path).unwrap();
        for formulation in [Formulation::Lagrangian, Formulation::Hamiltonian] {
            let mut step = PointStep::default();
            let size = scene.system.coordinates();
            let mut run = |x: &mut Vec<f64>, v: &mut Vec<f64>| {
                let mut impacts = 0;
                for _ in 0..100 {
                    let (rule, force) = (ImpactRule::default(), &mut &scene.system.potential);
                    step.step(&scene.system, &scene.parameters, formulation, rule, force, x, v);
                    impacts += usize::from(!step.report.active.is_empty());
                }
                impacts
            };
            let start = || (state[..size].to_vec(), state[size..].to_vec());
            let (mut x, mut v) = start();
            let impacts = run(&mut x, &mut v);
            assert!(impacts > 0, "{name}: {impacts}");
            let (mut again, mut velocity) = start();
            let counted = allocation_counter::measure(|| {
                run(&mut again, &mut velocity);
            });
            assert_eq!(counted.count_total, 0, "{name} {formulation:?}");
            assert_eq!((x, v), (again, velocity), "{name}");
        }
    }
}
