//! The words of a script, and how answers are written.

use std::fmt::Write as _;

use turnstile_access::{
    Access, AccessQuota, Answer, Command, Cursor, Done, Event, GrantEntry, KeyEntry, KeyState,
    Outcome, PrincipalEntry, Query, Refusal,
};
use turnstile_trial::{Stage, Words, ms};
use turnstile_types::Timestamp;

use crate::scenery::{add_key, add_principal, grant, key, key_id, name, revoke, role, subject};

pub(crate) const WORDS: Words<Access> = Words { apply, ask, event };

fn apply(stage: &mut Stage<Access>, words: &[&str]) -> String {
    let soon = |time: &str| stage.now + ms(time);
    let command = match *words {
        ["principal", principal] => add_principal(principal),
        ["remove", principal] => Command::RemovePrincipal {
            principal: name(principal),
        },
        ["grant", principal, granted, names] => grant(principal, granted, names),
        ["withdraw", principal, granted] => Command::WithdrawGrant {
            principal: name(principal),
            role: role(granted),
        },
        ["key", principal, id] => add_key(principal, id, None),
        ["key", principal, id, time] => add_key(principal, id, Some(soon(time))),
        ["expire", id, time] => Command::ExpireKey {
            key: key_id(id),
            at: Timestamp(soon(time)),
        },
        ["revoke", id] => revoke(id),
        ["used", id] => Command::NoteUse { key: key_id(id) },
        ["quota", "*", ref rest @ ..] => Command::SetDefaultQuota { quota: quota(rest) },
        ["quota", principal, ref rest @ ..] => Command::SetQuota {
            principal: name(principal),
            quota: quota(rest),
        },
        ["certificate", principal, shown] => Command::AddCertificate {
            principal: name(principal),
            subject: subject(shown),
        },
        ["uncertify", shown] => Command::RemoveCertificate {
            subject: subject(shown),
        },
        _ => panic!("no such command: {words:?}"),
    };
    match stage.apply(&command) {
        Outcome::Done(done) => done_line(done),
        Outcome::Refused(refusal) => refusal_line(refusal),
    }
}

fn quota(words: &[&str]) -> AccessQuota {
    let mut quota = AccessQuota::NONE;
    for word in words {
        let (what, number) = word.split_once('=').unwrap();
        let number = Some(number.parse().unwrap());
        match what {
            "rate" => quota.requests_per_second = number,
            "connections" => quota.connections = number,
            "holds" => quota.open_holds = number,
            other => panic!("no such quota: {other}"),
        }
    }
    quota
}

