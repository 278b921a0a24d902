//! Lists what the tests before it could not check for lack of data or tools (see `fixtures/skipped.rs`). It has no
//! tests; `cargo test` runs the binaries of `tests` by name, and this one after `stiction`.

#[path = "fixtures/run.rs"]
mod run;

fn main() {
    let list = std::fs::read_to_string(run::LIST).unwrap_or_default();
    let Some((number, tests)) = list.split_once('\n') else { return };
    if number == run::number() {
        let count = tests.lines().count();
        println!(
            "\n{count} of the tests that count as passed were skipped, in part or as a whole:"
        );
        for test in tests.lines() {
            println!("  {test}");
        }
        println!();
    }
}
