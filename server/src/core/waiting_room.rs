//! The waiting room: a line before bookings and holds, while more come than the server is to take.
//!
//! First come, first served. A caller is told its place and asks again; the same idempotency key keeps
//! the place. See `docs/decisions/0027-the-key-is-the-ticket.md`. Nothing here does I/O or reads a clock.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    fmt,
    hash::{BuildHasher as _, RandomState},
    num::{NonZeroU32, NonZeroU64},
};

use turnstile_types::Principal;

use crate::limits::Limits;

/// The most callers in line. One more is sent away without a place.
pub(crate) const WAITERS_MAX: usize = 100_000;

/// Who has not asked for so long when the turn comes has left. At least three times as long as callers
/// are told to wait.
const ABSENT_MS: u64 = 90_000;

/// Who is let in has so long to come.
const CALLED_MS: u64 = 60_000;

/// The longest time that a caller is told to wait before it asks again.
const RETRY_SECONDS_MAX: u32 = 30;

/// Those who wait longer than that are told different times, this many seconds long: else all who came in
/// one second would come back in one. The shortest of them, 20 s, keeps requests few.
const RETRY_SECONDS_SPREAD: u32 = 11;

const _: () = assert!(RETRY_SECONDS_SPREAD < RETRY_SECONDS_MAX);

/// When the caller with this number is to ask again, in seconds. Those with numbers side by side are told
/// times side by side.
fn spread_retry_s(number: u64) -> u32 {
    let part = number % u64::from(RETRY_SECONDS_SPREAD);
    RETRY_SECONDS_MAX - u32::try_from(part).expect("a part of the spread is short")
}

/// One request in thousandths.
const ONE: u64 = 1_000;

/// Why a caller may not go on yet. Nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotYourTurn {
    /// The same command under the same key keeps this place.
    Wait(LinePlace),
    /// Others wait, and without an idempotency key there is no place to keep.
    NoKey,
    /// There are as many in line as there may be.
    Full { retry_after_s: u32 },
    /// The principal has as many places as it may.
    TooManyPlaces { most: u32, retry_after_s: u32 },
}

impl NotYourTurn {
    /// When to ask again, in seconds.
    #[must_use]
    pub fn retry_after_s(&self) -> u32 {
        match *self {
            Self::Wait(line) => u32::try_from(line.seconds)
                .ok()
                .filter(|seconds| *seconds <= RETRY_SECONDS_MAX)
                .unwrap_or_else(|| spread_retry_s(line.place)),
            Self::NoKey => 1,
            Self::Full { retry_after_s } | Self::TooManyPlaces { retry_after_s, .. } => {
                retry_after_s
            }
        }
    }
}

impl std::error::Error for NotYourTurn {}

impl fmt::Display for NotYourTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait(LinePlace { place, seconds }) => write!(
                f,
                "place {place} in line, about {seconds} s: nothing was done, ask again with the same \
                 idempotency key after {} s",
                self.retry_after_s()
            ),
            Self::NoKey => f.write_str(
                "others wait for their turn: nothing was done, ask with an idempotency key to get a \
                 place in line",
            ),
            Self::Full { retry_after_s } => write!(
                f,
                "{WAITERS_MAX} wait for their turn, as many as may: nothing was done, retry after \
                 {retry_after_s} s"
            ),
            Self::TooManyPlaces {
                most,
                retry_after_s,
            } => write!(
                f,
                "{most} requests of this principal wait for their turn, as many as may: nothing was done, \
                 retry after {retry_after_s} s"
            ),
        }
    }
}

/// A place in line. It never grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// From 1, which is next. Those before it who have left count until their turn comes.
    pub place: u64,
    /// How long it takes until the turn comes, if all before it are still there.
    pub seconds: u64,
}

/// What the line is like now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitingLine {
    /// Requests a second that are let in; 0: there is no waiting room.
    pub(crate) rate: u64,
    /// Callers in line, with those who have left and whose turn has not come.
    pub(crate) waiting: u64,
    /// Turns ever given, and requests that found no line.
    pub(crate) let_in: u64,
    /// How long the first in line has waited.
    pub(crate) longest_wait_ms: u64,
}

