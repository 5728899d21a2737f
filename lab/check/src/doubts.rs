//! Readings that were not true at their floor, until something makes them true or nothing can.

use std::collections::HashMap;

use crate::{Model, horizon::Record};

/// Readings that have not agreed yet, by the part of the state that they looked at: whatever changes
/// another part needs not look at them.
#[derive(Debug)]
pub(crate) struct Doubts<O> {
    of_parts: HashMap<u32, Vec<DoubtedReading<O>>>,
    /// Those that any change may make true.
    of_all: Vec<DoubtedReading<O>>,
    count: usize,
    /// None of those that are not over was answered before this instant.
    earliest: u64,
}

#[derive(Debug)]
struct DoubtedReading<O> {
    reading: Record<O>,
    /// The last position that may make it true, once that is known.
    until: Option<u64>,
    /// Whether something was replayed that was asked after it was answered.
    is_over: bool,
    /// It is true if it was this late when it was answered, by the server's clock: whoever tells the time
    /// next decides that.
    from: Option<u64>,
}

impl<O> DoubtedReading<O> {
    /// It would be true as things are, if it was so late.
    fn may_be_from(&mut self, from: Option<u64>) {
        self.from = self.from.into_iter().chain(from).min();
    }
}

impl<O> Default for Doubts<O> {
    fn default() -> Self {
        Self {
            of_parts: HashMap::new(),
            of_all: Vec::new(),
            count: 0,
            earliest: u64::MAX,
        }
    }
}

impl<O> Doubts<O> {
    pub(crate) fn add<M: Model<Operation = O>>(&mut self, model: &M, reading: Record<O>) {
        let (part, from) = (
            model.part(&reading.operation),
            model.true_from(&reading.operation),
        );
        self.count += 1;
        self.earliest = self.earliest.min(reading.done);
        let list = match part {
            Some(part) => self.of_parts.entry(part).or_default(),
            None => &mut self.of_all,
        };
        list.push(DoubtedReading {
            reading,
            until: None,
            is_over: false,
            from,
        });
    }

    /// Whatever was asked before a reading was answered has been told, once nobody waits for an answer
    /// since then: nothing above the highest position that was told can make it true.
    pub(crate) fn limit(&mut self, known: u64, highest: u64) {
        if self.count == 0 {
            return;
        }
        for doubt in self.lists().flatten() {
            if doubt.reading.done <= known {
                doubt.until.get_or_insert(highest);
            }
        }
    }

    /// An operation that was asked then has changed a part of the state: readings that were answered
    /// later may have seen that. Those answered before come before it, and see nothing of what follows,
    /// if its position is known.
    pub(crate) fn clear<M: Model<Operation = O>>(
        &mut self,
        model: &M,
        asked: u64,
        (has_position, part): (bool, Option<u32>),
    ) {
        if self.count == 0 {
            return;
        }
        if has_position && asked > self.earliest {
            self.end(asked);
        }
        let mut cleared = 0;
        let mut look = |list: &mut Vec<DoubtedReading<O>>| {
            let before = list.len();
            list.retain_mut(|doubt| {
                let in_time = asked <= doubt.reading.done && !doubt.is_over;
                let agrees = in_time && model.agrees(&doubt.reading.operation);
                if in_time && !agrees {
                    doubt.may_be_from(model.true_from(&doubt.reading.operation));
                }
                !agrees
            });
            cleared += before - list.len();
        };
        match part {
            Some(part) => {
                if let Some(list) = self.of_parts.get_mut(&part) {
                    look(list);
                }
            }
            None => self.of_parts.values_mut().for_each(&mut look),
        }
        look(&mut self.of_all);
        self.count -= cleared;
    }

    /// Takes those that nothing can make true any more.
    pub(crate) fn judge(&mut self, known: u64, mut charge: impl FnMut(Record<O>)) {
        if self.count == 0 {
            return;
        }
        let late = |doubt: &mut DoubtedReading<O>| {
            let is_late = doubt.is_over || doubt.until.is_some_and(|until| until <= known);
            known == u64::MAX || is_late && doubt.from.is_none()
        };
        let mut judged = 0;
        for list in self.lists() {
            for doubt in list.extract_if(.., late) {
                judged += 1;
                // Nobody has told what time it was.
                if doubt.from.is_none() {
                    charge(doubt.reading);
                }
            }
        }
        self.count -= judged;
        if self.count == 0 {
            self.earliest = u64::MAX;
        }
    }

    /// A record that was asked then tells the time: what was answered before was not later.
    pub(crate) fn tell(&mut self, asked: u64, now: u64) {
        if self.count == 0 {
            return;
        }
        let mut cleared = 0;
        for list in self.lists() {
            let before = list.len();
            list.retain_mut(|doubt| {
                let decided = doubt.from.filter(|_from| doubt.reading.done < asked);
                if decided.is_some_and(|from| from > now) {
                    (doubt.from, doubt.is_over) = (None, true);
                    return true;
                }
                decided.is_none()
            });
            cleared += before - list.len();
        }
        self.count -= cleared;
    }

    /// Those that were answered before this instant are over.
    fn end(&mut self, asked: u64) {
        let mut earliest = u64::MAX;
        for doubt in self.lists().flatten() {
            doubt.is_over |= doubt.reading.done < asked;
            if !doubt.is_over {
                earliest = earliest.min(doubt.reading.done);
            }
        }
        self.earliest = earliest;
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<DoubtedReading<O>>> {
        self.of_parts.values_mut().chain([&mut self.of_all])
    }
}
