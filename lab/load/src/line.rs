//! Whether a server keeps the order of those who wait in its line, as far as they themselves can see.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use turnstile_check::Charge;
use turnstile_result::Rule;
use turnstile_stats::units::{Count, to_float};

use crate::point;

/// Who asks again after longer than that may have lost its place. A server waits for a minute, and asks
/// callers to come again after half of that at most.
const IN_TIME: Duration = Duration::from_secs(45);

/// By how much clocks may differ, as a share of the time.
const CLOCK_SHARE: f64 = 0.01;

/// What a caller was told of its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceInLine {
    /// From 1, which is next.
    pub place: u64,
    /// Until its turn, in seconds.
    pub wait_s: u64,
    /// Until it should ask again, in seconds.
    pub retry_s: u64,
}

/// What all callers of a run share.
///
/// The order of the line is known only where one thing was over before another began: a caller that asked
/// first when another had been told its place came after it. So questions and answers are counted as
/// steps, which need no clock, and every violation is one whatever the network did.
#[derive(Debug)]
pub(crate) struct LineWatch {
    /// Before the first question.
    began: Instant,
    /// What the server says that it lets in each second; 0: it has no line.
    rate: u64,
    /// Questions and answers so far.
    steps: AtomicU64,
    /// Of all that were let in, the last step at which one asked first.
    last_came: AtomicU64,
    let_in: AtomicU64,
    charges: Mutex<LineCharges>,
}

#[derive(Debug, Default)]
struct LineCharges {
    order: Charge,
    places: Charge,
    rate: Charge,
}

/// A caller in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCaller {
    /// The step of its last question, when that was, and who had been let in before.
    asked: u64,
    asked_at: Instant,
    last_came: u64,
    /// The step at which it asked first for the place that it has.
    came: u64,
    held: Option<HeldPlace>,
}

/// The place that a caller has.
#[derive(Clone, Copy, Debug)]
struct HeldPlace {
    /// The step at which it was told of it first.
    told: u64,
    told_at: Instant,
    /// How long it should take from then on.
    wait_s: u64,
    /// What it was told last, and when it had asked for that.
    place: u64,
    asked_at: Instant,
}

/// What the callers of one connection saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFigures {
    /// Callers that were told a place.
    pub waited: u64,
    /// How often callers were told to wait.
    pub told: u64,
    /// The last place of all that were told.
    pub place_max: u64,
    /// The longest time from the first place to being let in.
    pub wait_max: Duration,
    /// By how much that was longer than what was told first, at most.
    pub overdue_max: Duration,
    /// How often somebody asked again so late that its place may have been lost.
    pub too_late: u64,
}

impl LineWatch {
    /// Of a server that says that it lets in so many a second. The callers begin now.
    pub(crate) fn new(rate: u64) -> Self {
        Self {
            began: Instant::now(),
            rate,
            // Nobody came before the first step.
            steps: AtomicU64::new(1),
            last_came: AtomicU64::new(0),
            let_in: AtomicU64::new(0),
            charges: Mutex::default(),
        }
    }

    fn step(&self) -> u64 {
        self.steps.fetch_add(1, Ordering::SeqCst)
    }

    /// A caller is about to ask.
    pub(crate) fn asks(&self, caller: &mut LineCaller, now: Instant) {
        caller.last_came = self.last_came.load(Ordering::SeqCst);
        caller.asked = self.step();
        caller.asked_at = now;
        if caller.held.is_none() {
            caller.came = caller.asked;
        }
    }

    /// A caller is told to wait.
    pub(crate) fn waits(
        &self,
        caller: &mut LineCaller,
        told: PlaceInLine,
        now: Instant,
        figures: &mut LineFigures,
    ) {
        figures.told += 1;
        figures.place_max = figures.place_max.max(told.place);
        let PlaceInLine { place, wait_s, .. } = told;
        let lost = |held: &HeldPlace| now.saturating_duration_since(held.asked_at) > IN_TIME;
        if caller.held.as_ref().is_some_and(lost) {
            figures.too_late += 1;
            caller.held = None;
            caller.came = caller.asked;
        }
        let Some(held) = &mut caller.held else {
            figures.waited += 1;
            caller.held = Some(HeldPlace {
                told: self.step(),
                told_at: now,
                wait_s,
                place,
                asked_at: caller.asked_at,
            });
            return;
        };
        if place > held.place {
            let before = held.place;
            self.accuse(
                |charges| &mut charges.places,
                || format!("a caller at place {before} was told place {place} later"),
            );
        }
        if caller.last_came > held.told {
            self.accuse(
                |charges| &mut charges.order,
                || format!("a caller still waits at place {place}, and one that came after it was let in"),
            );
        }
        (held.place, held.asked_at) = (place, caller.asked_at);
    }

