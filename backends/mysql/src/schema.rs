//! The tables' schema, in numbered steps.

use rustix::rand::{GetRandomFlags, getrandom};
use turnstile_contract::Unready;
use turnstile_rooms::IdKey;

use crate::{
    address::{Address, StorageEngine},
    fault::Fault,
    fields::{ColumnReader, Strange},
    session::Session,
    sql::{HexLiteral, put},
};

/// The number of the newest step.
pub(crate) const SCHEMA: u32 = 4;

/// The lock of whoever applies the steps.
const LOCK: &str = "CONCAT('turnstile.schema.', MD5(DATABASE()))";

/// How long to wait for another server that applies the steps.
const LOCK_SECONDS: u32 = 30;

/// The statements of each step: for tables of either engine, or of this one.
const STEPS: [(u32, Option<StorageEngine>, &str); 5] = [
    (1, None, include_str!("../migrations/1-rooms.sql")),
    (
        1,
        Some(StorageEngine::Memory),
        include_str!("../migrations/1-undo.sql"),
    ),
    (2, None, include_str!("../migrations/2-ended.sql")),
    (3, None, include_str!("../migrations/3-keys.sql")),
    (4, None, include_str!("../migrations/4-for-guests.sql")),
];

/// What is true of the database whatever its tables are: it outlives tables in memory.
const CREATE_HEAD: &str = "\
CREATE TABLE IF NOT EXISTS turnstile (
  id          TINYINT UNSIGNED NOT NULL,
  version     INT UNSIGNED NOT NULL COMMENT 'of the schema',
  engine      VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  secret      BINARY(16) NOT NULL COMMENT 'seals the id numbers of guests: keep it to yourself',
  incarnation INT UNSIGNED NOT NULL COMMENT 'how often tables in memory began anew',
  PRIMARY KEY (id)
) ENGINE=InnoDB COMMENT='one row: the schema';
";

/// What the head of the schema says.
struct TableHead {
    version: u32,
    engine: String,
    secret: [u8; 16],
}

/// Brings the schema up to date, and returns the secret under which id numbers are sealed.
pub(crate) async fn prepare(session: &mut Session, address: &Address) -> Result<IdKey, Unready> {
    let lock = format!("SELECT GET_LOCK({LOCK}, {LOCK_SECONDS});");
    let row = session.row(&lock, "no lock").await?;
    let locked = ColumnReader::of(&row).number_or_zero::<u32>("lock");
    if locked.map_err(Fault::from)? != 1 {
        let reason = "another server is changing the schema";
        return Err(Unready::Unavailable(reason.to_owned()));
    }
    let prepared = bring_up_to_date(session, address.engine()).await;
    session.ask(&format!("DO RELEASE_LOCK({LOCK});")).await?;
    prepared
}

async fn bring_up_to_date(session: &mut Session, engine: StorageEngine) -> Result<IdKey, Unready> {
    let head = match read_head(session).await? {
        Some(head) => head,
        None => {
            create_head(session, engine).await?;
            let head = read_head(session).await?;
            head.ok_or_else(|| Unready::Unusable("the table turnstile has no row".to_owned()))?
        }
    };
    if head.version > SCHEMA {
        return Err(Unready::Newer {
            found: head.version,
            known: SCHEMA,
        });
    }
    if StorageEngine::of_word(&head.engine) != Some(engine) {
        let (found, asked) = (head.engine, engine.word());
        let reason = format!("they are engine={found}, and the address says engine={asked}");
        return Err(Unready::Unusable(reason));
    }
    for (step, of, statements) in STEPS {
        if step > head.version && of.is_none_or(|of| of == engine) {
            let statements = statements.replace("{ENGINE}", engine.word());
            session.ask(&statements).await?;
        }
    }
    if head.version == 0 && engine == StorageEngine::InnoDb {
        let first = Session::first_counters(1);
        let first = first.replace("INSERT INTO", "INSERT IGNORE INTO");
        session.ask(&first).await?;
    }
    if head.version < SCHEMA {
        let done = format!("UPDATE turnstile SET version={SCHEMA} WHERE id=1;");
        session.ask(&done).await?;
    }
    Ok(IdKey::new(head.secret))
}

/// The table that is there while a copy to tables in memory is not finished: it outlives them.
const UNFINISHED: &str = "unfinished_copy";

/// Whether an unfinished copy lies here.
pub(crate) async fn is_unfinished(session: &mut Session) -> Result<bool, Fault> {
    let sql = format!("SHOW TABLES LIKE '{UNFINISHED}';");
    let found = session.ask(&sql).await?;
    Ok(found.first().is_some_and(|rows| !rows.is_empty()))
}

/// Says that what is copied from now on is not whole.
pub(crate) async fn mark_unfinished(session: &mut Session) -> Result<(), Fault> {
    let sql = format!("CREATE TABLE {UNFINISHED} (id TINYINT) ENGINE=InnoDB;");
    session.ask(&sql).await.map(drop)
}

/// Says that a copy is whole.
pub(crate) async fn mark_finished(session: &mut Session) -> Result<(), Fault> {
    let sql = format!("DROP TABLE {UNFINISHED};");
    session.ask(&sql).await.map(drop)
}

async fn read_head(session: &mut Session) -> Result<Option<TableHead>, Unready> {
    let exists = session.ask("SHOW TABLES LIKE 'turnstile';").await?;
    if exists.first().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    let sql = "SELECT version, engine, secret FROM turnstile WHERE id=1;";
    let answers = session.ask(sql).await?;
    let Some(row) = answers.first().and_then(|rows| rows.first()) else {
        return Ok(None);
    };
    let mut fields = ColumnReader::of(row);
    let mut read = || {
        Ok(TableHead {
            version: fields.number("version")?,
            engine: fields.text("engine")?.to_owned(),
            secret: fields
                .bytes("secret")?
                .try_into()
                .map_err(|_length| Strange { field: "secret" })?,
        })
    };
    let head: Result<TableHead, Strange> = read();
    Ok(Some(head.map_err(Fault::from)?))
}

async fn create_head(session: &mut Session, engine: StorageEngine) -> Result<(), Unready> {
    let secret: [u8; 16] = random()?;
    let mut sql = CREATE_HEAD.to_owned();
    put!(
        sql,
        "INSERT IGNORE INTO turnstile (id, version, engine, secret, incarnation) \
         VALUES (1, 0, '{}', {}, 0);",
        engine.word(),
        HexLiteral(&secret)
    );
    session.ask(&sql).await?;
    Ok(())
}

/// Some bytes that nobody can guess.
pub(crate) fn random<const COUNT: usize>() -> Result<[u8; COUNT], Unready> {
    let mut bytes = [0; COUNT];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty());
    let filled = filled.map_err(|error| Unready::Unavailable(error.to_string()))?;
    assert_eq!(filled, COUNT, "the kernel fills up to 256 bytes at once");
    Ok(bytes)
}
