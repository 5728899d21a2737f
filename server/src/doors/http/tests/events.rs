//! The feed as a client sees it.

use turnstile_rooms::{Event, EventKind};
use turnstile_types::{Name, Timestamp};

use super::*;

pub(super) fn event(position: u64) -> Event {
    Event {
        position: Position(position),
        ordinal: 0,
        at: Timestamp(0),
        kind: EventKind::Booked,
        property: Name::parse(b"grand").unwrap(),
        room: None,
        reference: None,
        stay: None,
        reason: None,
        from: None,
    }
}

/// Opens a stream and reads its first line, which says that it is open.
fn follow(site: &Site, target: &str, headers: &str) -> Peer {
    open_stream(site.peer(), target, headers)
}

pub(super) fn open_stream(mut peer: Peer, target: &str, headers: &str) -> Peer {
    peer.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes());
    let head = peer.read_to("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(
        head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    peer.read_to(":\n\n").unwrap();
    peer
}

/// The next event of the stream. What stands before its first field is a heartbeat, or the frame
/// of a chunk.
pub(super) fn block(peer: &mut Peer) -> String {
    loop {
        let text = peer.read_to("\n\n").expect("the stream goes on");
        let start = ["id: ", "event: "]
            .iter()
            .filter_map(|field| text.find(field))
            .min();
        if let Some(start) = start {
            return text[start..].to_owned();
        }
    }
}

fn id_of(block: &str) -> String {
    block.lines().next().unwrap().to_owned()
}

#[test]
fn a_stream_tells_what_happens_and_resumes_where_it_broke_off() {
    let (site, _inbox, _poll) = Site::with_inbox(HttpLimits::STANDARD);
    let mut live = follow(&site, "/v1/rooms/events", "");
    for position in 1..=3 {
        site.feed.publish([event(position)]);
    }
    assert_eq!(
        block(&mut live),
        "id: 1.0\nevent: booked\ndata: {\"position\":1,\"ordinal\":0,\
         \"at\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"booked\",\"property\":\"grand\"}\n\n"
    );
    assert_eq!(id_of(&block(&mut live)), "id: 2.0");
    let mut resumed = follow(&site, "/v1/rooms/events", "Last-Event-ID: 1.0\r\n");
    assert_eq!(id_of(&block(&mut resumed)), "id: 2.0");
    let mut since = follow(&site, "/v1/rooms/events?since=2", "");
    assert_eq!(id_of(&block(&mut since)), "id: 3.0");
    site.feed.publish([event(9)]);
    for peer in [&mut live, &mut resumed] {
        assert_eq!(id_of(&block(peer)), "id: 3.0");
    }
    for peer in [&mut live, &mut resumed, &mut since] {
        assert_eq!(id_of(&block(peer)), "id: 9.0");
    }
    site.close();
    assert_eq!(block(&mut live), "event: stopping\ndata: {}\n\n");
    assert_eq!(live.read_to("\n\n"), None, "a stop ends the stream");
}

#[test]
fn a_client_that_comes_back_too_late_is_told_where_the_feed_begins() {
    let (site, _inbox, _poll) = Site::with_inbox(HttpLimits::STANDARD);
    for position in 1..=65_546 {
        site.feed.publish([event(position)]);
    }
    let mut late = follow(&site, "/v1/rooms/events", "Last-Event-ID: 9.0\r\n");
    assert_eq!(
        block(&mut late),
        "event: reset\ndata: {\"first\":\"11.0\"}\n\n"
    );
    assert_eq!(id_of(&block(&mut late)), "id: 11.0");
    let mut in_time = follow(&site, "/v1/rooms/events?since=10.0", "");
    assert_eq!(id_of(&block(&mut in_time)), "id: 11.0");
    site.close();
}

