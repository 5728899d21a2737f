//! Commands that a client asks for together, with a reading between them.

use super::{ClusterBug, ClusterHistory, node::ClusterCaller};
use crate::violation::Judged;

impl ClusterHistory {
    /// A client asks for two things together, and reads between them.
    pub(super) fn batch(&mut self, number: usize) -> Judged {
        let mut operations = [0; 2];
        for operation in &mut operations {
            let request = self.traffic.next(&mut self.random, self.clock, None);
            *operation = self.oracle.ask(request.encode(), None);
        }
        self.summary.runs += 1;
        self.put_run(number, operations)
    }

    fn put_run(&mut self, number: usize, [first, second]: [usize; 2]) -> Judged {
        self.oracle.runs.insert(second, first);
        if self.bug == ClusterBug::SplitRuns {
            self.put(number, first)?;
            let request = self.traffic.next(&mut self.random, self.clock, None);
            self.ask(number, request.encode(), None)?;
            return self.put(number, second);
        }
        let now = self.now_at(number);
        let records = [first, second].map(|operation| self.oracle.record_of(operation));
        let jobs = [
            (ClusterCaller::Operation(first), 1),
            (ClusterCaller::ReadingBehind(first), 0),
            (ClusterCaller::Operation(second), 1),
        ];
        self.nodes[number].put(now, &records, &jobs)
    }

    /// Puts again what was void, together if it was put together.
    pub(super) fn put_again(&mut self, number: usize, run: &[ClusterCaller]) -> Judged {
        match run {
            [ClusterCaller::Operation(operation)] => self.put(number, *operation),
            [
                ClusterCaller::Operation(first),
                _,
                ClusterCaller::Operation(second),
            ] => self.put_run(number, [*first, *second]),
            [ClusterCaller::Nobody] => Ok(()),
            _ => self.read(number),
        }
    }
}
