//! The door of a desk over real sockets: two processes that talk, and peers that are refused.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
};

use turnstile_parcels::{Hello, Message, put_message, put_opening};
use turnstile_server::{Durability, Options, Peers, Running, Settings, StartError, start};
use turnstile_travel::{Body, Desk, Desks, Order, Parcel, Report, Request, Say, TravelRoles, Xid};

use super::client::{Client, PATIENCE};

const ANYWHERE: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

/// A process that plays this, and forgets everything at its end.
fn settings(roles: TravelRoles, peers: Peers) -> Settings {
    let anywhere = Some(SocketAddr::from(ANYWHERE));
    Settings {
        resp: anywhere,
        http: anywhere,
        lines: anywhere,
        travel: Some(turnstile_travel::Settings {
            roles,
            ..turnstile_travel::Settings::FIRST
        }),
        peers,
        ..Settings::closed(Options::with(Durability::Memory))
    }
}

/// A process that plays these desks.
fn desks(desks: Desks) -> Running {
    let roles = TravelRoles {
        coordinator: false,
        desks,
    };
    let peers = Peers {
        door: Some(SocketAddr::from(ANYWHERE)),
        ..Peers::default()
    };
    start(&settings(roles, peers)).unwrap()
}

/// A process that plays the middleware, with all desks at one address.
fn middleware(address: SocketAddr) -> Running {
    middleware_with(address, false)
}

fn middleware_with(address: SocketAddr, fault_points: bool) -> Running {
    let roles = TravelRoles {
        coordinator: true,
        desks: Desks::NONE,
    };
    let peers = Peers {
        desks: Desk::ALL.map(|desk| (desk, address)).to_vec(),
        fault_points,
        ..Peers::default()
    };
    start(&settings(roles, peers)).unwrap()
}

fn address(running: &Running, door: &str) -> SocketAddr {
    let mut doors = running.doors().iter();
    doors.find(|(name, _)| *name == door).unwrap().1
}

fn connect(address: SocketAddr) -> Client {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    Client { socket }
}

fn client(running: &Running, door: &str) -> Client {
    connect(address(running, door))
}

fn stop(running: Running) {
    running.stopper().stop();
    running.join().unwrap();
}

/// An answer of the RESP door that ends the connection.
fn info(running: &Running) -> String {
    let mut client = client(running, "resp");
    client.send("INFO travel\nQUIT\n");
    client.rest()
}

/// Waits until `INFO` has this.
fn await_info(running: &Running, wanted: &str) {
    let end = std::time::Instant::now() + PATIENCE;
    while !info(running).contains(wanted) {
        assert!(
            std::time::Instant::now() < end,
            "no {wanted}: {}",
            info(running)
        );
    }
}

/// What the middleware says first.
fn hello(desk: Desk, life: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_opening(&mut bytes);
    let fault_points = false;
    let hello = Hello {
        desk,
        life,
        fault_points,
    };
    put_message(&mut bytes, Message::Hello(hello));
    bytes
}

fn parcel(desk: Desk, life: u64, body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    let parcel = Parcel {
        desk,
        life,
        peer_life: 1,
        number: 1,
        received: 0,
        body,
    };
    put_message(&mut bytes, Message::Parcel(parcel));
    bytes
}

#[test]
fn a_journey_is_sold_by_two_processes_that_tell_of_their_lines() {
    let desks = desks(Desks::ALL);
    let middleware = middleware(address(&desks, "desk"));
    for desk in Desk::ALL {
        await_info(&middleware, &format!("travel_line_{desk}:connected=1"));
    }
    let mut clerk = client(&middleware, "travel");
    for (line, answer) in [
        ("Start", "Transaction 1 started"),
        ("AddFlight,1,7,10,100", "Flight added"),
        ("AddCars,1,Montreal,5,40", "Cars added"),
        ("AddCustomerID,1,42", "Add customer ID: 42"),
        ("ReserveFlight,1,42,7", "Flight Reserved"),
        ("ReserveCar,1,42,montreal", "Car Reserved"),
        ("Commit,1", "Transaction 1 committed"),
        ("Start", "Transaction 2 started"),
        ("QueryFlight,2,7", "Number of seats available: 9"),
        ("Abort,2", "Transaction 2 aborted"),
    ] {
        clerk.exchange(&format!("{line}\n"), &format!("{answer}\n"));
    }
    let told = info(&desks);
    let line = "travel_line_flights:connected=1,sent=";
    assert!(told.contains(line), "{told}");
    assert!(told.contains(",in_doubt=0,life=1,peer_life=1|"), "{told}");
    let mut scraper = client(&middleware, "http");
    scraper.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let metrics = scraper.rest().replace('\n', "|");
    for line in [
        "|turnstile_travel_line_connected{desk=\"cars\"} 1|",
        "|turnstile_travel_line_unacknowledged{desk=\"rooms\"} 0|",
        "|turnstile_travel_line_life{desk=\"cars\"} 1|",
        "|turnstile_connections{door=\"desk\"} 4|",
    ] {
        assert!(metrics.contains(line), "{line} {metrics}");
    }

    let mut stranger = client(&desks, "travel");
    stranger.exchange(
        "Start\n",
        "Command exception: this server is not the middleware\n",
    );
    stop(middleware);
    stop(desks);
}

