//! Poisson's law of restitution: impacts in two phases, against a solution of both in the plane by cases, against Newton's law
//! where the two are one, in energy, in all derivatives, in files. And friction of a given strength, which its second phase has.

use approx::assert_abs_diff_eq;
use stiction::ad::{self, NodeRule, with_node_rule};
use stiction::argmin::{CoupledContact, Law, Mode};
use stiction::assemble::Description;
use stiction::model::{RestitutionLaw, Scene};
use stiction::simulation::Rollout;

use crate::agreement::step_derivatives_agree;
use crate::contact_node::{problem, run};
use crate::linearize::adjoint::compare;
use crate::random::Random;
use crate::scenes::{FLOOR, after, scene};

const POISSON: &str = "restitution_law = 'poisson'";

/// A [`problem`] with friction of given strength at each contact, too.
fn with_disks(random: &mut Random, contacts: usize, compliance: f64) -> (CoupledContact, Vec<f64>) {
    let (mut node, x) = problem(random, contacts, false, compliance);
    let (rows, rest) = x.split_at(18 * contacts);
    let (body, numbers) = rest.split_at(36 + 6);
    let numbers: Vec<&[f64]> = numbers.chunks_exact(contacts).collect();
    let [mut targets, mut limits, mut compliances] = [0, 1, 2].map(|k| numbers[k].to_vec());
    let mut rows = rows.to_vec();
    for _ in 0..contacts {
        node.add_disk([0, 0]);
        rows.extend([0.0; 6]);
        let r = random.vector::<2>(0.3);
        rows.extend([1.0, 0.0, 0.0, 0.0, -0.1, -r[1]]);
        rows.extend([0.0, 1.0, 0.0, 0.1, 0.0, r[0]]);
        targets.push(0.0);
        limits.push(random.uniform(0.01, 0.6));
        compliances.push(0.0);
    }
    (node, [&rows[..], body, &targets, &limits, &compliances].concat())
}

#[test]
fn friction_of_a_given_strength_obeys_its_law() {
    let mut random = Random(11);
    let mut seen = std::collections::HashMap::<Mode, usize>::new();
    for case in 0..2000 {
        let contacts = 1 + case % 3;
        let compliance = if case % 2 == 0 { 1e-6 } else { 0.0 };
        let (node, x) = with_disks(&mut random, contacts, compliance);
        let (y, solution) = run(&node, &x);
        let report = solution.report;
        assert!(report.status.is_solved() && report.residual <= 1e-10, "case {case}: {report:?}");
        let (v, lambda) = y.split_at(6);
        let limits = &x[x.len() - 4 * contacts..x.len() - 2 * contacts];
        for (i, own) in lambda.chunks_exact(3).enumerate() {
            let row = |r: usize| &x[(3 * i + r) * 6..][..6];
            let u = [0, 1, 2].map(|r| row(r).iter().zip(v).map(|(j, v)| j * v).sum::<f64>());
            let radius = if node.laws[i] == Law::Disk {
                assert_eq!(own[0], 1.0);
                *seen.entry(solution.modes[i]).or_default() += 1;
                limits[i]
            } else {
                limits[i] * own[0]
            };
            let (friction, slip) = (own[1].hypot(own[2]), u[1].hypot(u[2]));
            assert!(friction <= radius + 1e-9, "case {case}, block {i}");
            let power = own[1] * u[1] + own[2] * u[2];
            assert!((power + radius * slip).abs() < 1e-8, "case {case}, block {i}");
        }
    }
    assert!(seen[&Mode::Stick] > 200 && seen[&Mode::Slide] > 200, "{seen:?}");
}

