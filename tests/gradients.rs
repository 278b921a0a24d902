//! Derivatives of the step, taken in five ways, in every contact situation.

mod limits;
mod ways;

use nalgebra::{UnitQuaternion, Vector3};
use stiction::argmin::Mode;
use stiction::contact::Target;
use stiction::model::Scene;
use stiction::simulation::StepMemory;
use stiction::verify::{ContactModes, Errors, Gradcheck, StepProgram};

use crate::random::Random;
use crate::scenes::FLOOR;

const CASES: usize = 60;

/// A body on a floor (or tilted plane: gravity is a parameter), as a test sets it up.
struct Body {
    half: Vector3<f64>,
    sphere: bool,
    mass: f64,
    /// Offset of the centre of mass, and a full inertia.
    lopsided: bool,
    rotation: UnitQuaternion<f64>,
    /// Of the lowest point, m.
    gap: f64,
    velocity: Vector3<f64>,
    /// World frame.
    spin: Vector3<f64>,
    mu: f64,
    restitution: f64,
    gravity: Vector3<f64>,
    wrench: [f64; 6],
}

impl Body {
    fn random(random: &mut Random, lopsided: bool) -> Body {
        Body {
            half: Vector3::from_fn(|_, _| random.uniform(0.03, 0.12)),
            sphere: false,
            mass: random.uniform(0.2, 2.0),
            lopsided,
            rotation: about(Vector3::z(), random.uniform(-3.0, 3.0)),
            gap: random.uniform(1e-5, 1e-4),
            velocity: Vector3::zeros(),
            spin: Vector3::zeros(),
            mu: random.uniform(0.1, 0.7),
            restitution: 0.0,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            wrench: [0.0; 6],
        }
    }

    /// The lowest point below the centre of the shape.
    fn reach(&self) -> f64 {
        let normal = self.rotation.inverse() * Vector3::z();
        if self.sphere { self.half.x } else { normal.abs().dot(&self.half) }
    }

    /// The scene, with what else is drawn at random.
    fn scene(&self, random: &mut Random) -> Scene {
        let [x, y, z] = [self.half.x, self.half.y, self.half.z];
        let shape = match self.sphere {
            true => format!("{{ sphere = {x} }}"),
            false => format!("{{ box = [{x}, {y}, {z}] }}"),
        };
        let solid = |a: f64, b: f64| self.mass * (a * a + b * b) / 3.0;
        let [xx, yy, zz] = [solid(y, z), solid(x, z), solid(x, y)];
        let least = xx.min(yy).min(zz);
        let size = if self.lopsided { 0.15 } else { 0.0 };
        let products = random.vector::<3>(size * least);
        let center = random.vector::<3>(2.0 * size * x.min(y).min(z));
        let height = self.gap + self.reach();
        let q = self.rotation.quaternion();
        let [mass, mu, e] = [self.mass, self.mu, self.restitution];
        let spin = self.rotation.inverse() * self.spin;
        let text = format!(
            "gravity = {:?}
            [simulation]
            time_step = 0.005
            {FLOOR}
            [[body]]
            name = \"body\"
            mass = {mass}
            shape = {shape}
            inertia = [{xx}, {yy}, {zz}, {}, {}, {}]
            center_of_mass = {center:?}
            position = [0.3, -0.2, {height}]
            orientation = [{}, {}, {}, {}]
            velocity = {:?}
            angular_velocity = {:?}
            force = {:?}
            torque = {:?}
            [[contact]]
            mu = {mu}
            restitution = {e}",
            self.gravity.as_slice(),
            products[0],
            products[1],
            products[2],
            q.w,
            q.i,
            q.j,
            q.k,
            self.velocity.as_slice(),
            spin.as_slice(),
            &self.wrench[..3],
            &self.wrench[3..],
        );
        Scene::parse(&text, "case").unwrap()
    }
}

fn about(axis: Vector3<f64>, angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(axis * angle)
}

fn program(scene: &Scene, steps: usize) -> StepProgram<'_> {
    let Scene { state, inputs, .. } = scene;
    let system = scene.system();
    StepProgram::new(system, state, inputs, &StepMemory::default(), steps)
}

/// Whether all touching contacts, `count` of them, are in `mode`.
fn all(regime: &ContactModes, mode: Mode, count: impl std::ops::RangeBounds<usize>) -> bool {
    count.contains(&regime.modes.len()) && regime.modes.iter().all(|m| m.3 == mode)
}

