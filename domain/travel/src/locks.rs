//! The lock table of a desk: holders and waiters.

use std::collections::{BTreeMap, VecDeque};

use turnstile_chassis::{Bytes, Words};

use crate::{Xid, limits};

/// How something is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes, Words)]
pub enum Mode {
    /// To read it.
    #[byte(0x01)]
    Shared,
    /// To change single members of a whole: several may, but nobody reads the whole meanwhile.
    #[byte(0x02)]
    Intent,
    /// To change it.
    #[byte(0x03)]
    Exclusive,
}

impl Mode {
    /// Whether two transactions may hold these at once.
    pub(crate) fn admits(self, other: Self) -> bool {
        self == other && self != Self::Exclusive
    }

    /// Whether who holds this needs no more for that.
    pub(crate) fn covers(self, wanted: Self) -> bool {
        self == wanted || self == Self::Exclusive
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Holder {
    pub(crate) xid: Xid,
    pub(crate) mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Waiter {
    pub(crate) xid: Xid,
    pub(crate) mode: Mode,
    /// Whether it holds the resource already, in another mode.
    pub(crate) converts: bool,
}

/// One locked resource. Those who convert stand before all others, because nobody else can be
/// served before them; otherwise the queue is in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Bytes)]
pub(crate) struct LockQueue {
    pub(crate) holders: Vec<Holder>,
    pub(crate) waiters: VecDeque<Waiter>,
}

/// Strict two-phase locking: locks are taken one by one and go all at once, by
/// [`release`](Self::release).
///
/// A transaction waits for one resource at a time. Whoever waits is served when it is its turn,
/// by the release that makes it so: readers together up to the first writer. What nobody has
/// locked is not in the table, and whether the resource exists is not the table's business, so
/// that what is not there can be locked against its appearance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locks<R> {
    pub(crate) queues: BTreeMap<R, LockQueue>,
    /// What each transaction holds, in order of acquisition.
    pub(crate) held: BTreeMap<Xid, Vec<R>>,
    pub(crate) waiting: BTreeMap<Xid, R>,
    /// Resources at which somebody may wait for others than before, in the order in which that happened.
    stirred: Vec<R>,
    /// Who that is at each of them.
    stirs: BTreeMap<R, Stir>,
}

/// Who may wait for others than before at one resource. Of a long queue that is mostly one: whoever is
/// served or comes changes nothing for those in the middle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stir {
    /// Everybody.
    all: bool,
    /// Those who wait for holders, at the front.
    front: bool,
    /// Those who have come, in their order.
    new: Vec<Xid>,
}

/// For whom somebody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blockers {
    /// Somebody else who holds the resource: the one to blame.
    pub(crate) holder: Xid,
    /// Those who must end before it can be served. Who waits behind others names only the nearest
    /// of them: it is on a cycle through any if it is on a cycle through that one.
    pub(crate) before: Vec<Xid>,
}

impl<R: Copy + Ord> Locks<R> {
    pub(crate) const fn new() -> Self {
        Self {
            queues: BTreeMap::new(),
            held: BTreeMap::new(),
            waiting: BTreeMap::new(),
            stirred: Vec::new(),
            stirs: BTreeMap::new(),
        }
    }

    /// A table as it was written down.
    pub(crate) fn of(queues: BTreeMap<R, LockQueue>, held: BTreeMap<Xid, Vec<R>>) -> Self {
        let waiters = queues.iter().flat_map(|(&resource, queue)| {
            queue
                .waiters
                .iter()
                .map(move |waiter| (waiter.xid, resource))
        });
        let waiting = waiters.collect();
        Self {
            queues,
            held,
            waiting,
            stirred: Vec::new(),
            stirs: BTreeMap::new(),
        }
    }

    /// Takes a lock, or queues for it; says whether it is held now. What is held already is not
    /// taken again.
    pub(crate) fn acquire(&mut self, xid: Xid, resource: R, mode: Mode) -> bool {
        let queue = self.queues.entry(resource).or_default();
        match queue.ask(xid, mode) {
            Verdict::Held => true,
            Verdict::Granted => {
                self.held.entry(xid).or_default().push(resource);
                true
            }
            Verdict::Queued { converts } => {
                let before = self.waiting.insert(xid, resource);
                assert!(
                    before.is_none(),
                    "a transaction waits for one lock at a time"
                );
                let stir = self.stir(resource);
                if converts {
                    stir.all = true;
                } else {
                    stir.new.push(xid);
                }
                false
            }
        }
    }

