//! Random beginnings of motions, those of (`Zhong21` App. H): drawn again until nothing touches.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::point_constraint::PointConstraint;
use super::point_system::PointSystem;

/// Draws before it is said that there is no room.
const TRIALS: usize = 10_000;

/// So far off its constraints, relative, a start may be.
const OFF: f64 = 1e-9;

/// How a motion begins.
#[derive(Clone, Debug, PartialEq)]
pub enum PointStart {
    /// Centres anywhere in the unit square; normal velocities of this size (m/s), and turning rates of half a normal one (rad/s).
    Scattered {
        /// The size of velocities (m/s).
        speed: f64,
    },
    /// A chain from the place it is tethered to: angles from straight down uniform up to pi, rates normal (rad/s).
    Chain,
    /// A top on its ball joint: angles uniform to 1.5 rad to either side, spin about 10.5 rad/s either way.
    Top,
    /// A rope: its first angle uniform up to pi, every other up to this one from the one before (rad), rates normal (rad/s).
    Rope {
        /// The largest bend (rad).
        bend: f64,
    },
}

fn normal(random: &mut impl Rng) -> f64 {
    StandardNormal.sample(random)
}

fn uniform(random: &mut impl Rng) -> f64 {
    random.random::<f64>()
}

impl PointStart {
    /// Positions and velocities of a motion's beginning (m, m/s).
    ///
    /// # Errors
    /// If the system is of another kind, or nothing is found in which nothing touches.
    pub fn sample(
        &self,
        system: &PointSystem,
        random: &mut impl Rng,
    ) -> Result<(Vec<f64>, Vec<f64>), String> {
        for _ in 0..TRIALS {
            let (x, v) = match self {
                PointStart::Scattered { speed } => scattered(system, *speed, random)?,
                PointStart::Chain => {
                    let (lengths, anchor) = chain(system)?;
                    let angles: Vec<f64> =
                        lengths.iter().map(|_| uniform(random) * std::f64::consts::PI).collect();
                    hang(&lengths, &angles, anchor, random)
                }
                PointStart::Rope { bend } => {
                    let springs = &system.potential.springs;
                    let lengths: Vec<f64> = springs.iter().map(|spring| spring.length).collect();
                    if lengths.len() != system.points() || system.dimension() != 2 {
                        return Err("a rope has a spring to each point, in the plane".into());
                    }
                    let anchor = springs.first().and_then(|spring| spring.from.err());
                    let [x, y, _] = anchor.unwrap_or_default();
                    let mut angle = uniform(random) * std::f64::consts::PI;
                    let angles: Vec<f64> = (0..lengths.len())
                        .map(|k| {
                            if k > 0 {
                                angle += (2.0 * uniform(random) - 1.0) * bend;
                            }
                            angle
                        })
                        .collect();
                    hang(&lengths, &angles, [x, y], random)
                }
                PointStart::Top => top(system, random)?,
            };
            if x.len() != system.coordinates() {
                return Err("a start of this kind is of other bodies".into());
            }
            let (phi, rate) = system.violation(&x, &v);
            // Also refuses NaN.
            if !(phi <= OFF && rate <= OFF) {
                return Err(format!(
                    "a start of this kind is off the constraints by {phi:.1e}, its velocities by {rate:.1e}"
                ));
            }
            if system.contacts().iter().all(|c| c.geometry.gap(system.layout(), &x) >= 0.0) {
                return Ok((x, v));
            }
        }
        Err(format!("no start was found in {TRIALS} draws in which nothing touches"))
    }
}

fn scattered(
    system: &PointSystem,
    speed: f64,
    random: &mut impl Rng,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    if system.dimension() != 2 {
        return Err("what is scattered is in the plane".into());
    }
    let (mut x, mut v) = (Vec::new(), Vec::new());
    for body in system.bodies() {
        let centre = [uniform(random), uniform(random)];
        let velocity = [speed * normal(random), speed * normal(random)];
        let (sin, cos) = (uniform(random) * std::f64::consts::TAU).sin_cos();
        let rate = 0.5 * normal(random);
        x.extend(centre);
        v.extend(velocity);
        for axis in [[cos, sin], [-sin, cos]].into_iter().take(body.axes) {
            x.extend([centre[0] + axis[0], centre[1] + axis[1]]);
            v.extend([velocity[0] - rate * axis[1], velocity[1] + rate * axis[0]]);
        }
    }
    Ok((x, v))
}