/// Checks the derivatives of random cases, each of which must be the situation that is meant.
fn check(
    name: &str,
    seed: u64,
    draw: impl Fn(&mut Random, usize) -> Body,
    intended: impl Fn(&ContactModes, usize) -> bool,
) -> Gradcheck {
    let mut random = Random(seed);
    let mut total = Gradcheck::default();
    let mut unsolved = 0;
    for case in 0..CASES {
        let body = draw(&mut random, case);
        let scene = body.scene(&mut random);
        let program = program(&scene, 1);
        let regime = program.contact_modes();
        // Said to be unsolved: a derivative holds at a solution.
        if regime.report.unsolved > 0 {
            unsolved += 1;
            continue;
        }
        assert!(intended(regime, case), "{name} {case}: {:?}", regime.modes);
        let check = Gradcheck::of(&program).unwrap();
        for row in check.rows.iter().filter(|row| !row.worst.within(&Errors::TOLERANCES)) {
            eprintln!("{name} {case}: {:?}, {:?}", row, regime.modes);
        }
        total.merge(&check);
    }
    let (cases, skipped) = (total.cases(), total.skipped_at_kinks());
    let Errors { dual_vs_tape: d, residual_vs_tape: r, unrolled_vs_tape: u, vs_differences: c } =
        total.max();
    eprintln!(
        "{name}: dual {d:.1e} residual {r:.1e} unrolled {u:.1e} differences {c:.1e}, skipped {skipped} of {cases}"
    );
    assert!(total.passed(), "{name}: {:?}", total.max());
    assert!(20 * skipped <= cases, "{name}: {skipped} of {cases} skipped");
    assert!(50 + unsolved <= CASES, "{name}: {unsolved} of {CASES} unsolved");
    total
}

/// A velocity along the floor of a random direction.
fn along(random: &mut Random, low: f64, high: f64) -> Vector3<f64> {
    about(Vector3::z(), random.uniform(-3.1, 3.1)) * Vector3::x() * random.uniform(low, high)
}

#[test]
fn spinning_slide() {
    let draw = |random: &mut Random, case: usize| {
        let mut body = Body::random(random, case % 2 == 1);
        // The corners of an edge, or one, come down; the others stay above the floor.
        let tilt = along(random, 0.05, 0.15);
        body.rotation = about(tilt.normalize(), tilt.norm()) * body.rotation;
        body.velocity = along(random, 1.0, 2.0) - Vector3::z() * random.uniform(0.03, 0.1);
        body.spin.z = random.uniform(1.0, 5.0);
        body
    };
    check("spinning slide", 10, draw, |regime, _| all(regime, Mode::Slide, 1..4));
}

/// A box that falls on an edge, which is off the level by an angle in rad.
fn on_edge(random: &mut Random, lopsided: bool, level: f64) -> Body {
    let mut body = Body::random(random, lopsided);
    let level = about(Vector3::x(), level);
    body.rotation = body.rotation * level * about(Vector3::y(), random.uniform(0.5, 1.0));
    body.velocity = along(random, 0.2, 1.0) - Vector3::z() * random.uniform(0.5, 2.0);
    body
}

#[test]
fn landing_on_an_edge() {
    let draw = |random: &mut Random, case: usize| {
        let level = if case % 4 < 2 { 0.0 } else { random.uniform(-5e-3, 5e-3) };
        on_edge(random, case % 2 == 1, level)
    };
    check("edge", 11, draw, |regime, _| {
        regime.modes.len() == 2 && (regime.modes[0].2 ^ regime.modes[1].2).count_ones() == 1
    });
}

#[test]
fn landing_on_a_nearly_level_edge() {
    // The corners that stick are nearly dependent: 1e-9 to 1e-6 rad.
    let draw = |random: &mut Random, _| {
        let level = 0.1_f64.powf(random.uniform(6.0, 9.0));
        let mut body = on_edge(random, false, level);
        // Slow along the floor, so that neither end lifts.
        body.velocity.x *= 0.3;
        body.velocity.y *= 0.3;
        body
    };
    check("nearly level edge", 18, draw, |regime, _| regime.modes.len() == 2);
}

/// A box with a corner down.
fn on_corner(random: &mut Random, lopsided: bool) -> Body {
    let mut body = Body::random(random, lopsided);
    // One diagonal of the cube of the axes down, then up to 0.2 rad off.
    let down = UnitQuaternion::rotation_between(&Vector3::repeat(-1.0), &-Vector3::z());
    body.rotation *= down.unwrap();
    body.rotation *= about(along(random, 0.0, 0.2), 1.0);
    body.velocity = along(random, 0.2, 1.0) - Vector3::z() * random.uniform(0.5, 2.0);
    body.spin = Vector3::from(random.vector::<3>(0.5));
    body
}

