//! Work on several threads, with results that do not depend on how many there are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// `f(0..count)` on `threads` threads, or those that can be started, in order.
pub fn parallel<R: Send>(threads: usize, count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if threads <= 1 || count <= 1 {
        return (0..count).map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return done;
            }
            done.push((k, f(k)));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, work).ok();
        let workers: Vec<_> = (1..threads.min(count)).map_while(start).collect();
        let mut results = work();
        for worker in workers {
            match worker.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(k, _)| *k);
    results.into_iter().map(|(_, result)| result).collect()
}
