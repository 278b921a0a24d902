//! Steps on a thread of their own, so that Ctrl-C does not wait for one that takes long.

use std::panic;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::interrupt::interrupted;
use crate::Error;

/// How many steps may wait to be written down.
const WAITING: usize = 64;
/// How often Ctrl-C is looked for.
const INTERVAL: Duration = Duration::from_millis(50);
/// The stack of the thread, bytes: trees of thousands of bodies are walked along.
const STACK: usize = 64 << 20;

/// Runs `work` on a thread and hands what it sends to `each`, in that order. Returns what it returns; nothing if Ctrl-C
/// was pressed before: then what has arrived is the end, and the thread is left to itself.
pub(super) fn watched<T: Send + 'static, R: Send + 'static>(
    work: impl FnOnce(&SyncSender<T>) -> R + Send + 'static,
    mut each: impl FnMut(T) -> Result<(), Error>,
) -> Result<Option<R>, Error> {
    let (sender, receiver) = sync_channel(WAITING);
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || work(&sender));
    let thread = thread.map_err(|error| Error::io("a thread", error))?;
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(sent) => each(sent)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupted() {
            receiver.try_iter().take(WAITING).try_for_each(each)?;
            return Ok(None);
        }
    }
    thread.join().map(Some).or_else(|panicked| panic::resume_unwind(panicked))
}
