//! Time and number have limits, and overload is an answer.

use std::{net::Shutdown, time::Instant};

use turnstile_embedded::ExecuteError;

use super::*;
use crate::{
    core::gate::{Ask, Request, Undecided},
    counters::DoorName,
    doors::http::{
        courier::{BATCH, FEW},
        limits::TURNED_AWAY_MAX,
    },
    limits::GATE_QUEUE,
};

const QUICK: HttpLimits = HttpLimits {
    head: Duration::from_millis(100),
    body: Duration::from_millis(100),
    sweep: Duration::from_millis(10),
    ..HttpLimits::STANDARD
};

#[test]
fn a_head_or_body_that_does_not_arrive_in_time_ends_the_connection() {
    let site = Site::open_with(QUICK);
    let rows = [
        "GET /livez HTTP/1.1\r\nHost: local",
        "G",
        "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ];
    for begun in rows {
        let mut peer = site.peer();
        peer.send(begun.as_bytes());
        assert_eq!(
            peer.reply().problem(),
            (408, "request_timeout".to_owned()),
            "{begun}"
        );
        peer.expect_end();
    }
    let mut trickle = site.peer();
    trickle.send(b"GET /livez HTTP/1.1\r\n");
    trickle
        .stream
        .set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    let mut room = [0; 1_024];
    let answer = loop {
        // A slow sender that never stops gets no more time than one that stops. After the answer
        // a further byte may find the connection closed.
        if trickle.stream.write_all(b"x").is_err() {
            break trickle.stream.read(&mut room).unwrap_or(0);
        }
        match trickle.stream.read(&mut room) {
            Ok(length) => break length,
            Err(nothing) => assert_eq!(nothing.kind(), ErrorKind::WouldBlock),
        }
    };
    assert!(
        room[..answer].starts_with(b"HTTP/1.1 408 "),
        "{}",
        room[..answer].escape_ascii()
    );
    site.close();
}

#[test]
fn a_connection_that_rests_gives_its_buffers_back_and_is_served_on() {
    let limits = HttpLimits {
        sweep: Duration::from_millis(10),
        ..HttpLimits::STANDARD
    };
    let site = Site::open_with(limits);
    let [mut one, mut two, mut late] = [(); 3].map(|()| site.peer());
    late.send(b"GET /livez HTTP/1.1\r\nHo");
    for _ in 0..3 {
        for peer in [&mut one, &mut two] {
            assert_eq!(peer.get("/livez", "").status, 200);
        }
        // Half a request is kept.
        site.until_asleep(2);
    }
    let body = booking("1", "2027-01-01", "2027-01-02");
    let refused = one.post("/v1/rooms/bookings", "", &body);
    assert_eq!(refused.problem(), (404, "unknown_property".to_owned()));
    late.send(b"st: localhost\r\n\r\n");
    assert_eq!(late.reply().status, 200);
    site.until_asleep(3);
    // One that goes is noticed.
    drop(one);
    site.until_asleep(2);
    site.close();
    two.expect_end();
    late.expect_end();
}

#[test]
fn an_idle_connection_is_closed_and_one_that_is_answered_is_not() {
    let limits = HttpLimits {
        idle: Duration::from_millis(100),
        ..QUICK
    };
    let (site, inbox, mut poll) = Site::with_inbox(limits);
    let mut waiting = site.peer();
    waiting.send(b"GET /v1/rooms/bookings/R00 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let ask = next_ask(&inbox, &mut poll);
    let mut idle = site.peer();
    assert_eq!(idle.get("/livez", "").status, 200);
    idle.expect_end();
    // It is late with the head of its next request by now, but it is owed an answer first.
    waiting.send(b"GET /livez HTTP/1.1\r\nHo");
    let mut late = site.peer();
    late.send(b"GET /livez HTTP/1.1\r\nHo");
    assert_eq!(late.reply().problem(), (408, "request_timeout".to_owned()));
    drop(ask);
    inbox.note_answered();
    assert_eq!(waiting.reply().problem(), (503, "unavailable".to_owned()));
    assert_eq!(
        waiting.reply().problem(),
        (408, "request_timeout".to_owned())
    );
    site.close();
}

/// Waits as the loop does, and takes one request.
pub(super) fn next_ask(inbox: &GateInbox, poll: &mut mio::Poll) -> Ask {
    let mut events = mio::Events::with_capacity(1);
    loop {
        // Looked at before the queue, as a request that comes between rings again.
        let rung = inbox.has_rung();
        if let Some(ask) = inbox.next() {
            return ask;
        }
        if !rung {
            poll.poll(&mut events, Some(PATIENCE)).unwrap();
            assert!(!events.is_empty(), "nobody asked");
        }
    }
}

#[test]
fn overload_and_a_full_disk_are_answers_that_say_when_to_come_again() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let body = booking("1", "2027-01-01", "2027-01-02");
    let request = format!(
        "POST /v1/rooms/bookings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let rows = [
        (
            ExecuteError::KeysFull {
                retry_after_s: 3_600,
            },
            503,
            "keys_full",
            Some("3600"),
        ),
        (ExecuteError::ReadOnly, 503, "read_only", Some("10")),
        (ExecuteError::Stopped, 503, "unavailable", Some("10")),
        (ExecuteError::TooLarge, 413, "command_too_large", None),
    ];
    let mut peer = site.peer();
    for (error, status, code, retry) in rows {
        peer.send(request.as_bytes());
        let Ask::Rooms(Request::Command { reply, .. }) = next_ask(&inbox, &mut poll) else {
            panic!("a booking is a command");
        };
        reply.send(Err(Undecided::Journal(error))).unwrap();
        inbox.note_answered();
        let answer = peer.reply();
        assert_eq!(answer.problem(), (status, code.to_owned()));
        assert_eq!(answer.header("retry-after").as_deref(), retry);
    }
    drop(inbox);
    peer.send(request.as_bytes());
    let answer = peer.reply();
    assert_eq!(answer.problem(), (503, "overloaded".to_owned()));
    assert_eq!(answer.header("retry-after").as_deref(), Some("1"));
    assert_eq!(answer.json()["retryable"], true);
    site.close();
}

/// The loop is busy with something long, and its queue is full.
#[test]
fn what_the_queue_does_not_take_is_told_to_come_again_and_the_door_still_lives() {
    let poll = mio::Poll::new().unwrap();
    let waker = mio::Waker::new(poll.registry(), mio::Token(0)).unwrap();
    let (gate, inbox) = Gate::new(
        waker,
        Arc::new(crate::core::loading::Loading::over(IdKey::new([7; 16]))),
        false,
    );
    inbox.publish(Arc::new(Access::empty()));
    let site = Site::before(gate.clone(), HttpLimits::STANDARD, &[]);
    let fill = || {
        let (reply, _answer) = tokio::sync::oneshot::channel();
        gate.ask(Ask::Status { reply })
    };
    let taken = std::iter::repeat_with(fill).take_while(Result::is_ok);
    assert_eq!(taken.count(), GATE_QUEUE);
    let mut peer = site.peer();
    let answer = peer.get("/v1/rooms/bookings/R00", "");
    assert_eq!(answer.problem(), (503, "overloaded".to_owned()));
    assert_eq!(answer.header("retry-after").as_deref(), Some("1"));
    assert_eq!(peer.get("/livez", "").status, 200);
    // One place becomes free: the next request has it, and is answered when the loop answers.
    drop(inbox.next());
    peer.send(b"GET /v1/rooms/bookings/R00 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let end = Instant::now() + PATIENCE;
    let mut asks = std::iter::repeat_with(|| inbox.next()).take_while(|_| Instant::now() < end);
    let asked = asks.find_map(|ask| ask.filter(|ask| matches!(ask, Ask::Rooms(_))));
    let Some(Ask::Rooms(Request::Query { reply, .. })) = asked else {
        panic!("a look-up is a query");
    };
    let refused = turnstile_rooms::Answer::Refused(turnstile_rooms::Refusal::NotFound);
    reply.send(Ok((Position(3), refused))).unwrap();
    inbox.note_answered();
    assert_eq!(peer.reply().problem(), (404, "not_found".to_owned()));
    site.close();
}

/// Waits until the loop is woken.
fn await_bell(inbox: &GateInbox, poll: &mut mio::Poll) {
    let mut events = mio::Events::with_capacity(1);
    while !inbox.has_rung() {
        poll.poll(&mut events, Some(PATIENCE)).unwrap();
        assert!(!events.is_empty(), "nobody rang");
    }
}

const ASKING: &[u8] = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// So many requests, each of which the loop was woken for, and those who sent them.
fn ask_one_by_one(
    site: &Site,
    inbox: &GateInbox,
    poll: &mut mio::Poll,
    count: usize,
) -> (Vec<Ask>, Vec<Peer>) {
    let one = |_| {
        let mut peer = site.peer();
        peer.send(ASKING);
        await_bell(inbox, poll);
        (inbox.next().unwrap(), peer)
    };
    (0..count).map(one).unzip()
}

#[test]
fn a_whole_batch_wakes_the_loop_before_the_requests_ahead_of_it_are_answered() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let (asks, mut peers) = ask_one_by_one(&site, &inbox, &mut poll, FEW);
    let mut asks: Vec<Option<Ask>> = asks.into_iter().map(Some).collect();
    for _ in 0..BATCH {
        let mut peer = site.peer();
        peer.send(ASKING);
        peers.push(peer);
    }
    await_bell(&inbox, &mut poll);
    asks.extend((0..BATCH).map(|_| inbox.next()));
    assert!(asks.iter().all(Option::is_some));
    // They end in another order than they came in; one that is dropped is answered: unavailable.
    let count = asks.len();
    for at in (0..count).step_by(2).chain((1..count).step_by(2)) {
        drop(asks[at].take());
    }
    inbox.note_answered();
    for peer in &mut peers {
        assert_eq!(peer.reply().problem(), (503, "unavailable".to_owned()));
    }
    site.close();
}

#[test]
fn less_than_a_batch_wakes_the_loop_when_what_is_ahead_of_it_is_answered() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let (ahead, mut peers) = ask_one_by_one(&site, &inbox, &mut poll, FEW);
    let mut late = site.peer();
    late.send(ASKING);
    let end = Instant::now() + PATIENCE;
    let mut looks = std::iter::repeat_with(|| inbox.next()).take_while(|_| Instant::now() < end);
    let behind = looks.find_map(|ask| ask).expect("it comes into the queue");
    assert!(!inbox.has_rung(), "it waits for those ahead");
    drop(ahead);
    inbox.note_answered();
    await_bell(&inbox, &mut poll);
    drop(behind);
    inbox.note_answered();
    peers.push(late);
    for peer in &mut peers {
        assert_eq!(peer.reply().problem(), (503, "unavailable".to_owned()));
    }
    site.close();
}

