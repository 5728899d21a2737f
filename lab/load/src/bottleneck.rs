//! What holds a server back, from valid runs at more and more users: by what is full, and where nothing
//! that can be seen is, by how the throughput grew and what the server's threads were at. Of invalid ones
//! it says at most that generator or neighbours are to blame.

mod reason;
mod stages;
mod waiting;

use turnstile_result::{Bottleneck, OfferedLoad, Outcome, Point, Suspect, Verdict};
use turnstile_stats::bottleneck::{Draw, FULL, Piece, RunPieces, Use};

use crate::seed::Dice;
pub use stages::Stages;
use waiting::{ThreadStates, Turn};

/// Bins that make a piece: half a second, for what is used is looked at five times in it at most.
const PIECE_BINS: usize = 5;

/// From this growth on, more users surely bring more: nothing is full.
const GROWS: f64 = 0.6;

/// So large a share of the users stands before a lock, where one is what limits.
const BEFORE_LOCK: f64 = 0.2;

/// So many threads, on average, are where it limits.
const THERE: f64 = 0.5;

/// From so many on that have their turn at once, it is not one at a time.
const SEVERAL: f64 = 1.5;

/// The disk, as a [`turnstile_result::Station`] names it.
const DISK: &str = "disk";

/// Of the time in which threads want a processor, such a share without one is the neighbours' fault.
const TAKEN: f64 = 0.4;

/// What limits.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named<'a> {
    Station(&'a str),
    /// Others use the processors.
    Neighbours,
    DelayedAck,
    /// More of them would bring more.
    Users,
    /// One at a time.
    Lock,
    /// So many at a time.
    Slots,
    /// A loop that sleeps.
    Sleep,
    Unseen,
    /// Too few points are valid.
    Nothing,
}

/// What the points have in common, taken apart.
struct Evidence<'a> {
    names: Vec<&'a str>,
    servers: Vec<f64>,
    users: Vec<f64>,
    last: &'a Point,
    has_ack: bool,
    soundness: Soundness<'a>,
}

/// Which of the points may be used.
#[derive(Clone, Copy)]
struct Soundness<'a> {
    points: usize,
    /// How many of them may not.
    invalid: usize,
    /// Of these the one with the most users; nothing where the others are enough to name something.
    spoilt: Option<&'a Point>,
}

/// What was seen, or might have been: of what is used, and of what threads are at.
struct Drawn {
    draw: Draw,
    waiting: Option<ThreadStates>,
}

/// A rule that fails because of what limits the server, and not because of the measurement.
const DELAYED_ACK: &str = "delayed_ack";

/// Fewer points say nothing of how throughput grows.
const POINTS_MIN: usize = 2;

/// Of points of one server at increasing numbers of users; nothing when there are fewer than two, or
/// nothing is known of what they used. Invalid points are left out; where fewer than two others remain,
/// or that with the most users is invalid, only generator or neighbours can be named, for what spoilt
/// the points is what is asked then.
#[must_use]
pub fn of(points: &[&Point], seed: u64) -> Option<Bottleneck> {
    let sound: Vec<&Point> = points.iter().copied().filter(|one| is_sound(one)).collect();
    let invalid = points.len() - sound.len();
    let is_enough = sound.len() >= POINTS_MIN && is_sound(points.last()?);
    let worst = points.iter().rfind(|one| !is_sound(one));
    let soundness = Soundness {
        points: points.len(),
        invalid,
        spoilt: worst.copied().filter(|_| !is_enough && invalid > 0),
    };
    let used = if soundness.spoilt.is_some() {
        points
    } else {
        &sound
    };
    judged(used, soundness, seed)
}

/// Whether a point tells what holds the server back. One that is invalid because acknowledgements are
/// delayed tells just that.
fn is_sound(point: &Point) -> bool {
    let mut failed = point.validity.iter();
    let is_other =
        failed.any(|check| check.outcome == Outcome::Fails && check.check != DELAYED_ACK);
    match point.verdict {
        Verdict::Fine | Verdict::Missed | Verdict::Unsteady => true,
        Verdict::Invalid => !is_other && has_ack(point),
        Verdict::Violated => false,
    }
}

fn has_ack(point: &Point) -> bool {
    let mut checks = point.validity.iter();
    checks.any(|check| check.check == DELAYED_ACK && check.outcome == Outcome::Fails)
}

