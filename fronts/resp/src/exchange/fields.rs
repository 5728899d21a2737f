//! The values in replies: numbers exactly, as text.

use turnstile_exchange::{CASH_SCALE, Cash, Decimal, OrderId};
use turnstile_types::Timestamp;

use crate::{Encoder, verdict::Put};

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Text(&'a str),
    /// A count or a number that something is known by.
    Number(u64),
    Decimal(Decimal),
    Cash(Cash),
    Boolean(bool),
    Instant(Timestamp),
    /// What could stand there does not.
    Nothing,
}

/// A field's name and its value.
pub(super) type Field<'a> = crate::verdict::Field<Value<'a>>;

impl Value<'_> {
    pub(super) const fn order(order: OrderId) -> Self {
        Self::Number(order.0)
    }

    pub(super) fn count(count: u32) -> Self {
        Self::Number(u64::from(count))
    }

    pub(super) fn optional(number: Option<Decimal>) -> Self {
        number.map_or(Self::Nothing, Self::Decimal)
    }
}

impl Put for Value<'_> {
    #[inline]
    fn put(&self, reply: &mut Encoder<'_>) {
        match *self {
            Self::Text(text) => reply.text(text),
            Self::Number(number) => reply.integer(number),
            Self::Decimal(number) => put_scaled(reply, number.units(), number.scale()),
            Self::Cash(cash) => match u64::try_from(cash.0) {
                Ok(units) => put_scaled(reply, units, CASH_SCALE),
                Err(_large) => reply.shown(cash),
            },
            Self::Boolean(value) => reply.boolean(value),
            Self::Instant(instant) => reply.shown(instant),
            Self::Nothing => reply.null(),
        }
    }
}

/// The most bytes of a scaled number: twenty digits and the point.
const SCALED_BYTES: usize = 21;

/// `units / 10^scale` in its shortest form, without the detour of formatting: every answer to an
/// order holds three of them. The scale is at most 18.
#[inline]
fn put_scaled(reply: &mut Encoder<'_>, units: u64, scale: u8) {
    // Nothing of a new order is filled, and nothing of a filled one is open.
    if units == 0 {
        return reply.text("0");
    }
    if scale == 0 {
        return reply.whole(units);
    }
    put_parts(reply, units, scale);
}

fn put_parts(reply: &mut Encoder<'_>, units: u64, scale: u8) {
    let mut text = [0_u8; SCALED_BYTES];
    let mut at = SCALED_BYTES;
    let mut put = |byte| {
        at -= 1;
        text[at] = byte;
        at
    };
    let (mut rest, mut has_part) = (units, false);
    for _ in 0..scale {
        let digit = u8::try_from(rest % 10).expect("a digit is below ten");
        rest /= 10;
        if has_part || digit != 0 {
            put(b'0' + digit);
            has_part = true;
        }
    }
    if !has_part {
        return reply.whole(rest);
    }
    put(b'.');
    loop {
        let start = put(b'0' + u8::try_from(rest % 10).expect("a digit is below ten"));
        rest /= 10;
        if rest == 0 {
            reply.bulk(&text[start..]);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Protocol;

    fn written(value: Value<'_>) -> String {
        let mut out = Vec::new();
        value.put(&mut Encoder::new(&mut out, Protocol::Resp2));
        String::from_utf8(out).unwrap()
    }

    fn bulk(text: &str) -> String {
        format!("${}\r\n{text}\r\n", text.len())
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_fit() {
        for (units, scale) in [(0, 18), (1, 18), (u64::MAX, 0), (u64::MAX, 18)] {
            let number = Decimal::new(units, scale);
            assert_eq!(written(Value::Decimal(number)), bulk(&number.to_string()));
        }
        for units in [
            0,
            1,
            u128::from(u64::MAX),
            u128::from(u64::MAX) + 1,
            u128::MAX,
        ] {
            let cash = Cash(units);
            assert_eq!(written(Value::Cash(cash)), bulk(&cash.to_string()));
        }
    }

    proptest! {
        #[test]
        fn a_number_is_written_as_it_is_shown(
            units in any::<u64>(), bits in 0_u32..64, scale in 0_u8..=18,
        ) {
            let number = Decimal::new(units >> bits, scale);
            prop_assert_eq!(written(Value::Decimal(number)), bulk(&number.to_string()));
            let cash = Cash(u128::from(units >> bits));
            prop_assert_eq!(written(Value::Cash(cash)), bulk(&cash.to_string()));
        }
    }
}
