//! The exchange through its two fast doors, over real sockets.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
};

use turnstile_server::{Durability, Options, Running, Settings, start};

fn server() -> Running {
    let anywhere = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let settings = Settings {
        resp: anywhere,
        xml: anywhere,
        ..Settings::closed(Options::with(Durability::Memory))
    };
    start(&settings).unwrap()
}

/// Sends bytes to a door and reads every answer until it closes.
fn talk(server: &Running, door: &str, bytes: &[u8]) -> String {
    let doors = server.doors().iter();
    let (_, address) = doors.clone().find(|(name, _)| *name == door).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(bytes).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

fn framed(requests: &[&str]) -> Vec<u8> {
    let frames = requests
        .iter()
        .map(|xml| format!("{}\n{xml}", xml.len()).into_bytes());
    frames.collect::<Vec<_>>().concat()
}

#[test]
fn the_worked_example_of_the_course_is_matched_over_xml_and_seen_over_resp() {
    let server = server();
    let requests = framed(&[
        "<create><account id=\"1\" balance=\"1000000\"/><account id=\"2\" balance=\"0\"/>\
         <symbol sym=\"X\"><account id=\"2\">10000</account></symbol></create>",
        "<transactions id=\"1\"><order sym=\"X\" amount=\"300\" limit=\"125\"/></transactions>",
        "<transactions id=\"2\"><order sym=\"X\" amount=\"-100\" limit=\"130\"/></transactions>",
        "<transactions id=\"1\"><order sym=\"X\" amount=\"200\" limit=\"127\"/></transactions>",
        "<transactions id=\"2\"><order sym=\"X\" amount=\"-500\" limit=\"128\"/></transactions>",
        "<transactions id=\"2\"><order sym=\"X\" amount=\"-200\" limit=\"140\"/></transactions>",
        "<transactions id=\"1\"><order sym=\"X\" amount=\"400\" limit=\"125\"/></transactions>",
        "<transactions id=\"2\"><order sym=\"X\" amount=\"-400\" limit=\"124\"/>\
         <query id=\"1\"/></transactions>",
    ]);
    let answer = talk(&server, "xml", &requests);
    assert_eq!(answer.matches("<results>").count(), 8, "{answer}");
    assert!(
        answer.contains("<opened sym=\"X\" amount=\"-400\" limit=\"124\" id=\"7\"/>"),
        "{answer}"
    );
    let status = answer.split("<status id=\"1\">").nth(1).unwrap();
    assert!(
        status.starts_with("<open shares=\"100\"/><executed shares=\"200\" price=\"125\""),
        "{answer}"
    );
    let top = talk(&server, "resp", b"EXCHANGE.GET-DEPTH X LEVELS 1\r\n");
    assert!(top.contains("125") && top.contains("128"), "{top}");
    server.stopper().stop();
    server.join().unwrap();
}

#[test]
fn ten_thousand_orders_in_one_request_are_answered_in_order() {
    let server = server();
    let orders = "<order sym=\"X\" amount=\"1\" limit=\"1\"/>".repeat(10_000);
    let many = format!("<transactions id=\"1\">{orders}</transactions>");
    let create = "<create><account id=\"1\" balance=\"10000\"/></create>";
    let answer = talk(&server, "xml", &framed(&[create, &many, create]));
    assert_eq!(answer.matches("<opened ").count(), 10_000);
    let last = answer.find("id=\"10000\"/></results>").unwrap();
    assert!(answer.find("id=\"1\"/>").unwrap() < last);
    assert!(answer.ends_with("</error></results>"), "made already");
    server.stopper().stop();
    server.join().unwrap();
}

#[test]
fn a_broken_frame_is_told_and_ends_its_connection_only() {
    let server = server();
    let answer = talk(&server, "xml", b"x\n<create/>");
    assert!(answer.starts_with("<results><error>"), "{answer}");
    let empty = talk(&server, "xml", &framed(&["<create></create>"]));
    assert_eq!(empty, "<results></results>");
    server.stopper().stop();
    server.join().unwrap();
}