/// With as many requests at a slow database, nobody else was answered.
#[test]
fn less_than_a_batch_wakes_the_loop_when_what_is_ahead_of_it_is_decided_elsewhere() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let (ahead, mut peers) = ask_one_by_one(&site, &inbox, &mut poll, FEW);
    let away: Vec<_> = ahead.iter().map(|_| inbox.away.begin()).collect();
    inbox.note_answered();
    let mut late = site.peer();
    late.send(ASKING);
    await_bell(&inbox, &mut poll);
    drop(inbox.next().expect("it comes into the queue"));
    inbox.note_answered();
    assert_eq!(late.reply().problem(), (503, "unavailable".to_owned()));
    drop((ahead, away));
    inbox.note_answered();
    for peer in &mut peers {
        assert_eq!(peer.reply().problem(), (503, "unavailable".to_owned()));
    }
    site.close();
}

/// A newcomer to a full door was reset without a word while 64 others were being told.
#[test]
fn every_connection_over_the_limit_is_told_so() {
    let limits = HttpLimits {
        connections: 1,
        ..HttpLimits::STANDARD
    };
    let (site, inbox, mut poll) = Site::with_inbox(limits);
    let mut busy = site.peer();
    busy.send(ASKING);
    let ask = next_ask(&inbox, &mut poll);
    let mut refused: Vec<Peer> = (0..2 * TURNED_AWAY_MAX).map(|_| site.peer()).collect();
    for peer in &mut refused {
        let told = peer.reply();
        assert_eq!(told.problem(), (503, "too_many_connections".to_owned()));
        assert_eq!(told.header("retry-after").as_deref(), Some("1"));
        peer.expect_end();
    }
    drop(ask);
    inbox.note_answered();
    assert_eq!(busy.reply().problem(), (503, "unavailable".to_owned()));
    site.close();
}

