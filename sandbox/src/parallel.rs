//! The threads of a call.
//!
//! `map` does work on many repositories at once. `share` does work that adds work, as a walk does: one thread begins, and
//! another one helps only while a processor is free. With many repositories no one helps, and nobody waits for a lock.

use crate::wire::error::Outcome;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Scope;

/// Tasks that one thread does before others help. Most repositories have fewer directories.
const ALONE: usize = 48;
/// Fewer tasks that wait are not worth a thread.
const LEFT: usize = 8;

static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(2, usize::from));
/// How many processors there are.
pub(crate) fn processors() -> usize {
    *PROCESSORS
}

/// Threads that work now. The first one is that of `main`.
static WORKING: AtomicUsize = AtomicUsize::new(1);

/// A thread that works, as long as this lives.
struct Worker;

impl Worker {
    fn new() -> Self {
        WORKING.fetch_add(1, Ordering::Relaxed);
        Worker
    }

    /// One for a processor that is free.
    fn spare() -> Option<Self> {
        let more = |working| (working < *PROCESSORS).then(|| working + 1);
        let is_free = WORKING
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok();
        // A worker that is made and dropped at once would count as one that ended.
        is_free.then(|| Worker)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        WORKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A thread that waits for others, and does not count meanwhile.
struct Waiting;

impl Waiting {
    fn new() -> Self {
        WORKING.fetch_sub(1, Ordering::Relaxed);
        Waiting
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WORKING.fetch_add(1, Ordering::Relaxed);
    }
}

/// Does the work for each item, several at a time: twice as many as there are processors, because work on a
/// repository waits for processes that start and end. The results have the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Outcome<R> + Sync) -> Outcome<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Outcome<R>)>> = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(item);
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..items.len().min(2 * *PROCESSORS) {
            let worker = Worker::new();
            scope.spawn(|| {
                let _worker = worker;
                run();
            });
        }
        run();
        Waiting::new()
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does these tasks and those that they lead to. Each thread collects what it finds in an `F` of its own.
pub(crate) fn share<T: Send, F: Default + Send>(
    tasks: Vec<T>,
    each: impl Fn(T, &mut F) -> Vec<T> + Sync,
) -> Vec<F> {
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        work_off(scope, tasks, &each, &found);
        Waiting::new()
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The newest task comes first, so that few directories are open at once.
fn work_off<'scope, 'env, T: Send + 'scope, F: Default + Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    mut tasks: Vec<T>,
    each: &'scope (impl Fn(T, &mut F) -> Vec<T> + Sync),
    found: &'scope Mutex<Vec<F>>,
) {
    let mut mine = F::default();
    let mut done = 0;
    while let Some(task) = tasks.pop() {
        tasks.extend(each(task, &mut mine));
        done += 1;
        if done >= ALONE
            && tasks.len() > LEFT
            && let Some(worker) = Worker::spare()
        {
            // The older ones are nearer to the top, so more is below them.
            let rest = tasks.split_off(tasks.len() / 2);
            let given = std::mem::replace(&mut tasks, rest);
            scope.spawn(move || {
                let _worker = worker;
                work_off(scope, given, each, found);
            });
        }
    }
    found.lock().unwrap_or_else(PoisonError::into_inner).push(mine);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for depth in [0, 3, 12] {
            let found: Vec<Vec<u32>> = share(vec![(depth, 1)], |(depth, number), done: &mut Vec<u32>| {
                done.push(number);
                if depth == 0 {
                    return Vec::new();
                }
                vec![(depth - 1, 2 * number), (depth - 1, 2 * number + 1)]
            });
            let mut all: Vec<u32> = found.concat();
            all.sort_unstable();
            assert_eq!(all, (1..2_u32.pow(depth + 1)).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn no_more_threads_help_than_processors_are_free() {
        let working = WORKING.load(Ordering::Relaxed);
        for _ in 0..3 {
            let found: Vec<usize> = share(vec![0], |depth, done: &mut usize| {
                *done += 1;
                std::thread::sleep(std::time::Duration::from_micros(50));
                if depth < 2 {
                    vec![depth + 1; 60]
                } else {
                    Vec::new()
                }
            });
            assert_eq!(found.iter().sum::<usize>(), 1 + 60 + 3600);
            // Other tests have threads of their own.
            assert!(WORKING.load(Ordering::Relaxed) < working + 2 * *PROCESSORS + 64);
        }
    }

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(map(&items, |one| Ok(*one)).expect("all are done"), items);
    }
}
