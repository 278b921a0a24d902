//! What a check found, as data and in words.

use std::fmt;

use serde::Serialize;

use super::Kind;

/// What [`check`](super::check) found.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// How many outputs there are.
    pub outputs: usize,
    /// The outputs that are no finite numbers at the point: nothing can be said about them.
    pub not_finite: Vec<usize>,
    /// About the Jacobian.
    pub first: Findings,
    /// About the second derivatives, if they were checked. "Outputs" are then the entries of the
    /// gradient of a weighted sum of the outputs.
    pub second: Option<Findings>,
}

/// What was found about one matrix of derivatives.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Findings {
    /// Each way compared with the first, which `entries` are compared with differences of.
    pub ways: Vec<Agreement>,
    /// Every derivative compared with differences, row by row.
    pub entries: Vec<Entry>,
    /// The kinks nearby, for every entry the nearest.
    pub kinks: Vec<Kink>,
}

/// One way of differentiating compared with another.
#[derive(Clone, Debug, Serialize)]
pub struct Agreement {
    /// The way.
    pub way: String,
    /// What it is compared with.
    pub against: String,
    /// Where they differ most; none if there is nothing to compare.
    pub worst: Option<Apart>,
    /// The relative difference that counts as agreement.
    pub tolerance: f64,
}

/// Two numbers for one derivative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// The row.
    pub output: usize,
    /// The column.
    pub input: usize,
    /// By the way that is checked.
    pub found: f64,
    /// By the way it is checked against.
    pub expected: f64,
    /// The relative difference. Infinite if one of the two is not a number.
    pub relative: f64,
}

/// One derivative and its difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The row.
    pub output: usize,
    /// The column.
    pub input: usize,
    /// By automatic differentiation.
    pub derivative: f64,
    /// By central differences; not a number where there are none.
    pub difference: f64,
    /// Estimated error of the difference.
    pub error: f64,
    /// What that says.
    pub verdict: Verdict,
}

/// What differences say about a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The two agree.
    Agrees,
    /// There is a kink, and it is an element of the generalised derivative there.
    ValidAtKink,
    /// Differences are not good enough to decide.
    Undecided,
    /// The derivative is wrong.
    Disagrees,
}

/// A place, in the direction of one input, where an output has no derivative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Kink {
    /// The row.
    pub output: usize,
    /// The column.
    pub input: usize,
    /// How far the input is from it, in its units: positive if it is at a larger input, 0 if it
    /// cannot be distinguished from the point.
    pub distance: f64,
    /// How well the distance is known.
    pub within: f64,
    /// What happens there.
    pub kind: Kind,
    /// The slope at smaller inputs; not a number where there is none.
    pub left: f64,
    /// The slope at larger inputs.
    pub right: f64,
    /// What automatic differentiation gives at the point.
    pub derivative: f64,
    /// Where that is.
    pub place: Place,
}

/// Where a derivative is, compared with the slopes on both sides of a kink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The derivative is the slope on the left.
    Left,
    /// The derivative is the slope on the right.
    Right,
    /// It lies between them.
    Between,
    /// The derivative is none of these, and so no generalised derivative.
    Outside,
    /// There are no finite slopes to compare with.
    Unknown,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Left => "is that on the left",
            Place::Right => "is that on the right",
            Place::Between => "lies between",
            Place::Outside => "is OUTSIDE",
            Place::Unknown => "cannot be compared",
        })
    }
}

impl Agreement {
    /// Whether the two agree everywhere.
    pub fn passed(&self) -> bool {
        self.worst.is_none_or(|worst| worst.relative <= self.tolerance)
    }
}

impl Findings {
    /// The entries of one verdict.
    pub fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.verdict == verdict)
    }

    /// Whether no two ways disagree, and at least one derivative was confirmed by differences.
    pub fn passed(&self) -> bool {
        let decided = [Verdict::Agrees, Verdict::ValidAtKink];
        self.ways.iter().all(Agreement::passed)
            && self.of(Verdict::Disagrees).next().is_none()
            && decided.into_iter().any(|verdict| self.of(verdict).next().is_some())
    }

    /// The entry that is furthest from its difference, relative to the larger of both.
    pub fn worst(&self) -> Option<&Entry> {
        let decided = |entry: &&Entry| {
            matches!(entry.verdict, Verdict::Agrees | Verdict::Disagrees)
                && entry.difference.is_finite()
        };
        self.entries.iter().filter(decided).max_by(|a, b| a.relative().total_cmp(&b.relative()))
    }
}

