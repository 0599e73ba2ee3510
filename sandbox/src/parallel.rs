//! Work on many repositories at once.

use crate::wire::error::Outcome;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does the work for each item, several at a time: twice as many as there are processors, because work on a
/// repository waits for processes that start and end. The results have the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Outcome<R> + Sync) -> Outcome<Vec<R>> {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Outcome<R>)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..items.len().min(2 * processors) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
