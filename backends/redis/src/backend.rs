//! The back end itself.

use std::{fmt, time::Duration};

use redis::{ConnectionAddr, FromRedisValue, IntoConnectionInfo as _, cmd};
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::time::{Instant, sleep};
use turnstile_contract::{
    Answered, Backend, Facts, Failure, Future, NotOpened, Request, Tally, Unready,
    copy::PresenceRole,
};
use turnstile_rooms::{Answer, Command, IdKey, Query, Rooms};
use turnstile_types::{Night, Principal, Timestamp};

use crate::{
    answer,
    error::sentence,
    facts,
    link::{CallFailure, Dialer},
    names::{self, BASE},
    order::{self, SCHEMA},
};

/// The functions.
const FUNCTIONS: &str = include_str!("rooms.lua");

/// How long the fate of keyed commands is looked for after the connection was lost.
const RESOLVING: Duration = Duration::from_secs(10);

/// The pause between two looks.
const LOOKING: Duration = Duration::from_millis(100);

type Reply = turnstile_contract::Reply<Rooms>;

/// Rooms in the memory of a Redis server.
#[derive(Debug)]
pub struct Redis {
    pub(crate) link: Dialer,
    pub(crate) tally: Tally,
    id_key: IdKey,
    /// The secret of `id_key`, which a Redis that has forgotten everything is told again.
    secret: SecretText,
    pub(crate) place: String,
}

