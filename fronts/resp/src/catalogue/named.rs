//! Requests by the names of their fields, for people and scripts: `property=hotel room=101`.

use std::fmt;

use super::{Action, Argument, COMMANDS, Kind, Syntax};

/// One field of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSyntax {
    pub name: String,
    /// What stands behind the `=`.
    pub form: String,
    pub is_required: bool,
    /// Whether it may be given several times.
    pub is_repeated: bool,
}

/// Why fields make no request of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misnamed {
    Unknown { field: String, known: Vec<String> },
    Missing(Vec<String>),
    Twice(String),
    Value { field: String, form: String },
}

impl fmt::Display for Misnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { field, known } if known.is_empty() => {
                write!(f, "unknown field \"{field}\": this operation has none")
            }
            Self::Unknown { field, known } => {
                write!(
                    f,
                    "unknown field \"{field}\"; known are {}",
                    known.join(", ")
                )
            }
            Self::Missing(fields) => write!(f, "missing fields: {}", fields.join(", ")),
            Self::Twice(field) => write!(f, "field \"{field}\" is given twice"),
            Self::Value { field, form } => write!(f, "field \"{field}\" is not {form}"),
        }
    }
}

impl std::error::Error for Misnamed {}

/// The operations of the services, each with its own syntax.
pub fn operations() -> impl Iterator<Item = &'static Syntax> {
    let is_call = |syntax: &&Syntax| syntax.action.and_then(Action::call).is_some();
    COMMANDS.iter().filter(is_call)
}

impl Syntax {
    /// The name of the operation, the service's before it: `rooms.book`, `rooms.add_room`.
    #[must_use]
    pub fn operation(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The fields, in the order of a request.
    #[must_use]
    pub fn fields(&self) -> Vec<FieldSyntax> {
        let arguments = self.arguments.iter();
        arguments
            .map(|argument| FieldSyntax {
                name: argument.name.to_owned(),
                form: argument.form(),
                is_required: !argument.optional,
                is_repeated: argument.multiple,
            })
            .collect()
    }

    /// The words of a request with these fields, in whatever order they are given.
    ///
    /// # Errors
    /// A field is unknown, missing or given twice, or its value is none of those that it can have.
    pub fn request(
        &self,
        given: &[(impl AsRef<str>, impl AsRef<str>)],
    ) -> Result<Vec<String>, Misnamed> {
        let given = given.iter();
        let given: Vec<(&str, &str)> = given
            .map(|(name, value)| (name.as_ref(), value.as_ref()))
            .collect();
        let known: Vec<String> = self.fields().into_iter().map(|field| field.name).collect();
        let is_known = |name: &str| known.iter().any(|known| known == name);
        if let Some((field, _)) = given.iter().find(|(field, _)| !is_known(field)) {
            let field = (*field).to_owned();
            return Err(Misnamed::Unknown { field, known });
        }
        let mut words = vec![self.name.to_ascii_uppercase()];
        let mut missing = Vec::new();
        for (argument, field) in self.arguments.iter().zip(known) {
            let mut values = given.iter().filter(|(name, _)| *name == field).peekable();
            if values.peek().is_none() && !argument.optional {
                missing.push(field);
                continue;
            }
            for (nth, (_, value)) in values.enumerate() {
                if nth > 0 && !argument.multiple {
                    return Err(Misnamed::Twice(field));
                }
                argument
                    .put(value, &mut words)
                    .ok_or_else(|| Misnamed::Value {
                        field: field.clone(),
                        form: argument.form(),
                    })?;
            }
        }
        if missing.is_empty() {
            Ok(words)
        } else {
            Err(Misnamed::Missing(missing))
        }
    }
}

impl Argument {
    /// What its value looks like.
    fn form(&self) -> String {
        match self.kind {
            Kind::Text => "text".to_owned(),
            Kind::Integer => "a whole number".to_owned(),
            Kind::Token => "true or false".to_owned(),
            Kind::OneOf(choices) | Kind::Block(choices) => choices
                .iter()
                .map(|choice| choice.name)
                .collect::<Vec<_>>()
                .join(" | "),
        }
    }