fn judged(points: &[&Point], soundness: Soundness<'_>, seed: u64) -> Option<Bottleneck> {
    let last = points.last()?;
    let mut stations: Vec<_> = last.resources.stations.iter().collect();
    stations.retain(|one| points.iter().all(|point| has(point, &one.resource)));
    let names: Vec<&str> = stations.iter().map(|one| &*one.resource).collect();
    let servers: Vec<f64> = stations.iter().map(|one| one.servers).collect();
    let runs = points.iter().map(|point| pieces(point, &names)).collect();
    let pieces = RunPieces::new(servers.clone(), runs)?;
    let evidence = Evidence {
        names,
        servers,
        users: points.iter().map(|point| users(point)).collect(),
        last,
        has_ack: has_ack(last),
        soundness,
    };
    let measured = Drawn {
        draw: pieces.measured(),
        waiting: ThreadStates::of(points),
    };
    measured.draw.growth(&evidence.users)?;
    let mut dice = Dice::of_user(seed, 0);
    let mut dice = || dice.next();
    let draws = pieces.resampled(&mut dice);
    let uses = pieces.uses(&draws);
    let drawn = draws.into_iter().map(|draw| Drawn {
        draw,
        waiting: ThreadStates::drawn(points, &mut dice),
    });
    let drawn: Vec<Drawn> = drawn.collect();
    let named = evidence.name(&measured);
    let names: Vec<Named<'_>> = drawn.iter().map(|drawn| evidence.name(drawn)).collect();
    let share = |named: &Named<'_>| {
        let so = names.iter().filter(|name| *name == named).count();
        turnstile_stats::units::count(so) / turnstile_stats::units::count(names.len())
    };
    let suspects = evidence.suspects(&uses, &|name| share(&Named::Station(name)));
    let (why, cure) = evidence.reason(&named, &measured);
    Some(Bottleneck {
        users: users_of(last),
        probability: if named == Named::Nothing {
            0.0
        } else {
            share(&named)
        },
        named: named.to_string(),
        why,
        cure,
        suspects,
        stages: Vec::new(),
        changes: Vec::new(),
        confirmed: None,
    })
}

fn has(point: &Point, resource: &str) -> bool {
    let mut stations = point.resources.stations.iter();
    stations.any(|one| one.resource == resource && !one.bins.is_empty())
}

const fn users_of(point: &Point) -> u32 {
    match point.load {
        OfferedLoad::Closed { users, .. } | OfferedLoad::Count { users, .. } => users,
        OfferedLoad::Open { connections, .. } => connections,
    }
}

fn users(point: &Point) -> f64 {
    f64::from(users_of(point))
}

/// The window of a point in pieces: what was answered and how much of each resource was busy.
fn pieces(point: &Point, names: &[&str]) -> Vec<Piece> {
    let from = usize::try_from(point.steady.from_bin).unwrap_or(usize::MAX);
    let width = to_seconds(point.bins.width_ns);
    let bins = point.bins.answered.get(from..).unwrap_or_default();
    let whole = bins.chunks_exact(PIECE_BINS.min(bins.len()).max(1));
    let each = (from..).step_by(PIECE_BINS).zip(whole);
    each.map(|(begin, answered)| Piece {
        throughput: mean(
            answered
                .iter()
                .map(|&count| turnstile_stats::units::to_float(count)),
        ) / width,
        busy: names
            .iter()
            .map(|name| busy(point, name, begin, answered.len()))
            .collect(),
    })
    .collect()
}