#[test]
fn friction_of_a_given_strength_is_differentiated_alike() {
    let mut random = Random(12);
    let (mut checked, mut compared, mut worst) = (0, 0, [0.0_f64; 4]);
    for case in 0..200 {
        let compliance = if case % 2 == 0 { 1e-4 } else { 0.0 };
        let (mut node, x) = with_disks(&mut random, 1 + case % 2, compliance);
        node.tolerance = 1e-13;
        let (y, solution) = run(&node, &x);
        if solution.report.margin < 1e-4 {
            continue;
        }
        checked += 1;
        let blocks = node.laws.len();
        // Rows that move nothing do not come to move.
        let zero = |k: usize| (k < 18 * blocks || k >= x.len() - blocks) && x[k] == 0.0;
        let dx = (0..x.len()).map(|k| if zero(k) { 0.0 } else { random.uniform(-1.0, 1.0) });
        let dx: Vec<f64> = dx.collect();
        let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let by = |rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1);
        let [jvp, residual, unrolled] =
            [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled].map(by);
        let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
        let size = jvp.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        let moved = |h: f64| {
            let x: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + h * d).collect();
            run(&node, &x)
        };
        let h = 1e-7;
        let [(up, above), (down, below)] = [moved(h), moved(-h)];
        let alike = [above, below].iter().all(|other| other.modes == solution.modes);
        let unique = solution.independent.is_none() && alike;
        compared += usize::from(unique);
        for k in 0..jvp.len() {
            worst[0] = worst[0].max((jvp[k] - residual[k]).abs() / size);
            worst[1] = worst[1].max((jvp[k] - unrolled[k]).abs() / size);
            if k < 6 && unique {
                worst[3] = worst[3].max((jvp[k] - (up[k] - down[k]) / (2.0 * h)).abs() / size);
            }
        }
        let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        worst[2] = worst[2].max((forward - backward).abs() / size);
    }
    assert!(checked > 100 && compared > 80, "{checked} {compared}");
    let [residual, unrolled, adjoint, differences] = worst;
    assert!(residual < 1e-8 && unrolled < 1e-6 && adjoint < 1e-9, "{worst:?}");
    assert!(differences < 1e-5, "{worst:?}");
}

/// A ball of radius 0.1 m whose centre of mass is elsewhere, touching the floor, in the plane x-z.
#[derive(Clone, Copy, Debug)]
struct Lopsided {
    mass: f64,
    inertia: f64,
    center: [f64; 2],
    mu: f64,
    restitution: f64,
    /// Of its middle along x and z, and about y.
    velocity: [f64; 3],
}

const RADIUS: f64 = 0.1;

impl Lopsided {
    fn random(random: &mut Random, restitution: f64) -> Lopsided {
        let mass = random.uniform(0.1, 2.0);
        Lopsided {
            mass,
            inertia: mass * random.uniform(1e-3, 6e-3),
            center: random.vector::<2>(0.06),
            mu: random.uniform(0.05, 1.2),
            restitution,
            velocity: [
                random.uniform(-1.0, 1.0),
                random.uniform(-2.0, -0.3),
                random.uniform(-8.0, 8.0),
            ],
        }
    }

    fn scene(&self, settings: &str) -> Scene {
        let Lopsided { mass, inertia, center: [x, z], mu, restitution, velocity } = *self;
        let [along, down, spin] = velocity;
        scene(&format!(
            "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.001\ntolerance = 1e-13\ncompliance = 0\n{settings}
             {FLOOR}
             [[body]]
             name = 'ball'
             mass = {mass:?}
             inertia = [{inertia:?}, {inertia:?}, {inertia:?}]
             center_of_mass = [{x:?}, 0, {z:?}]
             shape = {{ sphere = {RADIUS:?} }}
             position = [0, 0, {RADIUS:?}]
             velocity = [{along:?}, 0, {down:?}]
             angular_velocity = [0, {spin:?}, 0]
             [[contact]]
             mu = {mu:?}
             restitution = {restitution:?}"
        ))
    }