/// Its state came from an older copy, or it is another server: the client would wait for what never
/// comes, or take what happens for old.
#[test]
fn a_client_that_saw_more_than_this_server_knows_is_told_where_the_feed_begins() {
    let running = start(&settings(Some("127.0.0.1:0".parse().unwrap()))).unwrap();
    let [("http", address)] = *running.doors() else {
        panic!("one door: {:?}", running.doors());
    };
    let mut guest = Peer::connect(address);
    let bench = r#"{"property":"bench","open":true}"#;
    guest.post("/v1/rooms/properties", "", bench);
    let mut all = open_stream(Peer::connect(address), "/v1/rooms/events?since=0", "");
    assert_eq!(id_of(&block(&mut all)), "id: 1.0");
    let refused = guest.post("/v1/rooms/properties", "", bench);
    assert_eq!(refused.problem(), (409, "property_exists".to_owned()));
    // The position of a refusal is one of this server's, though no event has it.
    let begin = |target, headers| open_stream(Peer::connect(address), target, headers);
    let mut level = begin("/v1/rooms/events?since=2", "");
    let mut ahead = [
        begin("/v1/rooms/events?since=3", ""),
        begin("/v1/rooms/events", "Last-Event-ID: 99.0\r\n"),
    ];
    for peer in &mut ahead {
        let reset = "event: reset\ndata: {\"first\":\"2.0\"}\n\n";
        assert_eq!(block(peer), reset);
    }
    let body = booking("1", "2027-01-01", "2027-01-03");
    assert_eq!(guest.post("/v1/rooms/bookings", "", &body).status, 201);
    for peer in ahead.iter_mut().chain([&mut level]) {
        assert_eq!(id_of(&block(peer)), "id: 3.0");
    }
    running.stopper().stop();
    running.join().unwrap();
}

#[test]
fn a_slow_consumer_is_told_what_it_missed_and_goes_on() {
    let (site, _inbox, _poll) = Site::with_inbox(HttpLimits::STANDARD);
    let mut slow = follow(&site, "/v1/rooms/events", "");
    // More than the sockets' buffers and the ring hold: the reader cannot have had all of it.
    let published = 400_000;
    for position in 1..=published {
        site.feed.publish([event(position)]);
    }
    let mut last = 0;
    let mut missed = 0;
    while last < published {
        let block = block(&mut slow);
        if let Some(data) = block.strip_prefix("event: lagged\ndata: ") {
            let told: Value = serde_json::from_str(data).unwrap();
            missed += told["missed"].as_u64().unwrap();
            last += told["missed"].as_u64().unwrap();
            assert_eq!(told["first"], format!("{}.0", last + 1));
        } else {
            last += 1;
            assert_eq!(id_of(&block), format!("id: {last}.0"));
        }
    }
    assert!(missed > 0, "the ring is smaller than what was published");
    site.close();
}

#[test]
fn streams_are_counted_and_say_that_they_live() {
    let limits = HttpLimits {
        streams: 1,
        heartbeat: Duration::from_millis(10),
        ..HttpLimits::STANDARD
    };
    let (site, _inbox, _poll) = Site::with_inbox(limits);
    let mut first = follow(&site, "/v1/rooms/events", "");
    assert!(first.read_to(":\n\n").is_some(), "a heartbeat");
    let told = site.peer().get("/v1/rooms/events", "");
    assert_eq!(told.problem(), (503, "too_many_streams".to_owned()));
    site.close();
}

#[test]
fn a_booking_is_told_to_those_who_follow() {
    let running = start(&settings(Some("127.0.0.1:0".parse().unwrap()))).unwrap();
    let [("http", address)] = *running.doors() else {
        panic!("one door: {:?}", running.doors());
    };
    let mut follower = open_stream(Peer::connect(address), "/v1/rooms/events", "");
    let mut guest = Peer::connect(address);
    guest.post(
        "/v1/rooms/properties",
        "",
        r#"{"property":"bench","open":true}"#,
    );
    let made = guest.post(
        "/v1/rooms/bookings",
        "",
        &booking("1", "2027-01-01", "2027-01-03"),
    );
    assert_eq!(id_of(&block(&mut follower)), "id: 1.0");
    let told = block(&mut follower);
    let data: Value = serde_json::from_str(told.split("data: ").nth(1).unwrap()).unwrap();
    let made = made.json();
    for field in ["position", "reference", "room"] {
        assert_eq!(data[field], made[field], "{told}");
    }
    assert_eq!(
        (&data["kind"], &data["departure"]),
        (&"booked".into(), &"2027-01-03".into())
    );
    running.stopper().stop();
    running.join().unwrap();
    assert_eq!(block(&mut follower), "event: stopping\ndata: {}\n\n");
    assert_eq!(follower.read_to("\n\n"), None, "a stop ends the stream");
}
