//! Impacts whose answers can be written down.

use stiction::maximal::{
    ExtendedBody, Formulation, Geometry, ImpactRule, PointContact, PointImpact, PointInertia,
    PointParameters, PointStep, PointSystem, Potential, Wall,
};

use super::archive::task;

const FLOOR: Wall = Wall { normal: [0.0, 1.0, 0.0], offset: 0.0 };

/// Disks of mass 2 kg and radius 0.5 m, each before a floor and the others.
fn disks(
    count: usize,
    axes: usize,
    friction: f64,
    restitution: f64,
) -> (PointSystem, PointParameters<f64>) {
    let mut contacts: Vec<Geometry> =
        (0..count).map(|body| Geometry::DiskWall { body, wall: FLOOR }).collect();
    (1..count).for_each(|k| contacts.push(Geometry::Disks([k - 1, k])));
    let contacts =
        contacts.into_iter().map(|geometry| PointContact { geometry, surface: 0 }).collect();
    let bodies = vec![ExtendedBody { axes, radius: 0.5 }; count];
    let system =
        PointSystem::new(2, bodies, Vec::new(), contacts, Potential::default(), 0.01).unwrap();
    let parameters = PointParameters {
        masses: vec![2.0; count],
        moments: vec![0.25 / 4.0; axes * count],
        friction: vec![friction],
        restitution: vec![restitution],
    };
    (system, parameters)
}

/// The velocity after the impacts at a place.
fn impact(
    system: &PointSystem,
    parameters: &PointParameters<f64>,
    x: &[f64],
    v: &[f64],
) -> Vec<f64> {
    let (mut inertia, mut memory, mut v) =
        (PointInertia::default(), PointImpact::default(), v.to_vec());
    inertia.set(system.layout(), parameters);
    assert!(memory.detect(system, x));
    let rule = ImpactRule { tolerance: 1e-12, regularization: 0.0 };
    memory.apply(system, &inertia, parameters, rule, x, &mut v).unwrap();
    assert!(memory.reports.iter().all(|report| report.status.is_solved()));
    v
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let error = super::archive::largest(found, expected);
    assert!(error <= 1e-12, "{found:?}, not {expected:?}");
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    for e in [0.0, 0.3, 1.0] {
        let (system, parameters) = disks(1, 0, 0.0, e);
        // On the floor but for rounding: v* is below what comes back.
        let v = impact(&system, &parameters, &[0.0, 0.5 - 1e-14], &[0.7, -2.0]);
        assert_near(&v, &[0.7, 2.0 * e]);
        // What penetrates comes out of it in eight steps at least.
        let v = impact(&system, &parameters, &[0.0, 0.5 - 0.4], &[0.7, -2.0]);
        assert_near(&v, &[0.7, f64::max(2.0 * e, 0.4 / 0.08)]);
    }
}

/// With 1/m along the normal and 3/m along the tangent, since a disk has I = m r²/2: it sticks where mu allows a tangential impulse of
/// |v_t| m/3.
#[test]
fn a_disk_sticks_or_slides() {
    let turning = |centre: [f64; 2], rate: f64| {
        // Axes along x and y.
        [centre[0], centre[1], centre[0], centre[1] + rate, centre[0] - rate, centre[1]]
    };
    let place = [0.0, 0.5 - 1e-14, 1.0, 0.5, 0.0, 1.5];
    let (m, r) = (2.0, 0.5);
    // The lowest point has the velocity vx + r w.
    let [vx, vy, w] = [0.6, -1.0, 0.4];
    let slip: f64 = vx + r * w;
    let (system, parameters) = disks(1, 2, 0.9, 0.0);
    let v = impact(&system, &parameters, &place, &turning([vx, vy], w));
    let impulse = -slip * m / 3.0;
    assert_near(&v, &turning([vx + impulse / m, 0.0], w + r * impulse / (0.5 * m * r * r)));
    // Sliding in the relaxed cone: f = f_n (1, -mu), f_n = -v'd / d'Ad along d = (1, -mu).
    let mu = 0.1;
    let (system, parameters) = disks(1, 2, mu, 0.0);
    let v = impact(&system, &parameters, &place, &turning([vx, vy], w));
    let normal = -(vy - mu * slip) / ((1.0 + 3.0 * mu * mu) / m);
    let impulse = -mu * normal;
    let expected =
        turning([vx + impulse / m, vy + normal / m], w + r * impulse / (0.5 * m * r * r));
    assert_near(&v, &expected);
    // It leaves at mu times its slip.
    let slip = slip + 3.0 * impulse / m;
    assert!((v[1] - mu * slip).abs() <= 1e-12);
}

#[test]
fn equal_balls_exchange_what_they_bring() {
    let (system, parameters) = disks(2, 0, 0.0, 1.0);
    let x = [0.0, 3.0, 1.0 - 1e-14, 3.0];
    assert_near(&impact(&system, &parameters, &x, &[1.5, 0.2, -0.5, 0.1]), &[-0.5, 0.2, 1.5, 0.1]);
}

/// Without loss the energy of five balls stays for hundreds of impacts.
#[test]
fn balls_without_loss_keep_their_energy() {
    let scene = task("BP5-e");
    let mut random = super::start::random(9);
    let (mut impacts, mut step) = (0, PointStep::default());
    for _ in 0..5 {
        let start = scene.start.as_ref().unwrap();
        let (mut x, mut v) = start.sample(&scene.system, &mut random).unwrap();
        let energy = |v: &[f64]| 0.5 * 0.1 * v.iter().map(|v| v * v).sum::<f64>();
        let before = energy(&v);
        let rule = ImpactRule { tolerance: 1e-13, regularization: 0.0 };
        for _ in 0..100 {
            let force = &mut &scene.system.potential;
            let parameters = &scene.parameters;
            step.step(
                &scene.system,
                parameters,
                Formulation::Lagrangian,
                rule,
                force,
                &mut x,
                &mut v,
            );
            assert!(step.report.is_solved(), "{:?}", step.report);
            impacts += usize::from(!step.report.active.is_empty());
        }
        assert!((energy(&v) - before).abs() <= 1e-12 * before.max(1.0));
    }
    assert!(impacts > 100, "{impacts}");
}

/// A regularised problem leaves an approach of epsilon / (A + epsilon) of it, and pushes as much less.
#[test]
fn regularisation_softens_impacts() {
    let (system, parameters) = disks(1, 0, 0.0, 0.0);
    let (x, epsilon) = ([0.0, 0.5 - 1e-14], 0.125);
    let (mut inertia, mut memory) = (PointInertia::default(), PointImpact::default());
    inertia.set(system.layout(), &parameters);
    let mut v = vec![0.0, -1.0];
    assert!(memory.detect(&system, &x));
    let rule = ImpactRule { tolerance: 1e-12, regularization: epsilon };
    memory.apply(&system, &inertia, &parameters, rule, &x, &mut v).unwrap();
    // A = 1/2: compression leaves 1/5 of the approach, restitution 1/5 of that.
    assert_near(&v, &[0.0, -1.0 / 25.0]);
}