#[test]
fn a_peer_that_makes_no_sense_is_told_why_and_closed_and_the_desk_serves_on() {
    let desk = desks(Desks::only(Desk::Flights));
    let flights = || hello(Desk::Flights, 5);
    let report = Report {
        xid: Xid(1),
        say: Say::Gone,
    };
    let request = Request {
        xid: Xid(1),
        order: Order::Prepare,
    };
    let stranger = parcel(Desk::Cars, 5, Body::Request(None));
    let backwards = parcel(Desk::Flights, 5, Body::Report(Some(report)));
    let early = parcel(Desk::Flights, 5, Body::Request(Some(request)));
    let rows: [(Vec<u8>, &str); 11] = [
        (
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            "this door is for the middleware of travel",
        ),
        (
            b"tsdesk\x09\x00".to_vec(),
            "version 9 of the line is spoken there, and version 4 here",
        ),
        (
            b"tsdesk\x04\x00\xff\xff\xff\x7f".to_vec(),
            "a frame of 2147483647 bytes was announced",
        ),
        (
            b"tsdesk\x04\x00\x01\x00\x00\x00\x77".to_vec(),
            "there is no message of the kind 119",
        ),
        (hello(Desk::Cars, 5), "cars is not played here"),
        (
            [b"tsdesk\x04\x00", &early[..]].concat(),
            "a hello comes first",
        ),
        (
            [&flights()[..], &flights()[8..]].concat(),
            "hello was said already",
        ),
        (
            [flights(), stranger].concat(),
            "this is not the line of cars",
        ),
        (
            [flights(), backwards].concat(),
            "such a message goes the other way",
        ),
        (
            [&flights()[..], b"\x02\x00\x00\x00\x04\x01"].concat(),
            "there is no fault point 1 here",
        ),
        (
            [&flights()[..], b"\x03\x00\x00\x00\x03\x23\x00"].concat(),
            "a message is malformed at its",
        ),
    ];
    for (bytes, why) in rows {
        let mut peer = client(&desk, "desk");
        peer.send(&bytes);
        let mut told = Vec::new();
        peer.socket.read_to_end(&mut told).unwrap();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(told.starts_with("tsdesk\u{4}\0"), "{why}: {told:?}");
        assert!(told.contains(why), "{why}: {told:?}");
    }
    let mut peer = client(&desk, "desk");
    peer.send(flights());
    await_info(&desk, "travel_line_flights:connected=1");
    stop(desk);
}

#[test]
fn a_middleware_from_the_past_is_refused_and_the_one_that_is_known_is_not() {
    let desk = desks(Desks::only(Desk::Flights));
    let flights = hello(Desk::Flights, 5);
    let mut peer = client(&desk, "desk");
    peer.send([flights, parcel(Desk::Flights, 5, Body::Request(None))].concat());
    await_info(&desk, ",peer_life=5|");
    let mut past = client(&desk, "desk");
    past.send(hello(Desk::Flights, 4));
    let told = past.rest();
    assert!(
        told.contains("life 4 of the peer is over, life 5 is known"),
        "{told}"
    );
    await_info(&desk, "travel_line_flights:connected=1");
    stop(desk);
}

#[test]
fn the_newest_connection_of_a_line_counts() {
    let desk = desks(Desks::only(Desk::Rooms));
    let mut first = client(&desk, "desk");
    first.send(hello(Desk::Rooms, 1));
    await_info(&desk, "travel_line_rooms:connected=1");
    let mut second = client(&desk, "desk");
    second.send(hello(Desk::Rooms, 1));
    let mut answered = [0; 8];
    second.socket.read_exact(&mut answered).unwrap();
    let mut ended = Vec::new();
    first.socket.read_to_end(&mut ended).unwrap();
    await_info(&desk, "travel_line_rooms:connected=1");
    drop(second);
    await_info(&desk, "travel_line_rooms:connected=0");
    stop(desk);
}

#[test]
fn a_crowd_at_the_door_of_a_desk_is_turned_away() {
    let desk = desks(Desks::only(Desk::Rooms));
    let mut crowd: Vec<Client> = (0..16).map(|_| client(&desk, "desk")).collect();
    let mut late = client(&desk, "desk");
    assert!(late.rest().contains("too many connections are open"));
    // Whoever says nothing has to go after a while.
    for silent in &mut crowd {
        assert_eq!(silent.rest(), "");
    }
    let mut peer = client(&desk, "desk");
    peer.send(hello(Desk::Rooms, 1));
    await_info(&desk, "travel_line_rooms:connected=1");
    stop(desk);
}

