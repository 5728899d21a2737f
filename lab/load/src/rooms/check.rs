//! Visitors who want the same few rooms: bookings, refusals, cancellations and looks, all checked.

use turnstile_check::{
    rooms::{Account, Final, InlineReference, Place, Table},
    witnesses,
};
use turnstile_client::{Connection, resp::Value};
use turnstile_result::Server;

use crate::check::{
    Config, CountComparison, Proof, Report, Watch, compare_counts, drive, speak_resp3,
};
use crate::{
    Error,
    door::{self, RoomCounters, field},
    error::unfit,
    reply::millis,
    rooms::{
        PROPERTY, RoomNames, RoomVisitor, open_property,
        plan::{CONTESTED_NIGHTS as NIGHTS, Contested},
    },
};

/// Rooms that are sold: as many as there are visitors, within these bounds. So each night of each
/// room is wanted again and again.
const ROOMS_MIN: usize = 4;
const ROOMS_MAX: usize = 1_000;

/// Where a database decides several commands at a time, their positions need not have the order of their
/// times: so much one may be earlier than one before.
const DATABASE_SLACK_MS: u64 = 1_000;

/// Runs visitors against the server, and checks all that they are told.
///
/// # Errors
/// The run could not be made: settings, connections, or a server that does not tell counters or
/// positions. What the server did wrong is in the report's proof.
pub fn run(config: &Config, watch: &mut dyn Watch) -> Result<Report, Error> {
    let mut door = door::connect(&config.pace.address)?;
    open_property(&mut door)?;
    let (_, unproven) = door::info(&mut door)?;
    let names = RoomNames::new(&format!("check{}-", unproven.position), NIGHTS);
    tells_positions(&mut door, &names)?;
    let (server, before) = door::info(&mut door)?;
    let rooms = config.users.clamp(ROOMS_MIN, ROOMS_MAX);
    let rooms = u32::try_from(rooms).expect("rooms are at most 1,000");
    let (witnesses, chronicle) = witnesses(config.users, config.pace.pipeline, before.position);
    let visitor = |(user, witness)| {
        let plan = Contested::new(config.pace.seed, user, rooms);
        RoomVisitor::new(PROPERTY, names.clone(), plan, Some(witness))
    };
    let visitors = (0..).zip(witnesses).map(visitor).collect();
    let table = Table::new(rooms, NIGHTS).with_slack(slack_ms(&server));
    let checked = (table, chronicle);
    let driven = drive(config, visitors, checked, watch, |_visitor| {})?;
    // A new connection: the server may have been killed and started again meanwhile.
    let mut door = door::connect_again(&config.pace.address)?;
    speak_resp3(&mut door)?;
    let begins = time(&mut door, &names, 0)?;
    let mut rows = Vec::new();
    for room in 0..rooms {
        rows.push(standing(&mut door, (PROPERTY, &names), (room, NIGHTS))?);
    }
    let ends = time(&mut door, &names, 1)?;
    let mut last = Final::of(driven.model, (begins, ends));
    for (room, rows) in (0..).zip(rows) {
        let bookings: Vec<_> = rows.iter().map(|(one, place, _)| (*one, *place)).collect();
        last.room(room, &bookings);
        for (reference, _, until) in rows {
            if let Some(until) = until {
                last.held(reference, until);
            }
        }
    }
    let (_, after) = door::info(&mut door)?;
    let mut account = last.account();
    let counts = counted(before, after, &account);
    compare_counts(&mut account.charge, &counts);
    let rule = "in the end exactly those bookings stand that the replay leaves, no night is sold \
                twice, and the server's counters say so";
    let proof = Proof::new(driven.findings, driven.cost, (rule, account.charge), false);
    let totals = &driven.totals;
    Ok(Report::new("rooms", server, &config.pace, totals, proof))
}

/// How much earlier a record of this server may be than one before.
pub(crate) fn slack_ms(server: &Server) -> u64 {
    if server.back_end == door::EMBEDDED {
        0
    } else {
        DATABASE_SLACK_MS
    }
}

