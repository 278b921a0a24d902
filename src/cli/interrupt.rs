//! Ctrl-C during long work: the first asks it to stop with what it has, the second ends the program.

#[cfg(unix)]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::output;

/// Whether Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What programs end with that Ctrl-C ends.
const EXIT_CODE: i32 = 130;

/// From now on the first Ctrl-C only sets [`interrupted`]. Where that is not possible it ends the program as ever.
pub(super) fn catch() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(EXIT_CODE);
        }
        output::say("stopping with what there is so far; once more to stop at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        output::warn(&format!("Ctrl-C will end the program without a result: {error}"));
    }
}

/// From now on a file that grows beyond the limit on its size is an error of the write, which is told; of its own
/// accord it would end the program.
pub(super) fn catch_limits() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;
        // Best effort: without it the program ends, and nothing is half written all the same.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }
}

/// Whether it is time to stop.
pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
