//! Recorded velocities against differences of what they are the rates of.

use std::f64::consts::TAU;

use nalgebra::Vector3;

use super::reading::{Order, Reading, amount};
use super::track::{Track, are_followed, median};
use crate::spatial::{conjugate, log, product, rotation_matrix};

/// Fewer pairs than this say nothing.
const LEAST: usize = 10;
/// How near a turn is to another, rad.
const WHOLE_TURNS: f64 = 0.15;

/// How the means of velocities go with differences, of many pairs of the two.
struct Agreement {
    /// Median of the one length over the other.
    ratio: f64,
    /// 1: always the same direction; 0: anything.
    cosine: f64,
}

impl Agreement {
    /// Of differences and means times the duration.
    fn of(pairs: &[(Vector3<f64>, Vector3<f64>)]) -> Option<Agreement> {
        if pairs.len() < LEAST {
            return None;
        }
        let sum = |f: fn(&(Vector3<f64>, Vector3<f64>)) -> f64| pairs.iter().map(f).sum::<f64>();
        let sizes = (sum(|(d, _)| d.norm_squared()) * sum(|(_, m)| m.norm_squared())).sqrt();
        let cosine = sum(|(d, m)| d.dot(m)) / sizes.max(f64::MIN_POSITIVE);
        let ratio = median(pairs.iter().map(|(d, m)| m.norm() / d.norm()).collect());
        Some(Agreement { ratio, cosine })
    }
}

/// Of each track its frames so far apart that noise does not hide how it moves.
fn lags(tracks: &[Track]) -> impl Iterator<Item = (&Track, usize, usize)> {
    tracks.iter().flat_map(|track| {
        let frames = track.times.len();
        let lag = (frames / 8).clamp(1, 12);
        (lag..frames).step_by(lag.div_ceil(2)).map(move |k| (track, k - lag, k))
    })
}

/// Whether rates are seen to change: between no two frames by more than half of what they are.
fn steady(rates: &[Vector3<f64>], first: usize, last: usize) -> bool {
    (first..last)
        .all(|k| 2.0 * (rates[k + 1] - rates[k]).norm() <= rates[k].norm().max(rates[k + 1].norm()))
}

/// The integral of rates from one frame to another, by the trapezoidal rule.
fn integral(track: &Track, rates: &[Vector3<f64>], first: usize, last: usize) -> Vector3<f64> {
    let step = |k: usize| (rates[k] + rates[k + 1]) * (0.5 * (track.times[k + 1] - track.times[k]));
    (first..last).map(step).sum()
}

