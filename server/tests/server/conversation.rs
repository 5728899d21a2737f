//! What a well-behaved client asks, and what it hears.

use std::time::Duration;

use turnstile_server::Limits;

use super::client::{Server, book};

#[test]
fn a_room_is_booked_once() {
    let server = Server::new();
    let (mut first, mut second) = (server.client(), server.client());
    first.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    second.exchange(&book("r1"), "*3|:0|$8|sold_out|*1|$10|2027-01-01|");
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
            .service("rooms")
            .unwrap()
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
        ("CLIENT NO-TOUCH on\n", "+OK|"),
        (
            "CONFIG GET save appendonly\n",
            "*4|$4|save|$0||$10|appendonly|$2|no|",
        ),
        (
            "CONFIG GET *\n",
            "*12|$4|save|$0||$10|appendonly|$2|no|$9|databases|$1|1|$9|maxmemory|$1|0|\
             $23|slowlog-log-slower-than|$5|10000|$15|slowlog-max-len|$3|128|",
        ),
        ("CONFIG GET App*\n", "*2|$10|appendonly|$2|no|"),
        ("CONFIG GET nothing\n", "*0|"),
        (
            "PING a b\n",
            "-ERR wrong number of arguments for 'ping' command|",
        ),
        ("DBSIZE\n", ":0|"),
        ("ROLE\n", "*3|$6|master|:0|*0|"),
        ("ACL WHOAMI\n", "$5|local|"),
        ("COMMAND INFO nosuch\n", "*1|*-1|"),
        ("GET x\n", "-ERR unknown command 'GET'|"),
        (
            "ROOMS.BOK a\n",
            "-ERR unknown command 'ROOMS.BOK', did you mean 'rooms.book'?|",
        ),
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
fn questions_of_tools_are_answered_as_redis_does() {
    let server = Server::new();
    let mut client = server.client();
    let rows = [
        ("SCAN 0 MATCH * COUNT 10\n", "*2|$1|0|*0|"),
        ("SCAN x\n", "-ERR invalid cursor|"),
        ("SCAN 0 MATCH\n", "-ERR syntax error|"),
        (
            "MONITOR\n",
            "-ERR MONITOR is refused: requests carry id numbers in clear; SUBSCRIBE shows what \
             happens, SLOWLOG GET what was slow|",
        ),
        ("LATENCY LATEST\n", "*0|"),
        ("LATENCY HISTORY command\n", "*0|"),
        ("LATENCY RESET\n", ":0|"),
        (
            "COMMAND GETKEYS rooms.look-up R00\n",
            "-ERR The command has no key arguments|",
        ),
        (
            "COMMAND GETKEYS rooms.look-up\n",
            "-ERR Invalid number of arguments specified for command|",
        ),
        ("COMMAND GETKEYS get x\n", "-ERR Invalid command specified|"),
        ("SLOWLOG GET\n", "*0|"),
        ("SLOWLOG LEN\n", ":0|"),
        (
            "SLOWLOG GET -2\n",
            "-ERR count should be greater than or equal to -1|",
        ),
        ("READONLY\n", "+OK|"),
        ("READWRITE\n", "+OK|"),
        (
            "CLUSTER STATUS\n",
            "-ERR this server is no node of a cluster|",
        ),
        (
            "CLUSTER DRAIN n1\n",
            "-ERR this server is no node of a cluster|",
        ),
        ("CLUSTER AGE\n", "-ERR this server is no node of a cluster|"),
    ];
    for (request, reply) in rows {
        client.exchange(request, reply);
    }
    server.stop();
}

/// Client libraries with a cache of their own would not connect without it. No command has keys, so that
/// the mode is all there is to it.
#[test]
fn tracking_is_accepted_and_shown_in_its_mode() {
    let server = Server::new();
    let mut client = server.client();
    let rows = [
        ("CLIENT GETREDIR\n", ":-1|"),
        (
            "CLIENT TRACKINGINFO\n",
            "*6|$5|flags|*1|$3|off|$8|redirect|:-1|$8|prefixes|*0|",
        ),
        (
            "CLIENT CACHING YES\n",
            "-ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or \
             OPTOUT mode enabled|",
        ),
        ("CLIENT TRACKING ON OPTIN NOLOOP\n", "+OK|"),
        ("CLIENT CACHING YES\n", "+OK|"),
        (
            "CLIENT CACHING NO\n",
            "-ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.|",
        ),
        ("CLIENT GETREDIR\n", ":0|"),
        (
            "CLIENT TRACKINGINFO\n",
            "*6|$5|flags|*3|$2|on|$5|optin|$6|noloop|$8|redirect|:0|$8|prefixes|*0|",
        ),
        ("CLIENT TRACKING ON OPTOUT\n", "+OK|"),
        ("CLIENT CACHING NO\n", "+OK|"),
        (
            "CLIENT TRACKING ON BCAST PREFIX a PREFIX b REDIRECT 2\n",
            "+OK|",
        ),
        (
            "CLIENT TRACKINGINFO\n",
            "*6|$5|flags|*2|$2|on|$5|bcast|$8|redirect|:2|$8|prefixes|*2|$1|a|$1|b|",
        ),
        (
            "CLIENT TRACKING ON REDIRECT 77\n",
            "-ERR The client ID you want redirect to does not exist|",
        ),
        (
            "CLIENT TRACKING ON OPTIN BCAST\n",
            "-ERR BCAST, OPTIN and OPTOUT are not compatible with each other|",
        ),
        (
            "CLIENT TRACKING ON PREFIX a\n",
            "-ERR PREFIX option requires BCAST mode to be enabled|",
        ),
        ("CLIENT TRACKING maybe\n", "-ERR syntax error|"),
        ("CLIENT TRACKING OFF\n", "+OK|"),
        ("CLIENT GETREDIR\n", ":-1|"),
    ];
    for (request, reply) in rows {
        client.exchange(request, reply);
    }
    server.stop();
}

#[test]
fn slow_commands_are_kept_without_id_numbers_until_a_reset() {
    let limits = Limits {
        slow_command: Duration::ZERO,
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let mut client = server.client();
    client.exchange("CLIENT SETNAME me\n", "+OK|");
    client.exchange("SLOWLOG RESET\n", "+OK|");
    client.exchange(&book("r1"), "*4|:1|$3|R00|$2|r1|:2|");
    client.exchange("GET x\n", "-ERR unknown command 'GET'|");
    client.exchange("SLOWLOG LEN\n", ":2|");
    client.send("SLOWLOG GET 2\nSLOWLOG GET 0\n");
    let told = client.until("*0\r\n");
    let words = "*8\r\n$10\r\nROOMS.BOOK\r\n$5\r\nbench\r\n$2\r\nr1\r\n$10\r\n2027-01-01\r\n\
                 $10\r\n2027-01-02\r\n$3\r\nada\r\n$8\r\n(masked)\r\n$";
    let address = client.socket.local_addr().unwrap().to_string();
    let client_of_it = format!("${}\r\n{address}\r\n$2\r\nme\r\n", address.len());
    let (_, parts) = told.split_once(words).expect(&told);
    let (_, parts) = parts.split_once("\r\n").unwrap();
    let (parts, rest) = parts.split_once("\r\n").unwrap();
    // The other requests are answered with this one, so that only the numbers are not known here.
    let without_numbers = parts.replace(|letter: char| letter.is_ascii_digit(), "");
    assert_eq!(
        without_numbers,
        "... (queue  us, decide  us, sync  us, send  us)"
    );
    assert!(rest.starts_with(&client_of_it), "{told}");
    let asked = "*3\r\n$7\r\nSLOWLOG\r\n$3\r\nLEN\r\n$";
    assert!(
        told.starts_with("*2\r\n*6\r\n:") && told.contains(asked),
        "{told}"
    );
    server.stop();
}

#[test]
fn a_client_lists_and_kills_the_connections_that_it_means() {
    let server = Server::new();
    let (mut operator, mut idle, mut follower) =
        (server.client(), server.client(), server.client());
    operator.exchange("CLIENT ID\n", ":2|");
    idle.exchange("CLIENT ID\n", ":3|");
    follower.exchange(
        "SUBSCRIBE rooms.events\n",
        "*3|$9|subscribe|$12|rooms.events|:1|",
    );
    operator.send("CLIENT LIST TYPE pubsub\nCLIENT LIST ID 2 3\nECHO over\n");
    let lists = operator.until("$4\r\nover\r\n");
    let ids: Vec<_> = lists
        .lines()
        .filter_map(|line| line.strip_prefix("id=")?.split(' ').next())
        .collect();
    assert_eq!(ids, ["4", "2", "3"], "{lists}");

    operator.exchange("CLIENT KILL TYPE pubsub\n", ":1|");
    assert_eq!(follower.rest(), "");
    let address = idle.socket.local_addr().unwrap();
    operator.exchange(&format!("CLIENT KILL {address}\n"), "+OK|");
    assert_eq!(idle.rest(), "");
    let rows = [
        (format!("CLIENT KILL {address}\n"), "-ERR No such client|"),
        ("CLIENT KILL ID 2\n".to_owned(), ":0|"),
        ("CLIENT KILL USER nobody\n".to_owned(), ":0|"),
        ("CLIENT KILL MAXAGE 3600 SKIPME no\n".to_owned(), ":0|"),
        (
            "CLIENT KILL ID x\n".to_owned(),
            "-ERR client-id should be greater than 0|",
        ),
        (
            "CLIENT KILL TYPE x\n".to_owned(),
            "-ERR client types are normal, pubsub, master and replica|",
        ),
        ("CLIENT KILL ID 2 SKIPME\n".to_owned(), "-ERR syntax error|"),
    ];
    for (request, reply) in rows {
        operator.exchange(&request, reply);
    }
    // It hears that it is killed itself.
    operator.send("CLIENT KILL ID 2 SKIPME no\nPING\n");
    assert_eq!(operator.rest(), ":1|");
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
    client.exchange("CLIENT REPLY OFF\nPING\nRESET\nECHO c\n", "+RESET|$1|c|");
    client.exchange("CLIENT REPLY SKIP\nRESET\nECHO d\n", "$1|d|");
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
        "*3|*4|:1|$3|R00|$2|r1|:2|$9|two words|*3|:0|$8|sold_out|*1|$10|2027-01-01|",
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
    let event = r#""kind":"booked","property":"bench","room":"r1","reference":"R00","arrival":"2027-01-01","departure":"2027-01-02"}"#;
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
    client.send("INFO rooms\nINFO server memory\nINFO REPLICATION\nINFO keyspace\nQUIT\n");
    let told = client.rest();
    assert!(
        told.contains("# Rooms|rooms_bookings:1|rooms_holds:0|rooms_properties:1|"),
        "{told}"
    );
    assert!(
        told.contains("# Server|redis_version:7.4.0|turnstile_version:"),
        "{told}"
    );
    let told_at_once = "# Replication|role:master|connected_slaves:0|master_repl_offset:0|";
    assert!(told.contains(told_at_once), "{told}");
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
