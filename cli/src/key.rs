//! `turnstile key`: the keys of principals, of a server that runs or in a directory that none uses.

use std::{path::PathBuf, str::FromStr, time::Duration};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde_json::Value as Json;
use turnstile_types::Timestamp;

use crate::{
    access::{AccessDoor, AccessPlace, now},
    exit::Coded,
    new_key::{self, KeyWish},
    principal::{self, GrantWish, shown},
    terminal::{self, Table},
};

#[derive(Args, Debug)]
pub(crate) struct KeyArguments {
    #[command(flatten)]
    place: AccessPlace,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a key of a principal
    ///
    /// The key is made here and shown once; the server learns its digest only. With --role, a
    /// principal that is not there is added, and the roles are granted to it.
    Create(CreateArguments),
    /// List keys: those that are live, and those that ended in the last 30 days
    List(ListKeysArguments),
    /// Make a key in the place of another, which ends later
    Rotate(RotateArguments),
    /// End a key now; open connections that use it are closed
    Revoke(RevokeArguments),
}

#[derive(Args, Debug)]
struct CreateArguments {
    /// Principal that the key is of
    principal: String,
    /// Name of the key, such as the program that uses it
    #[arg(long)]
    name: Option<String>,
    /// Role to grant first, repeatable
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// Names, or beginnings of names such as acme:*, that the roles are for [default: all]
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        requires = "roles"
    )]
    only: Vec<String>,
    /// The key ends after this time: 12h, 90d
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires_in: Option<Duration>,
    #[command(flatten)]
    handout: Handout,
}

/// Where a new key goes, and how it looks.
#[derive(Args, Debug)]
struct Handout {
    /// Write the key to this new file of mode 600 instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Environment that the key names: 1 to 16 small letters or digits
    #[arg(long, value_name = "NAME", default_value = "live")]
    env: String,
}

