//! The catalogue, told to a client: `COMMAND` and its subcommands.

use std::fmt;

use turnstile_chassis::Right;

use super::{Action, Argument, COMMANDS, Catalogue, Kind, Syntax, Unknown, find_subcommand};
use crate::{Arguments, Call, Encoder};

/// `COMMAND COUNT`.
pub fn count(reply: &mut Encoder<'_>) {
    reply.integer(u64::try_from(COMMANDS.len()).expect("a few dozen"));
}

/// `COMMAND LIST`.
pub fn list(reply: &mut Encoder<'_>) {
    reply.array(COMMANDS.len());
    for syntax in COMMANDS.iter() {
        reply.text(syntax.name);
    }
}

/// `COMMAND`: everything about every command.
pub fn every(reply: &mut Encoder<'_>) {
    reply.array(COMMANDS.len());
    for syntax in COMMANDS.iter() {
        put_info(reply, syntax);
    }
}

/// `COMMAND INFO name...`; an unknown name answers nothing in its place.
pub fn info<'a>(
    reply: &mut Encoder<'_>,
    catalogue: &Catalogue,
    names: impl Iterator<Item = &'a [u8]>,
) {
    let names = match bounded(names) {
        Ok(names) => names,
        Err(too_many) => return reply.error(format_args!("ERR {too_many}")),
    };
    if names.is_empty() {
        return every(reply);
    }
    reply.array(names.len());
    for name in names {
        match named(catalogue, name) {
            Some(syntax) => put_info(reply, syntax),
            None => reply.null_array(),
        }
    }
}

/// `COMMAND DOCS name...`; without names, of every command; unknown and repeated names are left out.
pub fn docs<'a>(
    reply: &mut Encoder<'_>,
    catalogue: &Catalogue,
    names: impl Iterator<Item = &'a [u8]>,
) {
    let names = match bounded(names) {
        Ok(names) => names,
        Err(too_many) => return reply.error(format_args!("ERR {too_many}")),
    };
    let mut known: Vec<&Syntax> = Vec::new();
    if names.is_empty() {
        known.extend(COMMANDS.iter());
    }
    for syntax in names.iter().filter_map(|name| named(catalogue, name)) {
        if known.iter().all(|told| told.name != syntax.name) {
            known.push(syntax);
        }
    }
    put_docs(reply, &known);
}

/// A request names more commands than there are.
struct TooManyNames {
    most: usize,
}

impl fmt::Display for TooManyNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} names: there are no more commands", self.most)
    }
}

/// The names of a request: no more than there are commands and subcommands, because a name is short and
/// what is told about it is long.
fn bounded<'a>(names: impl Iterator<Item = &'a [u8]>) -> Result<Vec<&'a [u8]>, TooManyNames> {
    let most = COMMANDS.iter().map(|one| 1 + one.subcommands.len()).sum();
    let names: Vec<_> = names.take(most + 1).collect();
    if names.len() > most {
        return Err(TooManyNames { most });
    }
    Ok(names)
}

/// Why `COMMAND GETKEYS` answers no keys for this request: no command has any, if it is one at all.
#[must_use]
pub fn keyless(catalogue: &Catalogue, request: &Arguments<'_, '_>) -> &'static str {
    match catalogue.resolve(request) {
        Ok(_) => "The command has no key arguments",
        Err(Unknown::Arity(_)) => "Invalid number of arguments specified for command",
        Err(Unknown::Command(_) | Unknown::Subcommand { .. }) => "Invalid command specified",
    }
}

/// A command, or `container|subcommand`.
fn named(catalogue: &Catalogue, name: &[u8]) -> Option<&'static Syntax> {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let syntax = catalogue.find(parts.next()?)?;
    match parts.next() {
        None => Some(syntax),
        Some(subcommand) => find_subcommand(syntax, subcommand),
    }
}

fn put_info(reply: &mut Encoder<'_>, syntax: &Syntax) {
    reply.array(10);
    reply.text(syntax.name);
    reply.signed(syntax.arity());
    reply.set(syntax.flags.len());
    for flag in syntax.flags {
        reply.simple(flag);
    }
    // No argument is a key of a key-value store: first, last, step.
    for _ in 0..3 {
        reply.integer(0);
    }
    let call = syntax.action.and_then(Action::call);
    let is_managed = call.is_some_and(|call| call.operation().needed.right == Right::Manage);
    reply.set(1 + usize::from(is_managed));
    reply.simple(match call {
        Some(call) if call.is_read() => "@read",
        Some(_) => "@write",
        None => "@connection",
    });
    if is_managed {
        reply.simple("@manage");
    }
    reply.array(0);
    reply.array(0);
    reply.array(syntax.subcommands.len());
    for subcommand in syntax.subcommands {
        put_info(reply, subcommand);
    }
}

