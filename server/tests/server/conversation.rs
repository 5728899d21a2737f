//! What a well-behaved client asks, and what it hears.

use super::client::{Server, book};

#[test]
fn a_room_is_booked_once() {
    let server = Server::new();
    let (mut first, mut second) = (server.client(), server.client());
    first.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    second.exchange(&book("r1"), "*3|:0|$8|sold_out|$10|2027-01-01|");
    first.exchange(
        "ROOMS.CANCEL R00 234123412346\n",
        "*5|:1|$2|r1|$10|2027-01-01|$10|2027-01-02|:4|",
    );
    second.exchange(&book("r1"), "*4|:1|$9|R4000000G|$2|r1|:5|");
    server.stop();
}

#[test]
fn a_key_gives_its_first_answer_again_and_another_command_none() {
    let server = Server::new();
    let mut client = server.client();
    let line = |room| book(room).replace('\n', " KEY k\n");
    client.exchange(&line("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    client.exchange(&line("r1"), "*5|:1|$3|R00|$2|r1|:2|$8|replayed|");
    client.exchange(
        &line("r2"),
        "-IDEMMISMATCH the idempotency key was used for another command, at position 2|",
    );
    let counters = server.running().counters().clone();
    server.stop();
    assert_eq!(counters.replayed.get(), 1);
    assert!(
        counters
            .errors
            .iter()
            .any(|counted| counted == ("key_reused", 1))
    );
    assert!(
        counters
            .rooms
            .outcomes
            .iter()
            .any(|counted| counted == ("done", 2))
    );
}

#[test]
fn both_protocols_greet_with_all_seven_fields() {
    let server = Server::new();
    let mut client = server.client();
    let fields = "$6|server|$9|turnstile|$7|version|$5|7.4.0|$5|proto|:P|$2|id|:2|\
                  $4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|";
    client.exchange("hello 2\n", &format!("*14|{}", fields.replace('P', "2")));
    client.exchange(
        "HELLO 3 AUTH default x SETNAME me\n",
        &format!("%7|{}", fields.replace('P', "3")),
    );
    client.exchange("CLIENT GETNAME\n", "$2|me|");
    client.exchange("HELLO 4\n", "-NOPROTO unsupported protocol version|");
    client.exchange(
        &book("r1"),
        "%4|$7|outcome|$4|done|$9|reference|$3|R00|$4|room|$2|r1|$8|position|:2|",
    );
    server.stop();
}

#[test]
fn small_requests_are_answered_as_redis_does() {
    let server = Server::new();
    let mut client = server.client();
    let rows = [
        ("PING\n", "+PONG|"),
        ("ping hello\n", "$5|hello|"),
        ("ECHO 'a b'\n", "$3|a b|"),
        ("SELECT 0\n", "+OK|"),
        (
            "SELECT 1\n",
            "-ERR DB index is out of range: there is only 0|",
        ),
        ("CLIENT ID\n", ":2|"),
        ("CLIENT GETNAME\n", "$-1|"),
        ("CLIENT SETNAME me\n", "+OK|"),
        ("CLIENT GETNAME\n", "$2|me|"),
        ("CLIENT SETINFO LIB-NAME x\n", "+OK|"),
        ("CLIENT NO-EVICT on\n", "+OK|"),
        (
            "CLIENT KILL 1\n",
            "-ERR unknown subcommand 'KILL' of 'client'|",
        ),
        (
            "CONFIG GET save appendonly\n",
            "*4|$4|save|$0||$10|appendonly|$2|no|",
        ),
        (
            "CONFIG GET *\n",
            "*8|$4|save|$0||$10|appendonly|$2|no|$9|databases|$1|1|$9|maxmemory|$1|0|",
        ),
        ("CONFIG GET App*\n", "*2|$10|appendonly|$2|no|"),
        ("CONFIG GET nothing\n", "*0|"),
        (
            "PING a b\n",
            "-ERR wrong number of arguments for 'ping' command|",
        ),
        ("DBSIZE\n", ":0|"),
        ("ROLE\n", "*3|$6|master|:0|*0|"),
        ("SLOWLOG GET\n", "*0|"),
        ("SLOWLOG LEN\n", ":0|"),
        ("ACL WHOAMI\n", "$5|local|"),
        ("COMMAND INFO nosuch\n", "*1|*-1|"),
        ("GET x\n", "-ERR unknown command 'GET'|"),
        (
            "ECHO\n",
            "-ERR wrong number of arguments for 'echo' command|",
        ),
        ("\n\r\n*0\r\nPING\n", "+PONG|"),
        ("RESET\n", "+RESET|"),
        ("CLIENT GETNAME\n", "$-1|"),
    ];
    for (request, reply) in rows {
        client.exchange(request, reply);
    }
    client.send("QUIT\n");
    assert_eq!(client.rest(), "+OK|");
    server.stop();
}

#[test]
fn client_reply_silences_what_it_says() {
    let server = Server::new();
    let mut client = server.client();
    client.exchange("CLIENT REPLY SKIP\nPING\nECHO a\n", "$1|a|");
    client.exchange(
        "CLIENT REPLY OFF\nPING\nnonsense\nCLIENT REPLY ON\nECHO b\n",
        "+OK|$1|b|",
    );
    server.stop();
}

#[test]
fn a_batch_is_executed_as_one_or_not_at_all() {
    let server = Server::new();
    let (mut client, mut other) = (server.client(), server.client());
    client.exchange("MULTI\n", "+OK|");
    client.exchange(&book("r1"), "+QUEUED|");
    client.exchange("ECHO 'two words'\n", "+QUEUED|");
    client.exchange(&book("r1"), "+QUEUED|");
    other.exchange("DBSIZE\n", ":0|");
    client.exchange(
        "EXEC\n",
        "*3|*4|:1|$3|R00|$2|r1|:2|$9|two words|*3|:0|$8|sold_out|$10|2027-01-01|",
    );
    client.exchange("MULTI\n", "+OK|");
    client.exchange(&book("r2"), "+QUEUED|");
    client.exchange(
        "ROOMS.BOOK bench r3 soon 2027-01-02 ada 234123412346\n",
        "-ERR ROOMS.BOOK arrival: a date has the form YYYY-MM-DD|",
    );
    client.exchange(
        "EXEC\n",
        "-EXECABORT Transaction discarded because of previous errors.|",
    );
    client.exchange("EXEC\n", "-ERR EXEC without MULTI|");
    client.exchange(
        "MULTI\nMULTI\nDISCARD\n",
        "+OK|-ERR MULTI calls can not be nested|+OK|",
    );
    client.exchange(
        "WATCH k\nMULTI\nEXEC\nDISCARD\n",
        "+OK|+OK|*0|-ERR DISCARD without MULTI|",
    );
    client.exchange("DBSIZE\n", ":1|");
    server.stop();
}

#[test]
fn a_pipeline_is_answered_in_order_however_deep() {
    let server = Server::new();
    let mut client = server.client();
    let requests: String = (0..5_000)
        .map(|number| format!("ECHO {number}\n"))
        .collect();
    let replies: String = (0..5_000)
        .map(|number: u32| format!("${}|{number}|", number.to_string().len()))
        .collect();
    client.exchange(&requests, &replies);
    server.stop();
}

#[test]
fn followers_hear_what_happens_in_their_protocol() {
    let server = Server::new();
    let (mut old, mut new, mut guest) = (server.client(), server.client(), server.client());
    old.exchange(
        "SUBSCRIBE rooms.events\n",
        "*3|$9|subscribe|$12|rooms.events|:1|",
    );
    old.exchange("PING\n", "*2|$4|pong|$0||");
    new.send("HELLO 3\n");
    new.exchange("CLIENT ID\n", "%7|$6|server|$9|turnstile|$7|version|$5|7.4.0|$5|proto|:3|$2|id|:3|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|:3|");
    new.exchange("PSUBSCRIBE rooms.*\n", ">3|$10|psubscribe|$7|rooms.*|:1|");
    guest.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    old.expect("*3|$7|message|$12|rooms.events|$");
    new.expect(">4|$8|pmessage|$7|rooms.*|$12|rooms.events|$");
    new.send("PUNSUBSCRIBE\n");
    old.exchange("DBSIZE\n", "");
    server.stop();
    let event = r#""event":"booked","property":"bench","room":"r1","reference":"R00","arrival":"2027-01-01","departure":"2027-01-02"}"#;
    let (heard, pushed) = (old.rest(), new.rest());
    assert!(heard.contains(event), "{heard}");
    assert!(
        heard.ends_with("while a RESP2 connection is subscribed|"),
        "{heard}"
    );
    assert!(pushed.contains(event), "{pushed}");
    assert!(
        pushed.ends_with("|>3|$12|punsubscribe|$7|rooms.*|:0|"),
        "{pushed}"
    );
}

#[test]
fn info_tells_sections_by_name() {
    let server = Server::new();
    let mut client = server.client();
    client.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    client.send("INFO rooms\nINFO server memory\nINFO keyspace\nQUIT\n");
    let told = client.rest();
    assert!(
        told.contains("# Rooms|rooms_bookings:1|rooms_holds:0|rooms_properties:1|"),
        "{told}"
    );
    assert!(
        told.contains("# Server|redis_version:7.4.0|turnstile_version:"),
        "{told}"
    );
    assert!(
        told.contains("# Keyspace|db0:keys=1,expires=0,avg_ttl=0|"),
        "{told}"
    );
    let memory = told.split_once("# Memory|used_memory:").unwrap().1;
    let bytes: u64 = memory.split_once('|').unwrap().0.parse().unwrap();
    assert!(bytes > 100_000, "{told}");
    assert!(!told.contains("# Stats"), "{told}");
    server.stop();
}