/// One caller in line, in 32 bytes; some 25 more are in the table of numbers.
#[derive(Clone, Copy, Debug)]
struct QueuedCaller {
    /// Nothing: it was let in and came, or it has left.
    caller: Option<NonZeroCaller>,
    /// A number for its principal that nobody can guess.
    principal: u64,
    came_ms: u64,
    /// When it asked last; once it is let in, since when.
    since_ms: u64,
}

/// A number for a caller and its key that nobody can guess.
type NonZeroCaller = NonZeroU64;

/// The line, and how many were let in.
///
/// Callers have numbers in the order in which they came. Those before `next` were let in; the others
/// wait. Time moves when somebody asks, and with each turn of the loop.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    /// Requests a second that are let in.
    rate: u64,
    /// The most places of one principal.
    places_max: u32,
    /// Turns given, and requests that found no line.
    let_in: u64,
    /// Requests that got no place.
    turned_away: u64,
    /// What may be let in now, in thousandths; at most a second's worth while nobody waits.
    credit: u64,
    /// Until when credit was given.
    until_ms: u64,
    /// From the first number that is kept.
    line: VecDeque<QueuedCaller>,
    first: u64,
    /// The number that is let in next.
    next: u64,
    /// The numbers of those in line.
    numbers: HashMap<NonZeroCaller, u64>,
    /// How many places each principal has that has any.
    places: HashMap<u64, u32>,
    /// Makes a number of a principal and its key.
    callers: RandomState,
}

impl WaitingRoom {
    /// A room that lets in so many requests a second, with so many places for each principal.
    fn new(rate: NonZeroU32, places_max: u32) -> Self {
        let rate = u64::from(rate.get());
        Self {
            rate,
            places_max,
            let_in: 0,
            turned_away: 0,
            credit: rate * ONE,
            until_ms: 0,
            line: VecDeque::new(),
            first: 0,
            next: 0,
            numbers: HashMap::new(),
            places: HashMap::new(),
            callers: RandomState::new(),
        }
    }

    /// The room of these limits, if they have one.
    pub(crate) fn within(limits: &Limits) -> Option<Self> {
        let rate = limits.waiting_room?;
        Some(Self::new(rate, limits.waiting_room_places))
    }

    /// Lets a principal in with a command under this key, or says when to come back. Who is let in has its
    /// place until it [leaves](Self::leave), or does not come for a minute.
    ///
    /// # Errors
    /// It is not its turn.
    pub(crate) fn enter(
        &mut self,
        now_ms: u64,
        principal: &Principal,
        key: Option<&str>,
    ) -> Result<(), NotYourTurn> {
        let caller = key.map(|key| self.caller(principal, key));
        // Where nobody has a key, all callers are one principal.
        let is_shared = *principal == Principal::local();
        let most = if is_shared { u32::MAX } else { self.places_max };
        self.ask(now_ms, caller, (self.callers.hash_one(principal), most))
    }

    /// The command of a principal under this key was decided: its turn is over.
    pub(crate) fn leave(&mut self, principal: &Principal, key: &str) {
        self.end_turn(self.caller(principal, key));
    }

    fn caller(&self, principal: &Principal, key: &str) -> NonZeroCaller {
        let hash = self.callers.hash_one((principal, key));
        NonZeroCaller::new(hash).unwrap_or(NonZeroCaller::MIN)
    }

    /// What the line is like, as of the last time that it moved.
    pub(crate) fn length(&self) -> WaitingLine {
        let first = self.anyone_waits().then(|| self.next - self.first);
        let first = first.and_then(|at| self.line.get(usize::try_from(at).ok()?));
        WaitingLine {
            rate: self.rate,
            waiting: self.end() - self.next,
            let_in: self.let_in,
            longest_wait_ms: first.map_or(0, |first| self.until_ms - first.came_ms),
        }
    }