/// Books and cancels once, to see whether answers tell positions: without them there is no order to
/// replay.
fn tells_positions(door: &mut Connection, names: &RoomNames) -> Result<(), Error> {
    speak_resp3(door)?;
    let mut room = names.stem().to_vec();
    room.extend_from_slice(b"first");
    let nights = [names.night(0), names.night(1)];
    let (guest, id) = (b"ada", b"200000000000");
    let booked = door.command(&[
        b"ROOMS.BOOK",
        PROPERTY.as_bytes(),
        &room,
        nights[0],
        nights[1],
        guest,
        id,
    ])?;
    let reference = field(&booked, "reference").and_then(Value::as_bytes);
    let told = field(&booked, "position").is_some();
    let Some(reference) = reference.filter(|_reference| told) else {
        return Err(unfit("ROOMS.BOOK", &booked));
    };
    for outcome in ["done", "refused"] {
        let cancelled = door.command(&[b"ROOMS.CANCEL", reference, id])?;
        let said = field(&cancelled, "outcome").and_then(Value::as_str);
        if said != Some(outcome) || field(&cancelled, "position").is_none() {
            return Err(unfit("ROOMS.CANCEL", &cancelled));
        }
    }
    Ok(())
}

/// What time it is, by the server: a night that is held for a second tells that. It is given back.
fn time(door: &mut Connection, names: &RoomNames, night: u16) -> Result<u64, Error> {
    let mut room = names.stem().to_vec();
    room.extend_from_slice(b"clock");
    let hold: [&[u8]; 7] = [
        b"ROOMS.HOLD",
        PROPERTY.as_bytes(),
        &room,
        names.night(night),
        names.night(night + 1),
        b"TTL_SECONDS",
        b"1",
    ];
    let held = door::decided(door, &hold)?;
    let until = field(&held, "until").and_then(Value::as_bytes);
    let until = until.and_then(millis);
    let reference = field(&held, "reference").and_then(Value::as_bytes);
    let (Some(until), Some(reference)) = (until, reference) else {
        return Err(unfit("ROOMS.HOLD", &held));
    };
    door.command(&[b"ROOMS.RELEASE", reference])?;
    Ok(until - 1_000)
}

/// What stands for a room in the first of the nights, by the server; of a hold until when.
pub(crate) fn standing(
    door: &mut Connection,
    (property, names): (&str, &RoomNames),
    (room, nights): (u32, u16),
) -> Result<Vec<Standing>, Error> {
    let mut name = Vec::new();
    names.put_room(&mut name, room);
    let answer = door.command(&[
        b"ROOMS.EXPLAIN",
        property.as_bytes(),
        &name,
        names.night(0),
        names.night(nights),
    ])?;
    let strange = || unfit("ROOMS.EXPLAIN", &answer);
    let blocks = field(&answer, "blocks").and_then(Value::as_array);
    let booking = |block: &Value| -> Option<Standing> {
        let bytes = |name| field(block, name).and_then(Value::as_bytes);
        let reference = InlineReference::parse(bytes("reference")?).ok()?;
        let place = names.place(bytes("room")?, bytes("arrival")?, bytes("departure")?)?;
        let until = match bytes("until") {
            Some(until) => Some(millis(until)?),
            None => None,
        };
        Some((reference, place, until))
    };
    let blocks = blocks.ok_or_else(strange)?.iter();
    blocks
        .map(|block| booking(block).ok_or_else(strange))
        .collect()
}

/// A booking or, with its end in milliseconds, a hold.
pub(crate) type Standing = (InlineReference, Place, Option<u64>);

/// What the server counts, and by the replay.
pub(crate) fn counted(
    before: RoomCounters,
    after: RoomCounters,
    account: &Account,
) -> [CountComparison; 3] {
    [
        ("bookings", before.booked, after.booked, account.booked),
        (
            "cancellations",
            before.cancelled,
            after.cancelled,
            account.cancelled,
        ),
        (
            "bookings that stand",
            before.standing,
            after.standing,
            account.standing,
        ),
    ]
}