#[derive(Args, Debug)]
struct ListKeysArguments {
    /// List only the keys of this principal
    #[arg(long)]
    principal: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct RotateArguments {
    /// Key to replace, by its id: the third part of its text
    id: String,
    /// The old key ends after this time, unless it ends before by itself: 30m, 12h, 1d
    #[arg(long, value_name = "TIME", value_parser = lifetime, default_value = "1d")]
    overlap: Duration,
    /// The new key ends after this time: 12h, 90d [default: as long as the old one was made for]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires_in: Option<Duration>,
    #[command(flatten)]
    handout: Handout,
}

#[derive(Args, Debug)]
struct RevokeArguments {
    /// Key to end, by its id: the third part of its text
    id: String,
}

pub(crate) fn run(arguments: &KeyArguments) -> anyhow::Result<()> {
    let mut door = arguments.place.open()?;
    match &arguments.command {
        Command::Create(arguments) => create(&mut door, arguments),
        Command::List(arguments) => list(&mut door, arguments),
        Command::Rotate(arguments) => rotate(&mut door, arguments),
        Command::Revoke(arguments) => revoke(&mut door, &arguments.id),
    }?;
    door.close()
}

fn create(door: &mut AccessDoor, arguments: &CreateArguments) -> anyhow::Result<()> {
    let principal = &*arguments.principal;
    if !arguments.roles.is_empty() {
        principal::make(door, principal)?;
    }
    for role in &arguments.roles {
        let wish = GrantWish {
            principal,
            role,
            only: &arguments.only,
        };
        principal::give(door, &wish)?;
    }
    let expires = arguments.expires_in.map(from_now).transpose()?;
    arguments
        .handout
        .add(door, principal, arguments.name.as_deref(), expires)
}

impl Handout {
    fn add(
        &self,
        door: &mut AccessDoor,
        principal: &str,
        name: Option<&str>,
        expires: Option<Timestamp>,
    ) -> anyhow::Result<()> {
        let expires = expires.map(|instant| instant.to_string());
        let wish = KeyWish {
            principal,
            name,
            expires: expires.as_deref(),
            environment: &self.env,
            file: self.output.as_deref(),
        };
        new_key::add(door, &wish)
    }
}

fn list(door: &mut AccessDoor, arguments: &ListKeysArguments) -> anyhow::Result<()> {
    let principal = arguments.principal.as_deref();
    let fields: Vec<(&str, &str)> = principal
        .map(|name| ("principal", name))
        .into_iter()
        .collect();
    let keys = door.list("list_keys", "keys", &fields)?;
    if arguments.json {
        return Ok(terminal::line(Json::Array(keys))?);
    }
    if keys.is_empty() {
        terminal::note("none");
        return Ok(());
    }
    let mut table = Table::default();
    for key in &keys {
        table.row(shown(&key["id"]), described(key));
    }
    Ok(table.print()?)
}

/// A key in one line, its id left out.
fn described(key: &Json) -> String {
    let mut line = format!("{} of {}", shown(&key["state"]), shown(&key["principal"]));
    for (label, field) in [
        ("", "name"),
        ("since ", "since"),
        ("expires ", "expires"),
        ("ended ", "ended"),
        ("last used ", "last_used"),
    ] {
        if !key[field].is_null() {
            line += &format!(", {label}{}", shown(&key[field]));
        }
    }
    line
}

fn rotate(door: &mut AccessDoor, arguments: &RotateArguments) -> anyhow::Result<()> {
    let id = &*arguments.id;
    let keys = door.list("list_keys", "keys", &[])?;
    let old = keys.iter().find(|key| key["id"] == id);
    let old = old.ok_or_else(|| anyhow!("there is no key {id}"))?;
    if old["state"] != "live" {
        return Err(anyhow!(
            "the key {id} has ended: `turnstile key create` makes another"
        ));
    }
    let (principal, name) = (shown(&old["principal"]), shown(&old["name"]));
    let ends = instant(&old["expires"]);
    let made_for = ends
        .zip(instant(&old["since"]))
        .map(|(ends, since)| Duration::from_millis(ends.0.saturating_sub(since.0)));
    let expires = arguments
        .expires_in
        .or(made_for)
        .map(from_now)
        .transpose()?;
    let name = Some(&*name).filter(|name| !name.is_empty());
    arguments.handout.add(door, &principal, name, expires)?;
    if let Some(at) = expires {
        terminal::note(format_args!("the new key ends at {at}"));
    }
    if arguments.overlap.is_zero() {
        return revoke(door, id);
    }
    let later = from_now(arguments.overlap)?;
    let at = match ends {
        Some(ends) if ends <= later => ends,
        _ => {
            door.done("expire_key", &[("id", id), ("at", &later.to_string())])?;
            later
        }
    };
    terminal::note(format_args!("the key {id} ends at {at}"));
    Ok(())
}

fn revoke(door: &mut AccessDoor, id: &str) -> anyhow::Result<()> {
    door.done("revoke_key", &[("id", id)])?;
    terminal::note(format_args!("the key {id} has ended"));
    Ok(())
}

/// An instant as services write it, if there is one.
fn instant(field: &Json) -> Option<Timestamp> {
    Timestamp::parse(field.as_str()?.as_bytes()).ok()
}

/// The instant after this time.
fn from_now(time: Duration) -> anyhow::Result<Timestamp> {
    let millis = u64::try_from(time.as_millis())?;
    let later = now()?.0.checked_add(millis);
    let later = later.ok_or_else(|| Coded::usage("the key would never end".to_owned()))?;
    Ok(Timestamp(later))
}

/// A whole number of minutes, hours or days.
fn lifetime(text: &str) -> Result<Duration, String> {
    let wrong = || "write a time as 30m, 12h or 90d".to_owned();
    let end = text.find(|character: char| !character.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let seconds = match unit {
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number = u32::from_str(number).map_err(|_invalid| wrong())?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_a_whole_number_with_its_unit() {
        let hours = |hours: u64| Ok(Duration::from_secs(hours * 3_600));
        assert_eq!(lifetime("90d"), hours(90 * 24));
        assert_eq!(lifetime("12h"), hours(12));
        assert_eq!(lifetime("120m"), hours(2));
        assert_eq!(lifetime("0m"), hours(0));
        for text in ["", "d", "90", "1.5h", "-1d", "9s", "99999999999d"] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }
}
