//! How well derivatives agree, as a table and in JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::cli::output;
use crate::verify::{Errors, Gradcheck};

/// Says so if most derivatives have no difference to compare with.
pub(super) fn warn_of_kinks(name: &str, check: &Gradcheck) {
    let (skipped, cases) = (check.skipped_at_kinks(), check.cases());
    if 2 * skipped > cases {
        output::warn(&format!(
            "{name}: {skipped} of {cases} derivatives are at kinks, where there is no \
             difference to compare with"
        ));
    }
}

/// What is compared: of each way the heading of its column, its name in JSON, its error.
pub(super) type Way = (&'static str, &'static str, fn(&Errors) -> f64);

/// What other ways are compared with, and these.
pub(super) struct Ways {
    pub with: &'static str,
    pub others: &'static [Way],
}

pub(super) fn table(checks: &[(String, Gradcheck)], total: &Gradcheck, ways: &Ways) -> String {
    // One line a scene, or a parameter of the only one.
    let lines: Vec<(&str, Errors, [usize; 3])> = match checks {
        [(_, check)] => check
            .rows
            .iter()
            .map(|row| {
                (row.name.as_str(), row.worst, [row.cases, row.one_sided, row.skipped_at_kinks])
            })
            .collect(),
        _ => checks.iter().map(|(name, c)| (name.as_str(), c.max(), counts(c))).collect(),
    };
    let width = lines.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(9);
    let column = |heading: &str| heading.len().max(8);
    let mut text = format!("largest relative difference from the {}\n{:width$}", ways.with, "");
    // Writing to a string does not fail.
    for (heading, ..) in ways.others {
        let _ = write!(text, "  {heading:>0$}", column(heading));
    }
    text.push_str("  cases  one-sided  skipped\n");
    let mut line = |name: &str, e: &Errors, counts: &str| {
        let _ = write!(text, "{name:width$}");
        for (heading, _, error) in ways.others {
            let _ = write!(text, "  {:1$.1e}", error(e), column(heading));
        }
        let _ = writeln!(text, "{counts}");
    };
    let counted = |[cases, one_sided, skipped]: [usize; 3]| {
        format!("  {cases:5}  {one_sided:9}  {skipped:7}")
    };
    for &(name, ref errors, counts) in &lines {
        line(name, errors, &counted(counts));
    }
    line("all", &total.max(), &counted(counts(total)));
    line("tolerance", &total.tolerances, "");
    let kinks = total.kinks();
    for (kink, count) in kinks.iter().take(MOST_KINKS) {
        let _ = writeln!(text, "{count} at a kink of {kink}");
    }
    if kinks.len() > MOST_KINKS {
        let _ = writeln!(text, "and at {} others", kinks.len() - MOST_KINKS);
    }
    text + if total.passed() { "passed" } else { "FAILED" }
}

/// How many kinks are named in the table; JSON has all.
const MOST_KINKS: usize = 20;

/// Derivatives compared, of those with the difference of one side, with none.
fn counts(check: &Gradcheck) -> [usize; 3] {
    [check.cases(), check.one_sided(), check.skipped_at_kinks()]
}

pub(super) fn json(
    checks: &[(String, Gradcheck)],
    total: &Gradcheck,
    ways: &Ways,
) -> Map<String, Value> {
    let mut object = output::json_head("gradcheck", 0, 1);
    object.insert("status".into(), if total.passed() { "passed" } else { "failed" }.into());
    for (name, number) in entries(&total.max(), ways) {
        let key = format!("max_{name}");
        object.insert(key, number);
    }
    object.insert("cases".into(), total.cases().into());
    object.insert("one_sided".into(), total.one_sided().into());
    object.insert("skipped_at_kinks".into(), total.skipped_at_kinks().into());
    object.insert("kinks".into(), json!(total.kinks()));
    object.insert("unsolved".into(), total.report.unsolved.into());
    object.insert("contradictory".into(), total.contradictory.steps.into());
    object.insert("steps".into(), total.report.steps.into());
    object.insert("worst_residual".into(), output::number(total.report.worst.residual));
    object.insert(
        "tolerances".into(),
        entries(&total.tolerances, ways).collect::<Map<_, _>>().into(),
    );
    let mut rows = Vec::new();
    for (scene, check) in checks {
        for row in &check.rows {
            let mut entry = Map::new();
            entry.insert("scene".into(), json!(scene));
            entry.insert("input".into(), json!(row.name));
            entry.extend(entries(&row.worst, ways));
            entry.insert("cases".into(), row.cases.into());
            entry.insert("one_sided".into(), row.one_sided.into());
            entry.insert("skipped_at_kinks".into(), row.skipped_at_kinks.into());
            entry.insert("kinks".into(), json!(row.kinks));
            rows.push(Value::Object(entry));
        }
    }
    object.insert("rows".into(), rows.into());
    object
}

fn entries(errors: &Errors, ways: &Ways) -> impl Iterator<Item = (String, Value)> {
    ways.others.iter().map(|(_, name, error)| (name.to_string(), output::number(error(errors))))
}
