//! Impulses in friction cones: closed forms, kinks, random problems, and derivatives against each other.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, Node, NodeRule, Real, with_node_rule};
use stiction::argmin::{
    CompressionRestitution, ConeMode, ConeProgram, ConeSolution, Impact, Status,
};

use crate::random::Random;

const TOLERANCE: f64 = 1e-10;

fn run<T: Real>(node: &ConeProgram, x: &[T]) -> (Vec<T>, ConeSolution) {
    let mut f = vec![T::zero(); node.contacts * node.dimension];
    let mut solution = ConeSolution::default();
    T::call(node, x, &mut f, &mut solution, &mut Default::default());
    (f, solution)
}

/// What is felt of the impulses.
fn image<T: Real>(node: &ConeProgram, x: &[T], f: &[T]) -> Vec<T> {
    let rows = x[..node.rows * f.len()].chunks_exact(f.len());
    rows.map(|row| row.iter().zip(f).fold(T::zero(), |sum, (&a, &f)| sum + a * f)).collect()
}

/// A random problem and y; v = A'y is in the range of A', as velocities of contacts of bodies are.
fn problem(
    random: &mut Random,
    contacts: usize,
    dimension: usize,
    rows: usize,
) -> (ConeProgram, Vec<f64>, Vec<f64>) {
    let n = contacts * dimension;
    let node = ConeProgram { contacts, dimension, rows, tolerance: TOLERANCE };
    let mut x: Vec<f64> = (0..rows * n).map(|_| random.uniform(-1.0, 1.0)).collect();
    let moving: Vec<f64> = (0..rows).map(|_| random.uniform(-1.0, 1.0)).collect();
    x.extend(pull_back(&x, &moving, n));
    x.extend((0..contacts).map(|_| random.uniform(0.1, 1.2)));
    x.extend((0..contacts).map(|i| if i % 2 == 0 { random.uniform(0.0, 0.7) } else { -1.0 }));
    (node, x, moving)
}

/// A'y
fn pull_back(a: &[f64], y: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|k| y.iter().enumerate().map(|(r, y)| a[r * n + k] * y).sum()).collect()
}

/// f, its Jacobian by rows, and the solution; rows and columns are transposes of each other.
fn evaluate(node: &ConeProgram, x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>, ConeSolution) {
    let (f, solution) = run(node, x);
    let mut factor = Default::default();
    node.factor(&solution, x, &f, &mut factor);
    let row = |i: usize| {
        let (mut seed, mut adjoint) = (vec![0.0; f.len()], vec![0.0; x.len()]);
        seed[i] = 1.0;
        node.vjp(&solution, &mut factor, x, &f, &seed, &mut adjoint);
        adjoint
    };
    let rows: Vec<_> = (0..f.len()).map(row).collect();
    for j in 0..x.len() {
        let (mut tangent, mut df) = (vec![0.0; x.len()], vec![0.0; f.len()]);
        tangent[j] = 1.0;
        node.jvp(&solution, &mut factor, x, &f, &tangent, &mut df);
        let column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
        assert_relative_eq!(&df[..], &column[..], epsilon = 1e-10, max_relative = 1e-9);
    }
    (f, rows, solution)
}

/// One contact with A = 1.
fn one(v: [f64; 3], mu: f64, least: f64) -> (Vec<f64>, Vec<Vec<f64>>, ConeSolution) {
    let node = ConeProgram { contacts: 1, dimension: 3, rows: 3, tolerance: TOLERANCE };
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    evaluate(&node, &[&unit[..], &v, &[mu, least]].concat())
}

const V: usize = 9;
const MU: usize = 12;
const LEAST: usize = 13;

