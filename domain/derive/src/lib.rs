//! Derives what follows from the declaration of a type.

mod bytes;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives `turnstile_chassis::Encode` and `Decode`: the stable bytes of a type; for an enum also
/// `Tagged`.
///
/// A struct is its fields in the order in which they are declared. An enum is the byte of its
/// variant, then the fields of that. Every variant names its byte:
///
/// ```ignore
/// #[derive(Bytes)]
/// enum Wish {
///     #[byte(0)]
///     Room(Name),
///     #[byte(1)]
///     Any,
/// }
/// ```
///
/// A byte is never used again for something else, and a declared field is never moved.
#[proc_macro_derive(Bytes, attributes(byte))]
pub fn bytes(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    bytes::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