    /// Velocities of the centre of mass and about y, before and after an impact in two phases, of which each is one of a
    /// few cases; the impulses of the phases; and whether it slips at the end.
    fn by_cases(&self) -> ([[f64; 3]; 2], [[f64; 2]; 2], bool) {
        let Lopsided { mass, inertia, center: [x, z], mu, restitution, velocity } = *self;
        // The velocity of a point r from the middle is (v_x + w r_z, v_z - w r_x); from the centre of mass the foot is at
        let (a, b) = (-x, -RADIUS - z);
        let before = [velocity[0] + velocity[2] * z, velocity[1] - velocity[2] * x, velocity[2]];
        let pushed = |v: [f64; 3], [n, t]: [f64; 2]| {
            [v[0] + t / mass, v[1] + n / mass, v[2] + (b * t - a * n) / inertia]
        };
        let foot = |v: [f64; 3]| [v[1] - v[2] * a, v[0] + v[2] * b];
        let unit = |p: [f64; 2]| foot(pushed([0.0; 3], p));
        let ([nn, tn], [nt, tt]) = (unit([1.0, 0.0]), unit([0.0, 1.0]));
        // The impulse of a phase that begins at `u`: of all that either give `least` along the normal or stop it, and
        // either stick or slip one way, the one that is consistent.
        let phase = |u: [f64; 2], least: f64| {
            let mut found = Vec::new();
            let mut consider = |n: f64, t: f64| {
                let after = [u[0] + nn * n + nt * t, u[1] + tn * n + tt * t];
                let sticks = after[1].abs() < 1e-12 && t.abs() <= mu * n + 1e-12;
                let slips = (t.abs() - mu * n).abs() < 1e-12 && t * after[1] <= 0.0;
                let closed = after[0].abs() < 1e-12 && n >= least - 1e-12;
                let open = (n - least).abs() < 1e-12 && after[0] >= -1e-12;
                if (sticks || slips) && (closed || open) {
                    found.push([n, t]);
                }
            };
            for side in [-1.0, 1.0] {
                let n = -u[0] / (nn + side * mu * nt);
                consider(n, side * mu * n);
                consider(least, side * mu * least);
            }
            consider(least, -(u[1] + tn * least) / tt);
            let determinant = nn * tt - nt * tn;
            consider((nt * u[1] - tt * u[0]) / determinant, (tn * u[0] - nn * u[1]) / determinant);
            found
        };
        let one = |found: Vec<[f64; 2]>| {
            // Cases meet where one is the border of the other; different solutions would be another thing.
            let spread = found.iter().map(|p| (p[0] - found[0][0]).hypot(p[1] - found[0][1]));
            assert!(!found.is_empty() && spread.fold(0.0, f64::max) < 1e-9, "{self:?}: {found:?}");
            found[0]
        };
        let compression = one(phase(foot(before), 0.0));
        let middle = pushed(before, compression);
        let given = restitution * compression[0];
        let second = one(phase(foot(middle), given));
        let after = pushed(middle, second);
        ([before, after], [compression, second], foot(after)[1].abs() > 1e-9)
    }

    fn energy(&self, [x, z, spin]: [f64; 3]) -> f64 {
        0.5 * (self.mass * (x * x + z * z) + self.inertia * spin * spin)
    }

    /// Velocities of the centre of mass and about y after one step.
    fn stepped(&self, settings: &str) -> [f64; 3] {
        let v = after(&self.scene(settings), 1).v;
        // The body has turned in the step, and the velocity is that of its middle.
        let [x, z] = self.center;
        let (sin, cos) = (v[4] * 1e-3).sin_cos();
        let (x, z) = (cos * x + sin * z, cos * z - sin * x);
        [v[0] + v[4] * z, v[2] - v[4] * x, v[4]]
    }
}

/// What sticks at first may slip back, what slips may stop and turn round: in every case both phases are those of the plane.
/// No impact gains energy, which by Newton's law some do.
#[test]
fn impacts_in_two_phases_are_those_of_the_plane() {
    let mut random = Random(5);
    let (mut counts, mut gains) = ([0; 4], 0);
    let mut compared = 0;
    while compared < 400 {
        let e = random.uniform(0.2, 1.0);
        let thing = Lopsided::random(&mut random, if compared % 2 == 0 { e } else { 1.0 });
        let foot = thing.velocity[1];
        if foot > -0.2 {
            continue;
        }
        let ([before, expected], [first, second], slips) = thing.by_cases();
        let found = thing.stepped(POISSON);
        for k in 0..3 {
            let size = before.iter().chain(&expected).fold(1.0_f64, |size, v| size.max(v.abs()));
            assert!(
                (found[k] - expected[k]).abs() < 1e-9 * size,
                "{thing:?}: {found:?} {expected:?}"
            );
        }
        let energy = [before, found].map(|v| thing.energy(v));
        assert!(energy[1] <= energy[0] * (1.0 + 1e-12), "{thing:?}: {energy:?}");
        gains += usize::from(thing.energy(thing.stepped("")) > energy[0] * (1.0 + 1e-6));
        let turned = first[1] * second[1] < 0.0;
        counts[usize::from(slips) + 2 * usize::from(turned)] += 1;
        compared += 1;
    }
    assert!(counts.iter().take(3).all(|&count| count > 20), "{counts:?}");
    assert!(gains > 0, "Newton's law gained energy in none of them");
}

