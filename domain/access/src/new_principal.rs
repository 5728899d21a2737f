//! The names that a new principal may have.

use std::fmt;

use turnstile_chassis::Kind;
use turnstile_types::{InvalidName, Name, Principal};

/// The name of a principal that is to be added. Those of principals that are there are plain names: journals
/// of earlier versions may have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPrincipal(Name);

/// Why some text is not a [`NewPrincipal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidNewPrincipal {
    Name(InvalidName),
    Reserved,
}

impl NewPrincipal {
    /// # Errors
    /// It is no name, or one that is the server's own.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidNewPrincipal> {
        let name = Name::parse(text).map_err(InvalidNewPrincipal::Name)?;
        if reserved().contains(&Principal(name)) {
            return Err(InvalidNewPrincipal::Reserved);
        }
        Ok(Self(name))
    }
}

/// By these names the server tells what is nobody's in particular, and what it does itself.
fn reserved() -> [Principal; 2] {
    [Principal::local(), Principal::engine()]
}

turnstile_chassis::readable!(NewPrincipal, InvalidNewPrincipal, Kind::NAME);

impl From<NewPrincipal> for Name {
    fn from(NewPrincipal(name): NewPrincipal) -> Self {
        name
    }
}

impl fmt::Display for InvalidNewPrincipal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(invalid) => invalid.fmt(f),
            Self::Reserved => {
                let [local, engine] = reserved();
                write!(f, "a name other than {local} and {engine}")
            }
        }
    }
}

impl std::error::Error for InvalidNewPrincipal {}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a principal `local` held in travel was everybody's, and `engine` was the author of ticks.
    #[test]
    fn a_new_principal_has_a_name_that_is_not_the_servers() {
        let read = |text: &str| NewPrincipal::parse(text.as_bytes()).map(Name::from);
        for text in ["shop", "locals", "Local", "engine-1"] {
            assert_eq!(read(text), Ok(Name::parse(text.as_bytes()).unwrap()));
        }
        for text in ["local", "engine"] {
            assert_eq!(read(text), Err(InvalidNewPrincipal::Reserved));
        }
        let empty = InvalidNewPrincipal::Name(InvalidName::Empty);
        assert_eq!(read(""), Err(empty));
        assert_eq!(
            InvalidNewPrincipal::Reserved.to_string(),
            "a name other than local and engine"
        );
    }
}
