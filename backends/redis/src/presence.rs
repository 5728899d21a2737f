//! The lock between servers of a Redis and a copy of it.
//!
//! Each connection has a name that says what it is for, and looks at the names of the others when it is
//! made. Those who come second see those who came first, and those who come at once see each other. A
//! name is gone with its connection, and with a process that was killed.

use redis::{RedisError, cmd};
use turnstile_contract::copy::{Others, Patience, PresenceRole};

use crate::line::Line;

/// What names begin with, by role; the number of the process follows.
const fn word(role: PresenceRole) -> &'static str {
    match role {
        PresenceRole::Serving => "turnstile-rooms-server:",
        PresenceRole::Copying => "turnstile-rooms-copy:",
    }
}

/// Comes to a database of the server in a role, and says who does not let it, when they do not go.
pub(crate) async fn attend(
    connection: &mut Line,
    database: i64,
    role: PresenceRole,
) -> Result<Option<Others>, RedisError> {
    let name = format!("{}{}", word(role), std::process::id());
    let patience = Patience::begin();
    loop {
        // A copy that is refused keeps nobody out: it takes its name when nobody is there.
        let mut others = None;
        if role == PresenceRole::Copying {
            others = look(connection, database, role).await?;
        }
        if others.is_none() {
            be_named(connection, &name).await?;
            others = look(connection, database, role).await?;
        }
        if others.is_none() {
            return Ok(None);
        }
        if role == PresenceRole::Copying {
            be_named(connection, "").await?;
        }
        if !patience.goes_on().await {
            return Ok(others);
        }
    }
}

async fn be_named(connection: &mut Line, name: &str) -> Result<(), RedisError> {
    let mut call = cmd("CLIENT");
    call.arg("SETNAME").arg(name).query_async(connection).await
}

/// Those who are in the way of somebody in a role.
async fn look(
    connection: &mut Line,
    database: i64,
    role: PresenceRole,
) -> Result<Option<Others>, RedisError> {
    let own: u64 = cmd("CLIENT").arg("ID").query_async(connection).await?;
    let list: String = cmd("CLIENT").arg("LIST").query_async(connection).await?;
    let found = |role| {
        let names: Vec<String> = list
            .lines()
            .filter_map(|line| name_in(line, own, database, role))
            .collect();
        (!names.is_empty()).then(|| Others::named(role, names))
    };
    Ok(match role {
        PresenceRole::Serving => found(PresenceRole::Copying),
        PresenceRole::Copying => {
            found(PresenceRole::Serving).or_else(|| found(PresenceRole::Copying))
        }
    })
}

/// What a line of the list says of another client in a role at the same database.
fn name_in(line: &str, own: u64, database: i64, role: PresenceRole) -> Option<String> {
    let field = |wanted: &str| {
        let mut fields = line.split(' ').filter_map(|field| field.split_once('='));
        fields.find_map(|(name, value)| (name == wanted).then_some(value))
    };
    let process = field("name")?.strip_prefix(word(role))?;
    let is_other = field("id")?.parse() != Ok(own);
    let is_here = field("db")?.parse() == Ok(database);
    let address = field("addr")?;
    (is_other && is_here).then(|| format!("process {process}, at {address}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_client_at_the_same_database_is_known_by_its_name() {
        let line = "id=7 addr=127.0.0.1:5 laddr=127.0.0.1:6 name=turnstile-rooms-server:12 db=3";
        let rows = [
            (
                8,
                3,
                PresenceRole::Serving,
                Some("process 12, at 127.0.0.1:5"),
            ),
            (7, 3, PresenceRole::Serving, None),
            (8, 2, PresenceRole::Serving, None),
            (8, 3, PresenceRole::Copying, None),
        ];
        for (own, database, role, expected) in rows {
            assert_eq!(name_in(line, own, database, role).as_deref(), expected);
        }
    }
}