/// The lengths of a chain of points, each held by the one before, the first by a place in the world.
fn chain(system: &PointSystem) -> Result<(Vec<f64>, [f64; 2]), String> {
    let anchor = system.constraints().iter().find_map(|constraint| match constraint {
        PointConstraint::Tether { anchor: [x, y, _], .. } => Some([*x, *y]),
        _ => None,
    });
    let held = |k: usize| {
        system.constraints().iter().find_map(|constraint| match constraint {
            PointConstraint::Tether { point, length, .. } if k == 0 && *point == 0 => Some(*length),
            PointConstraint::Rod { points, length } if k > 0 && *points == [k - 1, k] => {
                Some(*length)
            }
            _ => None,
        })
    };
    let lengths: Option<Vec<f64>> = (0..system.points()).map(held).collect();
    let planar = system.dimension() == 2;
    let both = lengths.zip(anchor).filter(|_| planar);
    both.ok_or("a chain is a tether and rods from point to point".into())
}

/// Points one after the other from a place, at angles from straight down, with normal rates.
fn hang(
    lengths: &[f64],
    angles: &[f64],
    anchor: [f64; 2],
    random: &mut impl Rng,
) -> (Vec<f64>, Vec<f64>) {
    let (mut x, mut v) = (Vec::new(), Vec::new());
    let (mut place, mut velocity) = (anchor, [0.0; 2]);
    for (&length, angle) in lengths.iter().zip(angles) {
        let rate = normal(random) * length;
        let (sin, cos) = angle.sin_cos();
        place = [place[0] + length * sin, place[1] - length * cos];
        velocity = [velocity[0] + rate * cos, velocity[1] + rate * sin];
        x.extend(place);
        v.extend(velocity);
    }
    (x, v)
}

/// Euler's angles z, x, z and their rates.
fn top(system: &PointSystem, random: &mut impl Rng) -> Result<(Vec<f64>, Vec<f64>), String> {
    let joint = system.constraints().iter().find_map(|constraint| match constraint {
        PointConstraint::BallJoint { weights, anchor } => Some((weights, anchor)),
        _ => None,
    });
    let (weights, anchor) =
        joint.filter(|_| system.points() == 4).ok_or("a top is a body on a ball joint")?;
    // The centre from the pivot, in the frame of the body.
    let mut arm = [0.0; 3];
    for &(point, weight) in weights.iter().filter(|(p, _)| *p > 0) {
        arm[point - 1] -= weight;
    }
    let [phi, theta, psi] = std::array::from_fn(|_| 3.0 * (uniform(random) - 0.5));
    let rates: [f64; 2] = [9.0, 0.6].map(|size| size * (uniform(random) - 0.5));
    let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
    let spin = sign * 1.5 * (normal(random) + 7.0);
    let ((s1, c1), (s2, c2), (s3, c3)) =
        (f64::sin_cos(phi), f64::sin_cos(theta), f64::sin_cos(psi));
    // Columns are the axes of the body.
    let axes = [
        [c1 * c3 - s1 * c2 * s3, s1 * c3 + c1 * c2 * s3, s2 * s3],
        [-c1 * s3 - s1 * c2 * c3, -s1 * s3 + c1 * c2 * c3, s2 * c3],
        [s1 * s2, -c1 * s2, c2],
    ];
    let turning = [
        s2 * s3 * rates[0] + c3 * rates[1],
        s2 * c3 * rates[0] - s3 * rates[1],
        c2 * rates[0] + spin,
    ];
    let in_world = |a: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| (0..3).map(|k| axes[k][i] * a[k]).sum())
    };
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let turning = in_world(turning);
    let centre = in_world(arm);
    let (mut x, mut v) = (centre.to_vec(), cross(turning, centre).to_vec());
    for axis in axes {
        let end: [f64; 3] = std::array::from_fn(|i| centre[i] + axis[i]);
        x.extend(end);
        v.extend(cross(turning, end));
    }
    x.iter_mut().enumerate().for_each(|(k, x)| *x += anchor[k % 3]);
    Ok((x, v))
}
