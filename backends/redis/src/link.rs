//! The connection to Redis: opened on demand and reopened after a loss.

use std::time::{Duration, Instant};

use redis::{
    Cmd, ErrorKind, FromRedisValue, Pipeline, RedisConnectionInfo, RedisError, Value,
    from_redis_value,
};
use tokio::sync::Mutex;
use turnstile_contract::{
    Tally,
    copy::{Others, PresenceRole},
};

use crate::{line::Line, presence::attend};

/// How long it is not tried again after it was away: first so long, then twice, up to a second.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Why a call had no answer.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// It was never sent, or refused as a whole.
    Undone(String),
    /// It was sent, and the connection was lost.
    Lost(String),
    /// The functions are not there.
    NoFunctions,
    /// Others are there who do not let us come; nothing was sent.
    Occupied(Others),
    /// The answer makes no sense.
    Broken(String),
}

/// The way to one server.
#[derive(Debug)]
pub(crate) struct Dialer {
    host: String,
    port: u16,
    settings: RedisConnectionInfo,
    /// What all its connections are for.
    role: PresenceRole,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Line>,
    had_one: bool,
    pause: Duration,
    /// While it is away: until when it is not tried again, and why.
    absence: Option<(Instant, String)>,
}

impl Dialer {
    pub(crate) fn new(
        host: String,
        port: u16,
        settings: RedisConnectionInfo,
        role: PresenceRole,
    ) -> Self {
        Self {
            host,
            port,
            settings,
            role,
            state: Mutex::default(),
        }
    }

    /// Has a command done.
    pub(crate) async fn ask<T: FromRedisValue>(
        &self,
        tally: &Tally,
        call: &Cmd,
    ) -> Result<T, CallFailure> {
        let mut connection = self.connection(tally).await?;
        tally.round_trips.add(1);
        let answered = call.query_async(&mut connection).await;
        answered.map_err(|error| trouble_of(&error))
    }

    /// Has some commands done in one round trip; one answer for each.
    pub(crate) async fn ask_all<T: FromRedisValue>(
        &self,
        tally: &Tally,
        calls: &Pipeline,
    ) -> Result<T, CallFailure> {
        if calls.is_empty() {
            let nothing = from_redis_value(Value::Array(Vec::new()));
            return nothing.map_err(|error| CallFailure::Broken(error.to_string()));
        }
        let mut connection = self.connection(tally).await?;
        tally.round_trips.add(1);
        let answered = calls.query_async(&mut connection).await;
        answered.map_err(|error| trouble_of(&error))
    }

    async fn connection(&self, tally: &Tally) -> Result<Line, CallFailure> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection
            && !connection.has_ended()
        {
            return Ok(connection.clone());
        }
        if let Some((until, reason)) = &state.absence
            && Instant::now() < *until
        {
            return Err(CallFailure::Undone(reason.clone()));
        }
        // Whoever comes looks who is there, and should not find itself.
        state.connection = None;
        match self.connect().await {
            Ok(connection) => {
                if state.had_one {
                    tally.reconnects.add(1);
                }
                *state = State {
                    connection: Some(connection.clone()),
                    had_one: true,
                    ..State::default()
                };
                Ok(connection)
            }
            Err(trouble) => {
                state.pause = (state.pause * 2).clamp(PAUSE, PAUSE_MAX);
                let reason = match &trouble {
                    CallFailure::Occupied(others) => others.to_string(),
                    _ => "the database is away".to_owned(),
                };
                state.absence = Some((Instant::now() + state.pause, reason));
                Err(trouble)
            }
        }
    }

    async fn connect(&self) -> Result<Line, CallFailure> {
        let undone = |error: RedisError| CallFailure::Undone(error.to_string());
        let made = Line::connect((&self.host, self.port), &self.settings).await;
        let mut connection = made.map_err(undone)?;
        let others = attend(&mut connection, self.settings.db(), self.role).await;
        match others.map_err(undone)? {
            None => Ok(connection),
            Some(others) => Err(CallFailure::Occupied(others)),
        }
    }
}

/// What an error says of the call. What Redis answers itself it has not done: a function is refused
/// before it begins.
fn trouble_of(error: &RedisError) -> CallFailure {
    let sentence = error.to_string();
    if error.is_io_error() || error.is_timeout() || error.is_connection_dropped() {
        return CallFailure::Lost(sentence);
    }
    if sentence.contains("Function not found") {
        return CallFailure::NoFunctions;
    }
    match error.kind() {
        ErrorKind::UnexpectedReturnType | ErrorKind::Parse => CallFailure::Broken(sentence),
        _ if sentence.contains("rooms.lua") || sentence.contains("user_function") => {
            CallFailure::Broken(sentence)
        }
        _ => CallFailure::Undone(sentence),
    }
}
