//! What was decided, as a reply: an array that begins with 1 or 0 in RESP2, a map in RESP3. Both have
//! the same fields in the same order; only RESP3 names them.

use turnstile_types::Position;

use crate::{Encoder, Protocol};

/// A value of a field.
pub(crate) trait Put {
    fn put(&self, reply: &mut Encoder<'_>);
}

/// A field's name and its value.
pub(crate) type Field<V> = (&'static str, V);

/// Appends the values alone.
#[inline]
fn put_values<V: Put>(reply: &mut Encoder<'_>, fields: &[Field<V>]) {
    for (_, value) in fields {
        value.put(reply);
    }
}

/// Appends the fields of a map.
pub(crate) fn put_fields<V: Put>(reply: &mut Encoder<'_>, fields: &[Field<V>]) {
    for (name, value) in fields {
        reply.text(name);
        value.put(reply);
    }
}

/// Appends a map.
pub(crate) fn put_map<V: Put>(reply: &mut Encoder<'_>, fields: &[Field<V>]) {
    reply.map(fields.len());
    put_fields(reply, fields);
}

/// What stands behind the fields of everything that was done.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) position: Position,
    /// It is the first answer to the same client id.
    pub(crate) again: bool,
    /// It is the first answer to the same key.
    pub(crate) replayed: bool,
}

#[inline]
pub(crate) fn put_done<V: Put>(reply: &mut Encoder<'_>, fields: &[Field<V>], tail: Tail) {
    let length = 2 + fields.len() + usize::from(tail.again) + usize::from(tail.replayed);
    match reply.protocol() {
        Protocol::Resp2 => {
            reply.array(length);
            reply.integer(1);
            put_values(reply, fields);
            reply.integer(tail.position.0);
        }
        Protocol::Resp3 => {
            reply.map(length);
            reply.text("outcome");
            reply.text("done");
            put_fields(reply, fields);
            put_position(reply, tail.position);
        }
    }
    put_mark(reply, "again", tail.again);
    put_mark(reply, "replayed", tail.replayed);
}

/// Without a position: it answers a query.
pub(crate) fn put_refused<V: Put>(
    reply: &mut Encoder<'_>,
    code: &'static str,
    fields: &[Field<V>],
    position: Option<Position>,
    replayed: bool,
) {
    let length = 2 + fields.len() + usize::from(replayed);
    match reply.protocol() {
        Protocol::Resp2 => {
            reply.array(length);
            reply.integer(0);
            reply.text(code);
            put_values(reply, fields);
        }
        Protocol::Resp3 => {
            reply.map(length + usize::from(position.is_some()));
            reply.text("outcome");
            reply.text("refused");
            reply.text("reason");
            reply.text(code);
            put_fields(reply, fields);
            if let Some(position) = position {
                put_position(reply, position);
            }
        }
    }
    put_mark(reply, "replayed", replayed);
}

fn put_position(reply: &mut Encoder<'_>, position: Position) {
    reply.text("position");
    reply.integer(position.0);
}

/// A word that stands there or not.
fn put_mark(reply: &mut Encoder<'_>, mark: &str, applies: bool) {
    if applies {
        reply.text(mark);
        if reply.protocol() == Protocol::Resp3 {
            reply.boolean(true);
        }
    }
}