#[test]
fn one_contact_is_a_projection() {
    // f = Proj(-v)
    let (f, rows, solution) = one([-2.0, 0.3, 0.4], 0.5, 0.0);
    assert_eq!(solution.modes, [ConeMode::Inside]);
    assert_relative_eq!(&f[..], &[2.0, -0.3, -0.4][..], epsilon = 1e-12);
    for (i, row) in rows.iter().enumerate() {
        for j in 0..3 {
            let expected = if i == j { -1.0 } else { 0.0 };
            assert_relative_eq!(row[V + j], expected, epsilon = 1e-12);
        }
        assert_relative_eq!(&row[MU..], &[0.0, 0.0][..]);
    }

    // f_n = (-v_n + mu |v_t|) / (1 + mu^2)
    let (f, rows, solution) = one([-1.0, 3.0, 4.0], 0.5, 0.0);
    assert_eq!(solution.modes, [ConeMode::Surface]);
    assert_relative_eq!(&f[..], &[2.8, -0.84, -1.12][..], epsilon = 1e-11);
    assert_relative_eq!(
        &rows[0][V..],
        &[-0.8, 0.24, 0.32, 5.0 / 1.25 - 3.5 / 1.5625, 0.0][..],
        epsilon = 1e-10
    );

    let (f, rows, solution) = one([1.0, 0.3, 0.4], 0.5, 0.0);
    assert_eq!((solution.modes[0], &f[..]), (ConeMode::Apex, &[0.0; 3][..]));
    assert!(rows.iter().all(|row| row[..=MU].iter().all(|&x| x == 0.0)));

    let (f, rows, solution) = one([-1.0, 0.3, 0.4], 0.5, 2.0);
    assert_eq!(solution.modes, [ConeMode::HeldInside]);
    assert_relative_eq!(&f[..], &[2.0, -0.3, -0.4][..], epsilon = 1e-12);
    assert_eq!((rows[0][V], rows[0][LEAST], rows[1][LEAST]), (0.0, 1.0, 0.0));

    let (f, rows, solution) = one([-1.0, 3.0, 4.0], 0.5, 3.0);
    assert_eq!(solution.modes, [ConeMode::HeldSurface]);
    assert_relative_eq!(&f[..], &[3.0, -0.9, -1.2][..], epsilon = 1e-12);
    assert_relative_eq!(rows[1][LEAST], -0.3, epsilon = 1e-12);
    assert_relative_eq!(rows[2][MU], -2.4, epsilon = 1e-12);
    // Turned by v_t: -R/|v_t| (1 - d d')
    assert_relative_eq!(rows[1][V + 1], -0.3 * 0.64, epsilon = 1e-12);
}

#[test]
fn kinks_have_the_side_that_is_written_down() {
    // mu = 0: f_t follows mu against the slip.
    let (f, rows, solution) = one([-2.0, 3.0, 4.0], 0.0, 0.0);
    assert_eq!((solution.modes[0], &f[..]), (ConeMode::Surface, &[2.0, 0.0, 0.0][..]));
    // df_n/dmu = |v_t|: friction's limit lifts.
    let by_mu: Vec<f64> = rows.iter().map(|row| row[MU]).collect();
    assert_relative_eq!(&by_mu[..], &[5.0, -1.2, -1.6][..], epsilon = 1e-12);
    assert_eq!((rows[0][V], rows[1][V + 1]), (-1.0, 0.0));
    // No friction and no slip: nothing to follow.
    let (_, rows, _) = one([-2.0, 0.0, 0.0], 0.0, 0.0);
    assert!(rows.iter().all(|row| row[MU] == 0.0));
    assert_eq!(rows[0][V], -1.0);

    // f = 0, t = 0: a bound that rises lifts f along the surface.
    let (f, rows, solution) = one([1.0, 0.3, 0.4], 0.5, 0.0);
    assert_eq!((solution.modes[0], &f[..]), (ConeMode::Apex, &[0.0; 3][..]));
    let by_least: Vec<f64> = rows.iter().map(|row| row[LEAST]).collect();
    assert_relative_eq!(&by_least[..], &[1.0, -0.3, -0.4][..], epsilon = 1e-12);
    // No bound, no derivative.
    let (_, rows, _) = one([1.0, 0.3, 0.4], 0.5, -1.0);
    assert!(rows.iter().flatten().all(|&x| x == 0.0));

    // v = 0, and on the border of the polar cone: the apex.
    for v in [[0.0; 3], [0.25, 0.3, 0.4]] {
        let (f, rows, solution) = one(v, 0.5, -1.0);
        assert_eq!((solution.modes[0], &f[..]), (ConeMode::Apex, &[0.0; 3][..]));
        assert!(rows.iter().flatten().all(|&x| x == 0.0));
        assert!(solution.report.margin < 1e-15);
    }
    // On the cone without force: stick. On the bound without force: above it.
    let (f, rows, solution) = one([-1.0, 0.3, 0.4], 0.5, 0.0);
    assert_eq!(solution.modes, [ConeMode::Inside]);
    assert_relative_eq!(&f[..], &[1.0, -0.3, -0.4][..], epsilon = 1e-9);
    assert_relative_eq!(rows[1][V + 1], -1.0, epsilon = 1e-12);
    let (_, rows, solution) = one([-1.0, 0.0, 0.0], 0.5, 1.0);
    assert_eq!((solution.modes[0], rows[0][LEAST]), (ConeMode::Inside, 0.0));
    // Nothing there at all.
    let node = ConeProgram { contacts: 0, dimension: 3, rows: 3, tolerance: TOLERANCE };
    assert!(run::<f64>(&node, &[]).1.report.status.is_solved());
}

