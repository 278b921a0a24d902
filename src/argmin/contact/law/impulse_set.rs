//! The set of impulses that a law admits, on values: projections onto it, plain and soft, the mode that an argument of the
//! natural map suggests, and how far a block is from another mode.

use super::{Law, Mode};

/// -d lambda / d u of a block.
pub(in crate::argmin::contact) type Slope = [[f64; 3]; 3];

/// |x|. `hypot`, which guards against overflow, takes a tenth of a solve.
pub(crate) fn length(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// x, or the end of [-limit, limit] that is nearest; unlike `clamp` without a panic where they are no numbers.
pub(in crate::argmin::contact) fn within(x: f64, limit: f64) -> f64 {
    x.max(-limit).min(limit)
}

/// What the natural map makes of its argument: its projection.
pub(crate) fn project(law: Law, limit: f64, p: [f64; 3]) -> [f64; 3] {
    let normal = if law == Law::Disk { 1.0 } else { p[0].max(0.0) };
    match law {
        Law::Equality => [p[0], 0.0, 0.0],
        Law::NonNegative => [normal, 0.0, 0.0],
        Law::Interval => [within(p[0], limit), 0.0, 0.0],
        Law::Coulomb | Law::Couple | Law::Disk => {
            let (radius, size) = (limit * normal, length([p[1], p[2]]));
            let shrink = if size > radius { radius / size } else { 1.0 };
            [normal, shrink * p[1], shrink * p[2]]
        }
        Law::Pyramid => {
            let radius = limit * normal;
            [normal, within(p[1], radius), within(p[2], radius)]
        }
        Law::Relaxed => {
            let size = length([p[1], p[2]]);
            if limit * size <= -p[0] {
                [0.0; 3]
            } else if size <= limit * p[0] {
                p
            } else {
                let normal = (p[0] + limit * size) / (1.0 + limit * limit);
                let shrink = limit * normal / size;
                [normal, shrink * p[1], shrink * p[2]]
            }
        }
        Law::RelaxedPyramid => {
            let (normal, d) = nearest(law, limit, 1.0, p);
            let along = |k: usize| if d[k] == 0.0 { p[1 + k] } else { limit * normal * d[k] };
            if normal > 0.0 { [normal, along(0), along(1)] } else { [0.0; 3] }
        }
    }
}

/// The mode of a block, and the direction of its friction or the sides of a pyramid or interval, that
/// the argument `p` of the natural map suggests.
pub(crate) fn mode(law: Law, limit: f64, p: [f64; 3]) -> (Mode, [f64; 2]) {
    let side = |x: f64, radius: f64| {
        if x > radius {
            1.0
        } else if x < -radius {
            -1.0
        } else {
            0.0
        }
    };
    let either = |d: [f64; 2]| (if d == [0.0; 2] { Mode::Stick } else { Mode::Slide }, d);
    let size = length([p[1], p[2]]);
    match law {
        Law::Equality => (Mode::Stick, [0.0; 2]),
        Law::Interval => either([side(p[0], limit), 0.0]),
        Law::Relaxed if limit * size > -p[0] && size > limit * p[0] => {
            (Mode::Slide, [p[1] / size, p[2] / size])
        }
        Law::RelaxedPyramid => {
            let (normal, d) = nearest(law, limit, 1.0, p);
            if normal > 0.0 { either(d) } else { (Mode::Break, [0.0; 2]) }
        }
        Law::Disk if size > limit => (Mode::Slide, [p[1] / size, p[2] / size]),
        Law::Disk if limit == 0.0 => (Mode::Clamp, [0.0; 2]),
        Law::Disk => (Mode::Stick, [0.0; 2]),
        _ if p[0] <= 0.0 => (Mode::Break, [0.0; 2]),
        Law::NonNegative | Law::Relaxed => (Mode::Stick, [0.0; 2]),
        Law::Pyramid => either([side(p[1], limit * p[0]), side(p[2], limit * p[0])]),
        _ if size > limit * p[0] => (Mode::Slide, [p[1] / size, p[2] / size]),
        _ if limit == 0.0 => (Mode::Clamp, [0.0; 2]),
        _ => (Mode::Stick, [0.0; 2]),
    }
}

/// How far a block in `mode` with impulses `x` and velocities `v` is from another mode: velocities and the `normal`
/// impulse, as a velocity, relative to `scale`; or the fraction of the friction disk that a sticking contact leaves unused.
pub(crate) fn margin(
    law: Law,
    mode: Mode,
    limit: f64,
    (x, v): (&[f64], &[f64]),
    (normal, scale): (f64, f64),
) -> f64 {
    let radius = limit * x[0];
    // What is given is far from none.
    let normal = if law == Law::Disk { f64::INFINITY } else { normal };
    match (law, mode) {
        (Law::Equality, _) => f64::INFINITY,
        (Law::Interval, Mode::Slide) => v[0].abs() / scale,
        (Law::Interval, _) => 1.0 - x[0].abs() / limit,
        (Law::Relaxed, Mode::Break) => (v[0] - limit * length([v[1], v[2]])) / scale,
        (Law::RelaxedPyramid, Mode::Break) => (v[0] - limit * (v[1].abs() + v[2].abs())) / scale,
        // Whether it is apart is for the block to say that it borrows from.
        (Law::Couple, Mode::Break) => f64::INFINITY,
        (_, Mode::Break) => v[0] / scale,
        (Law::NonNegative, _) => normal,
        (Law::Pyramid | Law::RelaxedPyramid, _) => {
            let axis = |k: usize| {
                let unused = 1.0 - x[k].abs() / radius;
                if unused > 0.0 { unused.max(v[k].abs() / scale) } else { v[k].abs() / scale }
            };
            normal.min(axis(1)).min(axis(2))
        }
        (_, Mode::Stick) => normal.min(1.0 - length([x[1], x[2]]) / radius),
        (_, Mode::Slide) => normal.min(length([v[1], v[2]]) / scale),
        (_, Mode::Clamp) if limit == 0.0 => normal,
        (_, Mode::Clamp) => 0.0,
    }
}

/// The impulse of a block under the soft law at velocities `u`, which do not count the compliance, less
/// the anchor; and its slope. Formed from u where it is linear, since the anchor would drown it.
pub(in crate::argmin::contact) fn soften(
    law: Law,
    limit: f64,
    compliance: f64,
    rho: [f64; 2],
    anchor: [f64; 3],
    u: [f64; 3],
) -> ([f64; 3], Slope) {
    if law.is_associated() {
        return soften_associated(law, limit, compliance, rho, anchor, u);
    }
    let (mut delta, mut slope) = ([0.0; 3], Slope::default());
    let yielding = if law == Law::Disk { 0.0 } else { (rho[0] + compliance).recip() };
    delta[0] = match law {
        Law::Disk => 1.0 - anchor[0],
        _ => -(u[0] + compliance * anchor[0]) * yielding,
    };
    slope[0][0] = yielding;
    let normal = anchor[0] + delta[0];
    match law {
        Law::Equality => return (delta, slope),
        Law::Interval => {
            if normal.abs() > limit {
                delta[0] = limit.copysign(normal) - anchor[0];
                slope[0][0] = 0.0;
            }
            return (delta, slope);
        }
        _ if normal <= 0.0 => return (anchor.map(|a| -a), Slope::default()),
        Law::NonNegative => return (delta, slope),
        _ => {}
    }
    let radius = limit * normal;
    let free = [1, 2].map(|k| anchor[k] - u[k] / rho[1]);
    let size = length(free);
    for k in 0..2 {
        let over = if law.turns() { size } else { free[k].abs() };
        if over <= radius {
            delta[1 + k] = -u[1 + k] / rho[1];
            slope[1 + k][1 + k] = rho[1].recip();
            continue;
        }
        let d = free[k] / over;
        delta[1 + k] = radius * d - anchor[1 + k];
        slope[1 + k][0] = limit * d * yielding;
        if law.turns() {
            let turning = radius / (size * rho[1]);
            for (j, other) in free.iter().enumerate() {
                let own = if j == k { 1.0 } else { 0.0 };
                slope[1 + k][1 + j] = turning * (own - d * other / size);
            }
        }
    }
    (delta, slope)
}

/// The same of an associated law: what the impulse would be without its set, projected onto it in the metric of the
/// weights. With d the direction of friction on the cone, 0 where it is inside, the normal impulse moves along (1, mu d).
fn soften_associated(
    law: Law,
    limit: f64,
    compliance: f64,
    rho: [f64; 2],
    anchor: [f64; 3],
    u: [f64; 3],
) -> ([f64; 3], Slope) {
    let weights = [rho[0] + compliance, rho[1]];
    let pressed = u[0] + compliance * anchor[0];
    let moved = [-pressed / weights[0], -u[1] / weights[1], -u[2] / weights[1]];
    let free = [0, 1, 2].map(|r| anchor[r] + moved[r]);
    let (_, d) = nearest(law, limit, weights[1] / weights[0], free);
    let square = d[0] * d[0] + d[1] * d[1];
    let pull = limit * (d[0] * free[1] + d[1] * free[2] - limit * square * anchor[0]);
    let stiffness = weights[0] + weights[1] * limit * limit * square;
    let mut delta = moved;
    delta[0] = (weights[1] * pull - pressed) / stiffness;
    let normal = anchor[0] + delta[0];
    if normal <= 0.0 {
        return (anchor.map(|a| -a), Slope::default());
    }
    let mut slope = Slope::default();
    let size = length([free[1], free[2]]);
    let turning = if law.turns() { limit * normal / (size * weights[1]) } else { 0.0 };
    let slips = |k: usize| if law.turns() { square > 0.0 } else { d[k] != 0.0 };
    let along = [1.0, limit * d[0], limit * d[1]];
    for r in 0..3 {
        if r > 0 && !slips(r - 1) {
            slope[r][r] = weights[1].recip();
            continue;
        }
        if r > 0 {
            delta[r] = limit * normal * d[r - 1] - anchor[r];
        }
        for c in 0..3 {
            slope[r][c] = along[r] * along[c] / stiffness;
            if r > 0 && c > 0 && law.turns() {
                let own = if r == c { 1.0 } else { 0.0 };
                slope[r][c] += turning * (own - d[r - 1] * d[c - 1]);
            }
        }
    }
    (delta, slope)
}

/// Of an associated law the normal impulse nearest to `p`, in a metric in which tangents count `ratio` times as much as
/// the normal, and the direction of friction there: 0 inside of the cone; of a pyramid the sides it is at. The apex is
/// nearest where the normal impulse is not positive.
fn nearest(law: Law, limit: f64, ratio: f64, p: [f64; 3]) -> (f64, [f64; 2]) {
    let t = [p[1], p[2]];
    let normal = |d: [f64; 2]| {
        let (pull, square) = (d[0] * t[0] + d[1] * t[1], d[0] * d[0] + d[1] * d[1]);
        (p[0] + ratio * limit * pull) / (1.0 + ratio * limit * limit * square)
    };
    let mut d = [0.0; 2];
    if law.turns() {
        let size = length(t);
        if size > limit * p[0] {
            d = [t[0] / size, t[1] / size];
        }
    } else {
        // The side that is further out comes first, and raises the normal impulse.
        let order = if t[1].abs() > t[0].abs() { [1, 0] } else { [0, 1] };
        for k in order {
            if t[k].abs() > limit * normal(d) {
                d[k] = t[k].signum();
            }
        }
    }
    (normal(d), d)
}