/// One contact without friction, or that sticks at once, rebounds as by Newton's law, with gravity too, and in steps
/// that are split; the same with restitution that falls with speed.
#[test]
fn what_is_struck_through_its_middle_rebounds_as_by_newtons_law() {
    let fall = |settings: &str, contact: &str, compliance: f64| {
        let mut scene = scene(&format!(
            "[simulation]\ntime_step = 0.004\ntolerance = 1e-13\n{settings}\n{FLOOR}
             [[body]]
             name = 'ball'
             mass = 0.3
             shape = {{ sphere = 0.1 }}
             position = [0, 0, 0.23]
             velocity = [1, 0.2, -0.5]
             angular_velocity = [3, -2, 5]
             [[contact]]
             {contact}"
        ));
        scene.settings.compliance = compliance;
        after(&scene, 150)
    };
    for split in ["", "\nsplit_impacts = true"] {
        for contact in [
            "mu = 0\nrestitution = 0.7",
            "mu = 0.3\nrestitution = 0.8",
            "mu = 0.3\nrestitution = 0.9\nrestitution_falloff = 0.4",
        ] {
            for compliance in [0.0, 0.05] {
                let newton = fall(split, contact, compliance);
                let poisson = fall(&format!("{POISSON}{split}"), contact, compliance);
                for (a, b) in newton.q.iter().zip(&poisson.q).chain(newton.v.iter().zip(&poisson.v))
                {
                    assert_abs_diff_eq!(a, b, epsilon = 1e-9);
                }
                assert!(newton.q[2] > 0.09 && newton.v[0] < 1.0 + 1e-12, "{newton:?}");
            }
        }
    }
}

/// What is pressed, held, damped, rubbed or pushed out rebounds at e times its approach all the same: forces of the step have no
/// part in an impact, and e = 1 gains nothing.
#[test]
fn loads_do_not_rebound() {
    let slider = |name: &str, at: [f64; 2], more: &str| {
        let [x, z] = at;
        format!(
            "[[body]]\nname = '{name}'\nposition = [{x:?}, 0, {z:?}]\nmass = 1\ninertia = 0.01
             joint = {{ type = 'prismatic', axis = [0, 0, 1], {more} }}\n"
        )
    };
    let ball = |name: &str, mass: f64, z: f64, more: &str| {
        format!(
            "[[body]]\nname = '{name}'\nmass = {mass:?}\nshape = {{ sphere = 0.1 }}
             position = [0, 0, {z:?}]\nvelocity = [0, 0, -1]\n{more}\n"
        )
    };
    let motor = |joint: &str, force: f64| {
        format!(
            "[[actuator]]\nname = 'm'\njoint = '{joint}'\ntype = 'motor'\ncontrol = {force:?}\n"
        )
    };
    let round = "shape = { sphere = 0.1 }\n";
    let (falls, lies) = ("v = -1", "parent = 'top'\n");
    let foot = |more: &str| {
        slider("top", [0.0, 0.5], falls) + &slider("foot", [0.0, -0.4], more) + lies + round
    };
    let pair = slider("a", [0.0, 0.1], falls) + round + &slider("b", [1.0, 1.0], falls);
    let held = "[[equality]]\nname = 'eq'\ntype = 'joint'\njoints = ['b', 'a']\n";
    let stack = |force: f64| {
        let press = format!("force = [0, 0, {:?}]", -force);
        ball("a", 0.1, 0.1, "")
            + &ball("b", 1.0, 0.3, &press)
            + "[[contact]]\npair = 'a-b'\nmu = 0\nrestitution = 0\n"
    };
    let swing = "[[body]]\nname = 'arm'\nposition = [0, 0, 0.1]\nmass = 1\ninertia = 0.01\njoint = { type = 'revolute',
        axis = [0, -1, 0], v = -1, damping = 50, armature = 0.2 }\n[[body.shape]]\nsphere = 0.1\nposition = [0.5, 0, 0]\n"
        .to_string();
    let one = |more: &str| slider("a", [0.0, 0.1], more) + round;
    for (name, bodies, e, struck) in [
        ("deep", ball("a", 0.3, 0.095, ""), 0.9, vec![2]),
        ("swung", swing, 0.7, vec![0]),
        ("damped", one("v = -1, damping = 1000"), 0.8, vec![0]),
        ("rubbed", one("v = -1, friction = 90"), 0.8, vec![0]),
        ("locked", foot("friction = 1000"), 1.0, vec![0, 1]),
        ("at its limit", foot("limits = [-0.5, 0]") + &motor("foot", 50.0), 0.5, vec![0, 1]),
        ("coupled", pair.clone() + held + &motor("b", 100.0), 0.5, vec![0]),
        ("coupled, the other way", pair + held + &motor("b", -100.0), 0.5, vec![0]),
        ("pressed", stack(1000.0), 0.5, vec![2]),
    ] {
        let rebounds = |law: &str| {
            let scene = scene(&format!(
                "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.01\ntolerance = 1e-13\ncompliance = 0\n{law}\n{FLOOR}
                 {bodies}[[contact]]\nmu = 0\nrestitution = {e:?}"
            ));
            let v = after(&scene, 1).v;
            struck.iter().map(|&k| v[k]).sum::<f64>()
        };
        for law in ["", POISSON] {
            let found = rebounds(law);
            assert!((found - e).abs() < 1e-9, "{name}, {law}: {found} instead of {e}");
        }
    }
}

