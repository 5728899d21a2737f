//! A full disk: writes are refused, reads go on, and with space everything goes on.

use std::time::{Duration, Instant};

use turnstile_embedded::{Durability, Embedded, ExecuteError, Options};
use turnstile_rooms::{Command, Rooms};
use turnstile_tests::Turnstile;
use turnstile_trial::Volume;
use turnstile_types::{Author, Name, Principal, Timestamp};

use super::directory::with_small_segments;
use super::hotel::Hotel;
use super::listing::{ask, connect, figure};
use super::load::Lane;
use super::ordeal::Ordeal;
use super::recorder::{Number, Recorder, Reply};

/// Room for one of the server's segments of 64 MiB beside the two small ones.
const MEBIBYTES: u32 = 128;

/// What is left free: no segment fits in.
const MEBIBYTES_LEFT: u64 = 8;

/// More requests than the two small segments hold.
const REQUESTS_MAX: usize = 100_000;

/// Requests that are sent together.
const BATCH: usize = 64;

/// How long the server may take to notice that there is space; it needs a fraction of it.
const NOTICE: Duration = Duration::from_secs(60);

#[test]
fn a_full_disk_refuses_writes_until_there_is_space() {
    let promise = "that a full disk refuses writes, serves reads, and recovers by itself";
    let Some(volume) = Volume::make(MEBIBYTES, promise) else {
        return;
    };
    let mut ordeal = Ordeal::<Hotel>::new("a_full_disk_refuses");
    with_small_segments(&volume.data());
    let ballast = volume.fill(MEBIBYTES_LEFT);
    let server = Turnstile::serve(&volume.data(), "sync");
    ordeal.open(&server);

    let filled = fill(&server, &mut ordeal);
    let refused = ordeal.must(filled);
    let read = read_on(&server, &ordeal.recorder);
    ordeal.must(read);

    ballast.free();
    let recovered = retry(&server, &mut ordeal.recorder, refused);
    ordeal.must(recovered);
    let load = ordeal.load(&server, 500);
    server.kill();
    ordeal.drain(load);
    ordeal.check(&Turnstile::serve(&volume.data(), "sync"));
}

/// Only a snapshot frees segments, and on a full disk none could be written: what was full stayed full
/// until somebody made space by hand.
#[test]
fn a_full_disk_has_room_for_the_snapshot_that_frees_it() {
    let promise = "that a full disk frees itself by a snapshot";
    let Some(volume) = Volume::make(64, promise) else {
        return;
    };
    let data = volume.data();
    let options = Options {
        segment_bytes: 4 << 20,
        // No snapshot is due before the disk is full.
        snapshot_records: 1_000_000_000,
        ..Options::with(Durability::Os)
    };
    let (mut backend, _) = Embedded::open(Some(&data), options).expect("a new directory");
    let reserve = data.join("reserve");
    refuse_until(&mut backend, |_| reserve.exists());
    let ballast = volume.fill(6);
    // A segment that is being made, two that are full, and then nothing without the reserve.
    refuse_until(&mut backend, |backend| backend.status().snapshot.0 > 0);
    let relieved = backend.status().position.0;
    // Several times what the disk has room for.
    refuse_until(&mut backend, |backend| {
        backend.status().position.0 > relieved + 200_000
    });
    ballast.free();
    refuse_until(&mut backend, |_| reserve.exists());
    backend.close().expect("the disk is sound");
    let verdict = turnstile_embedded::verify(&data).expect("a verdict");
    assert!(verdict.holds(), "{verdict:?}");
    assert!(verdict.from.0 > 0, "segments were let go");
}

/// Has commands refused, each in a record, until it is so.
fn refuse_until(backend: &mut Embedded, is_so: impl Fn(&Embedded) -> bool) {
    let deadline = Instant::now() + NOTICE;
    let command = Command::AddProperty {
        property: Name::parse(b"the-same-again-and-again").expect("it is a name"),
        open: false,
    };
    while !is_so(backend) {
        for _ in 0..100 {
            match backend.execute::<Rooms>(
                Timestamp(1),
                Author::unknown(&Principal::local()),
                None,
                &command,
                None,
            ) {
                Ok(_) | Err(ExecuteError::ReadOnly) => {}
                Err(other) => panic!("{other}"),
            }
        }
        backend.commit().expect("the disk is sound");
        assert!(Instant::now() < deadline, "{:?}", backend.status());
    }
}

/// Asks until the journal is full; returns the last request, which was refused.
fn fill(server: &Turnstile, ordeal: &mut Ordeal<Hotel>) -> Result<Number, String> {
    let mut lane = Lane::connect(server.resp())?;
    for _ in 0..REQUESTS_MAX / BATCH {
        let numbers: Vec<Number> = (0..BATCH)
            .map(|_| ordeal.recorder.next(&mut ordeal.rng))
            .collect();
        for &number in &numbers {
            lane.send(&ordeal.recorder, number);
        }
        let replies: Result<Vec<Reply>, String> = numbers
            .iter()
            .map(|_| lane.listen(&mut ordeal.recorder))
            .collect();
        // A short request may still fit where a long one did not.
        if replies?.last() == Some(&Reply::NotDone) {
            return numbers.last().copied().ok_or_else(|| "no batch".to_owned());
        }
    }
    Err(format!("{REQUESTS_MAX} requests did not fill the journal"))
}

/// The server knows that it is read-only, and what it acknowledged.
fn read_on(server: &Turnstile, recorder: &Recorder<Hotel>) -> Result<(), String> {
    let mut connection = connect(server.resp())?;
    if figure(&mut connection, "read_only")? != 1 {
        return Err("INFO does not say that it is read-only".to_owned());
    }
    let last = figure(&mut connection, "position")?;
    if last != recorder.last_acknowledged() {
        return Err(format!("position {last} is not the last one acknowledged"));
    }
    let page = ask(
        &mut connection,
        &["ROOMS.LIST-BOOKINGS", "bench", "2027-03-01", "2027-04-01"],
    )?;
    let entries = page.at("entries").and_then(|entries| entries.as_array());
    match entries.map(<[_]>::len) {
        Some(100) => Ok(()),
        other => Err(format!("a full page has 100 entries, not {other:?}")),
    }
}

/// Asks again until there is space. What was refused did not happen, so its answer is a first one.
fn retry(server: &Turnstile, recorder: &mut Recorder<Hotel>, number: Number) -> Result<(), String> {
    let deadline = Instant::now() + NOTICE;
    let mut lane = Lane::connect(server.resp())?;
    loop {
        lane.send(recorder, number);
        if lane.listen(recorder)? != Reply::NotDone {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err("there is space, and still the server is read-only".to_owned());
        }
    }
}
