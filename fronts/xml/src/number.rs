//! Numbers and names as items carry them.

use std::borrow::Cow;

use quick_xml::escape::unescape;
use turnstile_exchange::{AccountId, Decimal, InvalidDecimal, OrderId, Symbol};

use crate::{Attribute, Invalid, Options};

/// A number with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) number: Decimal,
    /// Never of zero.
    pub(crate) negative: bool,
}

/// A value with its references resolved. Those of an attribute are sound; a section of text may hold
/// what only looks like one, and is as it stands.
#[inline]
fn value(raw: Option<&str>, of: Attribute) -> Result<Cow<'_, str>, Invalid> {
    let raw = raw.ok_or(Invalid::Missing(of))?;
    if raw.as_bytes().contains(&b'&') {
        return Ok(unescape(raw).unwrap_or(Cow::Borrowed(raw)));
    }
    Ok(Cow::Borrowed(raw))
}

/// Digits with at most one point, and at most one `+` or `-` before them. Exact.
#[inline]
pub(crate) fn signed(raw: Option<&str>, of: Attribute) -> Result<Signed, Invalid> {
    let value = value(raw, of)?;
    let (negative, digits) = match value.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // The error says where a wrong character stands in the value, the sign counted.
    let sign = value.len() - digits.len();
    let number = Decimal::parse(digits).map_err(|why| {
        let why = match why {
            InvalidDecimal::Character(at) => InvalidDecimal::Character(at + sign),
            why => why,
        };
        Invalid::Number(of, why)
    })?;
    Ok(Signed {
        number,
        negative: negative && !number.is_zero(),
    })
}

/// A number above zero.
#[inline]
pub(crate) fn positive(raw: Option<&str>, of: Attribute) -> Result<Decimal, Invalid> {
    let Signed { number, negative } = signed(raw, of)?;
    if negative || number.is_zero() {
        return Err(Invalid::NotPositive(of));
    }
    Ok(number)
}

/// A number that is not below zero.
pub(crate) fn not_negative(raw: Option<&str>, of: Attribute) -> Result<Decimal, Invalid> {
    let Signed { number, negative } = signed(raw, of)?;
    if negative {
        return Err(Invalid::Negative(of));
    }
    Ok(number)
}

#[inline]
pub(crate) fn symbol(raw: Option<&str>) -> Result<Symbol, Invalid> {
    let value = value(raw, Attribute::Sym)?;
    Symbol::parse(value.as_bytes()).map_err(|why| Invalid::Name(Attribute::Sym, why))
}

pub(crate) fn account(raw: Option<&str>, options: &Options) -> Result<AccountId, Invalid> {
    let value = value(raw, Attribute::Id)?;
    let account =
        AccountId::parse(value.as_bytes()).map_err(|why| Invalid::Name(Attribute::Id, why))?;
    if !options.lenient_accounts && !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Invalid::AccountDigits);
    }
    Ok(account)
}

/// An order's id. A number beyond every order's is one that no order has, and not an error of its
/// own: [`OrderId`] of the largest number stands for all of them.
pub(crate) fn order(raw: Option<&str>) -> Result<OrderId, Invalid> {
    let value = value(raw, Attribute::Id)?;
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Invalid::OrderDigits);
    }
    Ok(OrderId(value.parse().unwrap_or(u64::MAX)))
}
