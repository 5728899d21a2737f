//! Fields as replies: a map in RESP3, a flat array of names and values in RESP2. What was decided has
//! its own form: in RESP2 an array that begins with 1 or 0 and has the values alone.

use std::fmt;

use turnstile_chassis::{Fields, Refuse, Show, Value, Visitor, count_fields};
use turnstile_types::{Night, Outcome, Position};

use crate::{Encoder, Protocol};

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key.
///
/// Both protocols have the same fields in the same order; only RESP3 names them.
#[inline]
pub fn put_outcome<D: Fields, R: Refuse>(
    reply: &mut Encoder<'_>,
    outcome: &Outcome<D, R>,
    position: Position,
    replayed: bool,
) {
    match outcome {
        Outcome::Done(done) => put_done(reply, done, position, replayed),
        Outcome::Refused(refusal) => put_refused(reply, refusal, Some(position), replayed),
    }
}

#[inline]
pub(crate) fn put_done(
    reply: &mut Encoder<'_>,
    done: &impl Fields,
    position: Position,
    replayed: bool,
) {
    let length = 2 + count_fields(done) + usize::from(replayed);
    match reply.protocol() {
        Protocol::Resp2 => {
            reply.array(length);
            reply.integer(1);
            done.visit(&mut ValuesInOrder(reply));
            reply.integer(position.0);
        }
        Protocol::Resp3 => {
            reply.map(length);
            reply.text("outcome");
            reply.text("done");
            done.visit(&mut NamedValues(reply));
            put_position(reply, position);
        }
    }
    put_replayed(reply, replayed);
}

/// Without a position: it answers a query.
pub(crate) fn put_refused<R: Refuse>(
    reply: &mut Encoder<'_>,
    refusal: &R,
    position: Option<Position>,
    replayed: bool,
) {
    put_no(reply, refusal.meaning().code, refusal, position, replayed);
}

/// A refusal of this code, with these data.
pub(crate) fn put_no(
    reply: &mut Encoder<'_>,
    code: &str,
    data: &impl Fields,
    position: Option<Position>,
    replayed: bool,
) {
    let length = 2 + count_fields(data) + usize::from(replayed);
    match reply.protocol() {
        Protocol::Resp2 => {
            reply.array(length);
            reply.integer(0);
            reply.text(code);
            data.visit(&mut ValuesInOrder(reply));
        }
        Protocol::Resp3 => {
            reply.map(length + usize::from(position.is_some()));
            reply.text("outcome");
            reply.text("refused");
            reply.text("reason");
            reply.text(code);
            data.visit(&mut NamedValues(reply));
            if let Some(position) = position {
                put_position(reply, position);
            }
        }
    }
    put_replayed(reply, replayed);
}

fn put_position(reply: &mut Encoder<'_>, position: Position) {
    reply.text("position");
    reply.integer(position.0);
}

/// The word for an answer to an earlier request, where it is one.
fn put_replayed(reply: &mut Encoder<'_>, replayed: bool) {
    if replayed {
        reply.text("replayed");
        if reply.protocol() == Protocol::Resp3 {
            reply.boolean(true);
        }
    }
}

/// The values alone.
struct ValuesInOrder<'a, 'reply>(&'a mut Encoder<'reply>);

impl Visitor for ValuesInOrder<'_, '_> {
    #[inline]
    fn field(&mut self, _name: &'static str, value: &impl Value) {
        value.show(&mut *self.0);
    }
}

/// The values, each behind its name.
struct NamedValues<'a, 'reply>(&'a mut Encoder<'reply>);

impl Visitor for NamedValues<'_, '_> {
    #[inline]
    fn field(&mut self, name: &'static str, value: &impl Value) {
        self.0.text(name);
        value.show(&mut *self.0);
    }
}

impl Show for &mut Encoder<'_> {
    type Out = ();

    #[inline]
    fn text(self, text: &str) {
        Encoder::text(self, text);
    }

    fn display(self, text: &impl fmt::Display) {
        self.shown(text);
    }

    #[inline]
    fn number(self, number: u64) {
        self.integer(number);
    }

    fn signed(self, number: i64) {
        Encoder::signed(self, number);
    }

    #[inline]
    fn flag(self, flag: bool) {
        self.boolean(flag);
    }

    #[inline]
    fn decimal(self, units: u128, scale: u8) {
        self.scaled(units, scale);
    }

    fn cursor(self, cursor: u64) {
        self.whole(cursor);
    }

    /// Without the detour of formatting: refusals under a rush hold many.
    fn night(self, night: Night) {
        let (year, month, day) = night.civil();
        let digit = |value: u32| b'0' + u8::try_from(value % 10).expect("a digit is below ten");
        self.bulk(&[
            digit(year / 1_000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]);
    }

    #[inline]
    fn none(self) {
        self.null();
    }

    fn list<T: Value>(self, length: usize, values: impl Iterator<Item = T>) {
        self.array(length);
        for value in values {
            value.show(&mut *self);
        }
    }

    fn object(self, fields: &impl Fields) {
        self.map(count_fields(fields));
        fields.visit(&mut NamedValues(self));
    }
}
