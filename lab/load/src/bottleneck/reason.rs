//! What limits, in words: its name, what speaks for it, and what can be done.

use std::fmt;

use turnstile_result::{Bottleneck, Outcome, Point, Process, Validity};
use turnstile_stats::units::Nanos;

use super::{DELAYED_ACK, DISK, Drawn, Evidence, Named, Soundness};

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Station(name) => name,
            Self::Neighbours => "neighbours",
            Self::DelayedAck => "delayed ack",
            Self::Users => "users",
            Self::Lock => "lock",
            Self::Slots => "slots",
            Self::Sleep => "sleep",
            Self::Unseen => "unseen",
            Self::Nothing => Bottleneck::NOTHING,
        })
    }
}

impl Evidence<'_> {
    pub(super) fn reason(&self, named: &Named<'_>, measured: &Drawn) -> (String, String) {
        let Soundness {
            points,
            invalid,
            spoilt,
        } = self.soundness;
        let is = if invalid == 1 { "is" } else { "are" };
        if let (Some(spoilt), Named::Nothing) = (spoilt, named) {
            let failed = failed(spoilt);
            let found = failed.map_or("not all was proven", |check| &check.found);
            let cure = failed.and_then(|check| check.cure.as_deref());
            return (
                format!("{invalid} of {points} points {is} invalid: {found}"),
                cure.unwrap_or("see what is said of each point").to_owned(),
            );
        }
        let left_out = if invalid == 0 {
            String::new()
        } else if spoilt.is_some() {
            format!("; {invalid} of {points} points {is} invalid")
        } else {
            format!("; {invalid} of {points} points {is} invalid and left out")
        };
        (
            self.why(named, measured) + &left_out,
            cure(named).to_owned(),
        )
    }

    fn why(&self, named: &Named<'_>, measured: &Drawn) -> String {
        let users = super::users_of(self.last);
        let growth = measured.draw.growth(&self.users).unwrap_or(0.0);
        let brought = format!(
            "of what more users could bring, the last of {users} brought {:.0} %",
            growth * 100.0
        );
        let response = Nanos(self.last.times.response.mean_ns);
        match named {
            Named::Station(DISK) | Named::Lock | Named::Slots | Named::Sleep => {
                format!("{}; {brought}", self.chain(measured))
            }
            Named::Station(name) => {
                let place = self.place(name).unwrap_or(0);
                let used = measured.draw.used.get(place).copied().unwrap_or(0.0);
                let servers = self.servers.get(place).copied().unwrap_or(1.0);
                format!("{:.0} % of {servers} are busy; {brought}", used * 100.0)
            }
            Named::Neighbours => {
                let mut processes = self.last.resources.processes.iter();
                let delay = processes.clone().filter_map(|process| process.run_delay);
                let others = self.last.resources.others.unwrap_or(f64::INFINITY);
                let used = processes.by_ref().map(Process::used);
                format!(
                    "server and generator used {:.2} processors, and wanted {:.2} more that others had",
                    used.sum::<f64>(),
                    delay.sum::<f64>().min(others)
                )
            }
            Named::DelayedAck => format!(
                "answers gather at 40 ms, the time after which an acknowledgement is sent alone; \
                 {brought}"
            ),
            Named::Users => format!(
                "nothing is full: {brought}, and an answer takes {response} whatever the load"
            ),
            Named::Unseen => format!(
                "nothing that can be seen from here is full, and yet {brought}: a queue within the \
                 server, or something behind it on another machine"
            ),
            Named::Nothing => "too few points are valid".to_owned(),
        }
    }

    /// Who waits for whom, to the end.
    fn chain(&self, measured: &Drawn) -> String {
        let Some(waiting) = &measured.waiting else {
            return String::new();
        };
        let held = self.queue(waiting).map_or(String::new(), |queue| {
            format!("{queue}, held while {}: ", waiting.turn())
        });
        format!("{held}{waiting}")
    }
}

/// Why a point is invalid: the first check that fails.
fn failed(point: &Point) -> Option<&Validity> {
    let mut checks = point.validity.iter();
    checks.find(|check| check.outcome == Outcome::Fails && check.check != DELAYED_ACK)
}

const fn cure(named: &Named<'_>) -> &'static str {
    match named {
        Named::Station(name) => match name.as_bytes() {
            b"server cpu" => "less work for a request, or more processors for the server",
            b"server thread" => {
                "one thread does all the work: share it out, or make it less; more processors \
                 bring nothing"
            }
            b"database cpu" | b"database thread" => {
                "fewer or cheaper statements, or more processors for the database"
            }
            b"generator thread" => {
                "this measured the generator: give it more threads (-t) and processors (--pin)"
            }
            b"log" | b"disk" => {
                "larger groups for a sync, a faster disk, or less durability where that may be"
            }
            _ => "more of it, or less use of it",
        },
        Named::Neighbours => {
            "stop what else runs here, set server and generator apart (--pin), or take another \
             machine"
        }
        Named::DelayedAck => "the server should set TCP_NODELAY, or send an answer in one piece",
        Named::Users => {
            "more users (-c) find what is full; for those who wait only a shorter way helps"
        }
        Named::Lock => "shorten what is done under the lock, or split what it guards",
        Named::Slots => "more slots, or less time in one: look at pools and limits",
        Named::Sleep => "the server waits for a time instead of an event",
        Named::Unseen => "look into the server: its own counters, or where its threads wait",
        Named::Nothing => "measure again where the points are valid",
    }
}
