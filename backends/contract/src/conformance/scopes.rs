//! What callers with limited rights may name: rights to draw from, and a race against a guess.

use std::sync::Arc;

use futures_util::future::join;
use turnstile_access::{
    Access, AccessRole, Command as Administration, GrantedNames, NamePattern, Rights,
};
use turnstile_chassis::{Needed, Needs as _};
use turnstile_rooms::{Command, Done, Outcome, Reference, Rooms, Wish, limits};
use turnstile_seed::Random;
use turnstile_types::{Context, Machine as _, Position, Principal};

use super::{BEGINNING, Stand, history::CheckedHistory, rooms};
use crate::{Backend, Request, Scope};

/// Roles, and the names for which they are granted.
pub(super) type Grants = &'static [(AccessRole, &'static str)];

/// What a caller may have been granted.
pub(super) const GRANTS: [Grants; 6] = [
    &[(AccessRole::RoomsUser, "*")],
    &[(AccessRole::RoomsUser, "grand")],
    &[(AccessRole::RoomsUser, "gran* elsewhere")],
    &[(AccessRole::RoomsManager, "open*")],
    &[
        (AccessRole::RoomsUser, "*"),
        (AccessRole::RoomsManager, "grand"),
    ],
    &[
        (AccessRole::RoomsUser, "open-house"),
        (AccessRole::RoomsManager, "grand granderes*"),
    ],
];

/// References that are guessed at once, and how often while one hold is made.
const GUESSES: u64 = 3;
const TRIES: u32 = 6;

/// The rights of these grants, as the machine compiles them.
pub(super) fn rights(grants: Grants) -> Arc<Rights> {
    let mut access = Access::empty();
    let principal = Principal(rooms::name("caller"));
    let context = Context {
        position: Position(1),
        now: BEGINNING,
        principal: &Principal::local(),
    };
    let added = Administration::AddPrincipal {
        principal: principal.0,
    };
    access.apply(&context, &added);
    for (role, only) in grants {
        let patterns = only
            .split(' ')
            .map(|one| NamePattern::parse(one.as_bytes()));
        let patterns: Result<Vec<_>, _> = patterns.collect();
        let only = GrantedNames::try_from(patterns.expect("patterns of the suite"));
        let granted = Administration::Grant {
            principal: principal.0,
            role: *role,
            only: only.expect("names of the suite"),
        };
        access.apply(&context, &granted);
    }
    access.rights_of(&principal).expect("it was added")
}

/// What a caller with one of these grants may name in a request that needs this; everything, if it may
/// not ask at all.
pub(super) fn draw(
    random: &mut Random,
    grants: &[Grants],
    (service, needed): (u8, Needed),
) -> Scope {
    let rights = rights(random.pick(grants));
    Scope::of(&rights, service, needed).unwrap_or(Scope::EVERYTHING)
}

/// While one user makes holds, another releases the references that come next. What it guesses is
/// not there, or not its own: it never releases anything, and the holder always does.
///
/// # Errors
/// It is not so.
pub async fn check_guesses(stand: &impl Stand, rounds: u32) -> Result<(), String> {
    let first = stand.fresh().await;
    let second = stand.another().await;
    CheckedHistory::new(&first).furnish().await?;
    let [holder, guesser] = ["holder", "guesser"].map(|text| Principal(rooms::name(text)));
    let mut next = 0;
    for round in 0..rounds {
        let hold = Command::Hold {
            property: rooms::name("open-house"),
            wish: Wish::Room(rooms::name(&format!("g{round}"))),
            stay: rooms::stay(&mut Random::new(round.into())),
            ttl_ms: limits::HOLD_TTL_MS_MAX,
        };
        let hold = [Request::new::<Rooms>(holder, None, &hold)];
        let guesses = (next..next + GUESSES).map(Reference::of_number);
        let guesses: Vec<Request> = guesses.map(|guess| release(guesser, guess)).collect();
        let guessing = async {
            let mut guessed = Vec::new();
            for _ in 0..TRIES {
                guessed.extend(second.execute(BEGINNING, &guesses).await);
            }
            guessed
        };
        let (held, guessed) = join(first.execute(BEGINNING, &hold), guessing).await;
        for result in guessed {
            if matches!(&result, Ok(reply) if matches!(reply.outcome, Outcome::Done(_))) {
                return Err(format!("a guess released what another holds: {result:?}"));
            }
        }
        let Some(Ok(Outcome::Done(Done::Held { reference, .. }))) = held
            .first()
            .map(|held| held.as_ref().map(|reply| &reply.outcome))
        else {
            return Err(format!("not held: {held:?}"));
        };
        let released = first
            .execute(BEGINNING, &[release(holder, *reference)])
            .await;
        if !matches!(&released[..], [Ok(reply)] if reply.outcome == Outcome::Done(Done::Released)) {
            return Err(format!("not released by its holder: {released:?}"));
        }
        next = reference.number() + 1;
    }
    Ok(())
}

/// A user, who manages nothing, gives a hold back.
fn release(principal: Principal, hold: Reference) -> Request {
    let [user, ..] = GRANTS;
    let command = Command::Release { hold };
    let scope = Scope::of(&rights(user), Rooms::SERVICE, command.needed());
    let request = Request::new::<Rooms>(principal, None, &command);
    request.within(scope.expect("a user may release what it holds"))
}