/// Idle connections could hold all places, so that nobody else was served.
#[test]
fn a_connection_without_a_request_gives_way_to_a_newcomer() {
    let limits = HttpLimits {
        connections: 5,
        ..HttpLimits::STANDARD
    };
    let (site, inbox, mut poll) = Site::with_inbox(limits);
    let mut busy = site.peer();
    busy.send(ASKING);
    let ask = next_ask(&inbox, &mut poll);
    let mut stream = site.peer();
    stream.send(b"GET /v1/rooms/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(stream.reply().status, 200);
    let mut half = site.peer();
    half.send(b"GET /livez HTTP/1.1\r\nHo");
    let mut silent = site.peer();
    let mut served = site.peer();
    assert_eq!(served.get("/livez", "").status, 200);
    let mut newcomers: Vec<Peer> = Vec::new();
    let mut asks = vec![ask];
    // Of those that rest the one first that has rested longest, and half a request at last.
    for gone in [&mut silent, &mut served, &mut half] {
        let mut newcomer = site.peer();
        newcomer.send(ASKING);
        asks.push(next_ask(&inbox, &mut poll));
        gone.expect_end();
        newcomers.push(newcomer);
    }
    assert_eq!(site.counters.of(DoorName::Http).evicted.get(), 3);
    // With a request each, nobody gives way.
    let refused = site.peer().reply();
    assert_eq!(refused.problem(), (503, "too_many_connections".to_owned()));
    drop(asks);
    inbox.note_answered();
    newcomers.push(busy);
    for peer in &mut newcomers {
        assert_eq!(peer.reply().problem(), (503, "unavailable".to_owned()));
    }
    site.close();
}

#[test]
fn clients_of_http_leave_a_quarter_of_what_may_be_open_to_others() {
    let site = Site::open();
    let mut peer = site.peer();
    let mut hold = |room: u32| {
        let body = format!(
            r#"{{"property":"bench","wish":"{room}","arrival":"2027-01-01","departure":"2027-01-02"}}"#
        );
        peer.post("/v1/rooms/holds", "", &body)
    };
    for room in 0..750 {
        assert_eq!(hold(room).status, 201);
    }
    let refused = hold(750);
    assert_eq!(refused.problem(), (503, "overloaded".to_owned()));
    assert_eq!(
        refused.json()["detail"],
        "clients of HTTP have 750 holds open, as many as they may together: end some first"
    );
    site.close();
}

/// Each client was bounded, but not all of them together.
#[test]
fn clients_that_never_read_are_dropped_when_all_leave_too_much_unread() {
    const DEAF: usize = 12;
    let limits = HttpLimits {
        output_bytes: 1_024 * 1_024,
        ..HttpLimits::STANDARD
    };
    let site = Site::open_with(limits);
    let mut healthy = site.peer();
    // So many answers of 300 KB fit in no buffers of the system.
    let requests = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    let mut deaf: Vec<Peer> = (0..DEAF).map(|_| site.peer()).collect();
    for peer in &mut deaf {
        peer.send(&requests);
    }
    // Each leaves a large part of one answer at least.
    while site.counters.of(DoorName::Http).dropped.get() < 6 {
        assert_eq!(healthy.get("/livez", "").status, 200);
        let unread = site.counters.http_unsent_bytes.get();
        assert!(unread <= limits.output_bytes as u64, "{unread}");
    }
    drop(deaf);
    site.close();
}

#[test]
fn a_stop_answers_what_was_accepted_and_closes_the_rest() {
    let (site, inbox, mut poll) = Site::with_inbox(HttpLimits::STANDARD);
    let mut asking = site.peer();
    let mut idle = site.peer();
    assert_eq!(idle.get("/livez", "").status, 200);
    asking.send(b"GET /v1/rooms/bookings/R00 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let Ask::Rooms(Request::Query { reply, .. }) = next_ask(&inbox, &mut poll) else {
        panic!("a look-up is a query");
    };
    site.door.stopper().stop();
    idle.expect_end();
    let refused = turnstile_rooms::Answer::Refused(turnstile_rooms::Refusal::NotFound);
    reply.send(Ok((Position(3), refused))).unwrap();
    inbox.note_answered();
    let answer = asking.reply();
    assert_eq!(answer.problem(), (404, "not_found".to_owned()));
    assert_eq!(answer.header("turnstile-position").as_deref(), Some("3"));
    asking.expect_end();
    let refused = TcpStream::connect(site.address);
    assert!(refused.is_err(), "nobody new is served");
    site.close();
}

#[test]
fn a_client_that_ends_its_side_early_still_gets_its_answer() {
    let site = Site::open_with(HttpLimits::STANDARD);
    let mut peer = site.peer();
    peer.send(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    peer.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(peer.reply().status, 200);
    peer.expect_end();
    site.close();
}
