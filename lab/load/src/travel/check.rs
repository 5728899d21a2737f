//! Planners who want the same few flights, cars and rooms, in interactive transactions and in one
//! command, so that they wait for each other; all checked.

mod answer;
mod plan;
mod planner;
mod request;
mod stock;

use std::{
    thread,
    time::{Duration, Instant},
};

use turnstile_check::{
    Model as _, Witness,
    travel::{Agency, AgencyEnd, AgencyOperation},
    witnesses,
};
use turnstile_client::{Connection, resp::Value};

use crate::check::{Config, Proof, Report, Watch, drive_keyed, speak_resp3};
use crate::{
    Error,
    again::Keyed,
    door::{self, field},
    error::unfit,
    pace::Pace,
};
use planner::Planner;
use stock::NumberedStock;

/// How often it is looked whether a trip waits.
const LOOKS_MAX: usize = 1_000;

/// How long it is waited in the end until holds whose time is over are given back: that may have to wait for
/// locks, and is tried again after a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a hold of a server of the lab's own may stand after its time while there is load, in
/// milliseconds: it waits for half a second for a lock, or is the victim of a deadlock, and is tried again
/// after a second; twenty times in a row that does not happen.
pub const HOLD_LATE_MS_MAX: u64 = 30_000;

/// How often it is looked meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// Whether such a load can be checked.
///
/// # Errors
/// A setting that makes no sense.
pub const fn judge(pace: &Pace) -> Result<(), Error> {
    if pace.pipeline > 1 {
        return Err(Error::Setting(
            "a planner waits for each answer before it asks again: travel has no pipeline",
        ));
    }
    Ok(())
}

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug)]
struct TravelCounters {
    booked: u64,
    itineraries: u64,
}

/// Makes items and customers, runs planners against the server, and checks all that they are told.
///
/// `hold_late_ms_max`: how long after its time a hold stands at most while the server works, in
/// milliseconds, where it is known how long locks are waited for; otherwise it is only asked for when
/// the load is over.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell places. What the
/// server did wrong is in the report's proof.
pub fn run(
    config: &Config,
    hold_late_ms_max: Option<u64>,
    watch: &mut dyn Watch,
) -> Result<Report, Error> {
    judge(&config.pace)?;
    let address = &config.pace.address;
    let mut door = door::connect(address)?;
    speak_resp3(&mut door)?;
    let (spare, _) = NumberedStock::make(&mut door, 1)?;
    let mut other = door::connect(address)?;
    speak_resp3(&mut other)?;
    tells_places(&mut door, &mut other, &spare)?;
    let (stock, position) = NumberedStock::make(&mut door, config.users)?;
    let server = door::facts(&mut door, "travel")?.server()?;
    let before = TravelCounters::ask(&mut door)?;
    let first = (position + 1) * Agency::PLACES - 1;
    let (witnesses, chronicle) = witnesses(config.users, 1, first);
    let planner = |witness: Witness<AgencyOperation>| {
        let planner = Planner::new(&stock, witness.user(), config.pace.seed);
        Keyed::checked(planner, witness, (position, 1))
    };
    let planners = witnesses.into_iter().map(planner).collect();
    let mut agency = Agency::new(stock.offers(), stock.customers());
    if let Some(late) = hold_late_ms_max {
        agency = agency.with_holds_late_by(late);
    }
    let checked = (agency, chronicle);
    let driven = drive_keyed(config, planners, checked, watch)?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(address)?;
    speak_resp3(&mut door)?;
    if let Some(standing) = driven.model.standing_without_holds() {
        // Whoever has locks still is waited for.
        stock.read(&mut door)?;
        await_holds(&mut door, before.itineraries + standing)?;
    }
    let mut last = driven.model.last(&stock.read(&mut door)?);
    compare_counters(&mut last, before, TravelCounters::ask(&mut door)?);
    let rule = "in the end all that was put in is free or on bills as the replay leaves it, every \
                itinerary is whole or absent, and the server's counters say so";
    let end = (rule, last.charge);
    let proof = Proof::new(driven.findings, driven.cost, end, last.clouded);
    let totals = &driven.totals;
    Ok(Report::new("travel", server, &config.pace, totals, proof))
}

/// Waits until the time of all holds is over and no more itineraries stand than these, or for so long that
/// the comparison will say what is wrong.
fn await_holds(door: &mut Connection, itineraries: u64) -> Result<(), Error> {
    let begun = Instant::now();
    let (over, late) = (Duration::from_millis(plan::HOLD_MS_MAX), PATIENCE);
    loop {
        let stand = TravelCounters::ask(door)?.itineraries > itineraries;
        let waited = begun.elapsed();
        if waited >= late || waited >= over && !stand {
            return Ok(());
        }
        thread::park_timeout(LOOK);
    }
}

/// Books a trip that must wait for a transaction, if this server lets anybody wait, to see whether its
/// late answer tells where it was decided: without that there is no order to replay.
fn tells_places(
    door: &mut Connection,
    other: &mut Connection,
    stock: &NumberedStock,
) -> Result<(), Error> {
    let xid = stock::begin(door)?;
    stock::done(door, &[b"TRAVEL.QUERY-ITEM", &xid, stock.item(0)])?;
    other.send(&[b"TRAVEL.BOOK", stock.customer(0), stock.item(0)]);
    other.flush()?;
    let mut waits = false;
    for _ in 0..LOOKS_MAX {
        let waiting = door.command(&[b"TRAVEL.LIST-TRANSACTIONS", b"STATE", b"waiting"])?;
        let waiting = field(&waiting, "transactions").and_then(Value::as_array);
        waits = waiting.is_some_and(|all| !all.is_empty());
        if waits {
            break;
        }
    }
    // It ends, be it that the server has ended it already.
    door.command(&[b"TRAVEL.ABORT", &xid])?;
    let booked = other.receive()?;
    let locator = field(&booked, "locator").and_then(Value::as_bytes);
    let told = field(&booked, "decided").is_some() || !waits;
    let Some(locator) = locator.filter(|_locator| told && field(&booked, "position").is_some())
    else {
        return Err(unfit("TRAVEL.BOOK", &booked));
    };
    stock::done(door, &[b"TRAVEL.CANCEL", locator])?;
    Ok(())
}

impl TravelCounters {
    fn ask(door: &mut Connection) -> Result<Self, Error> {
        let facts = door::facts(door, "travel")?;
        Ok(Self {
            booked: facts.count("travel_booked_total")?,
            itineraries: facts.count("travel_itineraries")?,
        })
    }
}

fn compare_counters(last: &mut AgencyEnd, before: TravelCounters, after: TravelCounters) {
    let Some((booked, standing)) = last.counts else {
        return;
    };
    let rows = [
        ("bookings", after.booked.wrapping_sub(before.booked), booked),
        (
            "itineraries",
            after.itineraries.wrapping_sub(before.itineraries),
            standing,
        ),
    ];
    for (word, counted, replayed) in rows {
        if counted != replayed {
            let counted = counted.cast_signed();
            last.charge.add(|| {
                format!(
                    "the server counts {counted} {word} more than before the run, by the replay it \
                     is {replayed} (unless another client used it)"
                )
            });
        }
    }
}
