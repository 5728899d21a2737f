//! `turnstile rooms import`: every kind of row, and twice.

use std::{fs, net::SocketAddr, path::Path};

use crate::process::{Ended, Server, ask, hotel_bookings, run, turnstile, words};

/// Our columns in another order than the data set's, with one that nobody needs.
const HEADER: &str = "is_canceled,hotel,lead_time,arrival_date_year,arrival_date_month,\
    arrival_date_day_of_month,extra,stays_in_weekend_nights,stays_in_week_nights,\
    reserved_room_type,reservation_status_date";

const ROWS: [&str; 17] = [
    "0,City Hotel,1,2016,July,1,x,0,2,S,7/3/2016",
    "1,City Hotel,20,2016,July,2,x,1,0,S,6/20/2016",
    "0,City Hotel,5,2016,July,2,x,0,1,A         ,2016-07-03",
    "0,Resort Hotel,0,2016,February,29,x,2,5,B,3/7/2016",
    "1,Resort Hotel,10,2016,March,1,x,0,1,B,2016-02-25",
    "0,Resort Hotel,3,2016,March,2,x,0,1,B,3/3/2016",
    "0,Resort Hotel,3,2016,March,2,x,0,0,B,3/2/2016",
    "0,Resort Hotel,3,2016,March,2,x,0,91,B,6/1/2016",
    "0,Motel,3,2016,March,2,x,0,1,B,3/3/2016",
    "0,City Hotel,soon,2016,March,2,x,0,1,B,3/3/2016",
    "0,City Hotel,3,2016,Marz,2,x,0,1,B,3/3/2016",
    "0,City Hotel,3,2015,February,29,x,0,1,B,3/3/2016",
    "maybe,City Hotel,3,2016,March,2,x,0,1,B,3/3/2016",
    "1,City Hotel,3,2016,March,2,x,0,1,B,1/1/2016",
    "0,City Hotel,3,2016,March,2,x,0,1,BB,3/3/2016",
    "0,City Hotel,3,2016,March,2,x,0,1,B",
    "0,City Hotel,65535,2016,March,2,x,0,1,B,3/3/2016",
];

fn import(file: &Path, resp: SocketAddr) -> Ended {
    let mut command = turnstile();
    command.args(["rooms", "import", "--resp", &resp.to_string()]);
    run(command.arg(file))
}

#[test]
fn every_row_is_booked_refused_or_counted_by_reason() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bookings.csv");
    let mut content = [&[HEADER], ROWS.as_slice()]
        .concat()
        .join("\n")
        .into_bytes();
    content.extend_from_slice(b"\n0,City Hotel,3,2016,March,2,\xff,0,1,B,3/3/2016\n");
    fs::write(&file, content).unwrap();
    let server = Server::dev(&directory.path().join("data"));
    let ended = import(&file, server.door("resp").unwrap());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let shown = file.display();
    for (line, column, complaint) in [
        (10, "2:", "unknown hotel: `Motel`"),
        (11, "3:", "no number: `soon`"),
        (12, "5:", "no such date: `Marz`"),
        (13, "6:", "no such date: `29`"),
        (14, "1:", "neither 0 nor 1: `maybe`"),
        (15, "11:", "no status date after the booking: `1/1/2016`"),
        (16, "10:", "no room type: `BB`"),
        (17, "", "wrong number of fields: "),
        (18, "3:", "no such date: `65535`"),
        (19, "", "not UTF-8: "),
    ] {
        let expected = format!("{shown}:{line}:{column} {complaint}");
        assert!(ended.err.contains(&expected), "{expected}\n{}", ended.err);
    }
    // At most two want a suite of the city in one night, and two a room of the resort: 60 percent of
    // that, rounded up, is two rooms each; and one for the guest who wants an `A`.
    let rows = [
        ("read", "18"),
        ("  not importable: zero nights", "1"),
        ("  not importable: too long", "1"),
        ("  not importable: unknown hotel", "1"),
        ("  not importable: no room type", "1"),
        ("  not importable: no number", "1"),
        ("  not importable: neither 0 nor 1", "1"),
        ("  not importable: no such date", "3"),
        ("  not importable: no status date after the booking", "1"),
        ("  not importable: wrong number of fields", "1"),
        ("  not importable: not UTF-8", "1"),
        ("rooms", "5"),
        ("booked", "6"),
        ("cancelled", "2"),
        ("  fell away, not booked", "0"),
    ];
    for (label, expected) in rows {
        assert_eq!(ended.row(label), expected, "{label}: {}", ended.out);
    }
    let mut door = server.connect();
    let listed = words(&ask(
        &mut door,
        "ROOMS.LIST-BOOKINGS city 2016-06-01 2016-08-01",
    ));
    assert_eq!(listed.matches("booked").count(), 2, "{listed}");
    server.stop();
}

