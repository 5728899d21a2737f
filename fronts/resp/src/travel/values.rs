//! The values in replies.

use std::fmt;

use turnstile_travel::{Bill, BillLine, BranchView, Desks, Item, LockMode, Resource, Xid};
use turnstile_types::Timestamp;

use crate::{
    Encoder,
    verdict::{Put, put_map},
};

/// A value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Number(u64),
    /// A customer's number may be negative.
    Signed(i32),
    Boolean(bool),
    Instant(Timestamp),
    Shown(&'a dyn fmt::Display),
    Desks(Desks),
    Xids(&'a [Xid]),
    Lines(&'a [BillLine]),
    Bills(&'a [Bill]),
    /// Items, each with its price.
    Items(&'a [(Item, u32)]),
    Branches(&'a [BranchView]),
    /// What is locked, and how.
    Lock(&'a (Resource, LockMode)),
    Locks(&'a [(Resource, LockMode)]),
    /// What could stand there does not.
    Nothing,
}

/// A field's name and its value.
pub(super) type Field<'a> = crate::verdict::Field<Value<'a>>;

impl Value<'_> {
    pub(super) fn count(count: u32) -> Self {
        Self::Number(u64::from(count))
    }

    pub(super) fn until(instant: Option<Timestamp>) -> Self {
        instant.map_or(Self::Nothing, Self::Instant)
    }
}

impl Put for Value<'_> {
    fn put(&self, reply: &mut Encoder<'_>) {
        match *self {
            Self::Text(text) => reply.text(text),
            Self::Number(number) => reply.integer(number),
            Self::Signed(number) => reply.signed(i64::from(number)),
            Self::Boolean(value) => reply.boolean(value),
            Self::Instant(instant) => reply.shown(instant),
            Self::Shown(value) => reply.shown(value),
            Self::Desks(desks) => {
                reply.array(desks.iter().count());
                desks.iter().for_each(|desk| reply.text(desk.code()));
            }
            Self::Xids(xids) => {
                reply.array(xids.len());
                xids.iter().for_each(|xid| reply.integer(xid.0));
            }
            Self::Lines(lines) => put_maps(reply, lines, |line, put| put(&line_fields(line))),
            Self::Bills(bills) => put_maps(reply, bills, |bill, put| put(&bill_fields(bill))),
            Self::Items(items) => put_maps(reply, items, |(item, price), put| {
                put(&[
                    ("item", Value::Shown(item)),
                    ("price", Value::count(*price)),
                ]);
            }),
            Self::Branches(branches) => put_maps(reply, branches, put_branch),
            Self::Lock((what, mode)) => put_map(
                reply,
                &[
                    ("what", Value::Shown(what)),
                    ("mode", Value::Text(mode.code())),
                ],
            ),
            Self::Locks(locks) => {
                reply.array(locks.len());
                locks.iter().for_each(|lock| Self::Lock(lock).put(reply));
            }
            Self::Nothing => reply.null(),
        }
    }
}

/// Appends a list of maps.
fn put_maps<T>(
    reply: &mut Encoder<'_>,
    entries: &[T],
    with_fields: impl Fn(&T, &mut dyn FnMut(&[Field<'_>])),
) {
    reply.array(entries.len());
    for entry in entries {
        with_fields(entry, &mut |fields| put_map(reply, fields));
    }
}

fn line_fields(line: &BillLine) -> [Field<'_>; 3] {
    [
        ("item", Value::Shown(&line.item)),
        ("count", Value::count(line.count)),
        ("price", Value::count(line.price)),
    ]
}

/// A customer, what it owes, and for what.
pub(super) fn bill_fields(bill: &Bill) -> [Field<'_>; 3] {
    [
        ("customer", Value::Signed(bill.customer.0)),
        ("total", Value::Number(bill.total())),
        ("lines", Value::Lines(&bill.lines)),
    ]
}

fn put_branch(branch: &BranchView, put: &mut dyn FnMut(&[Field<'_>])) {
    let wanted = branch.wanted.as_ref();
    put(&[
        ("desk", Value::Text(branch.desk.code())),
        ("prepared", Value::Boolean(branch.prepared)),
        ("held", Value::Number(branch.held)),
        ("locks", Value::Locks(&branch.locks)),
        ("wants", wanted.map_or(Value::Nothing, Value::Lock)),
    ]);
}
