//! The names for which a grant is.

use std::fmt;

use turnstile_chassis::{Decode, Encode, Kind, Show, Value, put_text, read_text};
use turnstile_types::{InvalidName, Malformed, Name, Reader};

use crate::limits;

/// A name, or the beginning of names: `hotel-1`, `acme:*`, or `*` for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePattern {
    /// What a name must be, or begin with; not set in `*`.
    text: Option<Name>,
    /// Whether more may follow.
    is_open: bool,
}

/// Text that is no [`NamePattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNamePattern(InvalidName);

impl NamePattern {
    /// Every name.
    pub const ALL: Self = Self {
        text: None,
        is_open: true,
    };

    const KIND: Kind = Kind::Pattern {
        example: "acme:*",
        pattern: r"^([A-Za-z0-9._:-]{1,64}\*?|\*)$",
    };

    /// # Errors
    /// It is no name, no name with a star behind it, and no star.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidNamePattern> {
        if text == b"*" {
            return Ok(Self::ALL);
        }
        let (text, is_open) = match text.strip_suffix(b"*") {
            Some(beginning) => (beginning, true),
            None => (text, false),
        };
        let text = Name::parse(text).map_err(InvalidNamePattern)?;
        Ok(Self {
            text: Some(text),
            is_open,
        })
    }

    #[must_use]
    pub fn matches(&self, name: &Name) -> bool {
        match (&self.text, self.is_open) {
            (None, _) => true,
            (Some(text), true) => name.as_bytes().starts_with(text.as_bytes()),
            (Some(text), false) => text == name,
        }
    }
}

turnstile_chassis::readable!(NamePattern, InvalidNamePattern, NamePattern::KIND);

impl Value for NamePattern {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.as_ref().map_or("", Name::as_str);
        write!(f, "{text}{}", if self.is_open { "*" } else { "" })
    }
}

impl fmt::Display for InvalidNamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; a star may stand behind it, or alone for all",
            self.0
        )
    }
}

impl std::error::Error for InvalidNamePattern {}

/// Its text, the length before it.
impl Encode for NamePattern {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(self.to_string().as_bytes(), out);
    }
}

impl Decode<'_> for NamePattern {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::parse(read_text(reader, field)?).map_err(|_invalid| Malformed { field })
    }
}

/// The names for which a grant is: all, or up to 64 names and beginnings of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedNames(
    /// In ascending order, none twice; `*` stands alone.
    Box<[NamePattern]>,
);

/// Patterns that are no [`GrantedNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidGrantedNames {
    /// None is given. Whoever means all says so.
    None,
    TooMany,
    /// A star stands beside others.
    AllBesideOthers,
}

impl GrantedNames {
    #[must_use]
    pub fn all() -> Self {
        Self([NamePattern::ALL].into())
    }

    #[must_use]
    pub fn are_all(&self) -> bool {
        *self.0 == [NamePattern::ALL]
    }

    #[must_use]
    pub const fn patterns(&self) -> &[NamePattern] {
        &self.0
    }

    #[must_use]
    pub fn match_name(&self, name: &Name) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }
}

impl Value for GrantedNames {
    fn show<S: Show>(&self, show: S) -> S::Out {
        self.0.show(show)
    }

    fn kind() -> Kind {
        <[NamePattern]>::kind()
    }
}

impl TryFrom<Vec<NamePattern>> for GrantedNames {
    type Error = InvalidGrantedNames;

    fn try_from(mut patterns: Vec<NamePattern>) -> Result<Self, InvalidGrantedNames> {
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.is_empty() {
            return Err(InvalidGrantedNames::None);
        }
        if patterns.len() > limits::GRANTED_NAMES_MAX {
            return Err(InvalidGrantedNames::TooMany);
        }
        if patterns.len() > 1 && patterns.contains(&NamePattern::ALL) {
            return Err(InvalidGrantedNames::AllBesideOthers);
        }
        Ok(Self(patterns.into()))
    }
}

impl fmt::Display for InvalidGrantedNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("at least one name, or * for all"),
            Self::TooMany => write!(f, "at most {} names", limits::GRANTED_NAMES_MAX),
            Self::AllBesideOthers => f.write_str("* for all stands alone"),
        }
    }
}

impl std::error::Error for InvalidGrantedNames {}

/// How many there are in one byte, and each in ascending order.
impl Encode for GrantedNames {
    fn encode(&self, out: &mut Vec<u8>) {
        let count = u8::try_from(self.0.len()).expect("granted names are limited");
        count.encode(out);
        self.0.iter().for_each(|pattern| pattern.encode(out));
    }
}

impl Decode<'_> for GrantedNames {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let mut patterns: Vec<NamePattern> = Vec::new();
        for _ in 0..u8::decode(reader, field)? {
            let pattern = NamePattern::decode(reader, field)?;
            let is_next = patterns.last().is_none_or(|last| *last < pattern);
            Malformed::unless(is_next, field)?;
            patterns.push(pattern);
        }
        Self::try_from(patterns).map_err(|_invalid| Malformed { field })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> NamePattern {
        NamePattern::parse(text.as_bytes()).unwrap()
    }

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_pattern_is_a_name_or_its_beginning_or_all() {
        let rows = [
            ("hotel-1", "hotel-1", true),
            ("hotel-1", "hotel-10", false),
            ("hotel-1*", "hotel-10", true),
            ("hotel-1*", "hotel-1", true),
            ("hotel-1*", "hotel-", false),
            ("hotel-1*", "Hotel-10", false),
            ("*", "x", true),
        ];
        for (text, named, matches) in rows {
            assert_eq!(
                pattern(text).matches(&name(named)),
                matches,
                "{text} {named}"
            );
            assert_eq!(pattern(text).to_string(), text);
        }
        for text in ["", "a b", "**", "*a", "a*b", "h\x7ftel*", &"x".repeat(65)] {
            assert!(NamePattern::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(NamePattern::parse(format!("{}*", "x".repeat(64)).as_bytes()).is_ok());
    }

    #[test]
    fn granted_names_are_in_order_and_few_and_all_stand_alone() {
        let given = ["b", "a*", "b", "a"].map(pattern);
        let names = GrantedNames::try_from(given.to_vec()).unwrap();
        let shown: Vec<String> = names.patterns().iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["a", "a*", "b"]);
        assert!(GrantedNames::all().are_all() && !names.are_all());
        let wrong = [
            (Vec::new(), InvalidGrantedNames::None),
            (
                vec![pattern("*"), pattern("a")],
                InvalidGrantedNames::AllBesideOthers,
            ),
            (
                (0..65)
                    .map(|number| pattern(&format!("h{number}")))
                    .collect(),
                InvalidGrantedNames::TooMany,
            ),
        ];
        for (patterns, invalid) in wrong {
            assert_eq!(GrantedNames::try_from(patterns), Err(invalid));
        }
    }
}