#[test]
fn a_middleware_that_is_refused_serves_on_and_dials_again() {
    let listener = TcpListener::bind(SocketAddr::from(ANYWHERE)).unwrap();
    let middleware = middleware(listener.local_addr().unwrap());
    let answers: [&[u8]; 3] = [
        b"tsdesk\x09\x00",
        b"tsdesk\x04\x00\x03\x00\x00\x00\x02no",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ];
    for turn in 0..16 {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut greeted = vec![0; hello(Desk::Cars, 1).len()];
        socket.read_exact(&mut greeted).unwrap();
        let dialed = Desk::ALL.map(|desk| hello(desk, 1));
        let dialed = dialed.iter().position(|hello| *hello == greeted).unwrap();
        // The last says that it is another desk.
        let other = hello(Desk::ALL[(dialed + 1) % 4], 1);
        let answer = answers.get(turn % 4).copied().unwrap_or(&other);
        socket.write_all(answer).unwrap();
        let mut rest = Vec::new();
        // It may have been reset, with what we had not read.
        drop(socket.read_to_end(&mut rest));
    }
    let told = info(&middleware);
    assert!(
        told.contains("travel_line_flights:connected=0,sent=0"),
        "{told}"
    );
    client(&middleware, "travel").exchange("Start\n", "Transaction 1 started\n");
    stop(middleware);
}

/// The fault point `05` as a desk receives it.
fn receive_fault_point(desk: &mut Client) {
    let mut wanted = Vec::new();
    put_message(&mut wanted, Message::FaultPoint { mode: 5 });
    let mut found = Vec::new();
    while !found.ends_with(&wanted) {
        let mut byte = [0];
        desk.socket.read_exact(&mut byte).unwrap();
        found.extend(byte);
    }
}

/// `ok` was said before the desk had the fault point: killed at once, it came back without it.
#[test]
fn a_fault_point_is_confirmed_when_its_desk_keeps_it() {
    let listener = TcpListener::bind(SocketAddr::from(ANYWHERE)).unwrap();
    let middleware = middleware_with(listener.local_addr().unwrap(), true);
    let mut desks: Vec<(Vec<u8>, Client)> = Desk::ALL
        .iter()
        .map(|_| {
            let (socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut desk = Client { socket };
            let mut greeted = vec![0; hello(Desk::Cars, 1).len()];
            desk.socket.read_exact(&mut greeted).unwrap();
            // The same desk, which has fault points.
            *greeted.last_mut().unwrap() = 1;
            desk.send(&greeted);
            (greeted, desk)
        })
        .collect();
    let number_at = hello(Desk::Cars, 1).len() - 10;
    let flights = desks.iter().position(|(hello, _)| hello[number_at] == 0);
    let (_, mut flights) = desks.swap_remove(flights.unwrap());
    await_info(&middleware, "travel_line_flights:connected=1");
    let mut clerk = client(&middleware, "travel");
    let crash = "CrashResourceManager,flights,5\n";
    let armed = |is_kept| {
        let mut bytes = Vec::new();
        put_message(&mut bytes, Message::Armed { is_kept });
        bytes
    };
    clerk.send(format!("{crash}Help,Quit\n"));
    receive_fault_point(&mut flights);
    // What does not wait for the desk was sent before this fault point.
    clerk.socket.set_nonblocking(true).unwrap();
    let early = clerk.socket.read(&mut [0]).unwrap_err();
    assert_eq!(early.kind(), ErrorKind::WouldBlock);
    clerk.socket.set_nonblocking(false).unwrap();
    flights.send(armed(true));
    clerk.expect("ok\nQuit: no arguments\n");
    clerk.send(crash);
    receive_fault_point(&mut flights);
    flights.send(armed(false));
    clerk.expect("Command exception: flights could not keep the fault point\n");
    clerk.send(crash);
    receive_fault_point(&mut flights);
    drop(flights);
    clerk.expect("Command exception: flights is away\n");
    stop(middleware);
}

#[test]
fn lines_lead_to_other_machines_only_with_certificates() {
    let address = SocketAddr::from(([10, 1, 2, 3], 12_351));
    let peers = Peers {
        desks: vec![(Desk::Cars, address)],
        ..Peers::default()
    };
    let mut settings = settings(TravelRoles::ALL, peers);
    // Nothing but certificates proves who is there.
    settings.plain = true;
    let refused = start(&settings).unwrap_err();
    assert!(
        matches!(refused, StartError::WithoutCertificates { name: "cars", address: there } if there == address),
        "{refused}"
    );
}