impl Entry {
    /// The relative difference of derivative and difference.
    pub fn relative(&self) -> f64 {
        if self.derivative == self.difference {
            return 0.0;
        }
        let size = self.derivative.abs().max(self.difference.abs());
        (self.derivative - self.difference).abs() / size
    }
}

impl Check {
    /// Whether something was compared and nothing disagrees. What is undecided is not counted
    /// against it, but something must have been decided.
    pub fn passed(&self) -> bool {
        self.not_finite.is_empty()
            && self.first.passed()
            && self.second.as_ref().is_none_or(Findings::passed)
    }
}

/// Entries of one sort that are listed; the others are counted.
const LISTED: usize = 8;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for output in &self.not_finite {
            writeln!(f, "output {output} is not a finite number")?;
        }
        if self.first.entries.is_empty() {
            writeln!(
                f,
                "nothing to compare: {} outputs, {} inputs",
                self.outputs,
                self.inputs.len()
            )?;
        } else {
            writeln!(
                f,
                "first derivatives of {} outputs in {} inputs",
                self.outputs,
                self.inputs.len()
            )?;
            self.first.write(f, &self.inputs, &|i| format!("output {i}"))?;
        }
        if let Some(second) = &self.second {
            writeln!(f, "second derivatives of the weighted sum of the outputs")?;
            let name = |i: usize| self.inputs.get(i).map_or("?", String::as_str);
            second.write(f, &self.inputs, &|i| format!("slope in {}", name(i)))?;
        }
        f.write_str(if self.passed() { "passed" } else { "FAILED" })
    }
}

impl Findings {
    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        inputs: &[String],
        row: &dyn Fn(usize) -> String,
    ) -> fmt::Result {
        let name = |input: usize| inputs.get(input).map_or("?", String::as_str);
        let place = |output, input: usize| format!("{}, input {}", row(output), name(input));
        for comparison @ Agreement { way, against, worst, .. } in &self.ways {
            let verb = if comparison.passed() { "agree" } else { "DISAGREE" };
            write!(f, "  {way} {verb} with {against}")?;
            if let Some(worst) = worst {
                let Apart { output, input, found, expected, relative } = *worst;
                let place = place(output, input);
                write!(f, " to {relative:.1e} (worst: {place}: {found:e}, {expected:e})")?;
            }
            writeln!(f)?;
        }
        let agree = self.of(Verdict::Agrees).count();
        write!(f, "  differences agree in {agree} of {}", self.entries.len())?;
        if let Some(worst) = self.worst() {
            write!(f, "; worst: {}: {}", place(worst.output, worst.input), in_words(worst))?;
        }
        writeln!(f)?;
        for (title, verdict) in
            [("DISAGREE", Verdict::Disagrees), ("undecided", Verdict::Undecided)]
        {
            let all: Vec<&Entry> = self.of(verdict).collect();
            for entry in all.iter().take(LISTED) {
                writeln!(
                    f,
                    "  {title}: {}: {}",
                    place(entry.output, entry.input),
                    in_words(entry)
                )?;
            }
            more(f, title, all.len())?;
        }
        for kink in self.kinks.iter().take(LISTED) {
            let Kink { distance, within, kind, left, right, derivative, place: side, .. } = kink;
            let place = place(kink.output, kink.input);
            let at = match *distance == 0.0 {
                true => "here".to_string(),
                false => format!("at {distance:+e} from here"),
            };
            writeln!(
                f,
                "  kink: {place}: {kind} {at} (within {within:.1e}); slope {left:.6e} on the left, \
                 {right:.6e} on the right; the derivative {derivative:.6e} {side}"
            )?;
        }
        more(f, "kink", self.kinks.len())
    }
}

fn in_words(entry: &Entry) -> String {
    let Entry { derivative, difference, error, .. } = entry;
    format!("derivative {derivative:e}, difference {difference:e} within {error:.1e}")
}

fn more(f: &mut fmt::Formatter<'_>, title: &str, count: usize) -> fmt::Result {
    if count > LISTED { writeln!(f, "  {title}: {} more", count - LISTED) } else { Ok(()) }
}
