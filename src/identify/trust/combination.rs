//! A combination of parameters that leaves no trace, in words.
use super::information::Unknown;

use nalgebra::DVector;

/// Parameters that cannot be told apart: what changes together without a trace, near the values at which
/// was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// Names, and by how much each changes, the first by 1.
    pub changes: Vec<(String, f64)>,
    /// Whether these are shares of the parameters (d ln p), or changes in their own units.
    pub in_shares: bool,
    /// What shows of them, such as `floor-box/mu * gravity/z`; nothing for three and more in no simple
    /// proportion.
    pub visible: Option<String>,
    /// All of this as a sentence.
    pub sentence: String,
}

/// Changes this close to each other, relative to their size, are the same.
const SAME: f64 = 0.02;

impl Combination {
    /// The words for a direction without trace: changes of all parameters in their own units, not all zero.
    pub fn new(unknowns: &[Unknown], direction: &DVector<f64>) -> Combination {
        let parts: Vec<(&Unknown, f64)> =
            unknowns.iter().zip(direction.iter().copied()).filter(|(_, x)| *x != 0.0).collect();
        let in_shares = parts.iter().all(|(unknown, _)| unknown.keeps_sign);
        let shares = in_shares.then(|| normalised(parts.iter().map(|(p, x)| x / p.value)));
        let own = normalised(parts.iter().map(|(_, x)| *x));
        let names: Vec<&str> = parts.iter().map(|(unknown, _)| unknown.name.as_str()).collect();
        let (what, visible) = match (names.as_slice(), &shares) {
            ([_], _) => (None, None),
            (&[a, b], Some(shares)) => product(a, b, -shares[1].recip(), own[1]),
            (&[a, b], None) => sum(a, b, -own[1].recip()),
            (_, Some(shares)) if shares.iter().all(|x| same(*x, 1.0)) => {
                (Some(format!("only the ratios of {} show", list(&names))), None)
            }
            _ => (None, None),
        };
        let changes = shares.as_ref().unwrap_or(&own);
        let terms: Vec<String> = names
            .iter()
            .zip(changes)
            .map(|(name, x)| {
                format!("{name} by {}{}", signed(*x), if in_shares { " %" } else { "" })
            })
            .collect();
        let trace = format!("a change of {} leaves no trace", list(&terms));
        let sentence = match what {
            Some(what) => format!("{what}: {trace}"),
            None => trace,
        };
        let changes =
            names.iter().map(|name| name.to_string()).zip(changes.iter().copied()).collect();
        Combination { changes, in_shares, visible, sentence }
    }
}

/// What shows of a and b if a * b^power does; `change` of b goes with one of a by 1, in their units.
fn product(a: &str, b: &str, power: f64, change: f64) -> (Option<String>, Option<String>) {
    // At equal values a product looks like a sum, and a ratio like a difference.
    let (or_sum, or_difference) = match (same(change, -1.0), same(change, 1.0)) {
        (true, _) => (" (or sum, which is the same at equal values)", ""),
        (_, true) => ("", " (or difference, which is the same at equal values)"),
        _ => ("", ""),
    };
    if same(power, 1.0) {
        let what = format!("{a} and {b} show only by their product{or_sum}");
        return (Some(what), Some(format!("{a} * {b}")));
    }
    if same(power, -1.0) {
        let what = format!("{a} and {b} show only by their ratio{or_difference}");
        return (Some(what), Some(format!("{a} / {b}")));
    }
    let visible = format!("{a} * {b}^{}", short(power));
    (Some(format!("{a} and {b} show only as {visible}")), Some(visible))
}

/// What shows of a and b if a + factor b does.
fn sum(a: &str, b: &str, factor: f64) -> (Option<String>, Option<String>) {
    let (what, visible) = if same(factor, 1.0) {
        (format!("{a} and {b} show only by their sum"), format!("{a} + {b}"))
    } else if same(factor, -1.0) {
        (format!("{a} and {b} show only by their difference"), format!("{a} - {b}"))
    } else {
        let visible = format!("{a} {} {b}", signed(factor));
        (format!("{a} and {b} show only as {visible}"), visible)
    };
    (Some(what), Some(visible))
}

/// Numbers over the first of them.
fn normalised(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let numbers: Vec<f64> = numbers.collect();
    let first = numbers.first().copied().unwrap_or(1.0);
    numbers.iter().map(|x| x / first).collect()
}

/// Whether two changes are the same.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * b.abs()
}

/// Three digits, as few as say it.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if !(1e-3..1e4).contains(&x.abs()) {
        return format!("{x:.2e}");
    }
    let digits = (2 - x.abs().log10().floor() as i32).max(0);
    let text = format!("{x:.*}", digits as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn signed(x: f64) -> String {
    if x < 0.0 { short(x) } else { format!("+{}", short(x)) }
}

/// a, b and c.
pub(crate) fn list<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
