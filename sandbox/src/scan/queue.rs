//! Work that adds work, done by a few threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tasks that one thread does before others help. Most repositories have fewer.
const ALONE: usize = 48;

/// Tasks that wait. The newest comes first, so that few directories are open at once.
struct Queue<T> {
    state: Mutex<Waiting<T>>,
    changed: Condvar,
}

struct Waiting<T> {
    tasks: Vec<T>,
    /// How many threads work on one, and may add more.
    busy: usize,
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one; nothing when all is done.
    fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop() {
                state.busy += 1;
                return Some(task);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, more: Vec<T>) {
        let mut state = self.lock();
        state.tasks.extend(more);
        state.busy -= 1;
        drop(state);
        self.changed.notify_all();
    }
}

/// How many threads are worth it here.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get().clamp(1, 8))
}

/// Does these tasks and those that they lead to. Each thread collects what it finds in an `F` of its own.
pub(crate) fn work<T: Send, F: Default + Send>(
    mut tasks: Vec<T>,
    each: impl Fn(T, &mut F) -> Vec<T> + Sync,
) -> Vec<F> {
    let mut first = F::default();
    for _ in 0..ALONE {
        match tasks.pop() {
            Some(task) => tasks.extend(each(task, &mut first)),
            None => return vec![first],
        }
    }
    let queue = Queue {
        state: Mutex::new(Waiting { tasks, busy: 0 }),
        changed: Condvar::new(),
    };
    let run = |mut found: F| {
        while let Some(task) = queue.take() {
            let more = each(task, &mut found);
            queue.done(more);
        }
        found
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads())
            .map(|_| scope.spawn(|| run(F::default())))
            .collect();
        let mut all = vec![run(first)];
        // A thread that panics ends the program.
        all.extend(others.into_iter().filter_map(|other| other.join().ok()));
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for depth in [0, 3, 12] {
            let found: Vec<Vec<u32>> = work(vec![(depth, 1)], |(depth, number), done: &mut Vec<u32>| {
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
}