fn busy(point: &Point, name: &str, begin: usize, length: usize) -> f64 {
    let mut stations = point.resources.stations.iter();
    let bins = stations.find(|one| one.resource == name);
    let bins = bins.map_or(&[][..], |station| &station.bins);
    let end = (begin + length).min(bins.len());
    let within = bins.get(begin..end).unwrap_or_default();
    if within.is_empty() {
        0.0
    } else {
        mean(within.iter().map(|&busy| f64::from(busy)))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let of = turnstile_stats::units::count(values.len());
    values.sum::<f64>() / of
}

fn to_seconds(nanos: u64) -> f64 {
    turnstile_stats::units::to_float(nanos.max(1)) / 1e9
}

impl Drawn {
    fn waits_for_disk(&self) -> bool {
        self.waiting.is_some_and(|waiting| waiting.disk >= THERE)
    }
}

impl<'a> Evidence<'a> {
    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|one| *one == name)
    }

    /// The resources that can be what is full, in this draw.
    fn candidates(&self, drawn: &Drawn) -> Vec<usize> {
        let of_others = |place: &usize| {
            let name = self.names[*place];
            let other = |kind: &str, instead: &str| {
                let role = name.strip_suffix(kind)?;
                self.place(&format!("{role}{instead}"))
            };
            match name {
                // A disk is always busy with somebody's work.
                DISK => drawn.waits_for_disk(),
                // Threads of the generator are asked for one by one.
                "generator cpu" => false,
                "generator thread" => true,
                // Where there is one processor, or all are full, it is not one thread that limits.
                _ => other(" thread", " cpu")
                    .is_none_or(|cpu| self.servers[cpu] > 1.0 && drawn.draw.used[cpu] < FULL),
            }
        };
        (0..self.names.len()).filter(of_others).collect()
    }

    fn name(&self, drawn: &Drawn) -> Named<'a> {
        if self.soundness.spoilt.is_some() {
            return self.instrument(drawn);
        }
        let draw = &drawn.draw;
        if let Some(place) = draw.full(self.candidates(drawn)) {
            return Named::Station(self.names[place]);
        }
        if let Some(place) = self.loop_of_two_halves(draw) {
            return Named::Station(self.names[place]);
        }
        if self.is_crowded() {
            return Named::Neighbours;
        }
        if draw
            .growth(&self.users)
            .is_some_and(|growth| growth >= GROWS)
        {
            return if self.has_ack {
                Named::DelayedAck
            } else {
                Named::Users
            };
        }
        self.hidden(drawn)
    }

    /// What spoilt the points, if that can be told.
    fn instrument(&self, drawn: &Drawn) -> Named<'a> {
        let generator = self.place("generator thread");
        match drawn.draw.full(generator) {
            Some(place) => Named::Station(self.names[place]),
            None if self.is_crowded() => Named::Neighbours,
            None => Named::Nothing,
        }
    }

    /// A loop that writes its own journal is full when it computes and waits for the disk in turn: the
    /// larger half.
    fn loop_of_two_halves(&self, draw: &Draw) -> Option<usize> {
        let (thread, log) = (self.place("server thread")?, self.place("log")?);
        let (computes, writes) = (draw.used[thread], draw.used[log]);
        (computes + writes >= FULL).then_some(if writes > computes { log } else { thread })
    }

    /// Whether server or generator wanted processors that others had. Threads of one process wait for
    /// each other, too: what others did not use they have not taken.
    fn is_crowded(&self) -> bool {
        let resources = &self.last.resources;
        let others = resources.others.unwrap_or(f64::INFINITY);
        resources.processes.iter().any(|process| {
            let used = process.used();
            let taken = process.run_delay.unwrap_or(0.0).min(others);
            used + taken >= FULL && taken / (used + taken) >= TAKEN
        })
    }

    /// How many have their turn while others stand before a lock; nothing where so few stand there that it
    /// is not what limits.
    fn queue(&self, waiting: &ThreadStates) -> Option<Named<'a>> {
        let waits = (BEFORE_LOCK * users(self.last)).max(1.0);
        (waiting.lock >= waits).then_some(if waiting.within() >= SEVERAL {
            Named::Slots
        } else {
            Named::Lock
        })
    }

    /// Nothing that can be seen is full, and more users bring nothing.
    fn hidden(&self, drawn: &Drawn) -> Named<'a> {
        let Some(waiting) = &drawn.waiting else {
            return Named::Unseen;
        };
        match self.queue(waiting) {
            Some(_) if waiting.turn() == Turn::Disk => Named::Station(DISK),
            Some(queue) => queue,
            None if drawn.waits_for_disk() => Named::Station(DISK),
            None if waiting.asleep >= THERE => Named::Sleep,
            None => Named::Unseen,
        }
    }

    fn suspects(&self, uses: &[Use], probability: &dyn Fn(&'a str) -> f64) -> Vec<Suspect> {
        let each = uses.iter().enumerate().map(|(place, found)| {
            let demand = found.demand;
            let seconds = demand.map_or_else(
                || {
                    found
                        .used
                        .map(|used| used * self.servers[place] / self.last.throughput)
                },
                |demand| demand.seconds,
            );
            Suspect {
                resource: self.names[place].to_owned(),
                servers: self.servers[place],
                busy_ns: seconds.map(|seconds| seconds * 1e9),
                background: demand.map_or(0.0, |demand| demand.background),
                used: found.used,
                probability: probability(self.names[place]),
            }
        });
        let mut suspects: Vec<Suspect> = each.collect();
        suspects.sort_by(|one, other| other.used.estimate.total_cmp(&one.used.estimate));
        suspects
    }
}

#[cfg(test)]
mod tests;