    /// Appends the words for a value; nothing when it cannot be one.
    fn put(&self, value: &str, words: &mut Vec<String>) -> Option<()> {
        let token = self.token.map(str::to_owned);
        match self.kind {
            Kind::Token => match value {
                "true" => words.extend(token),
                "false" => {}
                _ => return None,
            },
            Kind::Integer if value.parse::<i128>().is_err() => return None,
            Kind::Text | Kind::Integer => {
                words.extend(token);
                words.push(value.to_owned());
            }
            Kind::OneOf(choices) => {
                words.extend(token);
                words.push(chosen(choices, value)?);
            }
            // No operation of a service takes a block.
            Kind::Block(_) => return None,
        }
        Some(())
    }
}

/// The word that a value is among these choices, or any text where one of them is that.
fn chosen(choices: &[Argument], value: &str) -> Option<String> {
    let is_word = |choice: &&Argument| choice.name.eq_ignore_ascii_case(value);
    let word = choices.iter().find(is_word).and_then(|choice| choice.token);
    let is_free = choices.iter().any(|choice| choice.token.is_none());
    word.or_else(|| is_free.then_some(value)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::Catalogue, tests::typed};

    fn request(line: &str) -> Result<String, String> {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        let syntax = operations().find(|syntax| syntax.operation() == name);
        let fields: Vec<(String, String)> = fields
            .split_whitespace()
            .map(|field| field.split_once('=').expect("a field has a value"))
            .map(|(field, value)| (field.to_owned(), value.to_owned()))
            .collect();
        let words = syntax.expect(name).request(&fields);
        words
            .map(|words| words.join(" "))
            .map_err(|misnamed| misnamed.to_string())
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    fn fields_in_any_order_make_a_request_in_its_own() {
        let rows = [
            (
                "rooms.book room=101 key=k",
                Err(
                    "unknown field \"room\"; known are property, wish, arrival, departure, guest, \
                     id_number, key",
                ),
            ),
            (
                "rooms.book key=k wish=type:twin property=inn arrival=a departure=d guest=g id_number=1",
                Ok("ROOMS.BOOK inn type:twin a d g 1 KEY k"),
            ),
            (
                "rooms.hold property=inn wish=any arrival=a departure=d ttl_seconds=60",
                Ok("ROOMS.HOLD inn any a d TTL_SECONDS 60"),
            ),
            (
                "rooms.hold property=inn wish=any ttl_seconds=soon arrival=a departure=d",
                Err("field \"ttl_seconds\" is not a whole number"),
            ),
            (
                "rooms.add_property property=inn open=true",
                Ok("ROOMS.ADD-PROPERTY inn OPEN"),
            ),
            (
                "rooms.add_property property=inn open=false",
                Ok("ROOMS.ADD-PROPERTY inn"),
            ),
            (
                "rooms.add_property property=inn open=yes",
                Err("field \"open\" is not true or false"),
            ),
            (
                "rooms.add_room property=inn room=1 type=twin",
                Ok("ROOMS.ADD-ROOM inn 1 twin"),
            ),
            (
                "rooms.add_room type=twin",
                Err("missing fields: property, room"),
            ),
            (
                "rooms.release hold=R1 hold=R2",
                Err("field \"hold\" is given twice"),
            ),
            ("rooms.get_totals", Ok("ROOMS.GET-TOTALS")),
            (
                "exchange.place_order account=a symbol=X side=buy quantity=1 limit=market time_in_force=ioc",
                Ok("EXCHANGE.PLACE-ORDER a X BUY 1 MARKET IOC"),
            ),
            (
                "exchange.place_order account=a symbol=X side=sell quantity=1 limit=9.5 \
                 until=2027-05-01T12:00:00Z self_trade=skip client_id=c-1",
                Ok(
                    "EXCHANGE.PLACE-ORDER a X SELL 1 9.5 UNTIL 2027-05-01T12:00:00Z SELF_TRADE SKIP CLIENT_ID c-1",
                ),
            ),
            (
                "exchange.place_order account=a symbol=X side=both quantity=1 limit=1",
                Err("field \"side\" is not buy | sell"),
            ),
            (
                "travel.book customer=7 items=flight-1 items=car-paris hold_ms=60000",
                Ok("TRAVEL.BOOK 7 flight-1 car-paris HOLD_MS 60000"),
            ),
            (
                "travel.resolve desk=cars xid=5 decision=commit",
                Ok("TRAVEL.RESOLVE CARS 5 COMMIT"),
            ),
        ];
        for (line, expected) in rows {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(request(line), expected, "{line}");
        }
    }

    #[test]
    fn every_operation_is_found_by_the_words_of_its_own_request() {
        let catalogue = Catalogue::new();
        let mut names = Vec::new();
        for syntax in operations() {
            let fields: Vec<(String, String)> = syntax
                .fields()
                .into_iter()
                .map(|field| {
                    let first = field.form.split(" | ").next().unwrap_or_default();
                    let value = match first {
                        "a whole number" => "1",
                        "true or false" => "true",
                        other => other,
                    };
                    (field.name, value.to_owned())
                })
                .collect();
            let words = syntax.request(&fields).unwrap();
            typed(&words.join(" "), |_, arguments| {
                let found = catalogue.resolve(&arguments);
                assert_eq!(found.ok(), syntax.action, "{words:?}");
            });
            names.push(syntax.operation());
        }
        assert!(names.len() > 80, "found {}", names.len());
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "no two operations have one name");
    }
}