    /// A caller asks, for the first time or again.
    /// Its principal may have so many places.
    fn ask(
        &mut self,
        now_ms: u64,
        caller: Option<NonZeroCaller>,
        (principal, places_max): (u64, u32),
    ) -> Result<(), NotYourTurn> {
        self.advance(now_ms);
        let known = caller.and_then(|caller| self.numbers.get(&caller).copied());
        if let Some(number) = known {
            if number < self.next {
                return Ok(());
            }
            self.waiter(number).since_ms = now_ms;
            return Err(NotYourTurn::Wait(self.place(number)));
        }
        if !self.anyone_waits() && self.credit >= ONE {
            self.credit -= ONE;
            self.let_in += 1;
            return Ok(());
        }
        let caller = caller.ok_or(NotYourTurn::NoKey)?;
        // Those who have left count until the front comes to them.
        let retry_after_s = spread_retry_s(self.turned_away);
        if self.line.len() >= WAITERS_MAX {
            self.turned_away += 1;
            return Err(NotYourTurn::Full { retry_after_s });
        }
        let places = self.places.entry(principal).or_default();
        if *places >= places_max {
            self.turned_away += 1;
            return Err(NotYourTurn::TooManyPlaces {
                most: places_max,
                retry_after_s,
            });
        }
        *places += 1;
        let number = self.end();
        self.line.push_back(QueuedCaller {
            caller: Some(caller),
            principal,
            came_ms: now_ms,
            since_ms: now_ms,
        });
        self.numbers.insert(caller, number);
        Err(NotYourTurn::Wait(self.place(number)))
    }

    fn end_turn(&mut self, caller: NonZeroCaller) {
        let number = self.numbers.get(&caller).copied();
        if let Some(number) = number.filter(|number| *number < self.next) {
            self.forget(number);
        }
    }

    /// Lets in whose turn has come by now.
    pub(crate) fn advance(&mut self, now_ms: u64) {
        let passed = now_ms.saturating_sub(self.until_ms);
        self.until_ms = self.until_ms.max(now_ms);
        self.credit = self.credit.saturating_add(passed.saturating_mul(self.rate));
        while self.anyone_waits() && self.credit >= ONE {
            let number = self.next;
            self.next += 1;
            let waiter = self.waiter(number);
            if now_ms.saturating_sub(waiter.since_ms) > ABSENT_MS {
                self.forget(number);
            } else {
                waiter.since_ms = now_ms;
                self.credit -= ONE;
                self.let_in += 1;
            }
        }
        if !self.anyone_waits() {
            self.credit = self.credit.min(self.rate * ONE);
        }
        self.drop_front(now_ms);
    }

    /// Drops those at the front who came, who have left, or who were let in and did not come.
    fn drop_front(&mut self, now_ms: u64) {
        while self.first < self.next
            && let Some(waiter) = self.line.front()
        {
            let is_late = now_ms.saturating_sub(waiter.since_ms) > CALLED_MS;
            if waiter.caller.is_some() {
                if !is_late {
                    return;
                }
                self.forget(self.first);
            }
            self.line.pop_front();
            self.first += 1;
        }
    }

    fn anyone_waits(&self) -> bool {
        self.next < self.end()
    }

    /// The number behind the last.
    fn end(&self) -> u64 {
        self.first + self.line.len() as u64
    }

    const fn place(&self, number: u64) -> LinePlace {
        let place = number - self.next + 1;
        LinePlace {
            place,
            seconds: place.div_ceil(self.rate),
        }
    }

    fn waiter(&mut self, number: u64) -> &mut QueuedCaller {
        let at = usize::try_from(number - self.first).expect("the line is short");
        self.line.get_mut(at).expect("the number is in line")
    }

