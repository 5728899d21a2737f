//! `turnstile principal`: who there is, and their roles.

use clap::{Args, Subcommand};
use serde_json::Value as Json;

use crate::{
    access::{self, AccessDoor, AccessPlace, AccessReply},
    terminal::{self, Table},
};

#[derive(Args, Debug)]
pub(crate) struct PrincipalArguments {
    #[command(flatten)]
    place: AccessPlace,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a principal, without roles and keys
    Add(NamedArguments),
    /// List all principals with their roles
    List(ListPrincipalsArguments),
    /// Remove a principal; its keys end
    Remove(NamedArguments),
    /// Give a principal a role; a role that it has is replaced
    ///
    /// Roles: admin, operator, reader, and SERVICE.manager and SERVICE.user of every service.
    /// docs/reference/rights.md says what they may do.
    Grant(GrantArguments),
    /// Take a role from a principal
    Withdraw(WithdrawArguments),
}

#[derive(Args, Debug)]
struct NamedArguments {
    /// Name of the principal
    principal: String,
}

#[derive(Args, Debug)]
struct ListPrincipalsArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct GrantArguments {
    /// Name of the principal
    principal: String,
    /// Role to give
    role: String,
    /// Names, or beginnings of names such as acme:*, that the role is for [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
}

#[derive(Args, Debug)]
struct WithdrawArguments {
    /// Name of the principal
    principal: String,
    /// Role to take
    role: String,
}

/// A role that is to be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantWish<'a> {
    pub(crate) principal: &'a str,
    pub(crate) role: &'a str,
    /// None for all.
    pub(crate) only: &'a [String],
}

pub(crate) fn run(arguments: &PrincipalArguments) -> anyhow::Result<()> {
    let mut door = arguments.place.open()?;
    match &arguments.command {
        Command::Add(NamedArguments { principal }) => {
            door.done("add_principal", &[("principal", principal)])?;
        }
        Command::List(arguments) => list(&mut door, arguments)?,
        Command::Remove(NamedArguments { principal }) => {
            let removed = door.done("remove_principal", &[("principal", principal)])?;
            terminal::note(format_args!(
                "keys that have ended: {}",
                shown(&removed["keys"])
            ));
        }
        Command::Grant(GrantArguments {
            principal,
            role,
            only,
        }) => give(
            &mut door,
            &GrantWish {
                principal,
                role,
                only,
            },
        )?,
        Command::Withdraw(WithdrawArguments { principal, role }) => {
            let fields = [("principal", &**principal), ("role", role)];
            door.done("withdraw_grant", &fields)?;
        }
    }
    door.close()
}

/// Adds a principal, unless it is there. Whether it was not.
///
/// # Errors
/// It cannot be added.
pub(crate) fn make(door: &mut AccessDoor, principal: &str) -> anyhow::Result<bool> {
    match door.ask("add_principal", &[("principal", principal)])? {
        AccessReply::Done(_) => Ok(true),
        AccessReply::Refused(code) if code == "principal_exists" => Ok(false),
        AccessReply::Refused(code) => Err(access::refused(&code)),
    }
}

/// Gives a role.
///
/// # Errors
/// It cannot be given.
pub(crate) fn give(door: &mut AccessDoor, wish: &GrantWish<'_>) -> anyhow::Result<()> {
    let mut fields = vec![("principal", wish.principal), ("role", wish.role)];
    if wish.only.is_empty() {
        fields.push(("only", "*"));
    }
    fields.extend(wish.only.iter().map(|name| ("only", &**name)));
    door.done("grant", &fields).map(|_granted| ())
}

fn list(door: &mut AccessDoor, arguments: &ListPrincipalsArguments) -> anyhow::Result<()> {
    let principals = door.list("list_principals", "principals", &[])?;
    if arguments.json {
        return Ok(terminal::line(Json::Array(principals))?);
    }
    if principals.is_empty() {
        terminal::note("none");
        return Ok(());
    }
    let mut table = Table::default();
    for principal in &principals {
        let grants = principal["grants"].as_array().into_iter().flatten();
        let grants: Vec<String> = grants.map(grant).collect();
        let grants = if grants.is_empty() {
            "no role".to_owned()
        } else {
            grants.join("; ")
        };
        let keys = shown(&principal["keys"]);
        table.row(
            shown(&principal["principal"]),
            format_args!("{grants}; live keys: {keys}"),
        );
    }
    Ok(table.print()?)
}

/// A role, and what it is for where that is not everything.
fn grant(grant: &Json) -> String {
    let only = grant["only"].as_array().into_iter().flatten();
    let only: Vec<String> = only.map(shown).collect();
    let role = shown(&grant["role"]);
    match only.as_slice() {
        [all] if all == "*" => role,
        [] => role,
        only => format!("{role} for {}", only.join(", ")),
    }
}

/// A value as text; nothing where it is not set.
pub(crate) fn shown(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
