//! The lock between servers of a database and a copy of it.
//!
//! Whoever writes for a server has a named lock of its own for as long as its connection lives, and so has
//! whoever copies. Each takes its lock and then looks for those of the others: who comes second sees who
//! came first, and of two who come at once one sees the other. Locks that many may share there are none,
//! so the names are numbered.

use turnstile_contract::copy::{Others, Patience, PresenceRole};

use crate::{
    fault::Fault,
    fields::ColumnReader,
    session::Session,
    sql::{put, put_list},
};

/// Servers of one database at most. Far more than a database has use for, whose commands take turns; few
/// enough to look for each.
const SERVERS_MAX: usize = 64;

/// Those who write for one server. One decides while the other waits for the disk.
pub(crate) const WRITERS: usize = 2;

/// The name of the lock of those who copy.
const COPY: &str = "CONCAT('turnstile.copy.', MD5(DATABASE()))";

/// The name of the lock of one who writes for a server.
fn put_name(sql: &mut String, server: usize, writer: usize) {
    put!(
        sql,
        "CONCAT('turnstile.server.', MD5(DATABASE()), '.{server}.{writer}')"
    );
}

/// Comes to a database as one of those who write for a server, and says who does not let it, when they do
/// not go.
pub(crate) async fn serve(session: &mut Session, writer: usize) -> Result<Option<Others>, Fault> {
    let mut take = "SELECT CASE".to_owned();
    for server in 0..SERVERS_MAX {
        take.push_str(" WHEN GET_LOCK(");
        put_name(&mut take, server, writer);
        put!(take, ", 0)=1 THEN {}", server + 1);
    }
    take.push_str(" END;");
    if numbers(session, &take).await?.is_empty() {
        let reason = format!("{SERVERS_MAX} servers are connected, and no more may be");
        return Err(Fault::Refused(reason));
    }
    let patience = Patience::begin();
    loop {
        let others = copier(session).await?;
        if others.is_none() || !patience.goes_on().await {
            return Ok(others);
        }
    }
}

/// Comes to a database as the one who copies it, and says who does not let it, when they do not go.
pub(crate) async fn copy(session: &mut Session) -> Result<Option<Others>, Fault> {
    let patience = Patience::begin();
    loop {
        // A copy that is refused keeps nobody out: it takes its lock when nobody is there.
        let mut others = servers(session).await?;
        if others.is_none() {
            let taken = numbers(session, &format!("SELECT GET_LOCK({COPY}, 0);")).await?;
            others = match taken.first() {
                Some(1) => servers(session).await?,
                _ => copier(session).await?,
            };
            if others.is_none() && taken.first() == Some(&1) {
                return Ok(None);
            }
            session.ask(&format!("DO RELEASE_LOCK({COPY});")).await?;
        }
        if !patience.goes_on().await {
            let gone = || Others::named(PresenceRole::Copying, Vec::new());
            return Ok(Some(others.unwrap_or_else(gone)));
        }
    }
}

/// Who copies, if anybody does.
async fn copier(session: &mut Session) -> Result<Option<Others>, Fault> {
    let used = numbers(session, &format!("SELECT IS_USED_LOCK({COPY});")).await?;
    if used.is_empty() {
        return Ok(None);
    }
    let names = names(session, &used).await?;
    Ok(Some(Others::named(PresenceRole::Copying, names)))
}

/// The servers that are connected, if any are. One that has only some of its connections counts too.
async fn servers(session: &mut Session) -> Result<Option<Others>, Fault> {
    let mut most = Vec::new();
    for writer in 0..WRITERS {
        let mut sql = "SELECT ".to_owned();
        put_list(&mut sql, ",", 0..SERVERS_MAX, |sql, server| {
            sql.push_str("IS_USED_LOCK(");
            put_name(sql, server, writer);
            sql.push(')');
        });
        sql.push(';');
        let used = numbers(session, &sql).await?;
        if used.len() > most.len() {
            most = used;
        }
    }
    if most.is_empty() {
        return Ok(None);
    }
    let names = names(session, &most).await?;
    Ok(Some(Others::counted(
        PresenceRole::Serving,
        most.len(),
        names,
    )))
}

/// What the database knows of connections, as far as it tells us.
async fn names(session: &mut Session, connections: &[u64]) -> Result<Vec<String>, Fault> {
    let mut sql =
        "SELECT CONCAT('connection ', id, ', at ', host) FROM information_schema.processlist WHERE id IN ("
            .to_owned();
    put_list(&mut sql, ",", connections, |sql, id| put!(sql, "{id}"));
    sql.push_str(") ORDER BY id;");
    let answers = session.ask(&sql).await?;
    let rows = answers.iter().flatten();
    let names = rows.map(|row| ColumnReader::of(row).text("name").map(str::to_owned));
    Ok(names.collect::<Result<_, _>>()?)
}

/// The numbers in a row, without those that are nothing or zero.
async fn numbers(session: &mut Session, sql: &str) -> Result<Vec<u64>, Fault> {
    let row = session.row(sql, "no row of locks").await?;
    let mut fields = ColumnReader::of(&row);
    let numbers = (0..row.len()).map(|_field| fields.number_or_zero("lock"));
    let mut numbers = numbers.collect::<Result<Vec<u64>, _>>()?;
    numbers.retain(|&number| number > 0);
    Ok(numbers)
}
