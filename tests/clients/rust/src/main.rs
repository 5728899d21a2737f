//! Every Rust client by its defaults: `defaults redis|fred PORT`; see `defaults.md`.

use std::{env, error::Error, time::Duration};

use fred::{
    clients::SubscriberClient,
    interfaces::{
        ClientLike as _, EventInterface as _, KeysInterface as _, PubsubInterface as _,
        TransactionInterface as _,
    },
    prelude::{Builder, Client, Config, Server, ServerConfig},
    types::{CustomCommand, Value as FredValue},
};
use redis::{Commands as _, Value as RedisValue};

type Failure = Box<dyn Error>;

const ECHOES: u32 = 20;
const DEADLINE: Duration = Duration::from_secs(30);

/// What was decided.
#[derive(Debug, PartialEq)]
enum Verdict {
    Done(String),
    Refused(String),
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().collect();
    let [_, library, port] = arguments.as_slice() else {
        return Err("defaults redis|fred PORT".into());
    };
    let (room, port) = (format!("rust-{library}"), port.parse()?);
    match library.as_str() {
        "redis" => with_redis(&room, port)?,
        "fred" => with_fred(&room, port)?,
        _ => return Err(format!("unknown library {library}").into()),
    }
    println!("ok");
    Ok(())
}

fn book<'a>(room: &'a str, arrival: &'a str, departure: &'a str) -> [&'a str; 6] {
    ["bench", room, arrival, departure, "ada", "234123412346"]
}

fn expected(room: &str) -> [Verdict; 2] {
    [
        Verdict::Done(room.to_owned()),
        Verdict::Refused("sold_out".to_owned()),
    ]
}

fn check_event(message: &str, room: &str) {
    assert!(message.contains(r#""kind":"booked""#), "{message}");
    assert!(message.contains(&format!(r#""room":"{room}""#)), "{message}");
}

fn with_redis(room: &str, port: u16) -> Result<(), Failure> {
    let client = redis::Client::open(("127.0.0.1", port))?;
    let mut door = client.get_connection()?;
    assert_eq!(redis::cmd("PING").query::<String>(&mut door)?, "PONG");
    let mut pipeline = redis::pipe();
    for number in 0..ECHOES {
        pipeline.cmd("ECHO").arg(number);
    }
    let echoes: Vec<u32> = pipeline.query(&mut door)?;
    assert_eq!(echoes, (0..ECHOES).collect::<Vec<_>>());
    let error = door.get::<_, String>("x").expect_err("there is no GET");
    assert!(error.to_string().contains("unknown command"), "{error}");

    let booking = |arrival, departure| {
        let mut command = redis::cmd("ROOMS.BOOK");
        command.arg(&book(room, arrival, departure));
        command
    };
    let stay = booking("2027-03-01", "2027-03-04");
    let replies = [stay.query(&mut door)?, stay.query(&mut door)?];
    assert_eq!(replies.map(|reply| of_redis(&reply)), expected(room));
    let mut batch = redis::pipe();
    let in_batch = booking("2027-04-01", "2027-04-02");
    batch.atomic().add_command(in_batch.clone()).add_command(in_batch);
    let replies: [RedisValue; 2] = batch.query::<Vec<_>>(&mut door)?.try_into().expect("two replies");
    assert_eq!(replies.map(|reply| of_redis(&reply)), expected(room));

    let mut following = client.get_connection()?;
    following.set_read_timeout(Some(DEADLINE))?;
    let mut subscriber = following.as_pubsub();
    subscriber.subscribe("rooms.events")?;
    booking("2027-05-01", "2027-05-02").exec(&mut door)?;
    let message: String = subscriber.get_message()?.get_payload()?;
    check_event(&message, room);
    Ok(())
}

fn of_redis(reply: &RedisValue) -> Verdict {
    let RedisValue::Array(fields) = reply else {
        panic!("no array: {reply:?}");
    };
    let text = |at: usize| redis::from_redis_value_ref(&fields[at]).expect("a text");
    match fields[0] {
        RedisValue::Int(1) => Verdict::Done(text(2)),
        _ => Verdict::Refused(text(1)),
    }
}

#[tokio::main]
async fn with_fred(room: &str, port: u16) -> Result<(), Failure> {
    tokio::time::timeout(DEADLINE, fred_session(room, port)).await?
}

async fn fred_session(room: &str, port: u16) -> Result<(), Failure> {
    let config = Config {
        server: ServerConfig::Centralized { server: Server::new("127.0.0.1", port) },
        ..Config::default()
    };
    let door = Client::new(config.clone(), None, None, None);
    door.init().await?;
    assert_eq!(door.ping::<String>(None).await?, "PONG");
    let pipeline = door.pipeline();
    for number in 0..ECHOES {
        let _queued: () = pipeline.custom(command("ECHO"), vec![number.to_string()]).await?;
    }
    let echoes: Vec<u32> = pipeline.all().await?;
    assert_eq!(echoes, (0..ECHOES).collect::<Vec<_>>());
    let error = door.get::<String, _>("x").await.expect_err("there is no GET");
    assert!(error.to_string().contains("unknown command"), "{error}");

    let booking = |arrival, departure| book(room, arrival, departure).map(str::to_owned).to_vec();
    let stay = booking("2027-03-01", "2027-03-04");
    for expected in expected(room) {
        let reply: FredValue = door.custom(command("ROOMS.BOOK"), stay.clone()).await?;
        assert_eq!(of_fred(reply), expected);
    }
    let batch = door.multi();
    for _ in 0..2 {
        let booking = booking("2027-04-01", "2027-04-02");
        let _queued: () = batch.custom(command("ROOMS.BOOK"), booking).await?;
    }
    let replies: Vec<FredValue> = batch.exec(true).await?;
    let replies: Vec<Verdict> = replies.into_iter().map(of_fred).collect();
    assert_eq!(replies, expected(room));

    let subscriber: SubscriberClient = Builder::from_config(config).build_subscriber_client()?;
    subscriber.init().await?;
    let mut messages = subscriber.message_rx();
    subscriber.subscribe("rooms.events").await?;
    // Fred does not wait for the server's answer to that; what follows on the same connection does.
    let _pong: FredValue = subscriber.ping(None).await?;
    let _booked: FredValue = door
        .custom(command("ROOMS.BOOK"), booking("2027-05-01", "2027-05-02"))
        .await?;
    let message: String = messages.recv().await?.value.convert()?;
    check_event(&message, room);
    Ok(())
}

fn command(name: &'static str) -> CustomCommand {
    CustomCommand::new_static(name, None, false)
}

fn of_fred(reply: FredValue) -> Verdict {
    let fields = reply.into_array();
    let text = |at: usize| fields[at].as_string().expect("a text");
    match fields[0].as_i64() {
        Some(1) => Verdict::Done(text(2)),
        _ => Verdict::Refused(text(1)),
    }
}