    /// Gives up everything that a transaction holds and waits for. Returns those that got what
    /// they waited for, in the order in which they got it.
    pub(crate) fn release(&mut self, xid: Xid) -> Vec<Xid> {
        let mut woken = Vec::new();
        let waited = self.waiting.remove(&xid);
        let held = self.held.remove(&xid).unwrap_or_default();
        for resource in held.into_iter().chain(waited) {
            let Some(queue) = self.queues.get_mut(&resource) else {
                continue;
            };
            // Of more holders than that, not all were told.
            let mut front = queue.holders.len() > limits::BLOCKERS_MAX;
            queue.holders.retain(|holder| holder.xid != xid);
            let place = match waited {
                Some(waited) if waited == resource => queue.leave(xid),
                _ => None,
            };
            front |= place == Some(0);
            while let Some(served) = queue.serve() {
                front = true;
                self.waiting.remove(&served.xid);
                if !served.converts {
                    self.held.entry(served.xid).or_default().push(resource);
                }
                woken.push(served.xid);
            }
            if queue.holders.is_empty() {
                self.queues.remove(&resource);
            } else if !queue.waiters.is_empty() {
                // One holder less, and nobody else, is no news to those who wait for it.
                let all = place.is_some_and(|place| place > 0);
                if all || front {
                    let stir = self.stir(resource);
                    stir.all |= all;
                    stir.front |= front;
                }
            }
        }
        woken
    }

    fn stir(&mut self, resource: R) -> &mut Stir {
        self.stirs.entry(resource).or_insert_with(|| {
            self.stirred.push(resource);
            Stir::default()
        })
    }

    /// Those who may wait for others than before, since the last call.
    pub(crate) fn take_stirred(&mut self) -> Vec<(Xid, Blockers)> {
        let mut waits = Vec::new();
        for resource in self.stirred.drain(..) {
            let stir = self.stirs.remove(&resource).unwrap_or_default();
            let Some(queue) = self.queues.get(&resource) else {
                continue;
            };
            if stir.all {
                waits.extend(queue.waits());
                continue;
            }
            let first = waits.len();
            if stir.front {
                waits.extend(queue.front());
            }
            for xid in stir.new {
                let mut told = waits.iter().skip(first);
                if !told.any(|(known, _)| *known == xid) {
                    waits.extend(queue.wait_of(xid).map(|blockers| (xid, blockers)));
                }
            }
        }
        waits
    }

    /// Whether anybody holds or wants it.
    pub(crate) fn is_locked(&self, resource: &R) -> bool {
        self.queues.contains_key(resource)
    }

    /// What a transaction holds, in order of acquisition.
    pub(crate) fn of_holder(&self, xid: Xid) -> impl ExactSizeIterator<Item = (R, Mode)> {
        let held = self.held.get(&xid).map_or(&[][..], Vec::as_slice);
        held.iter().map(move |&resource| {
            let queue = self.queues.get(&resource).expect("it is held");
            let mut holders = queue.holders.iter();
            let mine = holders.find(|holder| holder.xid == xid);
            (resource, mine.expect("it holds it").mode)
        })
    }

    /// What a transaction waits for, and for whom.
    pub(crate) fn of_waiter(&self, xid: Xid) -> Option<(R, Mode, Blockers)> {
        let &resource = self.waiting.get(&xid)?;
        let queue = self.queues.get(&resource).expect("it is waited for");
        let mut waiters = queue.waiters.iter();
        let mode = waiters.find(|waiter| waiter.xid == xid)?.mode;
        Some((resource, mode, queue.wait_of(xid)?))
    }

    /// Who may change it, if anybody.
    pub(crate) fn writer(&self, resource: &R) -> Option<Xid> {
        let holder = self.queues.get(resource)?.holders.first()?;
        (holder.mode == Mode::Exclusive).then_some(holder.xid)
    }
}

enum Verdict {
    Held,
    Granted,
    Queued { converts: bool },
}

