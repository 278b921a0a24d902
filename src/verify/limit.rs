//! Limits of sequences of differences, with an estimate of their error (`Ridders82`).

/// Columns of the table beyond the first.
const DEPTH: usize = 6;
/// How many of the narrowest differences measure rounding, and how many there must be in all.
const NARROW: usize = 12;
const LONG: usize = 24;

/// One term of a sequence: a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub value: f64,
    /// What rounding of the function's values alone does to it.
    pub noise: f64,
}

/// A limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub value: f64,
    /// Estimated error by truncation and rounding.
    pub error: f64,
}

/// The limit of terms whose widths halve from one to the next and whose errors are a series in the
/// `power`-th power of the width. None without two neighbouring terms.
pub(super) fn limit(terms: &[Option<Term>], power: i32) -> Option<Estimate> {
    let estimates = estimates(terms, power).into_iter();
    estimates.filter(|e| e.value.is_finite()).min_by(|a, b| a.error.total_cmp(&b.error))
}

/// The entries of the Neville table, row by row, each compared with its three neighbours.
///
/// Where a function is rounded more than to the last bit, its narrow differences scatter more than
/// their noise: then noise is scaled up to what they show.
pub(super) fn estimates(terms: &[Option<Term>], power: i32) -> Vec<Estimate> {
    let rounding = scatter(terms).max(1.0);
    let mut found = Vec::new();
    let mut last: Vec<f64> = Vec::new();
    for term in terms {
        let Some(term) = term else {
            last.clear();
            continue;
        };
        let mut row = vec![term.value];
        for m in 0..last.len().min(DEPTH) {
            let gain = 2.0_f64.powi(power * (m as i32 + 1)) - 1.0;
            let value = row[m] + (row[m] - last[m]) / gain;
            let neighbours = [Some(&row[m]), last.get(m), last.get(m + 1)];
            let change = neighbours.into_iter().flatten().map(|n| (value - n).abs());
            let error = change.fold(0.0_f64, f64::max) + rounding * term.noise;
            found.push(Estimate { value, error });
            row.push(value);
        }
        last = row;
    }
    found
}

/// The median change between narrow terms, as a multiple of their noise.
fn scatter(terms: &[Option<Term>]) -> f64 {
    if terms.len() < LONG {
        return 0.0;
    }
    let pairs = terms.windows(2).rev().filter_map(|pair| Some((pair[0]?, pair[1]?)));
    let ratios = pairs.map(|(wide, narrow)| (wide.value - narrow.value).abs() / narrow.noise);
    let mut ratios: Vec<f64> = ratios.filter(|ratio| !ratio.is_nan()).take(NARROW).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(0.0)
}

/// Whether the terms grow without bound as the width vanishes, like those of a root at zero: with
/// one sign, and each larger than the one before by a ratio that does not fade.
pub(super) fn diverges(terms: &[Option<Term>]) -> bool {
    /// A power of 0.9 grows by 2^0.1 from term to term.
    const LEAST_RATIO: f64 = 1.05;
    let narrow: Vec<&Term> =
        terms.iter().rev().map_while(|term| term.as_ref()).take(NARROW).collect();
    narrow.len() == NARROW
        && narrow.windows(2).all(|pair| {
            let ratio = pair[0].value / pair[1].value;
            // More than by two is not a slope but a jump, which the width divides.
            ratio > LEAST_RATIO && ratio < 2.0 && pair[0].noise < 0.01 * pair[0].value.abs()
        })
}
