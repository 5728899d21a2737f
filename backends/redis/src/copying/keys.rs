//! Idempotency keys and their first answers: hashes in Redis, and items of a copy.

use redis::{Pipeline, pipe};
use turnstile_contract::copy::{CopiedKey, Halt, KeyTeller, Refusal};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Name, Position, Principal, Timestamp};

use super::{
    ServerRoute, scan,
    telling::{PAGE, Telling},
};
use crate::{
    answer::{ARRIVAL, AnswerFields, StrangeAnswer, outcome},
    link::CallFailure,
    names::key,
    order,
};

/// What the names of all begin with; then come the principal, a slash, and the key.
const PREFIX: &str = "key/";

/// When something was decided, its position, and the principal and key.
type KeyOrigin = (Timestamp, Position, String);

/// How many keys lie here, those that are forgotten and not gone yet with them.
pub(super) async fn count(way: ServerRoute<'_>) -> Result<u64, CallFailure> {
    let mut count = 0;
    let counted = scan(way, PREFIX, async |names: Vec<String>| {
        count += names.len() as u64;
        Ok::<_, CallFailure>(())
    });
    counted.await?;
    Ok(count)
}

/// Writes what is remembered under keys, where nothing is yet.
pub(super) async fn take(
    (link, tally): ServerRoute<'_>,
    keys: &[CopiedKey],
) -> Result<(), CallFailure> {
    if keys.is_empty() {
        return Ok(());
    }
    // Nothing of it depends on the instant of the call.
    let mut call = order::call("turnstile_rooms_remember", Timestamp(0));
    for known in keys {
        call.arg(name_of(&known.principal, known.key().as_str()))
            .arg(known.at.0)
            .arg(order::content(known.content))
            .arg(known.position.0)
            .arg(known.outcome_bytes());
    }
    let taken: usize = link.ask(tally, &call).await?;
    if taken == keys.len() {
        return Ok(());
    }
    let reason = "a key of the state would be there twice";
    Err(CallFailure::Broken(reason.to_owned()))
}

fn name_of(principal: &Principal, key: &str) -> String {
    format!("{}/{key}", principal.0.as_str())
}

impl Telling<'_> {
    /// Tells the keys that are remembered, in their order: Redis knows none, so their names are gathered
    /// first, about a hundred bytes for each.
    pub(super) async fn tell_keys(&self, teller: &mut KeyTeller) -> Result<(), Halt> {
        for page in self.decided().await?.chunks(PAGE) {
            let mut call = order::call("turnstile_rooms_remembered", self.now);
            for (_, _, name) in page {
                call.arg(name);
            }
            let answers: Vec<Vec<Vec<u8>>> = self.ask(&call).await?;
            for (decided, answer) in page.iter().zip(answers) {
                teller.put(remembered(decided, answer)?).await?;
            }
        }
        Ok(())
    }

    async fn decided(&self) -> Result<Vec<KeyOrigin>, Halt> {
        let mut decided: Vec<KeyOrigin> = Vec::new();
        let way = (self.link, self.tally);
        let gathered = scan(way, PREFIX, async |names: Vec<String>| {
            let mut calls: Pipeline = pipe();
            for name in &names {
                let hash = key(&format!("{PREFIX}{name}"));
                calls.cmd("HMGET").arg(hash).arg("at").arg("position");
            }
            let found: Vec<[Option<u64>; 2]> = self.link.ask_all(self.tally, &calls).await?;
            for (name, found) in names.into_iter().zip(found) {
                // One that is gone since it was found was forgotten.
                let [Some(at), Some(position)] = found else {
                    continue;
                };
                if self.now.ms_since(Timestamp(at)) < KEY_MS {
                    decided.push((Timestamp(at), Position(position), name));
                }
            }
            Ok::<_, CallFailure>(())
        });
        gathered.await?;
        decided.sort_unstable();
        // A scan may show what it has shown before.
        decided.dedup();
        Ok(decided)
    }
}

/// What travels of an answer to `turnstile_rooms_remembered`.
fn remembered((at, position, name): &KeyOrigin, answer: Vec<Vec<u8>>) -> Result<CopiedKey, Halt> {
    let (principal, key) = name.split_once('/').ok_or(StrangeAnswer("name of a key"))?;
    let principal =
        Name::parse(principal.as_bytes()).map_err(|_text| StrangeAnswer("principal"))?;
    let principal = Principal(principal);
    let mut fields = AnswerFields::of(answer);
    let content = fields.text("content")?;
    // Earlier versions have kept twice as many digits; no command has the half of them.
    let half = content.len().saturating_sub(16);
    let content = content.get(half..).unwrap_or_default();
    let content = u64::from_str_radix(content, 16).map_err(|_text| StrangeAnswer("content"))?;
    let outcome = match outcome(&mut fields, None) {
        Err(ARRIVAL) => {
            return Err(Halt::from(Refusal::EarlierKey {
                principal,
                key: key.into(),
                forgotten: at.plus_ms(KEY_MS),
            }));
        }
        outcome => outcome?,
    };
    let known = CopiedKey::new((principal, key), content, (*at, *position), outcome);
    Ok(known.map_err(|_malformed| StrangeAnswer("name of a key"))?)
}
