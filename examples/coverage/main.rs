//! How often 95 % intervals have the truth: recordings of a slide, a bounce, a tumble and a hinge with noise, made again and
//! again from random starts, and fitted by the defaults.
//!
//! `cargo run --release --example coverage [REPETITIONS [MOTION]]`
//!
//! A line for each number that is found from 4 and from 12 recordings, with errors by default (a test chooses) and by linearisation
//! alone; `docs/verification.md` has what it measures.

mod repetitions;

use std::error::Error;

use repetitions::{Begin, MOTIONS};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let repetitions: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let only = arguments.next();
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    println!(
        "| motion | start | recordings | number | default | linearisation | by halves | work of halves | no interval |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for motion in MOTIONS.iter().filter(|m| only.as_deref().is_none_or(|only| only == m.name)) {
        for (begin, start) in
            [(Begin::Known, "known"), (Begin::Noisy, "noisy"), (Begin::Fitted, "fitted")]
        {
            for count in [4, 12] {
                let of = |half_samples| {
                    motion.coverage((count, begin), half_samples, (repetitions, threads))
                };
                let [default, linearised] = [of(None)?, of(Some(0))?];
                for (own, other) in default.covered.iter().zip(&linearised.covered) {
                    let share = |covered: usize| 100.0 * covered as f64 / repetitions as f64;
                    println!(
                        "| {} | {} | {count} | `{}` | {:.1} % | {:.1} % | {:.0} % | {:.1} | {} |",
                        motion.name,
                        start,
                        own.name,
                        share(own.covered),
                        share(other.covered),
                        share(default.by_halves),
                        default.work,
                        own.without,
                    );
                }
            }
        }
    }
    Ok(())
}