#[test]
fn bad_inputs_are_told() {
    let node = ConeProgram { contacts: 1, dimension: 2, rows: 1, tolerance: TOLERANCE };
    for x in [&[1.0, f64::NAN, -1.0, 0.0, 0.5, 0.0][..], &[1.0, 0.0, -1.0, 0.0, -0.5, 0.0], &[1.0]]
    {
        let (f, solution) = run(&node, x);
        assert_eq!((solution.report.status, &f[..]), (Status::InvalidInput, &[0.0, 0.0][..]));
    }
    // A target that is too short.
    let impact = Impact {
        factor: &[1.0, 0.0, 0.0, 1.0],
        velocity: &[-1.0, 0.0],
        target: &[0.0],
        friction: &[0.5],
        restitution: &[0.5],
        regularization: 0.0,
    };
    let mut law = CompressionRestitution::new(1, 2, TOLERANCE);
    assert_eq!(law.solve(&impact), (&[0.0; 2][..], &[0.0; 2][..]));
    assert_eq!(law.compression_solution.report.status, Status::InvalidInput);
}

#[test]
fn random_problems_are_solved() {
    let mut random = Random(3);
    let (mut worst, mut iterations, mut seen) = (0.0_f64, 0, [0; 5]);
    for case in 0..600 {
        let (contacts, dimension) = (1 + case % 7, 2 + case % 2);
        let (node, mut x, _) = problem(&mut random, contacts, dimension, 1 + case % 9);
        let n = contacts * dimension;
        if case % 5 == 0 {
            // No friction at one contact, and a copy of a contact at another.
            x[(node.rows + 1) * n] = 0.0;
            for row in x[..(node.rows + 1) * n].chunks_exact_mut(n) {
                row.copy_within(..dimension, n - dimension);
            }
        }
        // Data in other units.
        let size = [1e-6, 1.0, 1e6][case % 3];
        for (k, x) in x.iter_mut().enumerate() {
            let is_velocity = (node.rows * n..(node.rows + 1) * n).contains(&k);
            let is_bound = k >= (node.rows + 1) * n + contacts;
            *x *= if is_velocity || is_bound { size } else { 1.0 };
        }
        let (f, solution) = run(&node, &x);
        let report = solution.report;
        assert!(f.iter().all(|f| f.is_finite()), "case {case}");
        assert!(report.status.is_solved(), "case {case}: {report:?} {:?}", solution.modes);
        worst = worst.max(report.residual);
        iterations += report.iterations;
        solution.modes.iter().for_each(|&mode| seen[mode as usize] += 1);
    }
    println!("worst residual {worst:e}, iterations {}, modes {seen:?}", iterations as f64 / 600.0);
    assert!(seen.iter().all(|&s| s > 50), "{seen:?}");
}

