//! Who of travel a server plays: what each role needs, what it offers, and that a directory keeps it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    path::Path,
    process::Command,
};

use crate::process::{Server, run, turnstile};

/// `serve` on free ports, with these arguments beside.
fn serve(data: &Path, arguments: &[&str]) -> Command {
    let mut command = turnstile();
    command.args(["serve", "--resp", "off", "--http", "off", "--data"]);
    command.arg(data).args(arguments);
    command
}

/// Says these lines at the door of travel, and hears an answer to each.
fn say(server: &Server, lines: &[&str]) -> Vec<String> {
    let mut socket = TcpStream::connect(server.door("travel").unwrap()).unwrap();
    let mut answers = BufReader::new(socket.try_clone().unwrap()).lines();
    let mut told = Vec::new();
    for line in lines {
        writeln!(socket, "{line}").unwrap();
        told.push(answers.next().unwrap().unwrap());
    }
    told
}

const TRAVEL: [&str; 2] = ["--travel", "127.0.0.1:0"];

#[test]
fn a_role_that_lacks_an_address_or_has_one_too_many_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let rows: [(&[&str], &str); 5] = [
        (
            &["--role=cars"],
            "the middleware finds cars at its door: set doors.desk or travel.peers.cars",
        ),
        (
            &["--role=cars", "--desk=off", "--peer-rooms=127.0.0.1:1"],
            "the middleware finds cars at its door: set doors.desk or travel.peers.cars",
        ),
        (
            &[
                "--role=middleware",
                "--peer-flights=127.0.0.1:1",
                "--peer-cars=127.0.0.1:1",
            ],
            "the middleware must know where rooms listens: set travel.peers.rooms",
        ),
        (
            &["--role=arena"],
            "the arena must know where its results are counted: set games.scores",
        ),
        (
            &["--desk=127.0.0.1:0"],
            "doors.desk is the door of a desk: set travel.role to the one that is played here",
        ),
    ];
    for (arguments, expected) in rows {
        let ended = run(&mut serve(directory.path(), arguments));
        let said = (ended.code, &*ended.err);
        assert_eq!(said, (Some(2), &*format!("error: {expected}\n")));
    }
}

#[test]
fn a_desk_listens_where_the_middleware_looks_for_it_unless_its_door_is_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let peer = "--peer-rooms=127.0.0.2:0";
    let server = Server::start(&mut serve(data, &["--role=rooms", peer]));
    let address = server.door("desk").unwrap();
    assert_eq!(address.ip().to_string(), "127.0.0.2");
    server.stop();
    let elsewhere = ["--role=rooms", peer, "--desk=127.0.0.3:0"];
    let server = Server::start(&mut serve(data, &elsewhere));
    let address = server.door("desk").unwrap();
    assert_eq!(address.ip().to_string(), "127.0.0.3");
    server.stop();
}

#[test]
fn a_desk_sells_nothing_to_clients() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [&TRAVEL[..], &["--role=rooms", "--desk=127.0.0.1:0"]].concat();
    let server = Server::start(&mut serve(directory.path(), &arguments));
    let refused = "Command exception: this server is not the middleware";
    assert_eq!(say(&server, &["Start", "Commit,1"]), [refused, refused]);
    server.stop();
}

#[test]
fn a_directory_that_was_used_keeps_its_role() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Server::start(&mut serve(data, &TRAVEL));
    assert_eq!(say(&server, &["Start"]), ["Transaction 1 started"]);
    server.stop();
    let ended = run(&mut serve(data, &["--role=rooms", "--desk=127.0.0.1:0"]));
    let expected = format!(
        "error: cannot serve {}: travel cannot be configured so: times are 1 ms to a day, and the \
         roles of a directory that was used stay as they are\n",
        data.display()
    );
    assert_eq!((ended.code, ended.err), (Some(1), expected));
}

#[test]
fn a_transaction_lives_as_long_as_travel_lifetime_ms_says() {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [&TRAVEL[..], &["--travel-lifetime-ms=1"]].concat();
    let server = Server::start(&mut serve(directory.path(), &arguments));
    let expired = "TransactionAborted: transaction 1: nothing was asked of it for its time to live";
    let mut told = say(&server, &["Start", "QueryFlight,1,1"]);
    // The clock may not have gone on between the two.
    while told.last().is_some_and(|last| last != expired) {
        assert_eq!(told.pop().unwrap(), "Number of seats available: 0");
        told = say(&server, &["QueryFlight,1,1"]);
    }
    server.stop();
}

#[test]
fn there_are_fault_points_where_they_are_allowed_only() {
    let directory = tempfile::tempdir().unwrap();
    let allowed = [&TRAVEL[..], &["--travel-fault-points"]].concat();
    let rows: [(&[&str], &str); 2] = [
        (
            &TRAVEL,
            "Command exception: this server has no fault points",
        ),
        (&allowed, "ok"),
    ];
    for (arguments, expected) in rows {
        let server = Server::start(&mut serve(directory.path(), arguments));
        assert_eq!(say(&server, &["CrashMiddleware,1"]), [expected]);
        server.stop();
    }
}