#[test]
fn landing_on_a_corner() {
    let draw = |random: &mut Random, case: usize| on_corner(random, case % 2 == 1);
    check("corner", 12, draw, |regime, _| regime.modes.len() == 1);
}

#[test]
fn sticking() {
    let draw = |random: &mut Random, case: usize| {
        let mut body = Body::random(random, case % 2 == 1);
        body.mu = random.uniform(0.8, 1.2);
        // On a slope, in the frame of the slope.
        body.gravity += along(random, 0.5, 3.0);
        body.velocity = along(random, 0.001, 0.005) - Vector3::z() * 0.02;
        body
    };
    check("sticking", 13, draw, |regime, _| all(regime, Mode::Stick, 1..));
}

#[test]
fn oblique_impact() {
    let draw = |random: &mut Random, case: usize| {
        let mut body = if case.is_multiple_of(3) {
            on_edge(random, true, 0.0)
        } else {
            on_corner(random, case % 2 == 1)
        };
        body.spin += Vector3::from(random.vector::<3>(0.5));
        body.restitution = random.uniform(0.3, 0.9);
        body
    };
    check("oblique impact", 14, draw, |regime, _| {
        regime.modes.iter().any(|&(.., (target, _))| target == Target::Restitution)
    });
}

#[test]
fn take_off() {
    // Down on four corners; then pulled up as a whole, or by one side.
    let draw = |random: &mut Random, case: usize| {
        let mut body = Body::random(random, false);
        body.mu = random.uniform(0.1, 0.3);
        body.half.z = random.uniform(0.02, 0.04);
        body.gap = random.uniform(1e-6, 1e-5);
        body.velocity = along(random, 0.5, 1.0);
        let weight = body.mass * 9.81;
        let down = body.scene(&mut Random(0));
        assert_eq!(program(&down, 1).contact_modes().modes.len(), 4, "case {case}");
        let share = if case.is_multiple_of(2) {
            random.uniform(1.5, 3.0)
        } else {
            random.uniform(0.5, 0.8)
        };
        body.wrench[2] = share * weight;
        if case % 2 == 1 {
            body.wrench[4] = random.uniform(1.1, 1.3) * (1.0 - share) * weight * body.half.x;
        }
        body
    };
    check("take-off", 15, draw, |regime, case| match case % 2 {
        0 => regime.modes.is_empty(),
        _ => (1..4).contains(&regime.modes.len()),
    });
}

#[test]
fn spinning_slide_on_four_corners() {
    let draw = |random: &mut Random, case: usize| {
        let mut body = Body::random(random, case % 2 == 1);
        body.mu = random.uniform(0.1, 0.3);
        body.half.z = random.uniform(0.02, 0.04);
        body.velocity = along(random, 1.0, 2.0) - Vector3::z() * 0.05;
        body.spin.z = random.uniform(1.0, 5.0);
        if case.is_multiple_of(3) {
            body.gap = -random.uniform(1e-4, 1e-3);
        }
        body
    };
    check("four corners", 16, draw, |regime, _| all(regime, Mode::Slide, 4..5));
}

#[test]
fn spheres() {
    // Thrown down aslant: they slide on a smooth floor, and stick to a rough one.
    let draw = |random: &mut Random, case: usize| {
        let mut body = Body::random(random, case % 2 == 1);
        body.sphere = true;
        body.mu = if case % 4 < 2 { random.uniform(0.05, 0.15) } else { random.uniform(3.0, 4.0) };
        body.restitution = if case.is_multiple_of(3) { random.uniform(0.3, 0.9) } else { 0.0 };
        body.velocity = along(random, 0.7, 1.0) - Vector3::z() * random.uniform(0.3, 1.0);
        body.spin = Vector3::from(random.vector::<3>(2.0));
        body
    };
    check("sphere", 17, draw, |regime, case| {
        all(regime, if case % 4 < 2 { Mode::Slide } else { Mode::Stick }, 1..2)
            && (regime.modes[0].4.0 == Target::Restitution) == case.is_multiple_of(3)
    });
}

#[test]
fn several_steps() {
    // The impulses of one step start the solver of the next, and states differ in the tangent space.
    let mut random = Random(19);
    let mut total = Gradcheck::default();
    for case in 0..20 {
        let scene = on_corner(&mut random, case % 2 == 1).scene(&mut random);
        let program = program(&scene, 4);
        let steps: Vec<usize> = program.contact_modes().modes.iter().map(|mode| mode.0).collect();
        assert!(steps.contains(&0) && program.contact_modes().report.unsolved == 0, "{steps:?}");
        total.merge(&Gradcheck::of(&program).unwrap());
    }
    assert!(total.passed(), "{:?}", total.max());
    assert!(20 * total.skipped_at_kinks() <= total.cases());
}
