//! The allocator. That of musl takes a lock of the system for each call and gives memory back at once, which was a third
//! of the time of a capture in which nothing had changed.

use spinning_top::RawSpinlock;
use spinning_top::relax::Relax;
use std::alloc::System;
use talc::TalcLock;
use talc::source::GlobalAllocSource;

/// Lets the thread run that has the lock. It may have lost its processor.
#[derive(Default)]
pub(crate) struct Yield;

impl Relax for Yield {
    fn relax(&mut self) {
        std::thread::yield_now();
    }
}

#[global_allocator]
static HEAP: TalcLock<RawSpinlock<Yield>, GlobalAllocSource<System>> =
    TalcLock::new(GlobalAllocSource::new(System));
