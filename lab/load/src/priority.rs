//! The real-time priority that a generator's threads may ask for.
//!
//! A thread with it runs as soon as something wakes it, whatever ordinary threads want the processor.
//! The system takes it off for a twentieth of each second in which it never rests
//! (`/proc/sys/kernel/sched_rt_runtime_us`), so it is for threads that mostly wait.

use std::{fmt, thread};

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The system refuses real-time priority, for this reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

/// Gives the calling thread the lowest of the real-time priorities (FIFO), until it ends.
///
/// # Errors
/// The system refuses.
pub fn claim() -> Result<(), Refused> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy)
        .map_err(|error| Refused(format!("{error:?}")))
}

/// Whether a thread may claim it, tried by one that ends at once.
///
/// # Errors
/// The system refuses.
pub fn try_out() -> Result<(), Refused> {
    thread::spawn(claim)
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the system refuses real-time priority ({}): run as root, or raise the limit of rtprio \
             (`ulimit -r`)",
            self.0
        )
    }
}

impl std::error::Error for Refused {}