/// The unit that velocities could be in if they are so many times what differences say.
fn unit(ratio: f64, units: &[(f64, &'static str)]) -> Option<&'static str> {
    let near = |factor: f64| (ratio / factor).ln().abs() < 0.25;
    units.iter().find(|(factor, _)| near(*factor)).map(|(_, unit)| *unit)
}

/// What is wrong with linear velocities.
pub(super) fn linear(tracks: &[Track], reading: &Reading) -> Option<String> {
    let (mut plain, mut turned) = (Vec::new(), Vec::new());
    for (track, first, last) in lags(tracks) {
        let Some(rates) = &track.velocities else { continue };
        let d = track.positions[last] - track.positions[first];
        if d.norm() <= 20.0 * track.noise || d.norm() == 0.0 || !steady(rates, first, last) {
            continue;
        }
        let m = integral(track, rates, first, last);
        let q = reading.order.read(track.quaternions[(first + last) / 2]);
        plain.push((d, m));
        turned.push((d, rotation_matrix(q) * m));
    }
    if !are_followed(tracks.iter().map(|track| track.positions.as_slice())) {
        return None;
    }
    let found = Agreement::of(&plain)?;
    if found.cosine < 0.5 {
        let body = Agreement::of(&turned)?.cosine > 0.8;
        let meant =
            if body { "are they along the axes of the body?" } else { "are their axes others?" };
        return Some(format!(
            "recorded velocities do not go the way that positions do: {meant} Those of the world are read"
        ));
    }
    // Where positions or times are in other units, velocities may not be.
    let right = [1.0, reading.length / reading.time];
    if right.iter().any(|right| (found.ratio / right).ln().abs() < 0.5) {
        return None;
    }
    const UNITS: [(f64, &str); 6] = [
        (1e3, "mm/s"),
        (1e2, "cm/s"),
        (39.37, "inches/s"),
        (3.281, "feet/s"),
        (3.6, "km/h"),
        (1e-3, "m/ms"),
    ];
    let ask = match unit(found.ratio, &UNITS) {
        Some(unit) => format!("are they in {unit}? m/s are read"),
        None => "in which unit are they? m/s are read".to_string(),
    };
    let times = amount(found.ratio, "times");
    Some(format!("recorded velocities are {times} the differences of positions: {ask}"))
}

/// What is wrong with the rates of one joint, of pairs of differences of its positions and integrals of its rates; what
/// agrees but for `factor` is read otherwise already.
pub(super) fn rates_of_joints(pairs: &[(f64, f64)], slides: bool, factor: f64) -> Option<String> {
    let along = |x: f64| Vector3::new(x, 0.0, 0.0);
    let pairs: Vec<_> = pairs.iter().map(|&(d, m)| (along(d), along(m))).collect();
    let found = Agreement::of(&pairs)?;
    // Frames as far apart as the motion takes to come back show another one, slower, and perhaps the other way.
    if found.cosine < 0.5 && !(0.5..2.0).contains(&found.ratio) {
        return None;
    }
    let what = "recorded rates of the joint";
    if found.cosine < -0.8 {
        return Some(format!(
            "{what} have the other sign than its positions move: is its axis another there?"
        ));
    }
    if found.cosine < 0.5 {
        return Some(format!(
            "{what} do not go the way that its positions do: are they those of another joint?"
        ));
    }
    if [1.0, factor].iter().any(|right| (found.ratio / right).ln().abs() < 0.5) {
        return None;
    }
    const OF_HINGES: [(f64, &str); 5] = [
        (57.3, "are they in degrees/s? rad/s are read"),
        (1.0 / 57.3, "are the angles in degrees? Radians are read"),
        (9.549, "are they in turns/min? rad/s are read"),
        (0.159, "are they in turns/s? rad/s are read"),
        (1e3, "are times in milliseconds? Seconds are read"),
    ];
    const OF_SLIDES: [(f64, &str); 4] = [
        (1e3, "are they in mm/s, or times in milliseconds? m/s and seconds are read"),
        (1e2, "are they in cm/s? m/s are read"),
        (1e-3, "are the positions in millimetres? Metres are read"),
        (1e-2, "are the positions in centimetres? Metres are read"),
    ];
    let units: &[(f64, &str)] = if slides { &OF_SLIDES } else { &OF_HINGES };
    // Frames that are far apart make any other factor.
    let ask = unit(found.ratio, units)?;
    Some(format!(
        "{what} are {} the differences of its positions: {ask}",
        amount(found.ratio, "times")
    ))
}

/// What is wrong with angular velocities, or, if that explains it, with quaternions.
pub(super) fn angular(tracks: &[Track], reading: &Reading) -> Option<String> {
    let pairs = |order: Order, of_world: bool| {
        let mut pairs = Vec::new();
        let (mut fast, mut all) = (0, 0);
        for (track, first, last) in lags(tracks) {
            let Some(rates) = &track.spins else { continue };
            let q = |k: usize| order.read(track.quaternions[k]);
            let d = log(product(conjugate(q(first)), q(last)));
            // What turns by much between two frames could have turned the other way.
            let turn = |k: usize| log(product(conjugate(q(k)), q(k + 1))).norm();
            fast += usize::from((first..last).any(|k| turn(k) > 0.6));
            all += 1;
            // A turn by more could be one the other way.
            if !(0.1..2.0).contains(&d.norm()) || !steady(rates, first, last) {
                continue;
            }
            let m = integral(track, rates, first, last);
            let middle = rotation_matrix(q((first + last) / 2));
            pairs.push((d, if of_world { middle.transpose() * m } else { m }));
        }
        if 3 * fast > all {
            pairs.clear();
        }
        pairs
    };
    let agrees = |order, of_world| {
        Agreement::of(&pairs(order, of_world)).is_some_and(|found| found.cosine > 0.8)
    };
    let all = pairs(reading.order, false);
    let found = Agreement::of(&all)?;
    // What rolls by whole turns and a bit between two frames seems to turn by the bit.
    const UNITS: [(f64, &str); 3] = [(57.3, "degrees/s"), (9.549, "turns/min"), (0.159, "turns/s")];
    let in_unit = UNITS.iter().any(|(factor, _)| (found.ratio / factor).ln().abs() < 0.05);
    let rolls = all.iter().filter(|(d, m)| is_whole_turns_more(d, m)).count();
    if !in_unit && 5 * rolls >= 4 * all.len() {
        return None;
    }
    if found.cosine < 0.5 {
        let begin = "recorded angular velocities do not go the way that quaternions turn";
        let question = if reading.order == Order::Wxyz && agrees(Order::Xyzw, false) {
            "are the quaternions x, y, z, w where w, x, y, z is read?"
        } else if agrees(reading.order, true) {
            "are they along the axes of the world? Those of the body are read"
        } else if reading.order == Order::Wxyz && agrees(Order::Inverse, false) {
            "are the quaternions from world to body where body to world is read?"
        } else {
            "are their axes others, or the order of the quaternions (w, x, y, z is read)?"
        };
        return Some(format!("{begin}: {question}"));
    }
    let right = [1.0, 1.0 / reading.time];
    if right.iter().any(|right| (found.ratio / right).ln().abs() < 0.5) {
        return None;
    }
    let ask = match unit(found.ratio, &UNITS) {
        Some(unit) => format!("are they in {unit}? rad/s are read"),
        None => "in which unit are they? rad/s are read".to_string(),
    };
    let times = amount(found.ratio, "times");
    Some(format!("recorded angular velocities are {times} what quaternions turn: {ask}"))
}

/// Whether a rotation by `rates` (integrated, rad) is that by `turn` and one or more whole turns.
fn is_whole_turns_more(turn: &Vector3<f64>, rates: &Vector3<f64>) -> bool {
    let size = rates.norm();
    let whole = ((size - turn.dot(rates) / size) / TAU).round();
    whole >= 1.0 && (turn - rates * (1.0 - TAU * whole / size)).norm() < WHOLE_TURNS
}