    /// A caller was let in.
    pub(crate) fn lets_in(&self, caller: &LineCaller, now: Instant, figures: &mut LineFigures) {
        self.last_came.fetch_max(caller.came, Ordering::SeqCst);
        let let_in = 1 + self.let_in.fetch_add(1, Ordering::SeqCst);
        let since = now.saturating_duration_since(self.began).as_secs_f64();
        let rate = to_float(self.rate);
        let most = rate * (1.0 + since * (1.0 + CLOCK_SHARE)) + 1.0;
        if self.rate > 0 && to_float(let_in) > most {
            self.accuse(
                |charges| &mut charges.rate,
                || format!("{let_in} were let in within {since:.3} s"),
            );
        }
        if let Some(held) = caller.held {
            let waited = now.saturating_duration_since(held.told_at);
            let told = Duration::from_secs(held.wait_s);
            figures.wait_max = figures.wait_max.max(waited);
            figures.overdue_max = figures.overdue_max.max(waited.saturating_sub(told));
        }
    }

    fn accuse(&self, of: fn(&mut LineCharges) -> &mut Charge, sentence: impl FnOnce() -> String) {
        let mut charges = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        of(&mut charges).add(sentence);
    }

    /// What the callers prove together; nothing where there is no line.
    pub(crate) fn rules(&self, figures: &LineFigures) -> Vec<Rule> {
        if self.rate == 0 && figures.waited == 0 {
            return Vec::new();
        }
        let mut charges = self.charges.lock().unwrap_or_else(PoisonError::into_inner);
        let LineCharges {
            order,
            places,
            rate,
        } = std::mem::take(&mut *charges);
        let rule = |name: &str, charge: Charge| point::rule(name, &charge.sentences(), None);
        let order = rule(
            "no caller who waits in line and asks again in time is passed by one that came later",
            order,
        );
        vec![
            Rule {
                found: vec![figures.to_string()],
                ..order
            },
            rule("no place in line grows", places),
            rule(
                "no more are let in than the rate of the waiting room allows",
                rate,
            ),
        ]
    }
}

impl LineCaller {
    /// One that has not asked yet.
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            asked: 0,
            asked_at: now,
            last_came: 0,
            came: 0,
            held: None,
        }
    }
}

impl LineFigures {
    /// Adds what the callers of another connection saw.
    pub(crate) fn add(&mut self, other: &Self) {
        self.waited += other.waited;
        self.told += other.told;
        self.too_late += other.too_late;
        self.place_max = self.place_max.max(other.place_max);
        self.wait_max = self.wait_max.max(other.wait_max);
        self.overdue_max = self.overdue_max.max(other.overdue_max);
    }
}

