//! `turnstile call`: every operation of a server from a terminal or a script.

use crate::process::{Ended, Server, run, turnstile};

/// Calls an operation; the words are fields and flags.
fn call(server: &Server, words: &str) -> Ended {
    let door = server.door("resp").unwrap().to_string();
    let mut command = turnstile();
    command.args(["call", "--resp", &door]);
    run(command.args(words.split(' ')))
}

const BOOK: &str = "rooms.book property=bench wish=101 arrival=2027-05-01 departure=2027-05-03 \
                    guest=Ada id_number=234123412346";

#[test]
fn an_operation_is_called_by_the_names_of_its_fields() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let booked = call(&server, BOOK);
    assert_eq!(booked.code, Some(0), "{booked:?}");
    let lines: Vec<&str> = booked.out.lines().collect();
    assert_eq!(lines[0], "outcome: done");
    let reference = lines[1].strip_prefix("reference: ").unwrap();
    assert_eq!(lines[2], "room: 101");

    let listed = call(
        &server,
        "rooms.list_bookings property=bench from=2027-05-01 to=2027-06-01 limit=1",
    );
    let head =
        format!("entries:\n  - reference: {reference}\n    state: booked\n    property: bench\n");
    assert!(listed.out.starts_with(&head), "{listed:?}");
    assert!(listed.out.ends_with("next: -\n"), "{listed:?}");

    let json = call(
        &server,
        &format!("rooms.look_up reference={reference} --json"),
    );
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["id_number"], "********2346");

    // It once panicked at an operation without fields.
    let totals = call(&server, "rooms.get_totals");
    assert!(totals.out.starts_with("bookings: 1\n"), "{totals:?}");

    let ordered = "exchange.place_order account=1003 symbol=ACME side=buy quantity=1 limit=0.5 \
                   time_in_force=gtc client_id=call-1";
    let ordered = call(&server, ordered);
    assert!(ordered.out.contains("state: open\n"), "{ordered:?}");
    server.stop();
}

#[test]
fn a_refusal_is_told_with_its_sentence_and_exit_code_one() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    assert_eq!(call(&server, BOOK).code, Some(0));
    let again = call(&server, BOOK);
    assert_eq!(again.code, Some(1));
    let expected = "error: refused: No room is free for all of these nights (sold_out)\n";
    assert_eq!(again.err, expected);
    let nights = "nights:
  - 2027-05-01
  - 2027-05-02
";
    assert!(again.out.contains(nights), "{again:?}");
    let unfunded = "exchange.withdraw account=1003 amount=1000000000000";
    let unfunded = call(&server, unfunded);
    let expected = "error: refused: The account has not enough free cash (insufficient_funds)\n";
    assert_eq!((unfunded.code, unfunded.err.as_str()), (Some(1), expected));
    let unknown = call(&server, "seats.close_sale show=gala");
    let expected = "error: refused: There is no such show (unknown_show)\n";
    assert_eq!((unknown.code, unknown.err.as_str()), (Some(1), expected));
    let nobody = call(&server, "games.get_standing player=nobody");
    assert_eq!(nobody.err, "error: refused: no_such_player\n");
    let mistyped = call(&server, "rooms.look_up reference=R98");
    assert_eq!(mistyped.code, Some(1));
    assert!(
        mistyped.err.contains("ROOMS.LOOK-UP reference: "),
        "{mistyped:?}"
    );
    server.stop();
}

#[test]
fn a_wrong_field_is_a_wrong_command_line() {
    let rows = [
        (
            "rooms.look_up",
            "error: rooms.look_up: missing fields: reference\n",
        ),
        (
            "rooms.look_up ref=R00",
            "error: rooms.look_up: unknown field \"ref\"; known are reference\n",
        ),
        (
            "rooms.add_property property=inn open=perhaps",
            "error: rooms.add_property: field \"open\" is not true or false\n",
        ),
    ];
    for (words, expected) in rows {
        let mut command = turnstile();
        let ended = run(command.arg("call").args(words.split(' ')));
        assert_eq!(
            (ended.code, ended.err.as_str()),
            (Some(2), expected),
            "{words}"
        );
    }
    let formless = run(turnstile().args(["call", "rooms.look_up", "R00"]));
    assert_eq!(formless.code, Some(2));
    assert!(
        formless.err.contains("write a field as NAME=VALUE"),
        "{formless:?}"
    );
    let unknown = run(turnstile().args(["call", "rooms.bok"]));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("rooms.book"), "{unknown:?}");
}

#[test]
fn help_and_completion_know_every_operation_and_field() {
    let help = run(turnstile().args(["call", "rooms.hold", "--help"])).out;
    for line in [
        "  wish         ROOM | type:TYPE | any (required)",
        "  ttl_seconds  a whole number",
    ] {
        assert!(help.lines().any(|found| found == line), "{help}");
    }
    let script = run(turnstile().args(["completions", "bash"])).out;
    for word in [
        "rooms.add_room",
        "exchange.place_order",
        "games.move",
        "travel.resolve",
        "id_number=",
    ] {
        assert!(script.contains(word), "{word}");
    }
}