impl LockQueue {
    fn ask(&mut self, xid: Xid, mode: Mode) -> Verdict {
        let alone = self.holders.len() == 1;
        if let Some(mine) = self.holders.iter_mut().find(|holder| holder.xid == xid) {
            if mine.mode.covers(mode) {
                return Verdict::Held;
            }
            if alone {
                mine.mode = Mode::Exclusive;
                return Verdict::Held;
            }
            let place = self.waiters.partition_point(|waiter| waiter.converts);
            let mode = Mode::Exclusive;
            self.waiters.insert(
                place,
                Waiter {
                    xid,
                    mode,
                    converts: true,
                },
            );
            return Verdict::Queued { converts: true };
        }
        if self.waiters.is_empty() && self.admits(mode) {
            self.holders.push(Holder { xid, mode });
            return Verdict::Granted;
        }
        self.waiters.push_back(Waiter {
            xid,
            mode,
            converts: false,
        });
        Verdict::Queued { converts: false }
    }

    /// Holders admit each other, so they have one mode.
    fn admits(&self, mode: Mode) -> bool {
        let first = self.holders.first();
        first.is_none_or(|holder| holder.mode.admits(mode))
    }

    /// Takes a waiter out, and says where it stood.
    fn leave(&mut self, xid: Xid) -> Option<usize> {
        let place = self.waiters.iter().position(|waiter| waiter.xid == xid)?;
        self.waiters.remove(place);
        Some(place)
    }

    /// Gives the resource to the first who waits, if it is free for that one.
    fn serve(&mut self) -> Option<Waiter> {
        let first = *self.waiters.front()?;
        if first.converts {
            let [sole] = self.holders.as_mut_slice() else {
                return None;
            };
            sole.mode = Mode::Exclusive;
        } else if self.admits(first.mode) {
            self.holders.push(Holder {
                xid: first.xid,
                mode: first.mode,
            });
        } else {
            return None;
        }
        self.waiters.pop_front()
    }

    /// For whom everybody here waits, in one pass.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (Xid, Blockers)> {
        let waiters = self.ahead();
        waiters.map(|(waiter, ahead)| (waiter.xid, self.blockers(waiter, ahead)))
    }

    /// For whom those wait who wait for holders and for nobody ahead of them.
    fn front(&self) -> impl Iterator<Item = (Xid, Blockers)> {
        let waiters = self.ahead();
        let front = waiters.take_while(|(waiter, ahead)| waiter.converts || ahead.is_none());
        front.map(|(waiter, ahead)| (waiter.xid, self.blockers(waiter, ahead)))
    }

    /// For whom one of the waiters waits. Found at once if it is among the last.
    fn wait_of(&self, xid: Xid) -> Option<Blockers> {
        let place = self.waiters.iter().rposition(|waiter| waiter.xid == xid)?;
        let waiter = *self.waiters.get(place)?;
        let mut before = self.waiters.range(..place).rev();
        let ahead = before.find(|ahead| !ahead.mode.admits(waiter.mode));
        Some(self.blockers(waiter, ahead.copied()))
    }

    /// Everybody who waits, with the nearest in front who cannot be served together with it.
    fn ahead(&self) -> impl Iterator<Item = (Waiter, Option<Waiter>)> {
        // The last waiter so far, and the last of another mode than that one.
        let mut last: Option<Waiter> = None;
        let mut other: Option<Waiter> = None;
        self.waiters.iter().map(move |&waiter| {
            let ahead = last
                .filter(|ahead| !ahead.mode.admits(waiter.mode))
                .or(other);
            if last.is_some_and(|ahead| ahead.mode != waiter.mode) {
                other = last;
            }
            last = Some(waiter);
            (waiter, ahead)
        })
    }

    fn blockers(&self, waiter: Waiter, ahead: Option<Waiter>) -> Blockers {
        let others = self
            .holders
            .iter()
            .filter(|holder| holder.xid != waiter.xid);
        let mut others = others.map(|holder| holder.xid).peekable();
        let &holder = others
            .peek()
            .expect("nobody waits for what nobody else holds");
        let before = match ahead.filter(|_| !waiter.converts) {
            Some(ahead) => vec![ahead.xid],
            None => others.take(limits::BLOCKERS_MAX).collect(),
        };
        Blockers { holder, before }
    }
}

#[cfg(test)]
mod tests;
