//! The parameters that stand in a URL after the question mark.

use std::borrow::Cow;

use turnstile_rooms::{Cursor, Query};
use turnstile_types::{Name, Stay};

use crate::{
    problem::{Place, Problem},
    request::{Faults, LIMIT_DEFAULT},
};

/// The parameters of one request: each known, each at most once.
#[derive(Debug)]
pub struct Parameters<'a> {
    found: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    faults: Faults,
}

impl<'a> Parameters<'a> {
    /// Reads `name=value&...`; only names in `known` may occur.
    #[must_use]
    pub fn parse(text: &'a str, known: &[&str]) -> Self {
        let mut found: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        let mut faults = Faults::in_place(Place::Query);
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            if !known.contains(&&*name) {
                faults.add(
                    &name,
                    format_args!("unknown; known are: {}", known.join(", ")),
                );
            } else if found.iter().any(|(other, _)| *other == name) {
                faults.add(&name, "given twice");
            } else {
                found.push((name, value));
            }
        }
        Self { found, faults }
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let found = self.found.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone().into_owned())
    }

    fn required(&mut self, name: &str) -> String {
        self.text(name).unwrap_or_else(|| {
            self.faults.add(name, "missing");
            String::new()
        })
    }

    fn optional_name(&mut self, name: &str) -> Option<Option<Name>> {
        match self.text(name) {
            None => Some(None),
            Some(text) => self.faults.name(name, &text).map(Some),
        }
    }

    pub(crate) fn limit(&mut self) -> Option<u16> {
        self.count("limit", LIMIT_DEFAULT)
    }

    /// How many entries are asked for.
    pub(crate) fn count(&mut self, name: &str, default: u16) -> Option<u16> {
        let count = self.text(name).map(|text| text.parse::<u16>());
        // Whatever is wrong with the number, the range says it.
        let count = count.transpose().unwrap_or(Some(0)).unwrap_or(default);
        self.faults.count(name, count)
    }

    fn cursor(&mut self) -> Option<Option<u64>> {
        let cursor = self.text("cursor");
        self.faults.cursor(cursor.as_deref())
    }

    /// The two of every listing.
    pub(crate) fn page(&mut self) -> Option<(Option<u64>, u16)> {
        let (limit, cursor) = (self.limit(), self.cursor());
        cursor.zip(limit)
    }

    fn stay_or_none(&mut self) -> Option<Stay> {
        let (arrival, departure) = (self.required("arrival"), self.required("departure"));
        if arrival.is_empty() || departure.is_empty() {
            return None;
        }
        self.faults.stay(&arrival, &departure)
    }

    /// The stay of `arrival` and `departure`.
    ///
    /// # Errors
    /// Wrong parameters.
    pub fn stay(mut self) -> Result<Stay, Problem> {
        let stay = self.stay_or_none();
        self.faults.finish(stay)
    }

    /// # Errors
    /// Wrong parameters.
    pub fn list(mut self, property: Name) -> Result<Query, Problem> {
        let (from, to) = (self.required("from"), self.required("to"));
        let mut night = |name: &str, text: &str| match text {
            "" => None,
            text => self.faults.night(name, text),
        };
        let (from, to) = (night("from", &from), night("to", &to));
        let room = self.optional_name("room");
        let page = self.page();
        let whole = || {
            let (cursor, limit) = page?;
            Some(Query::List {
                property,
                room: room?,
                from: from?,
                to: to?,
                cursor: cursor.map(Cursor),
                limit,
            })
        };
        self.faults.finish(whole())
    }

    /// # Errors
    /// Wrong parameters.
    pub fn holds(mut self) -> Result<Query, Problem> {
        let page = self.page();
        self.faults.finish(page.map(|(cursor, limit)| Query::Holds {
            cursor: cursor.map(Cursor),
            limit,
        }))
    }

    /// # Errors
    /// Wrong parameters.
    pub fn properties(mut self) -> Result<Query, Problem> {
        let page = self.page();
        self.faults
            .finish(page.map(|(cursor, limit)| Query::Properties {
                cursor: cursor.map(Cursor),
                limit,
            }))
    }

    /// # Errors
    /// Wrong parameters.
    pub fn availability(mut self, property: Name) -> Result<Query, Problem> {
        let stay = self.stay_or_none();
        let room_type = self.optional_name("type");
        let whole = stay.zip(room_type);
        self.faults
            .finish(whole.map(|(stay, room_type)| Query::Availability {
                property,
                room_type,
                stay,
            }))
    }

    /// # Errors
    /// Wrong parameters.
    pub fn explain(mut self, property: Name) -> Result<Query, Problem> {
        let stay = self.stay_or_none();
        let (room, room_type) = (self.text("room"), self.text("room_type"));
        let wish = self.faults.wish(room.as_deref(), room_type.as_deref());
        let whole = stay.zip(wish);
        self.faults.finish(whole.map(|(stay, wish)| Query::Explain {
            property,
            wish,
            stay,
        }))
    }

    /// What came of the parameters that were read one by one.
    pub(crate) fn finish<T>(self, whole: Option<T>) -> Result<T, Problem> {
        self.faults.finish(whole)
    }

    pub(crate) const fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// The text of one parameter that an operation reads by itself.
    ///
    /// # Errors
    /// Wrong parameters.
    pub fn one(self, name: &str) -> Result<Option<String>, Problem> {
        let text = self.text(name);
        self.faults.finish(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Night;

    use super::*;

    const KNOWN: [&str; 5] = ["from", "to", "room", "limit", "cursor"];

    fn list(text: &str) -> Result<Query, Vec<(String, String)>> {
        let property = Name::parse(b"grand").unwrap();
        let query = Parameters::parse(text, &KNOWN).list(property);
        query.map_err(|problem| {
            let pair = |error: crate::FieldError| (error.field, error.message);
            problem.errors.into_vec().into_iter().map(pair).collect()
        })
    }

    #[test]
    fn parameters_become_a_query() {
        let expected = Query::List {
            property: Name::parse(b"grand").unwrap(),
            room: Some(Name::parse(b"a:1").unwrap()),
            from: Night::parse(b"2027-01-01").unwrap(),
            to: Night::parse(b"2027-02-01").unwrap(),
            cursor: Some(Cursor(7)),
            limit: 5,
        };
        let text = "room=a%3A1&from=2027-01-01&to=2027-02-01&cursor=c0000000000000007&limit=5";
        assert_eq!(list(text), Ok(expected));
    }

    #[test]
    fn every_wrong_parameter_is_named_at_once() {
        let wrong = list("from=x&limit=0&limit=3&room=&colour=red&cursor=1").unwrap_err();
        let fields: Vec<&str> = wrong.iter().map(|(field, _)| &**field).collect();
        assert_eq!(
            fields,
            ["limit", "colour", "to", "from", "room", "limit", "cursor"]
        );
        let limit = |text: &str| list(&format!("from=2027-01-01&to=2027-02-01&limit={text}"));
        for text in ["0", "1001", "-1", "99999", "ten"] {
            assert_eq!(
                limit(text),
                Err(vec![("limit".to_owned(), "1 to 1000".to_owned())]),
                "{text}"
            );
        }
        assert!(limit("1000").is_ok());
    }
}
