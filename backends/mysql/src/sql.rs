//! Values as SQL literals, safe against injection.

use std::fmt::{self, Write};

use turnstile_types::{Name, Timestamp};

/// A name in quotes: its alphabet has none, and no backslash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a>(pub(crate) &'a Name);

/// An instant as `DATETIME(3)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub(crate) Timestamp);

/// Bytes in hexadecimal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HexLiteral<'a>(pub(crate) &'a [u8]);

/// Visible ASCII, as its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ascii<'a>(pub(crate) &'a str);

/// Text of any kind, as its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLiteral<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.as_str())
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        write!(f, "'{}'", text.trim_end_matches('Z'))
    }
}

impl fmt::Display for HexLiteral<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x'")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_char('\'')
    }
}

impl fmt::Display for Ascii<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "_ascii {}", HexLiteral(self.0.as_bytes()))
    }
}

impl fmt::Display for TextLiteral<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "_utf8mb4 {}", HexLiteral(self.0.as_bytes()))
    }
}

/// Appends formatted SQL: writing to a string cannot fail.
macro_rules! put {
    ($sql:expr, $($text:tt)*) => {{
        use std::fmt::Write as _;
        write!($sql, $($text)*).expect("a string takes everything")
    }};
}
pub(crate) use put;

/// Appends things with something between them.
pub(crate) fn put_list<T>(
    sql: &mut String,
    between: &str,
    things: impl IntoIterator<Item = T>,
    mut put_one: impl FnMut(&mut String, T),
) {
    for (number, thing) in things.into_iter().enumerate() {
        if number > 0 {
            sql.push_str(between);
        }
        put_one(sql, thing);
    }
}

/// The values of one row, as `1,'a'`, as `id=1 AND name='a'`, or as `id=1,name='a'`.
#[derive(Debug)]
pub(crate) struct RowValues<'a> {
    sql: &'a mut String,
    columns: &'static [&'static str],
    /// Whether each comes after the name of its column.
    is_named: bool,
    between: &'static str,
    count: usize,
}

impl<'a> RowValues<'a> {
    pub(crate) fn row(sql: &'a mut String, columns: &'static [&'static str]) -> Self {
        Self {
            sql,
            columns,
            is_named: false,
            between: ",",
            count: 0,
        }
    }

    pub(crate) fn condition(sql: &'a mut String, columns: &'static [&'static str]) -> Self {
        Self {
            between: " AND ",
            ..Self::assignments(sql, columns)
        }
    }

    pub(crate) fn assignments(sql: &'a mut String, columns: &'static [&'static str]) -> Self {
        Self {
            is_named: true,
            ..Self::row(sql, columns)
        }
    }

    /// The value of the next column.
    pub(crate) fn put(&mut self, literal: impl fmt::Display) {
        if self.count > 0 {
            self.sql.push_str(self.between);
        }
        if self.is_named {
            let column = self.columns.get(self.count).expect("a value has a column");
            put!(self.sql, "{column}=");
        }
        put!(self.sql, "{literal}");
        self.count += 1;
    }

    pub(crate) fn put_or_null(&mut self, literal: Option<impl fmt::Display>) {
        match literal {
            Some(literal) => self.put(literal),
            None => self.put("NULL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_literal() {
        let hostile = "x' OR 1=1 -- \\";
        assert_eq!(
            TextLiteral(hostile).to_string(),
            "_utf8mb4 x'7827204f5220313d31202d2d205c'"
        );
        let at = Timestamp(1_798_106_645_678);
        assert_eq!(At(at).to_string(), "'2026-12-24T10:04:05.678'");
    }
}