fn event(event: &Event) -> String {
    let words = [
        Some(format!("{}.{}", event.position, event.ordinal)),
        Some(event.kind.code().into()),
        event.principal.map(|principal| principal.to_string()),
        event.role.map(|role| role.code().into()),
        event.key.map(|key| key.to_string()),
        event.subject.as_ref().map(ToString::to_string),
        event.by.map(|by| format!("by {by}")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    format!("{}\n", words.join(" "))
}

fn ask(stage: &Stage<Access>, verb: &str, words: &[&str]) -> String {
    let cursor = |text: &str| (text != "-").then(|| Cursor(text.parse().unwrap()));
    let query = match (verb, words) {
        ("login", [id]) => {
            return match stage.machine.authenticate(Timestamp(stage.now), &key(id)) {
                Ok(found) => format!("{} with {}\n", found.principal, found.key),
                Err(refused) => format!("{refused}\n"),
            };
        }
        ("who", []) => Query::WhoAmI,
        ("show", [principal]) => Query::GetPrincipal {
            principal: name(principal),
        },
        ("principals", [from, limit]) => Query::Principals {
            cursor: cursor(from),
            limit: limit.parse().unwrap(),
        },
        ("keys", [principal, from, limit]) => Query::Keys {
            principal: (*principal != "*").then(|| name(principal)),
            cursor: cursor(from),
            limit: limit.parse().unwrap(),
        },
        ("quota", []) => Query::DefaultQuota,
        ("totals", []) => Query::Totals,
        _ => panic!("no such question: {verb} {words:?}"),
    };
    answer_lines(&stage.query(&query))
}

fn done_line(done: Done) -> String {
    match done {
        Done::PrincipalAdded => "principal added\n".into(),
        Done::PrincipalRemoved { keys } => format!("principal removed, {keys} keys ended\n"),
        Done::Granted => "granted\n".into(),
        Done::GrantWithdrawn => "grant withdrawn\n".into(),
        Done::KeyAdded => "key added\n".into(),
        Done::KeyExpires { expires } => format!("key expires {expires}\n"),
        Done::KeyExpired => "key expired\n".into(),
        Done::KeyRevoked => "key revoked\n".into(),
        Done::QuotaSet => "quota set\n".into(),
        Done::CertificateAdded => "certificate added\n".into(),
        Done::CertificateRemoved => "certificate removed\n".into(),
        Done::UseNoted => "use noted\n".into(),
    }
}

fn refusal_line(refusal: Refusal) -> String {
    format!("refused {}\n", refusal.code())
}

fn answer_lines(answer: &Answer) -> String {
    let mut lines = String::new();
    match answer {
        Answer::Caller {
            principal,
            guarded,
            grants,
        } => {
            let guarded = if *guarded { "guarded" } else { "open to all" };
            writeln!(lines, "{principal} {guarded}{}", grant_words(grants)).unwrap();
        }
        Answer::Principal(entry) => lines.push_str(&principal_line(entry)),
        Answer::Principals { principals, next } => {
            principals
                .iter()
                .for_each(|entry| lines.push_str(&principal_line(entry)));
            lines.push_str(&next_line(*next));
        }
        Answer::Keys { keys, next } => {
            keys.iter()
                .for_each(|entry| lines.push_str(&key_line(entry)));
            lines.push_str(&next_line(*next));
        }
        Answer::Quota(quota) => writeln!(lines, "{}", quota_words(*quota)).unwrap(),
        Answer::Totals(totals) => writeln!(lines, "{totals:?}").unwrap(),
        Answer::Refused(refusal) => lines.push_str(&refusal_line(*refusal)),
    }
    lines
}

fn next_line(next: Option<Cursor>) -> String {
    next.map_or_else(|| "end\n".into(), |Cursor(next)| format!("next {next}\n"))
}

fn grant_words(grants: &[GrantEntry]) -> String {
    let each = grants.iter().map(|grant| {
        let only: Vec<String> = grant.only.iter().map(ToString::to_string).collect();
        format!(" {}({})", grant.role.code(), only.join(","))
    });
    each.collect()
}

fn quota_words(quota: AccessQuota) -> String {
    let each = [
        ("rate", quota.requests_per_second),
        ("connections", quota.connections),
        ("holds", quota.open_holds),
    ];
    let set = each
        .into_iter()
        .filter_map(|(what, number)| Some(format!(" {what}={}", number?)));
    format!("quota{}", set.collect::<String>())
}

fn principal_line(entry: &PrincipalEntry) -> String {
    let certificates: Vec<&str> = entry.certificates.iter().map(|one| one.as_str()).collect();
    format!(
        "{}{} keys {} certificates [{}] {} since {} at {}\n",
        entry.principal,
        grant_words(&entry.grants),
        entry.keys,
        certificates.join(","),
        quota_words(entry.quota),
        entry.since,
        entry.position
    )
}

fn key_line(entry: &KeyEntry) -> String {
    let state = match entry.state {
        KeyState::Live { expires: None } => "live".into(),
        KeyState::Live {
            expires: Some(expires),
        } => format!("live until {expires}"),
        KeyState::Expired { ended } => format!("expired {ended}"),
        KeyState::Revoked { ended } => format!("revoked {ended}"),
    };
    let used = entry.last_used.map(|used| format!(" used {used}"));
    let used = used.unwrap_or_default();
    format!(
        "{} of {} {state} since {}{used}\n",
        entry.key, entry.principal, entry.since
    )
}