impl fmt::Display for LineFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [waited, told, place] = [self.waited, self.told, self.place_max].map(Count);
        let (wait, overdue) = (self.wait_max.as_secs_f64(), self.overdue_max.as_secs_f64());
        write!(
            f,
            "{waited} waited in line, the last at place {place}; told to wait {told} times; the longest \
             wait was {wait:.1} s, at most {overdue:.1} s longer than told"
        )?;
        if self.too_late > 0 {
            write!(
                f,
                "; {} came back too late to be judged",
                Count(self.too_late)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, its callers, and what they saw.
    struct Scene {
        watch: LineWatch,
        callers: Vec<LineCaller>,
        figures: LineFigures,
        now: Instant,
    }

    impl Scene {
        fn new(rate: u64, callers: usize) -> Self {
            let watch = LineWatch::new(rate);
            let now = watch.began;
            Self {
                callers: vec![LineCaller::new(now); callers],
                figures: LineFigures::default(),
                watch,
                now,
            }
        }

        fn asks(&mut self, caller: usize) {
            self.watch.asks(&mut self.callers[caller], self.now);
        }

        fn waits(&mut self, caller: usize, place: u64) {
            let told = PlaceInLine {
                place,
                wait_s: place,
                retry_s: 1,
            };
            let (caller, figures) = (&mut self.callers[caller], &mut self.figures);
            self.watch.waits(caller, told, self.now, figures);
        }

        fn enters(&mut self, caller: usize) {
            let (caller, figures) = (&self.callers[caller], &mut self.figures);
            self.watch.lets_in(caller, self.now, figures);
        }

        fn later(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        /// What is violated, rule by rule.
        fn violations(self) -> [Vec<String>; 3] {
            let rules = self.watch.rules(&self.figures);
            let found = rules.into_iter().map(|rule| rule.violations);
            found.collect::<Vec<_>>().try_into().unwrap()
        }
    }

    #[test]
    fn a_line_in_order_breaks_no_rule_and_says_how_long_it_was() {
        let mut scene = Scene::new(1, 3);
        scene.asks(0);
        scene.enters(0);
        for (caller, place) in [(1, 1), (2, 2)] {
            scene.asks(caller);
            scene.waits(caller, place);
        }
        scene.later(3);
        // The second asks later, though its turn came first.
        for caller in [2, 1] {
            scene.asks(caller);
            scene.enters(caller);
        }
        let figures = LineFigures {
            waited: 2,
            told: 2,
            place_max: 2,
            wait_max: Duration::from_secs(3),
            overdue_max: Duration::from_secs(2),
            too_late: 0,
        };
        assert_eq!(scene.figures, figures);
        assert_eq!(scene.violations(), [const { Vec::<String>::new() }; 3]);
    }

    #[test]
    fn who_is_passed_by_one_that_came_later_is_told_of() {
        let mut scene = Scene::new(1, 2);
        scene.asks(0);
        scene.waits(0, 1);
        scene.asks(1);
        scene.enters(1);
        scene.asks(0);
        scene.waits(0, 1);
        let passed = "a caller still waits at place 1, and one that came after it was let in";
        let [order, places, rate] = scene.violations();
        assert_eq!(
            (order, places, rate),
            (vec![passed.to_owned()], vec![], vec![])
        );
    }

    #[test]
    fn who_asked_before_it_could_know_is_not_judged() {
        let mut scene = Scene::new(1, 2);
        // Both ask at the same time: either may be the first.
        scene.asks(0);
        scene.asks(1);
        scene.waits(0, 1);
        scene.enters(1);
        scene.asks(0);
        scene.waits(0, 1);
        assert_eq!(scene.violations()[0], Vec::<String>::new());
        // The question was under way when the other was let in.
        let mut scene = Scene::new(1, 2);
        scene.asks(0);
        scene.waits(0, 2);
        scene.asks(0);
        scene.asks(1);
        scene.enters(1);
        scene.waits(0, 1);
        assert_eq!(scene.violations()[0], Vec::<String>::new());
    }

    #[test]
    fn who_comes_back_too_late_begins_anew() {
        let mut scene = Scene::new(1, 2);
        scene.asks(0);
        scene.waits(0, 1);
        scene.later(46);
        scene.asks(1);
        scene.enters(1);
        scene.asks(0);
        scene.waits(0, 5);
        assert_eq!(scene.figures.too_late, 1);
        scene.asks(0);
        scene.waits(0, 6);
        let grown = "a caller at place 5 was told place 6 later";
        let [order, places, _] = scene.violations();
        assert_eq!((order, places), (vec![], vec![grown.to_owned()]));
    }

    #[test]
    fn more_than_the_rate_allows_are_told_of() {
        let mut scene = Scene::new(2, 1);
        scene.later(1);
        for _ in 0..5 {
            scene.asks(0);
            scene.enters(0);
        }
        assert!(scene.watch.rules(&scene.figures)[2].violations.is_empty());
        let mut scene = Scene::new(2, 1);
        for _ in 0..4 {
            scene.asks(0);
            scene.enters(0);
        }
        assert_eq!(scene.violations()[2], ["4 were let in within 0.000 s"]);
        // Without a line there is nothing to prove.
        let scene = Scene::new(0, 1);
        assert_eq!(scene.watch.rules(&scene.figures), []);
    }
}
