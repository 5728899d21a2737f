//! Operations by the names of their declarations, over the RESP door.

use std::time::Duration;

use turnstile_chassis::Readable;
use turnstile_resp::catalogue::operations;

use crate::{Connection, ConnectionError, Denied, ServerAddress, resp::Value};

/// A connection whose requests and answers name their fields, as the services declare them.
///
/// ```
/// # use std::{io::Write, net::TcpListener, thread};
/// use std::time::Duration;
/// use turnstile_client::NamedConnection;
/// use turnstile_types::Name;
///
/// # let listener = TcpListener::bind("127.0.0.1:0").unwrap();
/// # let address = listener.local_addr().unwrap();
/// # let server = thread::spawn(move || {
/// #     let (mut socket, _) = listener.accept().unwrap();
/// #     socket.write_all(b"%0\r\n%2\r\n$7\r\noutcome\r\n$4\r\ndone\r\n$4\r\nroom\r\n$3\r\n101\r\n").unwrap();
/// #     socket
/// # });
/// let mut server = NamedConnection::connect(address, Duration::from_secs(10))?;
/// let booked = server.ask(
///     "rooms.book",
///     &[
///         ("property", "hotel"),
///         ("wish", "type:double"),
///         ("arrival", "2027-03-01"),
///         ("departure", "2027-03-03"),
///         ("guest", "ada"),
///         ("id_number", "234123412346"),
///     ],
/// )?;
/// match booked.refusal() {
///     None => assert_eq!(booked.get("room"), Name::parse(b"101").ok()),
///     Some(code) => println!("refused: {code}"),
/// }
/// # Ok::<(), turnstile_client::ConnectionError>(())
/// ```
#[derive(Debug)]
pub struct NamedConnection(Connection);

/// What was answered to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAnswer(Value);

impl NamedConnection {
    /// As [`Connection::connect`]; the server then names the fields of its answers.
    ///
    /// # Errors
    /// As [`Connection::connect`], or the server speaks no RESP3.
    pub fn connect(
        address: impl Into<ServerAddress>,
        timeout: Duration,
    ) -> Result<Self, ConnectionError> {
        let mut connection = Connection::connect(address, timeout)?;
        whole(connection.command(&[b"HELLO", b"3"])?)?;
        Ok(Self(connection))
    }

    /// Asks for an operation of a service, for example `rooms.book`, with fields in any order.
    ///
    /// # Errors
    /// The operation or a field is not declared, or a field is missing: then nothing is sent. Or the
    /// connection failed, or the server answered with an error.
    pub fn ask(
        &mut self,
        operation: &str,
        fields: &[(impl AsRef<str>, impl AsRef<str>)],
    ) -> Result<NamedAnswer, ConnectionError> {
        let syntax = operations().find(|syntax| syntax.operation() == operation);
        let syntax =
            syntax.ok_or_else(|| ConnectionError::UnknownOperation(operation.to_owned()))?;
        let words = syntax.request(fields)?;
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        whole(self.0.command(&words)?).map(NamedAnswer)
    }
}

/// A reply, unless it is an error.
fn whole(reply: Value) -> Result<Value, ConnectionError> {
    match reply {
        Value::Error(error) => {
            Err(Denied::of(&error).map_or(ConnectionError::Server(error), ConnectionError::Denied))
        }
        reply => Ok(reply),
    }
}

impl NamedAnswer {
    /// The code of the refusal, if the request was refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        let is_refused = self.0.at("outcome")?.as_str() == Some("refused");
        self.0.at("reason")?.as_str().filter(|_| is_refused)
    }

    /// Whether it is not the caller's turn in a waiting room. Nothing was done.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let outcome = self.0.at("outcome").and_then(Value::as_str);
        outcome == Some("waiting")
    }

    /// A field as the type that the service declares. Nothing: it is not there, or not of that type.
    #[must_use]
    pub fn get<T: for<'a> Readable<'a>>(&self, field: &str) -> Option<T> {
        match self.0.at(field)? {
            Value::Integer(number) => T::read(number.to_string().as_bytes()).ok(),
            value => T::read(value.as_bytes()?).ok(),
        }
    }

    /// All fields.
    #[must_use]
    pub const fn fields(&self) -> &Value {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::{Name, Night};

    use super::*;

    fn text(text: &str) -> Value {
        Value::Bulk(text.as_bytes().to_vec())
    }

    fn answer(fields: &[(&str, Value)]) -> NamedAnswer {
        let fields = fields.iter();
        NamedAnswer(Value::Map(
            fields
                .map(|(name, value)| (text(name), value.clone()))
                .collect(),
        ))
    }

    #[test]
    fn a_field_is_read_as_its_type() {
        let booked = answer(&[
            ("outcome", text("done")),
            ("room", text("101")),
            ("arrival", text("2027-03-01")),
            ("position", Value::Integer(7)),
            ("until", Value::Null),
        ]);
        assert_eq!(booked.refusal(), None);
        assert_eq!(booked.get("room"), Name::parse(b"101").ok());
        assert_eq!(booked.get("arrival"), Night::parse(b"2027-03-01").ok());
        assert_eq!(booked.get("position"), Some(7_u64));
        assert_eq!(booked.get::<Night>("room"), None);
        assert_eq!(booked.get::<Name>("until"), None);
        assert_eq!(booked.get::<Name>("guest"), None);
    }

    #[test]
    fn a_refusal_has_its_code() {
        let refused = answer(&[
            ("outcome", text("refused")),
            ("reason", text("aborted")),
            ("cause", text("deadlock")),
        ]);
        assert_eq!(refused.refusal(), Some("aborted"));
        let found = answer(&[("reason", text("too_far_apart"))]);
        assert_eq!(found.refusal(), None);
    }
}