struct SecretText(String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Redis {
    /// Connects, and loads the functions. It takes a running tokio runtime.
    ///
    /// # Errors
    /// The server cannot be reached, is older than Redis 7, is being copied, may evict keys, or holds keys of
    /// a later version or an unfinished copy.
    pub async fn open(url: &str) -> Result<Self, NotOpened> {
        let opened = Self::open_any(url, PresenceRole::Serving).await?;
        let keeps = facts::refuse_eviction(&opened.link, &opened.tally).await;
        keeps.map_err(|unready| unready.at(&opened.place))?;
        match names::is_unfinished(&opened.link, &opened.tally).await {
            Ok(false) => Ok(opened),
            Ok(true) => Err(Unready::Unfinished.at(&opened.place)),
            Err(trouble) => Err(Unready::from(trouble).at(&opened.place)),
        }
    }

    /// Opens a server whatever lies there.
    pub(crate) async fn open_any(url: &str, role: PresenceRole) -> Result<Self, NotOpened> {
        let form = "an address is redis://[user:password@]host[:port][/number]";
        let invalid = || Unready::Address(form.to_owned()).at("");
        let info = url.into_connection_info().map_err(|_form| invalid())?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(invalid());
        };
        let settings = info.redis_settings();
        let place = format!("{host}:{port}/{}", settings.db());
        let link = Dialer::new(host.clone(), *port, settings.clone(), role);
        let tally = Tally::default();
        let (secret, id_key) = match first_secret(&link, &tally).await {
            Ok(secret) => secret,
            Err(unready) => return Err(unready.at(&place)),
        };
        Ok(Self {
            link,
            tally,
            id_key,
            secret: SecretText(secret),
            place,
        })
    }

    /// The secret under which all servers on this Redis seal id numbers.
    #[must_use]
    pub const fn id_key(&self) -> &IdKey {
        &self.id_key
    }

    async fn call(&self, call: &redis::Cmd) -> Result<Vec<Vec<u8>>, Failure> {
        Ok(self.ask(call).await?)
    }

    /// Has a call done; when Redis has started anew and kept nothing, after preparing it again.
    async fn ask<T: FromRedisValue>(&self, call: &redis::Cmd) -> Result<T, CallFailure> {
        match self.link.ask(&self.tally, call).await {
            Err(CallFailure::NoFunctions) => {}
            answer => return answer,
        }
        match prepare(&self.link, &self.tally, &self.secret.0).await {
            Ok(Prepared::Secret(secret)) if secret == self.secret.0 => {
                self.link.ask(&self.tally, call).await
            }
            Ok(Prepared::Secret(_)) => {
                Err(CallFailure::Broken("its secret has changed".to_owned()))
            }
            Ok(Prepared::Newer(found)) => {
                let reason = format!("its keys are of version {found} now");
                Err(CallFailure::Broken(reason))
            }
            // The call itself was not sent again.
            Err(CallFailure::Lost(reason)) => Err(CallFailure::Undone(reason)),
            Err(trouble) => Err(trouble),
        }
    }

    /// Has commands decided in one call, those that are offered.
    async fn decide(&self, now: Timestamp, requests: &[Request]) -> Vec<Result<Reply, Failure>> {
        let mut call = order::call("turnstile_rooms_execute", now);
        let mut offered = Vec::new();
        let mut results: Vec<Option<Result<Reply, Failure>>> = Vec::new();
        for request in requests {
            match order::put(request, &mut call) {
                Ok(()) => {
                    offered.push(request);
                    results.push(None);
                }
                Err(failure) => results.push(Some(Err(failure))),
            }
        }
        let decided = if offered.is_empty() {
            Vec::new()
        } else {
            self.send(now, &call, &offered).await
        };
        let mut decided = decided.into_iter();
        results
            .into_iter()
            .map(|result| result.or_else(|| decided.next()))
            .map(|result| result.unwrap_or_else(|| Err(too_few())))
            .collect()
    }

    async fn send(
        &self,
        now: Timestamp,
        call: &redis::Cmd,
        requests: &[&Request],
    ) -> Vec<Result<Reply, Failure>> {
        let answers: Vec<Vec<Vec<u8>>> = match self.ask(call).await {
            Ok(answers) => answers,
            Err(CallFailure::Lost(reason)) => return self.resolve(now, requests, &reason).await,
            Err(trouble) => return vec![Err(trouble.into()); requests.len()],
        };
        if answers.len() != requests.len() {
            return vec![Err(too_few()); requests.len()];
        }
        self.tally.batches.add(1);
        self.tally
            .commands
            .add(u64::try_from(requests.len()).unwrap_or(0));
        let read = |(answer, request): (_, &&Request)| {
            answer::reply(answer, request.scope(), arrival_of(request))
        };
        answers.into_iter().zip(requests).map(read).collect()
    }

    /// The connection was lost on the way. What has an idempotency key is asked again: it was done,
    /// and is answered as it was then, or it is done now.
    async fn resolve(
        &self,
        now: Timestamp,
        requests: &[&Request],
        reason: &str,
    ) -> Vec<Result<Reply, Failure>> {
        let deadline = Instant::now() + RESOLVING;
        let mut results = Vec::with_capacity(requests.len());
        for request in requests {
            results.push(match request.key() {
                None => Err(unknown(reason)),
                Some(_) => self.ask_again(now, request, deadline).await,
            });
        }
        results
    }

    async fn ask_again(
        &self,
        now: Timestamp,
        request: &Request,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        let mut call = order::call("turnstile_rooms_execute", now);
        order::put(request, &mut call)?;
        loop {
            let answers: Result<Vec<Vec<Vec<u8>>>, _> = self.ask(&call).await;
            match answers {
                Ok(answers) => {
                    let answer = answers.into_iter().next().ok_or_else(too_few)?;
                    self.tally.resolved.add(1);
                    return answer::reply(answer, request.scope(), arrival_of(request));
                }
                Err(broken @ CallFailure::Broken(_)) => return Err(broken.into()),
                Err(trouble) if Instant::now() > deadline => {
                    return Err(unknown(&sentence(trouble)));
                }
                Err(_away) => sleep(LOOKING).await,
            }
        }
    }
}

