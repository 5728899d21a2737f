//! `turnstile demo`: the main job, in small.

use std::path::Path;

use turnstile_client::ConnectionError;

use crate::process::{Ended, Server, ask, hotel_bookings, open_flights, run, turnstile, words};

fn check(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        ended.row("rush"),
        "100askedforoneroom:1sold,99refused,0twice"
    );
    let kill = ended.row("kill -9");
    assert!(
        kill.starts_with("after") && kill.ends_with("underway"),
        "{kill}"
    );
    let traders = ended.row("traders");
    assert!(
        traders.contains("ordersoverXML")
            && traders.ends_with("requestsunderway")
            && !traders.contains("with0requests"),
        "{traders}"
    );
    // Eight traders with four accounts each, and three symbols.
    let conserved = ended.rows("  conserved");
    assert_eq!(
        conserved[0],
        "3200000000dollarsand96000000sharesin32accounts,asputin"
    );
    let travellers = ended.row("travellers");
    assert!(
        travellers.contains("journeysoverlines") && !travellers.starts_with("0journeys"),
        "{travellers}"
    );
    assert!(!travellers.contains("with0requests"), "{travellers}");
    assert!(
        conserved[1].ends_with("seats,carsandrooms,asputin"),
        "{conserved:?}"
    );
    // Of 32 players each plays ten.
    assert_eq!(ended.row("  counted"), "320played=160won+160lost+0drawn");
    assert_eq!(ended.row("  recounted"), "160results,0differences");
    assert!(
        ended.row("verify").contains("hashequal,0violations"),
        "{ended:?}"
    );
    assert!(
        ended.out.ends_with("nothing lost, nothing sold twice\n"),
        "{ended:?}"
    );
}

#[test]
fn the_demo_runs_from_end_to_end() {
    check(&run(turnstile().args(["demo", "--scale", "small"])));
}

#[test]
fn the_demo_of_a_cluster_runs_from_end_to_end() {
    // The brokers of all tests are built there once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut command = turnstile();
    command.args(["demo", "--cluster", "--scale", "small", "--brokers"]);
    let ended = run(command.arg(target.join("nats")));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for label in [
        "load",
        "leading broker killed",
        "node killed",
        "broker cut off",
        "all brokers cut off",
        "all brokers killed",
    ] {
        let answers = ended.row(label);
        let (count, _) = answers.split_once("answers,").unwrap();
        let count: u64 = count.parse().unwrap();
        assert!(count >= 300, "{label}: {ended:?}");
    }
    let asked = ended.row("asked");
    let (booked, _) = asked.split_once("booked,").unwrap();
    let booked: u64 = booked.parse().unwrap();
    assert!(booked > 0, "{asked}");
    assert_eq!(
        ended.row("  checked"),
        format!("{}bookingsonthreenodes,noroomtwiceinonenight", 3 * booked)
    );
    let verified = ended.row("  verified");
    assert!(
        verified.starts_with("threedirectoriesatentry"),
        "{verified}"
    );
    assert!(
        ended
            .out
            .ends_with("nothing lost, nothing sold twice, all nodes have the same state\n"),
        "{ended:?}"
    );
}

#[test]
fn a_file_that_is_not_there_is_said_before_anything_is_started() {
    for files in [
        &["--input", "/nothing"][..],
        &["--routes", "/nothing", "--airports", "/nothing"],
    ] {
        let ended = run(turnstile().arg("demo").args(files));
        let expected = "error: /nothing: No such file or directory (os error 2)\n";
        assert_eq!((ended.code, &*ended.err), (Some(1), expected));
    }
}

#[test]
fn the_demo_replays_the_public_data_set() {
    let Some(file) = hotel_bookings() else { return };
    let ended = run(turnstile()
        .args(["demo", "--scale", "small", "--input"])
        .arg(file));
    check(&ended);
    assert_eq!(ended.row("booked"), "14453");
    assert_eq!(ended.row("cancelled"), "7775");
}

#[test]
fn the_demo_travels_on_the_public_routes() {
    let Some([routes, airports]) = open_flights() else {
        return;
    };
    let mut command = turnstile();
    command
        .args(["demo", "--scale", "small", "--routes"])
        .arg(routes);
    let ended = run(command.arg("--airports").arg(airports));
    check(&ended);
    assert_eq!(ended.row("flights"), "52583");
}

#[test]
fn a_demo_that_stays_serves_what_it_did_until_it_is_stopped() {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command
        .args(["demo", "--scale", "small", "--stay"])
        .env("TMPDIR", temporary.path());
    let demo = Server::start(&mut command);
    assert!(demo.door("http").is_some(), "{:?}", demo.printed);
    let mut door = demo.connect();
    let listed = words(&ask(
        &mut door,
        "ROOMS.LIST-BOOKINGS resort 2027-01-01 2028-01-01 LIMIT 10",
    ));
    assert_eq!(listed.matches(" booked ").count(), 10, "{listed}");
    demo.terminate();
    assert!(matches!(door.receive(), Err(ConnectionError::Closed)));
}