    /// Nobody has this place any more.
    fn forget(&mut self, number: u64) {
        let waiter = self.waiter(number);
        let (caller, principal) = (waiter.caller.take(), waiter.principal);
        let Some(caller) = caller else { return };
        self.numbers.remove(&caller);
        if let Entry::Occupied(mut places) = self.places.entry(principal) {
            *places.get_mut() -= 1;
            if *places.get() == 0 {
                places.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use turnstile_types::Name;

    use super::*;

    fn caller(number: u64) -> NonZeroCaller {
        NonZeroCaller::new(number + 1).unwrap()
    }

    /// One principal of many, which may have the whole line.
    const ANYONE: (u64, u32) = (0, u32::MAX);

    fn room(rate: u32) -> WaitingRoom {
        WaitingRoom::new(NonZeroU32::new(rate).unwrap(), PLACES_MAX)
    }

    /// The most places of a principal with a key.
    const PLACES_MAX: u32 = 3;

    /// The same rules with a list that is searched from the front.
    struct Naive {
        rate: u64,
        credit: u64,
        until_ms: u64,
        let_in: u64,
        turned_away: u64,
        line: Vec<NaiveWaiter>,
    }

    #[derive(Clone, Copy)]
    struct NaiveWaiter {
        caller: NonZeroCaller,
        principal: u64,
        came_ms: u64,
        asked_ms: u64,
        called_ms: Option<u64>,
        /// Let in and come, or left: it counts for places until its turn.
        is_gone: bool,
    }

    impl Naive {
        fn ask(
            &mut self,
            now_ms: u64,
            caller: NonZeroCaller,
            (principal, places_max): (u64, u32),
        ) -> Result<(), NotYourTurn> {
            self.credit += (now_ms - self.until_ms) * self.rate;
            self.until_ms = now_ms;
            for waiter in self
                .line
                .iter_mut()
                .filter(|waiter| waiter.called_ms.is_none())
            {
                if self.credit < ONE {
                    break;
                }
                waiter.called_ms = Some(now_ms);
                waiter.is_gone = now_ms - waiter.asked_ms > ABSENT_MS;
                if !waiter.is_gone {
                    self.credit -= ONE;
                    self.let_in += 1;
                }
            }
            for waiter in &mut self.line {
                let is_late = |called: u64| now_ms - called > CALLED_MS;
                waiter.is_gone |= waiter.called_ms.is_some_and(is_late);
            }
            let waits = |waiter: &&NaiveWaiter| waiter.called_ms.is_none();
            let waiting = self.line.iter().filter(waits).count() as u64;
            if waiting == 0 {
                self.credit = self.credit.min(self.rate * ONE);
            }
            let mut place = 0;
            for waiter in &mut self.line {
                place += u64::from(waiter.called_ms.is_none());
                if waiter.caller == caller && !waiter.is_gone {
                    if waiter.called_ms.is_some() {
                        return Ok(());
                    }
                    waiter.asked_ms = now_ms;
                    return Err(NotYourTurn::Wait(self.place(place)));
                }
            }
            if waiting == 0 && self.credit >= ONE {
                self.credit -= ONE;
                self.let_in += 1;
                return Ok(());
            }
            let has = |waiter: &&NaiveWaiter| waiter.principal == principal && !waiter.is_gone;
            if self.line.iter().filter(has).count() >= places_max as usize {
                let retry_after_s = 30 - (self.turned_away % 11) as u32;
                self.turned_away += 1;
                return Err(NotYourTurn::TooManyPlaces {
                    most: places_max,
                    retry_after_s,
                });
            }
            self.line.push(NaiveWaiter {
                caller,
                principal,
                came_ms: now_ms,
                asked_ms: now_ms,
                called_ms: None,
                is_gone: false,
            });
            Err(NotYourTurn::Wait(self.place(waiting + 1)))
        }

        fn leave(&mut self, caller: NonZeroCaller) {
            for waiter in &mut self.line {
                waiter.is_gone |= waiter.caller == caller && waiter.called_ms.is_some();
            }
        }

        fn place(&self, place: u64) -> LinePlace {
            LinePlace {
                place,
                seconds: place.div_ceil(self.rate),
            }
        }

        fn length(&self) -> WaitingLine {
            let mut waiting = self
                .line
                .iter()
                .filter(|waiter| waiter.called_ms.is_none())
                .map(|waiter| self.until_ms - waiter.came_ms)
                .peekable();
            let longest_wait_ms = waiting.peek().copied().unwrap_or_default();
            WaitingLine {
                rate: self.rate,
                waiting: waiting.count() as u64,
                let_in: self.let_in,
                longest_wait_ms,
            }
        }
    }

    proptest! {
        /// Callers come, ask again, and stay away, at any pace.
        #[test]
        fn a_line_agrees_with_a_list(
            rate in 1_u32..5,
            asks in proptest::collection::vec((prop_oneof![
                4 => 0_u64..400,
                2 => 0_u64..5_000,
                1 => 50_000_u64..200_000,
            ], 0_u64..12, any::<bool>()), 1..300),
        ) {
            let mut room = room(rate);
            let rate = u64::from(rate);
            let mut naive = Naive {
                rate,
                credit: rate * ONE,
                until_ms: 0,
                let_in: 0,
                turned_away: 0,
                line: Vec::new(),
            };
            let mut now_ms = 0;
            for (pause, number, is_decided) in asks {
                now_ms += pause;
                let principal = (number % 3, PLACES_MAX);
                let admission = room.ask(now_ms, Some(caller(number)), principal);
                let expected = naive.ask(now_ms, caller(number), principal);
                prop_assert_eq!(admission, expected, "at {}", now_ms);
                if admission.is_ok() && is_decided {
                    room.end_turn(caller(number));
                    naive.leave(caller(number));
                }
                prop_assert_eq!(room.length(), naive.length(), "at {}", now_ms);
            }
        }

        /// Whoever keeps asking is let in once, in the order in which the first asked came, and no faster
        /// than the rate; no place grows.
        #[test]
        fn order_is_kept_and_nobody_is_let_in_twice(
            rate in 1_u32..50,
            crowd in 1_u64..400,
            pause in 1_u64..500,
        ) {
            let mut room = room(rate);
            let mut places = vec![u64::MAX; usize::try_from(crowd).unwrap()];
            let mut waiting: Vec<u64> = (0..crowd).collect();
            let mut entered = Vec::new();
            let mut now_ms = 0;
            while !waiting.is_empty() {
                prop_assert!(now_ms < 1_000_000, "{} wait for ever", waiting.len());
                waiting.retain(|&number| match room.ask(now_ms, Some(caller(number)), ANYONE) {
                    Ok(()) => {
                        room.end_turn(caller(number));
                        entered.push(number);
                        false
                    }
                    Err(NotYourTurn::Wait(line)) => {
                        let place = &mut places[usize::try_from(number).unwrap()];
                        assert!(line.place <= *place, "the place of {number} has grown");
                        *place = line.place;
                        true
                    }
                    Err(refused) => panic!("there is room: {refused}"),
                });
                let most = u64::from(rate) + now_ms * u64::from(rate) / 1_000;
                prop_assert!(entered.len() as u64 <= most);
                now_ms += pause;
            }
            prop_assert_eq!(entered, (0..crowd).collect::<Vec<_>>());
            prop_assert_eq!((room.numbers.len(), room.places.len()), (0, 0));
            prop_assert_eq!(room.length().let_in, crowd);
        }
    }

    #[test]
    fn a_full_line_takes_nobody_and_keeps_its_memory_small() {
        let mut room = room(1);
        assert_eq!(room.ask(0, Some(caller(0)), ANYONE), Ok(()));
        for number in 1..=WAITERS_MAX as u64 {
            let place = LinePlace {
                place: number,
                seconds: number,
            };
            assert_eq!(
                room.ask(0, Some(caller(number)), ANYONE),
                Err(NotYourTurn::Wait(place))
            );
        }
        assert_eq!(
            room.ask(0, Some(caller(u64::MAX - 1)), ANYONE),
            Err(NotYourTurn::Full { retry_after_s: 30 })
        );
        assert_eq!(
            room.ask(0, Some(caller(u64::MAX - 1)), ANYONE),
            Err(NotYourTurn::Full { retry_after_s: 29 })
        );
        assert_eq!(
            (room.numbers.len(), room.line.len()),
            (WAITERS_MAX, WAITERS_MAX)
        );
        let line = room.line.capacity() * size_of::<QueuedCaller>();
        // A table of seven eighths, with a byte beside each entry.
        let table = room.numbers.capacity() * 8 / 7 * (size_of::<(NonZeroCaller, u64)>() + 1);
        assert!(
            (line + table) / WAITERS_MAX <= 80,
            "{line} and {table} bytes"
        );
    }

    #[test]
    fn who_came_together_does_not_come_back_together() {
        let mut room = room(100);
        let mut times = [0_u32; 31];
        for number in 0..50_000 {
            if let Err(not_yet) = room.ask(0, Some(caller(number)), ANYONE) {
                times[not_yet.retry_after_s() as usize] += 1;
            }
        }
        // Whose turn comes within 30 s is told when; a second's worth was let in.
        assert_eq!(times[0], 0);
        assert_eq!(times[1..20], [100; 19]);
        // The others are told 20 to 30 s, as many each.
        let others = (50_000 - 100 - 3_000) / 11;
        for told in &times[20..] {
            assert!((others + 100..=others + 101).contains(told), "{times:?}");
        }
    }

    #[test]
    fn who_does_not_come_back_loses_the_place_and_holds_nobody_up() {
        let mut room = room(1);
        assert_eq!(room.ask(0, Some(caller(0)), ANYONE), Ok(()));
        let waits = |place| {
            Err(NotYourTurn::Wait(LinePlace {
                place,
                seconds: place,
            }))
        };
        for number in 1..=200 {
            assert_eq!(room.ask(0, Some(caller(number)), ANYONE), waits(number));
        }
        // Only the last comes back. Eighty were let in by then, and those behind them have left.
        assert_eq!(room.ask(80_000, Some(caller(200)), ANYONE), waits(120));
        assert_eq!(room.ask(90_001, Some(caller(200)), ANYONE), Ok(()));
        // The first has lost its place, and finds an empty room.
        assert_eq!(room.ask(152_000, Some(caller(1)), ANYONE), Ok(()));
        assert_eq!((room.numbers.len(), room.places.len()), (0, 0));
    }

    #[test]
    fn a_place_belongs_to_a_principal_and_its_key() {
        let mut room = room(1);
        let [ada, bob] = [b"ada", b"bob"].map(|name| Principal(Name::parse(name).unwrap()));
        assert_eq!(room.enter(0, &ada, None), Ok(()));
        assert_eq!(room.enter(0, &ada, None), Err(NotYourTurn::NoKey));
        let place = |place| {
            Err(NotYourTurn::Wait(LinePlace {
                place,
                seconds: place,
            }))
        };
        assert_eq!(room.enter(0, &ada, Some("k")), place(1));
        assert_eq!(room.enter(0, &bob, Some("k")), place(2));
        assert_eq!(room.enter(999, &ada, Some("k")), place(1));
        assert_eq!(room.enter(1_000, &bob, Some("k")), place(1));
        // A command that was refused before it was decided keeps its turn.
        assert_eq!(room.enter(1_000, &ada, Some("k")), Ok(()));
        assert_eq!(room.enter(1_000, &ada, Some("k")), Ok(()));
        room.leave(&ada, "k");
        room.leave(&bob, "k");
        // The key has no place any more, and the line is not for those without one.
        assert_eq!(room.enter(1_000, &bob, Some("k")), place(1));
        assert_eq!(room.enter(1_000, &ada, Some("k")), place(2));
        assert_eq!(room.enter(1_000, &ada, None), Err(NotYourTurn::NoKey));
    }

    #[test]
    fn one_principal_cannot_fill_the_line() {
        let mut room = room(1);
        let [ada, bob] = [b"ada", b"bob"].map(|name| Principal(Name::parse(name).unwrap()));
        let enter = |room: &mut WaitingRoom, now_ms, principal: &Principal, key: u32| {
            room.enter(now_ms, principal, Some(&key.to_string()))
        };
        assert_eq!(enter(&mut room, 0, &ada, 0), Ok(()));
        let place = |place| {
            Err(NotYourTurn::Wait(LinePlace {
                place,
                seconds: place,
            }))
        };
        for key in 1..=PLACES_MAX {
            assert_eq!(enter(&mut room, 0, &ada, key), place(key.into()));
        }
        let most = |retry_after_s| {
            Err(NotYourTurn::TooManyPlaces {
                most: PLACES_MAX,
                retry_after_s,
            })
        };
        assert_eq!(enter(&mut room, 0, &ada, 4), most(30));
        // Its places stay, and others get theirs.
        assert_eq!(enter(&mut room, 0, &ada, 3), place(3));
        assert_eq!(enter(&mut room, 0, &bob, 4), place(4));
        // Who has come, or was let in and has not come, gives a place back.
        assert_eq!(enter(&mut room, 1_000, &ada, 1), Ok(()));
        room.leave(&ada, "1");
        assert_eq!(enter(&mut room, 1_000, &ada, 5), place(4));
        assert_eq!(enter(&mut room, 1_000, &ada, 6), most(29));
        assert_eq!(enter(&mut room, 3_000, &ada, 6), most(28));
        assert_eq!(enter(&mut room, 63_001, &ada, 6), Ok(()));
        assert_eq!(room.length().waiting, 0);
        // Where nobody has a key, all are one principal.
        let local = Principal::local();
        for key in 0..=PLACES_MAX + 1 {
            let entered = room.enter(63_001, &local, Some(&key.to_string()));
            assert!(!matches!(entered, Err(NotYourTurn::TooManyPlaces { .. })));
        }
    }
}