fn put_docs(reply: &mut Encoder<'_>, commands: &[&Syntax]) {
    reply.map(commands.len());
    for syntax in commands {
        reply.text(syntax.name);
        let has_arguments = !syntax.arguments.is_empty();
        let has_subcommands = !syntax.subcommands.is_empty();
        reply.map(3 + usize::from(has_arguments) + usize::from(has_subcommands));
        reply.text("summary");
        reply.shown(CommandSummary(syntax));
        for (name, fact) in [
            ("since", env!("CARGO_PKG_VERSION")),
            ("group", syntax.group),
        ] {
            reply.text(name);
            reply.text(fact);
        }
        if has_arguments {
            reply.text("arguments");
            put_arguments(reply, syntax.arguments);
        }
        if has_subcommands {
            reply.text("subcommands");
            put_docs(reply, &syntax.subcommands.iter().collect::<Vec<_>>());
        }
    }
}

/// What a command is for, and what stands where in its answer: redis-cli shows nothing else of it.
struct CommandSummary<'a>(&'a Syntax);

impl fmt::Display for CommandSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.summary)?;
        let Some(fields) = self.0.action.and_then(Action::call).and_then(Call::answer) else {
            return Ok(());
        };
        f.write_str(". RESP2 answers 1 ")?;
        for field in fields {
            write!(f, "{} ", field.name)?;
        }
        f.write_str("position, or 0 reason ...")
    }
}

fn put_arguments(reply: &mut Encoder<'_>, arguments: &[Argument]) {
    reply.array(arguments.len());
    for argument in arguments {
        put_argument(reply, argument);
    }
}

fn put_argument(reply: &mut Encoder<'_>, argument: &Argument) {
    let (kind, parts): (_, &[Argument]) = match argument.kind {
        Kind::Text => ("string", &[]),
        Kind::Integer => ("integer", &[]),
        Kind::Token => ("pure-token", &[]),
        Kind::OneOf(parts) => ("oneof", parts),
        Kind::Block(parts) => ("block", parts),
    };
    let flags: Vec<_> = [
        (argument.optional, "optional"),
        (argument.multiple, "multiple"),
    ]
    .into_iter()
    .filter_map(|(applies, flag)| applies.then_some(flag))
    .collect();
    let extras = [
        argument.token.is_some(),
        !flags.is_empty(),
        !parts.is_empty(),
    ];
    reply.map(3 + extras.into_iter().map(usize::from).sum::<usize>());
    for (field, value) in [
        ("name", argument.name),
        ("display_text", argument.name),
        ("type", kind),
    ] {
        reply.text(field);
        reply.text(value);
    }
    if let Some(token) = argument.token {
        reply.text("token");
        reply.text(token);
    }
    if !flags.is_empty() {
        reply.text("flags");
        reply.array(flags.len());
        for flag in flags {
            reply.simple(flag);
        }
    }
    if !parts.is_empty() {
        reply.text("arguments");
        put_arguments(reply, parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_stands_where() {
        let summary = |name: &str| {
            let found = COMMANDS.iter().find(|syntax| syntax.name == name);
            CommandSummary(found.expect(name)).to_string()
        };
        let rows = [
            (
                "rooms.book",
                "Books a room for every night of a stay, or for none. RESP2 answers \
                 1 reference room position, or 0 reason ...",
            ),
            ("rooms.look-up", "Shows one booking or hold"),
            (
                "exchange.deposit",
                "Puts cash into an account. RESP2 answers 1 cash position, or 0 reason ...",
            ),
            (
                "games.resign",
                "Gives up. RESP2 answers 1 match ply seq last to_move ending winner position, \
                 or 0 reason ...",
            ),
            (
                "travel.commit",
                "Commits a transaction. RESP2 answers 1 position, or 0 reason ...",
            ),
        ];
        for (name, expected) in rows {
            assert_eq!(summary(name), expected);
        }
    }
}
