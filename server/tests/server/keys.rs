//! What the doors answer when there is no room for another idempotency key.

use super::client::{Client, Server};

/// Room for some hundred keys.
const BYTES_MAX: u64 = 20_000;

/// Books rooms under keys until there is no room for another; answers how many were booked.
fn fill(client: &mut Client) -> u64 {
    client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
    for number in 0.. {
        client.send(format!(
            "ROOMS.BOOK bench room-{number} 2027-01-01 2027-01-02 ada 234123412346 KEY key-{number}\n\
             PING end\n"
        ));
        let answer = client.until("end\r\n");
        if answer.starts_with("-BUSY ") {
            return number;
        }
        assert!(answer.starts_with('*'), "{answer}");
    }
    unreachable!("there are numbers enough");
}

/// A number of `INFO`.
fn told(client: &mut Client, name: &str) -> u64 {
    client.send("INFO stats\nPING end\n");
    let info = client.until("end\r\n");
    let mut lines = info.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.expect("INFO has it").parse().expect("a number")
}

#[test]
fn without_room_for_a_key_every_door_says_so_and_what_was_done_stays_known() {
    let server = Server::with_room_for_keys(BYTES_MAX);
    let mut client = server.client();
    let filled = fill(&mut client);
    assert!(filled > 100, "{filled}");
    assert_eq!(told(&mut client, "idempotency_keys"), filled);
    assert_eq!(told(&mut client, "idempotency_key_bytes_max"), BYTES_MAX);
    let bytes = told(&mut client, "idempotency_key_bytes");
    assert!((BYTES_MAX / 2..BYTES_MAX).contains(&bytes), "{bytes}");
    assert!(told(&mut client, "idempotency_key_age_seconds") < 60);

    client.send("EXCHANGE.CREATE-ACCOUNT 1 100 KEY another\nPING end\n");
    let busy = client.until("end\r\n");
    let begin = "-BUSY the memory for idempotency keys is full: nothing was done, retry after ";
    let rest = busy.strip_prefix(begin).expect("it says why");
    let seconds: u64 = rest
        .split(' ')
        .next()
        .and_then(|s| s.parse().ok())
        .expect("seconds");
    assert!((86_300..=86_400).contains(&seconds), "{seconds}");
    assert!(rest.contains(" s or raise limits.key_bytes\r\n"), "{rest}");
    // Nothing was done, and without a key everything goes on.
    client.send("EXCHANGE.CREATE-ACCOUNT 1 100\nPING end\n");
    assert!(client.until("end\r\n").starts_with("*2\r\n:1\r\n"));
    // A batch is answered command by command.
    client.send("MULTI\nEXCHANGE.CREATE-ACCOUNT 2 100 KEY b\nEXCHANGE.CREATE-ACCOUNT 2 100\nEXEC\nPING end\n");
    let batch = client.until("end\r\n");
    assert!(batch.contains("*2\r\n-BUSY "), "{batch}");
    // The first answer comes again.
    client.send(
        "ROOMS.BOOK bench room-0 2027-01-01 2027-01-02 ada 234123412346 KEY key-0\nPING end\n",
    );
    let again = client.until("end\r\n");
    assert!(
        again.starts_with("*") && again.contains("replayed"),
        "{again}"
    );

    let mut http = server.client_of("http");
    let body = r#"{"account": "3", "cash": "100"}"#;
    http.send(format!(
        "POST /v1/exchange/accounts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Idempotency-Key: \"k\"\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    let answer = http.until("request_id");
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(
        answer.contains("\"code\":\"keys_full\",\"retryable\":true"),
        "{answer}"
    );
    let mut lines = answer.lines();
    let after = lines.find_map(|line| line.strip_prefix("retry-after: "));
    let after: u64 = after.and_then(|s| s.parse().ok()).expect("seconds");
    assert!((86_300..=86_400).contains(&after), "{after}");
    server.stop();
}

/// After enough keyed commands of others, refused ones among them, a retry booked once more.
#[test]
fn refusals_under_keys_take_no_room_from_what_was_done() {
    let server = Server::with_room_for_keys(BYTES_MAX);
    let mut client = server.client();
    client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", "*2|:1|:1|");
    let book = "ROOMS.BOOK bench room-1 2027-01-01 2027-01-02 ada 234123412346 KEY";
    client.send(format!("{book} first\nPING end\n"));
    let first = client.until("end\r\n");
    let room = told(&mut client, "idempotency_key_bytes");
    for number in 0..2_000 {
        client.send(format!("{book} refused-{number}\n"));
    }
    client.send("PING refused\n");
    let refused = client.until("refused\r\n");
    assert_eq!(refused.matches("sold_out").count(), 2_000);
    assert_eq!(told(&mut client, "idempotency_key_bytes"), room);
    client.send(format!("{book} first\nPING end\n"));
    let again = client.until("end\r\n");
    assert!(again.contains("replayed"), "{again} after {first}");
    server.stop();
}
