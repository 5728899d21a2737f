//! Short texts that people write, and that travel as they are.

/// Declares a type for text of one line: 1 to so many characters, none of them a control character.
///
/// Its bytes are a length in two bytes, then UTF-8.
macro_rules! short_text {
    (
        $(#[$about:meta])*
        $name:ident, $invalid:ident: $what:literal, $max:literal, $example:literal
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name<'a>(&'a str);

        #[doc = concat!("Why some bytes are not ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $invalid {
            Empty,
            NotUtf8,
            #[doc = concat!("More than ", $max, " characters; the field holds how many.")]
            TooLong(usize),
            ControlCharacter,
        }

        impl<'a> $name<'a> {
            /// Parses it.
            ///
            /// # Errors
            #[doc = concat!(
                "Bytes that are empty, not UTF-8, longer than ", $max,
                " characters, or hold a control character."
            )]
            pub fn parse(bytes: &'a [u8]) -> Result<Self, $invalid> {
                let text = str::from_utf8(bytes).map_err(|_invalid| $invalid::NotUtf8)?;
                if text.is_empty() {
                    return Err($invalid::Empty);
                }
                // A text has at most as many characters as bytes: short ones need no count.
                if text.len() > $max {
                    let characters = text.chars().count();
                    if characters > $max {
                        return Err($invalid::TooLong(characters));
                    }
                }
                // Most texts are plain ASCII; only others are read character by character.
                let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
                if !is_plain && text.chars().any(char::is_control) {
                    return Err($invalid::ControlCharacter);
                }
                Ok(Self(text))
            }

            #[must_use]
            pub const fn as_str(&self) -> &'a str {
                self.0
            }
        }

        impl ::turnstile_chassis::Value for $name<'_> {
            fn show<S: ::turnstile_chassis::Show>(&self, show: S) -> S::Out {
                show.text(self.0)
            }

            fn kind() -> ::turnstile_chassis::Kind {
                <Self as ::turnstile_chassis::Readable>::kind()
            }
        }

        impl<'a> ::turnstile_chassis::Readable<'a> for $name<'a> {
            type Invalid = $invalid;

            #[inline]
            fn read(text: &'a [u8]) -> Result<Self, $invalid> {
                Self::parse(text)
            }

            fn kind() -> ::turnstile_chassis::Kind {
                ::turnstile_chassis::Kind::Pattern {
                    example: $example,
                    pattern: concat!(r"^[^\u0000-\u001f\u007f-\u009f]{1,", $max, "}$"),
                }
            }
        }

        impl ::turnstile_chassis::Encode for $name<'_> {
            fn encode(&self, out: &mut Vec<u8>) {
                ::turnstile_types::put_bytes(out, self.0.as_bytes());
            }
        }

        impl<'a> ::turnstile_chassis::Decode<'a> for $name<'a> {
            fn decode(
                reader: &mut ::turnstile_types::Reader<'a>,
                field: &'static str,
            ) -> Result<Self, ::turnstile_types::Malformed> {
                let parsed = Self::parse(reader.bytes(field)?);
                parsed.map_err(|_invalid| ::turnstile_types::Malformed { field })
            }
        }

        impl ::std::fmt::Display for $invalid {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    Self::Empty => f.write_str(concat!($what, " has at least one character")),
                    Self::NotUtf8 => f.write_str(concat!($what, " is UTF-8 text")),
                    Self::TooLong(characters) => write!(
                        f,
                        concat!($what, " has at most ", $max, " characters, this one has {}"),
                        characters
                    ),
                    Self::ControlCharacter => {
                        f.write_str(concat!($what, " has no control characters"))
                    }
                }
            }
        }

        impl ::std::error::Error for $invalid {}
    };
}

pub(crate) use short_text;