/// Loads the functions, and says under which secret id numbers are sealed: in both forms.
async fn first_secret(link: &Dialer, tally: &Tally) -> Result<(String, IdKey), Unready> {
    let mut drawn = [0; 16];
    getrandom(&mut drawn, GetRandomFlags::empty())
        .map_err(|error| Unready::Unavailable(error.to_string()))?;
    let ours = format!("{:032x}", u128::from_be_bytes(drawn));
    let secret = match prepare(link, tally, &ours).await? {
        Prepared::Secret(secret) => secret,
        Prepared::Newer(found) => {
            let known = SCHEMA;
            return Err(Unready::Newer { found, known });
        }
    };
    let number = u128::from_str_radix(&secret, 16)
        .map_err(|_text| Unready::Unusable("its secret is not a hexadecimal number".to_owned()))?;
    Ok((secret, IdKey::new(number.to_be_bytes())))
}

/// What was found when the functions were loaded.
enum Prepared {
    Secret(String),
    Newer(u32),
}

/// Loads the functions, unless the keys are of a later version. The first secret that is proposed is
/// kept.
async fn prepare(link: &Dialer, tally: &Tally, proposed: &str) -> Result<Prepared, CallFailure> {
    let schema = format!("{BASE}schema");
    link.ask::<()>(tally, cmd("SETNX").arg(&schema).arg(SCHEMA))
        .await?;
    let found: u32 = link.ask(tally, cmd("GET").arg(&schema)).await?;
    if found > SCHEMA {
        return Ok(Prepared::Newer(found));
    }
    let mut load = cmd("FUNCTION");
    load.arg("LOAD").arg("REPLACE").arg(FUNCTIONS);
    link.ask::<()>(tally, &load).await?;
    let secret = format!("{BASE}id_key");
    link.ask::<()>(tally, cmd("SETNX").arg(&secret).arg(proposed))
        .await?;
    let kept = link.ask(tally, cmd("GET").arg(&secret)).await?;
    Ok(Prepared::Secret(kept))
}

fn unknown(reason: &str) -> Failure {
    Failure::Unknown {
        reason: reason.to_owned(),
    }
}

fn too_few() -> Failure {
    Failure::Broken {
        reason: "there are fewer answers than commands".to_owned(),
    }
}

fn arrival_of(request: &Request) -> Option<Night> {
    match request.command::<Rooms>() {
        Ok(Command::Book { stay, .. } | Command::Hold { stay, .. }) => Some(stay.arrival()),
        _ => None,
    }
}

impl Backend<Rooms> for Redis {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply, Failure>>> {
        Box::pin(self.decide(now, requests))
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        _principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Answered<Rooms>> {
        Box::pin(async move {
            match query {
                Query::LookUp { reference } => {
                    let mut call = order::call("turnstile_rooms_look_up", now);
                    call.arg(reference.number());
                    answer::entry(*reference, self.call(&call).await?)
                }
                Query::Availability {
                    property,
                    room_type,
                    stay,
                } => {
                    let mut call = order::call("turnstile_rooms_availability", now);
                    call.arg(property.as_bytes());
                    call.arg(room_type.as_ref().map_or(&b""[..], |name| name.as_bytes()));
                    call.arg(stay.arrival().days()).arg(stay.departure().days());
                    answer::availability(self.call(&call).await?, *room_type, *stay)
                }
                Query::Totals => self.totals(now).await,
                other => Err(Failure::Unsupported {
                    operation: other.code(),
                }),
            }
        })
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        Box::pin(async move { self.totals(now).await.map(drop) })
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        Box::pin(async move { Ok(facts::ask(&self.link, &self.tally, &self.place, SCHEMA).await?) })
    }

    fn unsupported(&self) -> &'static [&'static str] {
        &[
            "withdraw_room",
            "stop_sell",
            "resume_sell",
            "list_bookings",
            "list_guest_bookings",
            "list_holds",
            "explain",
            "list_properties",
            "list_rooms",
            "list_stop_sells",
        ]
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Redis {
    async fn totals(&self, now: Timestamp) -> Result<Answer, Failure> {
        let call = order::call("turnstile_rooms_totals", now);
        answer::totals(self.call(&call).await?)
    }
}