#[test]
fn derivatives_agree_in_five_ways() {
    let mut random = Random(7);
    let (mut checked, mut differenced, mut deficient) = (0, 0, 0);
    for case in 0..300 {
        let (contacts, dimension, rows) = (1 + case % 5, 2 + case % 2, 3 + case % 10);
        let (node, x, y) = problem(&mut random, contacts, dimension, rows);
        let (f, solution) = run(&node, &x);
        if solution.report.margin < 1e-5 {
            continue;
        }
        checked += 1;
        let n = f.len();
        deficient += usize::from(n > rows);
        // v = A'y along the way, so that impulses that are not felt do no work.
        let rates: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let along = |h: f64| {
            let mut x: Vec<f64> = x.iter().zip(&rates).map(|(x, d)| x + h * d).collect();
            let y: Vec<f64> = y.iter().zip(&rates).map(|(y, d)| y + h * d).collect();
            let v = pull_back(&x, &y, n);
            x[rows * n..(rows + 1) * n].copy_from_slice(&v);
            x
        };
        let mut dx = rates.clone();
        let (by_a, by_y) = (pull_back(&rates, &y, n), pull_back(&x, &rates[..rows], n));
        for k in 0..n {
            dx[rows * n + k] = by_a[k] + by_y[k];
        }
        let weight: Vec<f64> = f.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let [jvp, residual, unrolled] = [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled]
            .map(|rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1));
        let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| weight.clone()).unwrap();
        let scale = jvp.iter().fold(1.0_f64, |s, t| s.max(t.abs()));
        for k in 0..n {
            for other in [residual[k], unrolled[k]] {
                assert!(
                    (jvp[k] - other).abs() <= 1e-7 * scale,
                    "case {case}, {:?}: {jvp:?}, residual {residual:?}, unrolled {unrolled:?}",
                    solution.modes,
                );
            }
        }
        let forward: f64 = weight.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        assert!((forward - backward).abs() <= 1e-9 * scale, "case {case}: {forward} {backward}");

        // Differences of what is felt, where the faces stay.
        let h = 1e-6;
        let at = |h: f64| {
            let x = along(h);
            let (f, solution) = run(&node, &x);
            (image(&node, &x, &f), f, solution.modes)
        };
        let (up, down) = (at(h), at(-h));
        if up.2 != solution.modes || down.2 != solution.modes {
            continue;
        }
        differenced += 1;
        let seeded: Vec<Dual<f64, 1>> =
            x.iter().zip(&dx).map(|(&x, &d)| Dual::new(x, [d])).collect();
        let felt = image(&node, &seeded, &run(&node, &seeded).0);
        for (k, felt) in felt.iter().enumerate() {
            let difference = (up.0[k] - down.0[k]) / (2.0 * h);
            assert!(
                (felt.tangent[0] - difference).abs() <= 1e-5 * scale,
                "case {case}, {:?}: {felt:?} {difference}",
                solution.modes,
            );
        }
    }
    println!(
        "{checked} checked, {differenced} by differences, {deficient} with dependent impulses"
    );
    assert!(checked > 200 && differenced > 190 && deficient > 80);
}

/// Four corners of a body that lands flat and slides: impulses that no velocity feels.
fn corners<T: Real>(p: &[T]) -> (ConeProgram, Vec<T>) {
    let node = ConeProgram { contacts: 4, dimension: 3, rows: 6, tolerance: TOLERANCE };
    let mut x = vec![T::zero(); node.input_len()];
    let (width, mu, restitution) = (p[0], p[1], p[2]);
    let velocity = [p[3], p[4], p[5], T::zero(), T::zero(), p[6]];
    for i in 0..4 {
        let sides = [i % 2, i / 2].map(|s| if s == 0 { -1.0 } else { 1.0 });
        let r = [width * sides[0], width * (0.7 * sides[1]), T::constant(-0.5)];
        let (zero, one) = (T::zero(), T::one());
        let rows = [
            [zero, zero, one, r[1], -r[0], zero],
            [one, zero, zero, zero, r[2], -r[1]],
            [zero, one, zero, -r[2], zero, r[0]],
        ];
        for (k, row) in rows.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                x[j * 12 + 3 * i + k] = entry;
                x[72 + 3 * i + k] += entry * velocity[j];
            }
        }
        x[84 + i] = mu;
        x[88 + i] = restitution;
    }
    (node, x)
}