/// The server had forgotten the keys of an import after a day, and the next one booked the season again.
#[test]
fn a_second_import_is_refused_and_made_again_only_by_its_keys() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bookings.csv");
    let suite = "0,City Hotel,9,2016,July,1,x,0,1,S,7/3/2016";
    let again = "1,City Hotel,8,2016,July,1,x,0,1,S,6/30/2016";
    let content = [HEADER, suite, again, ROWS[4], ""].join("\n");
    fs::write(&file, content).unwrap();
    let server = Server::dev(&directory.path().join("data"));
    let resp = server.door("resp").unwrap();
    let import = |again: &[&str]| {
        let mut command = turnstile();
        command.args([
            "rooms",
            "import",
            "--fill",
            "50",
            "--resp",
            &resp.to_string(),
        ]);
        run(command.args(again).arg(&file))
    };
    let figures = |ended: &Ended| {
        [
            "rooms",
            "booked",
            "  refused: sold_out",
            "cancelled",
            "  fell away, not booked",
        ]
        .map(|label| ended.row(label))
    };
    let first = import(&[]);
    assert_eq!(figures(&first), ["2", "2", "1", "1", "1"], "{first:?}");
    assert!(!first.out.contains("given before"), "{first:?}");
    let position = words(&ask(&mut server.connect(), "INFO"));
    let refused = import(&[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let told = "the property \"city\" is there already: --again imports into it";
    assert!(refused.err.contains(told), "{refused:?}");
    let second = import(&["--again"]);
    assert_eq!(figures(&second), figures(&first));
    assert!(
        second.out.contains("4 of 4 answers had been given before"),
        "{second:?}"
    );
    let field = |info: &str, name: &str| {
        info.lines()
            .find(|line| line.starts_with(name))
            .map(str::to_owned)
            .unwrap()
    };
    let info = words(&ask(&mut server.connect(), "INFO"));
    for name in [
        "rooms_bookings:",
        "rooms_booked_total:",
        "rooms_cancelled_total:",
    ] {
        assert_eq!(field(&info, name), field(&position, name));
    }
    server.stop();
}

#[test]
fn a_file_that_is_none_and_a_server_that_is_not_there_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("bookings.csv");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let missing = import(&file, nobody);
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("bookings.csv: No such file"),
        "{missing:?}"
    );
    fs::write(&file, HEADER.replace("lead_time", "lead_times")).unwrap();
    let header = import(&file, nobody);
    assert_eq!(header.code, Some(1));
    let expected = "bookings.csv:1: there is no column `lead_time` in the header";
    assert!(header.err.contains(expected), "{header:?}");
    fs::write(&file, HEADER).unwrap();
    let unreachable = import(&file, nobody);
    assert_eq!(unreachable.code, Some(1));
    assert!(
        unreachable.err.contains(&format!("no server at {nobody}")),
        "{unreachable:?}"
    );
}

/// The figures were computed from the file by an independent program: the first free room of the
/// type in the order of numbers, bookings before cancellations on the same day.
#[test]
fn the_public_data_set_is_imported_to_the_last_row() {
    let Some(file) = hotel_bookings() else { return };
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let ended = import(&file, server.door("resp").unwrap());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rows = [
        ("read", "14938"),
        ("  not importable: zero nights", "90"),
        ("rooms", "402"),
        ("booked", "14453"),
        ("  refused: sold_out", "395"),
        ("cancelled", "7775"),
    ];
    for (label, expected) in rows {
        assert_eq!(ended.row(label), expected, "{label}: {}", ended.out);
    }
    server.stop();
}
