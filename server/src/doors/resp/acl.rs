//! `ACL`: who the caller is, and who there is. `ACCESS` commands change that.

use std::fmt::Write as _;

use turnstile_access::{Access, Answer, Cursor, GrantEntry, PrincipalEntry, Query};
use turnstile_resp::{Arguments, Encoder, catalogue::Verb};
use turnstile_types::{Machine as _, Name};

use crate::core::engine::Engine;

/// Principals that are asked for at once.
const PAGE: u16 = 1_000;

/// `ACL WHOAMI`, `ACL USERS` and `ACL LIST`.
pub(super) fn put(engine: &Engine, verb: Verb, reply: &mut Encoder<'_>) {
    if verb == Verb::AclWhoAmI {
        return reply.text(&engine.caller.principal.0);
    }
    let entries = principals(engine);
    reply.array(entries.len());
    for entry in entries {
        if verb == Verb::AclUsers {
            reply.text(&entry.principal.0);
        } else {
            let state = state(&entry);
            let roles = roles(&entry.grants);
            reply.shown(format_args!("user {} {state} {roles}", entry.principal));
        }
    }
}

/// `ACL GETUSER`: a principal in the words that Redis tools read. Its roles stand where Redis has the
/// commands of a user; nobody is shown digests of keys, only how many there are.
pub(super) fn put_user(engine: &Engine, arguments: Arguments<'_, '_>, reply: &mut Encoder<'_>) {
    let Ok(name) = Name::parse(arguments.get(2).unwrap_or_default()) else {
        return reply.null();
    };
    let query = Query::GetPrincipal { principal: name };
    let Answer::Principal(entry) = ask(engine, &query) else {
        return reply.null();
    };
    reply.map(5);
    reply.text("flags");
    reply.array(1);
    reply.text(state(&entry));
    reply.text("passwords");
    reply.array(1);
    reply.shown(format_args!("{} live keys", entry.keys));
    reply.text("commands");
    reply.text(&roles(&entry.grants));
    reply.text("keys");
    reply.text("");
    reply.text("channels");
    reply.text("");
}

fn ask(engine: &Engine, query: &Query) -> Answer {
    let (access, principal): (&Access, _) = (engine.access(), &engine.caller.principal);
    access.query(engine.now(), principal, query)
}

fn principals(engine: &Engine) -> Vec<PrincipalEntry> {
    let mut all = Vec::new();
    let mut cursor: Option<Cursor> = None;
    while let Answer::Principals { principals, next } = ask(
        engine,
        &Query::Principals {
            cursor,
            limit: PAGE,
        },
    ) {
        all.extend(principals);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    all
}

/// Whether a principal has a key to come in with.
const fn state(entry: &PrincipalEntry) -> &'static str {
    if entry.keys == 0 { "off" } else { "on" }
}

/// The roles, and behind each the names that it is limited to.
fn roles(grants: &[GrantEntry]) -> String {
    let mut text = String::new();
    for grant in grants {
        let space = if text.is_empty() { "" } else { " " };
        let names: Vec<_> = grant.only.iter().map(ToString::to_string).collect();
        let only = names.join(",");
        write!(text, "{space}{}:{only}", grant.role.code())
            .expect("writing to memory does not fail");
    }
    text
}