/// Of three balls in a row the first is thrown. It rebounds, and with e = 1 no energy is lost; what does not approach rebounds
/// nothing.
#[test]
fn a_row_of_balls_shares_a_blow() {
    let row = |e: [f64; 2]| {
        let mut text = format!(
            "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.001\ntolerance = 1e-13\ncompliance = 0\n{POISSON}\n"
        );
        for (k, speed) in [1.0, 0.0, 0.0].into_iter().enumerate() {
            text += &format!(
                "[[body]]\nname = 'b{k}'\nmass = 0.4\nshape = {{ sphere = 0.05 }}
                 position = [{:?}, 0, 0]\nvelocity = [{speed:?}, 0, 0]\n",
                0.1 * k as f64,
            );
        }
        for (k, e) in e.into_iter().enumerate() {
            text +=
                &format!("[[contact]]\npair = 'b{k}-b{}'\nmu = 0.2\nrestitution = {e:?}\n", k + 1);
        }
        text += "[[contact]]\nmu = 0.1\n";
        let v = after(&scene(&text), 1).v;
        [v[0], v[6], v[12]]
    };
    // Compression: all at a third, with impulses 2/3 and 1/3 of the momentum. The second contact approaches at no speed and
    // takes on what the first gives.
    for (e, expected) in [
        ([1.0, 0.0], [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]),
        ([0.5, 0.5], [0.0, 0.5, 0.5]),
        ([0.0, 1.0], [1.0 / 3.0; 3]),
    ] {
        let found = row(e);
        for (found, expected) in found.iter().zip(expected) {
            assert_abs_diff_eq!(*found, expected, epsilon = 1e-9);
        }
    }
}

const COUPLES: &str = "torsion_radius = 0.02\nrolling_resistance = 0.004";

