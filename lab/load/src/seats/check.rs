//! Buyers who want the same few seats, under keys, so that every answer is known in the end; all checked.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use turnstile_check::{
    Charge,
    seats::{SeatHolder, ShowModel},
    witnesses,
};
use turnstile_client::{Connection, ServerAddress, resp::Value};

use crate::check::{
    Config, CountComparison, Proof, Report, Watch, compare_counts, drive_keyed, speak_resp3,
};
use crate::{
    Error,
    again::Keyed,
    door::{self, ServerFacts, field},
    error::unfit,
    reply::millis,
    seats::{
        Buyer, RunShow, ShowPlan,
        plan::{self, ContestedBuying},
    },
};

/// How long it is waited in the end until the server's clock has come to the end of the last hold.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// The show whose seat is held to learn what time it is.
const CLOCK: ShowPlan = ShowPlan {
    sections: 1,
    rows: 1,
    row_seats: 1,
};

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug)]
struct SeatCounters {
    booked: u64,
    cancelled: u64,
    standing: u64,
}

/// Adds a show, runs buyers against the server, and checks all that they are told.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell positions. What
/// the server did wrong is in the report's proof.
pub fn run(config: &Config, watch: &mut dyn Watch) -> Result<Report, Error> {
    let address = &config.pace.address;
    let mut door = door::connect(address)?;
    speak_resp3(&mut door)?;
    let facts = door::facts(&mut door, "seats")?;
    let name = format!("check{}", facts.count("position")?);
    let show = RunShow::open(&mut door, name, plan::contested(config.users))?;
    let clock = RunShow::open(&mut door, format!("{}-clock", show.name), CLOCK)?;
    tells_positions(&mut door, &clock)?;
    let facts = door::facts(&mut door, "seats")?;
    let (position, before) = (facts.count("position")?, SeatCounters::of(&facts)?);
    let pipeline = config.pace.pipeline;
    let (witnesses, chronicle) = witnesses(config.users, pipeline, position);
    let buyer = |(number, witness)| {
        let plan = ContestedBuying::new(config.pace.seed, number, show.plan);
        Keyed::checked(Buyer::new(&show, plan), witness, (position, pipeline))
    };
    let buyers = (0..).zip(witnesses).map(buyer).collect();
    let model = ShowModel::new(show.plan.sections, u32::from(show.plan.row_seats));
    let driven = drive_keyed(config, buyers, (model, chronicle), watch)?;
    let (mut charge, mut replayed) = (Charge::default(), driven.model);
    if !replayed.is_clouded() {
        compare(&mut charge, address, [&show, &clock], &mut replayed)?;
        let facts = door::facts(&mut door::connect_again(address)?, "seats")?;
        let counts = counted(before, SeatCounters::of(&facts)?, &replayed);
        compare_counts(&mut charge, &counts);
    }
    let rule = "in the end exactly those bookings stand that the replay leaves, every hold is over, no seat \
                is sold twice, all others are free, and the server's counters say so";
    let clouded = replayed.is_clouded();
    let proof = Proof::new(driven.findings, driven.cost, (rule, charge), clouded);
    let (server, totals) = (facts.server()?, &driven.totals);
    Ok(Report::new("seats", server, &config.pace, totals, proof))
}

/// Nobody has ever booked under this number: that is refused, and must tell its position.
fn tells_positions(door: &mut Connection, clock: &RunShow) -> Result<(), Error> {
    time(door, clock)?;
    let refused = door.command(&[b"SEATS.CANCEL", b"S1000000000000", b"nobody"])?;
    let said = field(&refused, "reason").and_then(Value::as_str);
    if said != Some("not_found") || field(&refused, "position").is_none() {
        return Err(unfit("SEATS.CANCEL", &refused));
    }
    Ok(())
}

/// What time it is, by the server: a seat that is held for a second tells that. It is given back. A server
/// that keeps it nevertheless is asked again until the second is over.
fn time(door: &mut Connection, clock: &RunShow) -> Result<u64, Error> {
    let name = clock.name.as_bytes();
    let begun = Instant::now();
    loop {
        let hold = [b"SEATS.HOLD", name, b"s0", b"1-1", b"TTL_SECONDS", b"1"];
        let held = door::decided(door, &hold)?;
        let text = |name| field(&held, name).and_then(Value::as_bytes);
        if let (Some(until), Some(reference)) = (text("until").and_then(millis), text("reference"))
        {
            door.command(&[b"SEATS.RELEASE", reference])?;
            return Ok(until - 1_000);
        }
        if text("reason") != Some(b"taken") || begun.elapsed() >= PATIENCE {
            return Err(unfit("SEATS.HOLD", &held));
        }
        thread::park_timeout(LOOK);
    }
}

/// What stands and what is free, by the server and by the replay, when the time of all holds is over.
fn compare(
    charge: &mut Charge,
    address: &ServerAddress,
    [show, clock]: [&RunShow; 2],
    replayed: &mut ShowModel,
) -> Result<(), Error> {
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(address)?;
    speak_resp3(&mut door)?;
    let (begun, end) = (Instant::now(), replayed.last_end().unwrap_or(0));
    let mut now = time(&mut door, clock)?;
    while now < end && begun.elapsed() < PATIENCE {
        thread::park_timeout(LOOK);
        now = time(&mut door, clock)?;
    }
    if let Err(sentence) = replayed.tell_time(u64::MAX, now) {
        charge.add(|| sentence);
    }
    let mut known: BTreeMap<_, _> = replayed.standing().collect();
    for (reference, found) in show.list(&mut door)? {
        let right = known.remove(&reference.0);
        if right.is_none() || right != found {
            charge.add(|| {
                format!("{reference} is listed as {found:?}, by the replay it is {right:?}")
            });
        }
    }
    for (number, entry) in known {
        charge.add(|| format!("S{number} is not listed, by the replay it is {entry:?}"));
    }
    for (section, found) in (0..).zip(show.availability(&mut door)?) {
        let right = replayed.free(section);
        if found != right {
            charge.add(|| {
                format!(
                    "section s{section} has {found:?} free and adjacent seats, by the replay {right:?}"
                )
            });
        }
    }
    Ok(())
}

impl SeatCounters {
    fn of(facts: &ServerFacts) -> Result<Self, Error> {
        Ok(Self {
            booked: facts.count("seats_booked_total")?,
            cancelled: facts.count("seats_cancelled_total")?,
            standing: facts.count("seats_bookings")?,
        })
    }
}

fn counted(
    before: SeatCounters,
    after: SeatCounters,
    replayed: &ShowModel,
) -> [CountComparison; 3] {
    let (booked, cancelled) = (replayed.booked(), replayed.cancelled());
    let bookings = replayed.standing();
    let bookings = bookings.filter(|(_, entry)| matches!(entry.holder, SeatHolder::Buyer(_)));
    let standing = u64::try_from(bookings.count()).expect("a show is small");
    [
        ("bookings", before.booked, after.booked, booked),
        (
            "cancellations",
            before.cancelled,
            after.cancelled,
            cancelled,
        ),
        (
            "bookings that stand",
            before.standing,
            after.standing,
            standing,
        ),
    ]
}
