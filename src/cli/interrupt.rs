//! Ctrl-C during long work: the first asks it to stop with what it has, the second ends the program.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::sync::{Arc, LazyLock};

use super::output;

/// Whether Ctrl-C was pressed.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether a job scheduler asked the program to end.
#[cfg(unix)]
static TERMINATED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What programs end with that Ctrl-C ends.
const EXIT_CODE: i32 = 130;

/// From now on the first Ctrl-C only sets [`interrupted`], and so does what job schedulers end programs with (SIGTERM). Where that
/// is not possible it ends the program as ever.
pub(super) fn catch() {
    static CAUGHT: Once = Once::new();
    CAUGHT.call_once(catch_once);
}

fn catch_once() {
    catch_termination();
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

fn catch_termination() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGTERM;
        use signal_hook::flag::{register, register_conditional_shutdown};
        // The second ends the program. Best effort: without it the first does.
        let _ = register_conditional_shutdown(SIGTERM, EXIT_CODE, TERMINATED.clone());
        let _ = register(SIGTERM, TERMINATED.clone());
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
    #[cfg(unix)]
    if TERMINATED.load(Ordering::SeqCst) {
        return true;
    }
    INTERRUPTED.load(Ordering::SeqCst)
}