/// Things that rebound in every way: an askew box with what `box_terms` says of it, a ball on a ball, the tip of an arm with a motor and friction.
fn everything(settings: &str, box_terms: &str) -> Scene {
    scene(&format!(
        "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{POISSON}\n{settings}\n{FLOOR}
    [[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = {{ box = [0.1, 0.08, 0.05] }}
    position = [0, 0, 0.135]
    orientation = [0.9, 0.3, 0.3, 0.1]
    velocity = [0.7, 0.2, -1.5]
    angular_velocity = [0.1, 2, 1]
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = {{ sphere = 0.05 }}
    position = [0.5, 0, 0.051]
    velocity = [0.4, 0.5, -0.2]
    [[body]]
    name = 'high'
    mass = 0.1
    shape = {{ sphere = 0.03 }}
    position = [0.51, 0.01, 0.15]
    velocity = [0.4, 0.5, -3]
    angular_velocity = [5, 0, 2]
    [[body]]
    name = 'arm'
    joint = {{ type = 'revolute', axis = [0, 1, 0], q = [0.6], v = [-2.3], damping = 0.01 }}
    position = [-1, 0, 0.29]
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [1e-3, 2e-3, 1e-3]
    [[body]]
    name = 'foot'
    parent = 'arm'
    joint = {{ type = 'revolute', axis = [0, 1, 0], q = [0.3], v = [0.4], friction = 0.05 }}
    position = [0, 0, -0.23]
    mass = 0.1
    center_of_mass = [0, 0.01, -0.02]
    inertia = [1e-4, 2e-4, 1e-4]
    shape = {{ sphere = 0.05 }}
    [[contact]]
    mu = 0.3
    restitution = 0.6
    [[contact]]
    pair = 'floor-box'
    mu = 0.25
    restitution = 0.7
    {box_terms}
    [[contact]]
    pair = 'ball-high'
    mu = 0.4
    restitution = 0.8
    restitution_falloff = 0.2"
    ))
}

#[test]
fn derivatives_by_poissons_law_agree_in_all_ways() {
    for setting in ["", "compliance = 0", "integrator = 'implicit'", "split_impacts = true"] {
        let scene = everything(setting, COUPLES);
        // The steps in which something rebounds.
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let rebounds = (0..60).filter(|_| {
            rollout.advance(1, &scene.inputs);
            rollout.workspace.contacts().any(|record| record.target.rebounds())
        });
        let rebounds: Vec<usize> = rebounds.take(4).collect();
        let names =
            ["floor-box/restitution", "ball-high/restitution", "ball-high/restitution_falloff"];
        let mut moved = [0.0_f64; 3];
        for &steps in &rebounds {
            let found = step_derivatives_agree(setting, &scene, steps);
            let slots = names.map(|name| scene.model.parameter(name).unwrap().slots[0]);
            for (most, slot) in moved.iter_mut().zip(slots) {
                *most = most.max(found.c.column(slot).norm());
            }
        }
        let felt = moved.iter().all(|&most| most > 1e-4);
        assert!(rebounds.len() == 4 && felt, "{setting}: {rebounds:?} {moved:?}");
    }
    let tally = compare("poisson", &everything("", ""), 12, 0.5);
    assert!(tally.recorded > 0 && tally.structured > tally.recorded, "{}", tally.recorded);
}

/// Thrown things come to rest: everything is solved, also with many contacts.
#[test]
fn heaps_are_solved() {
    let mut random = Random(17);
    for case in 0..12 {
        let mut bodies = String::new();
        // One of so many that it goes by blocks.
        let count = if case == 0 { 16 } else { 6 };
        for k in 0..count {
            let shape = ["sphere = 0.05", "box = [0.05, 0.04, 0.03]", "capsule = [0.03, 0.04]"]
                [(case + k) % 3];
            let [x, y, z] = random.vector::<3>(0.02);
            bodies += &format!(
                "[[body]]\nname = 'b{k}'\nmass = {:?}\nshape = {{ {shape} }}
                 position = [{x:?}, {y:?}, {:?}]\nvelocity = {:?}\nangular_velocity = {:?}\n",
                random.uniform(0.1, 1.0),
                0.12 + z + 0.2 * k as f64,
                random.vector::<3>(0.5),
                random.vector::<3>(5.0),
            );
        }
        // Without compliance the friction of both phases is redundant.
        let compliance = [0.0, 1e-6][case / 3 % 2];
        let scene = scene(&format!(
            "[simulation]\ntime_step = 0.005\ncompliance = {compliance:?}\n{POISSON}\n{FLOOR}{bodies}[[contact]]\nmu = {:?}
             restitution = {:?}",
            random.uniform(0.1, 0.8),
            random.uniform(0.2, 0.9),
        ));
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let mut rebounds = 0;
        for _ in 0..600 {
            rollout.advance(1, &scene.inputs);
            let struck = rollout.workspace.contacts().any(|record| record.target.rebounds());
            rebounds += usize::from(struck);
        }
        assert_eq!(rollout.report.unsolved, 0, "case {case}: {:?}", rollout.report.worst);
        assert!(rebounds > 3, "case {case}: {rebounds}");
    }
}

#[test]
fn poissons_law_is_written_back_and_nonsense_refused() {
    let first = everything("", COUPLES);
    assert_eq!(first.settings.restitution_law, RestitutionLaw::Poisson);
    let written = Description::of(&first, &first.parameters, "again").to_toml(".");
    let again = Scene::parse(&written, "again.toml").unwrap();
    assert_eq!(again.settings.restitution_law, RestitutionLaw::Poisson);
    assert_eq!(after(&again, 40).v, after(&first, 40).v);
    for (settings, contact, expected) in [
        ("restitution_law = 'hertz'", "", "must be \"newton\" or \"poisson\", found \"hertz\""),
        ("restitution_law = 'poisson'\nsolver = 'pyramid'", "", "solver = \"coupled\""),
        ("restitution_law = 'poisson'\nsmoothing = 1e-4", "", "smoothing"),
        ("restitution_law = 'poisson'", "softness = 1e-4", "stops at once"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n{settings}\n{FLOOR}
             [[body]]\nname = 'ball'\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 1]
             [[contact]]\npair = 'floor-ball'\nmu = 0.2\n{contact}"
        );
        let message = Scene::parse(&text, "scene.toml").unwrap_err().to_string();
        assert!(message.contains(expected), "{settings}: {message}");
        assert!(message.starts_with("scene.toml:"), "{message}");
    }
}
