//! Rows of a table as a transaction read them and as it will write them.

use std::{collections::BTreeMap, fmt};

use crate::{
    fields::{ColumnReader, Strange},
    sql::{RowValues, put, put_list},
};

/// Rows in one statement: the optimizer of the database plans each key of a condition, and forgets
/// to use the index when there are very many.
const ROWS_PER_STATEMENT: usize = 500;

/// A table with its key.
pub(crate) trait Record: Clone + PartialEq + fmt::Debug {
    type Key: Clone + Ord + fmt::Debug;

    const TABLE: &'static str;
    /// All columns that are written, those of the key first.
    const COLUMNS: &'static [&'static str];
    /// Whether others wait for the lock of its rows while these are written. An `INSERT` that finds the
    /// row asks for more than whoever writes has locked, in MySQL behind those who wait: a deadlock. So such
    /// a row is written by an `UPDATE` of its own; many rows of other tables are by one `INSERT`.
    const IS_WAITED_FOR: bool = false;

    fn read(fields: &mut ColumnReader<'_>) -> Result<(Self::Key, Self), Strange>;

    fn put_key(key: &Self::Key, values: &mut RowValues<'_>);

    /// Puts the columns that are not of the key.
    fn put(&self, key: &Self::Key, values: &mut RowValues<'_>);
}

#[derive(Clone, Debug)]
struct RowChange<R> {
    before: Option<R>,
    after: Option<R>,
}

/// Some rows of one table. A key that is not here is not known; one may also be known to have no row.
#[derive(Clone, Debug)]
pub(crate) struct Rows<R: Record> {
    kept: BTreeMap<R::Key, RowChange<R>>,
}

/// One row that a transaction changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a, R: Record> {
    pub(crate) key: &'a R::Key,
    pub(crate) before: Option<&'a R>,
    pub(crate) after: Option<&'a R>,
}

impl<R: Record> Default for Rows<R> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
        }
    }
}

impl<R: Record> Rows<R> {
    /// Notes what the database holds under a key, unless that is known already.
    pub(crate) fn know(&mut self, key: R::Key, found: Option<R>) {
        self.kept.entry(key).or_insert_with(|| RowChange {
            before: found.clone(),
            after: found,
        });
    }

    /// The row under a key as it is by now; nothing where it is not known.
    pub(crate) fn get(&self, key: &R::Key) -> Option<Option<&R>> {
        self.kept.get(key).map(|kept| kept.after.as_ref())
    }

    /// Puts a row under a known key.
    pub(crate) fn set(&mut self, key: &R::Key, row: R) {
        self.entry(key).after = Some(row);
    }

    /// Leaves nothing under a known key.
    pub(crate) fn remove(&mut self, key: &R::Key) {
        self.entry(key).after = None;
    }

    fn entry(&mut self, key: &R::Key) -> &mut RowChange<R> {
        self.kept
            .get_mut(key)
            .expect("a row is looked at before it is changed")
    }

    /// The rows that are there by now.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&R::Key, &R)> {
        self.kept
            .iter()
            .filter_map(|(key, kept)| Some((key, kept.after.as_ref()?)))
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = Change<'_, R>> {
        self.kept
            .iter()
            .filter(|(_, kept)| kept.before != kept.after)
            .map(|(key, kept)| Change {
                key,
                before: kept.before.as_ref(),
                after: kept.after.as_ref(),
            })
    }

    /// The statements that bring the table from what was found to what will be. A row that somebody
    /// else put there meanwhile makes them fail.
    pub(crate) fn put_writes(&self, sql: &mut String) {
        let (mut gone, mut fresh, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for change in self.changes() {
            match (change.before, change.after) {
                (_, None) => gone.push(change.key),
                (None, Some(row)) => fresh.push((change.key, row)),
                (Some(_), Some(row)) => changed.push((change.key, row)),
            }
        }
        put_deletes::<R>(sql, &gone);
        put_inserts(sql, &fresh, false);
        if R::IS_WAITED_FOR {
            put_updates(sql, &changed);
        } else {
            put_inserts(sql, &changed, true);
        }
    }

    /// The statements that bring the table back to what was found, from wherever
    /// [`Self::put_writes`] may have been stopped.
    pub(crate) fn put_undo(&self, sql: &mut String) {
        let (mut gone, mut back) = (Vec::new(), Vec::new());
        for change in self.changes() {
            match change.before {
                None => gone.push(change.key),
                Some(row) => back.push((change.key, row)),
            }
        }
        put_deletes::<R>(sql, &gone);
        put_inserts(sql, &back, true);
    }
}

fn put_deletes<R: Record>(sql: &mut String, keys: &[&R::Key]) {
    for keys in keys.chunks(ROWS_PER_STATEMENT) {
        put!(sql, "DELETE FROM {} WHERE ", R::TABLE);
        put_list(sql, " OR ", keys, |sql, key| {
            R::put_key(key, &mut RowValues::condition(sql, R::COLUMNS));
        });
        sql.push_str(";\n");
    }
}

fn put_updates<R: Record>(sql: &mut String, rows: &[(&R::Key, &R)]) {
    for (key, row) in rows {
        put!(sql, "UPDATE {} SET ", R::TABLE);
        let mut values = RowValues::assignments(sql, R::COLUMNS);
        R::put_key(key, &mut values);
        row.put(key, &mut values);
        sql.push_str(" WHERE ");
        R::put_key(key, &mut RowValues::condition(sql, R::COLUMNS));
        sql.push_str(";\n");
    }
}

fn put_inserts<R: Record>(sql: &mut String, rows: &[(&R::Key, &R)], may_exist: bool) {
    for rows in rows.chunks(ROWS_PER_STATEMENT) {
        put!(
            sql,
            "INSERT INTO {} ({}) VALUES ",
            R::TABLE,
            R::COLUMNS.join(",")
        );
        put_list(sql, ",", rows, |sql, (key, row)| {
            sql.push('(');
            let mut values = RowValues::row(sql, R::COLUMNS);
            R::put_key(key, &mut values);
            row.put(key, &mut values);
            sql.push(')');
        });
        if may_exist {
            sql.push_str(" ON DUPLICATE KEY UPDATE ");
            put_list(sql, ",", R::COLUMNS, |sql, column| {
                put!(sql, "{column}=VALUES({column})");
            });
        }
        sql.push_str(";\n");
    }
}
