//! Reads the columns of a row.

use std::{fmt, str::FromStr};

use mysql_async::{Row, Value};
use turnstile_rooms::GuestId;
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

/// A field that holds what we never write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strange {
    pub(crate) field: &'static str,
}

/// The fields of one row, from the left.
#[derive(Debug)]
pub(crate) struct ColumnReader<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> ColumnReader<'a> {
    pub(crate) const fn of(row: &'a Row) -> Self {
        Self { row, next: 0 }
    }

    /// A field as the text protocol sends it; nothing for `NULL`.
    fn text_or_null(&mut self, field: &'static str) -> Result<Option<&'a [u8]>, Strange> {
        let value = self.row.as_ref(self.next);
        self.next += 1;
        match value {
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Value::NULL) => Ok(None),
            _ => Err(Strange { field }),
        }
    }

    /// Passes over some fields.
    pub(crate) const fn skip(&mut self, fields: usize) {
        self.next += fields;
    }

    pub(crate) fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], Strange> {
        self.text_or_null(field)?.ok_or(Strange { field })
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<&'a str, Strange> {
        let bytes = self.bytes(field)?;
        str::from_utf8(bytes).map_err(|_invalid| Strange { field })
    }

    pub(crate) fn number<T: FromStr>(&mut self, field: &'static str) -> Result<T, Strange> {
        let number = self.text(field)?.parse();
        number.map_err(|_invalid| Strange { field })
    }

    /// A number, or 0 where the database has none to sum up.
    pub(crate) fn number_or_zero<T: FromStr + Default>(
        &mut self,
        field: &'static str,
    ) -> Result<T, Strange> {
        match self.text_or_null(field)? {
            None => Ok(T::default()),
            Some(text) => {
                let text = str::from_utf8(text).map_err(|_invalid| Strange { field })?;
                text.parse().map_err(|_invalid| Strange { field })
            }
        }
    }

    pub(crate) fn flag(&mut self, field: &'static str) -> Result<bool, Strange> {
        match self.bytes(field)? {
            b"0" => Ok(false),
            b"1" => Ok(true),
            _ => Err(Strange { field }),
        }
    }

    pub(crate) fn name(&mut self, field: &'static str) -> Result<Name, Strange> {
        Name::parse(self.bytes(field)?).map_err(|_invalid| Strange { field })
    }

    pub(crate) fn principal(&mut self) -> Result<Principal, Strange> {
        self.name("principal").map(Principal)
    }

    pub(crate) fn night(&mut self, field: &'static str) -> Result<Night, Strange> {
        Night::parse(self.bytes(field)?).map_err(|_invalid| Strange { field })
    }

    /// A night that there may be none of.
    pub(crate) fn night_or_null(&mut self, field: &'static str) -> Result<Option<Night>, Strange> {
        let night = self.text_or_null(field)?.map(Night::parse).transpose();
        night.map_err(|_invalid| Strange { field })
    }

    pub(crate) fn stay(&mut self) -> Result<Stay, Strange> {
        let (arrival, departure) = (self.night("arrival")?, self.night("departure")?);
        Stay::new(arrival, departure).map_err(|_invalid| Strange { field: "departure" })
    }

    pub(crate) fn instant(&mut self, field: &'static str) -> Result<Timestamp, Strange> {
        instant(self.bytes(field)?).ok_or(Strange { field })
    }

    pub(crate) fn instant_or_null(
        &mut self,
        field: &'static str,
    ) -> Result<Option<Timestamp>, Strange> {
        self.text_or_null(field)?
            .map(|text| instant(text).ok_or(Strange { field }))
            .transpose()
    }

    pub(crate) fn position(&mut self, field: &'static str) -> Result<Position, Strange> {
        self.number(field).map(Position)
    }

    pub(crate) fn guest_id(&mut self) -> Result<GuestId, Strange> {
        Ok(GuestId {
            seal: self.number("seal")?,
            last_four: self.number("last_four")?,
        })
    }
}

/// Reads `2027-12-24 10:04:05.678`.
fn instant(text: &[u8]) -> Option<Timestamp> {
    let (date, clock) = text.split_at_checked(10)?;
    let clock = clock.strip_prefix(b" ")?;
    Timestamp::parse(&[date, b"T", clock, b"Z"].concat()).ok()
}

impl fmt::Display for Strange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` holds what is never written there", self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_read_as_the_database_writes_it() {
        assert_eq!(
            instant(b"2026-12-24 10:04:05.678"),
            Some(Timestamp(1_798_106_645_678))
        );
        assert_eq!(instant(b"2026-12-24"), None);
    }
}