#[test]
fn impulses_that_are_not_felt_move_as_their_rule_says() {
    // Sticking and sliding; with spin.
    let mut modes = Vec::new();
    for p in [
        [0.4, 0.9, -1.0, 0.1, 0.05, -1.0, 0.1],
        [0.4, 0.2, -1.0, 1.0, 0.3, -1.0, 0.2],
        [0.4, 0.3, -1.0, 0.5, 0.2, -1.0, 1.0],
    ] {
        let of = |p: &[f64]| {
            let (node, x) = corners(p);
            run(&node, &x)
        };
        let (_, solution) = of(&p);
        assert!(solution.report.status.is_solved(), "{:?}", solution.report);
        modes.extend(solution.modes.iter().copied());
        for j in 0..p.len() {
            let mut direction = [0.0; 7];
            direction[j] = 1.0;
            let by = |p: &[Dual<f64, 1>]| {
                let (node, x) = corners(p);
                run(&node, &x).0
            };
            let seeded: Vec<_> = p.iter().zip(direction).map(|(&p, d)| Dual::new(p, [d])).collect();
            let twin = by(&seeded);
            let h = 1e-6;
            let step = |h: f64| {
                let mut p = p;
                p[j] += h;
                of(&p)
            };
            let (up, down) = (step(h), step(-h));
            assert_eq!((&up.1.modes, &down.1.modes), (&solution.modes, &solution.modes));
            for (k, twin) in twin.iter().enumerate() {
                let difference = (up.0[k] - down.0[k]) / (2.0 * h);
                assert!(
                    (twin.tangent[0] - difference).abs() < 1e-6,
                    "{j} {k}: {twin:?} {difference} {:?}",
                    solution.modes
                );
            }
        }
    }
    assert!(modes.contains(&ConeMode::Inside) && modes.contains(&ConeMode::Surface), "{modes:?}");
}

/// Velocities after an impact of the four corners.
fn impact<T: Real>(p: &[T]) -> Vec<T> {
    let (node, x) = corners(p);
    let n = 12;
    let (factor, velocity) = (&x[..72], &x[72..84]);
    let restitution = vec![p[2]; 4];
    let target = vec![T::zero(); n];
    let impact = Impact {
        factor,
        velocity,
        target: &target,
        friction: &x[84..88],
        restitution: &restitution,
        regularization: 0.0,
    };
    let mut law = CompressionRestitution::<T>::new(4, 3, TOLERANCE);
    let (compression, after) = law.solve(&impact);
    let total: Vec<T> = compression.iter().zip(after).map(|(&c, &r)| c + r).collect();
    let mut after = image(&node, &x, &total);
    let before = [p[3], p[4], p[5], T::zero(), T::zero(), p[6]];
    after.iter_mut().zip(before).for_each(|(v, before)| *v += before);
    after
}

#[test]
fn an_impact_is_differentiated_through_both_phases() {
    for p in [[0.4, 0.2, 0.6, 1.0, 0.3, -1.0, 0.1], [0.4, 0.9, 0.3, 0.1, 0.05, -1.0, 0.1]] {
        let weight = [1.0, -0.5, 0.7, 0.2, 0.3, -0.4];
        let loss = |p: &[f64]| impact(p).iter().zip(weight).map(|(v, w)| v * w).sum::<f64>();
        let (_, adjoint) = ad::vjp(impact, &p, |_| weight.to_vec()).unwrap();
        for j in 0..p.len() {
            let step = |h: f64| {
                let mut p = p;
                p[j] += h;
                loss(&p)
            };
            let difference = (step(1e-6) - step(-1e-6)) / 2e-6;
            assert!((adjoint[j] - difference).abs() < 1e-6, "{j}: {} {difference}", adjoint[j]);
        }
    }
    // A body that falls flat leaves at the restituted part of its velocity.
    let v = impact(&[0.4, 0.5, 0.25, 0.0, 0.0, -2.0, 0.0]);
    assert_relative_eq!(&v[..], &[0.0, 0.0, 0.5, 0.0, 0.0, 0.0][..], epsilon = 1e-9);
    // At e = 0: one-sided, dv/de = 2.
    let (_, by) = ad::jvp(
        impact,
        &[0.4, 0.5, 0.0, 0.0, 0.0, -2.0, 0.0],
        &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    )
    .unwrap();
    assert_relative_eq!(&by[..], &[0.0, 0.0, 2.0, 0.0, 0.0, 0.0][..], epsilon = 1e-9);
}

#[test]
fn nothing_is_allocated_after_the_first_time() {
    let mut random = Random(5);
    let (node, x, _) = problem(&mut random, 5, 3, 6);
    let (mut f, mut adjoint) = (vec![0.0; 15], vec![0.0; x.len()]);
    let (mut solution, mut workspace) = (ConeSolution::default(), Default::default());
    let mut factor = Default::default();
    let mut call = || {
        f64::call(&node, &x, &mut f, &mut solution, &mut workspace);
        node.factor(&solution, &x, &f, &mut factor);
        node.vjp(&solution, &mut factor, &x, &f, &[1.0; 15], &mut adjoint);
    };
    call();
    assert_eq!(allocation_counter::measure(call).count_total, 0);
}
