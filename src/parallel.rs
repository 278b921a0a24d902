//! Work on several threads, with results that do not depend on how many there are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
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
    let mut results: Vec<(usize, R)> =
        on_threads(threads.min(count), work).into_iter().flatten().collect();
    results.sort_by_key(|(k, _)| *k);
    results.into_iter().map(|(_, result)| result).collect()
}

/// So many parts of the work are there for each thread: the last ones to end wait for no more than a part.
const PARTS: usize = 8;

/// `f` of each item, whatever the others come to, on `threads` threads or those that can be started.
pub fn each<I: Send>(threads: usize, items: &mut [I], f: impl Fn(&mut I) + Sync) {
    if threads <= 1 || items.len() <= 1 {
        return items.iter_mut().for_each(f);
    }
    let threads = threads.min(items.len());
    let parts = Mutex::new(items.chunks_mut(items.len().div_ceil(PARTS * threads)));
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    on_threads(threads, || {
        while let Some(part) = next() {
            part.iter_mut().for_each(&f);
        }
    });
}

/// What `work` returns on each of `threads` threads, or those that can be started; this one is the first.
fn on_threads<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let workers: Vec<_> = (1..threads).map_while(start).collect();
        let mut results = vec![work()];
        for worker in workers {
            match worker.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
