//! Derives what follows from the declaration of a type.

mod attributes;
mod bytes;
mod fields;
mod operations;
mod parameters;
mod words;

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

/// Derives `turnstile_chassis::Fields`: what doors show of a type, by name and kind.
///
/// A field is shown under its own name unless it says otherwise:
///
/// ```ignore
/// #[derive(Fields)]
/// struct TypeAvailability {
///     #[field(name = "type")]
///     room_type: Name,
///     /// What stands here is its meaning in the reference.
///     rooms: u32,
///     #[field(flatten)]
///     stay: Stay,
///     #[field(name = "ttl_seconds", with = seconds)]
///     ttl_ms: u32,
///     #[field(skip)]
///     slot: u32,
/// }
/// ```
///
/// What is flattened and not set has no fields; with `#[field(flatten, or_null)]` they are null.
///
/// What is a parameter of a request, too, has the name of that, and is flattened as that; what its door
/// reads is skipped.
///
/// The fields of an enum are those of its variant; with `#[fields(tag = "state")]`, the word of the
/// variant stands before them, and it may be a field of something else.
#[proc_macro_derive(Fields, attributes(field, fields, parameter))]
pub fn fields(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Derives `code()`, `place()`, `WORDS` and, for variants without data, `plain()`: the stable word of each
/// variant, in `snake_case`, unless `#[word("...")]` says another, or `#[word(inner)]` and `#[word(inner = deed)]` that a field has it.
///
/// When the variants are refusals, each says its class and its sentence, and
/// `turnstile_chassis::Refuse` is derived too:
///
/// ```ignore
/// #[derive(Words)]
/// enum Refusal {
///     #[refusal(not_found, "There is no such property")]
///     UnknownProperty,
/// }
/// ```
#[proc_macro_derive(Words, attributes(word, refusal))]
pub fn words(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    words::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Derives `turnstile_chassis::Operations` for the commands or the queries of a service: each variant is an
/// operation, its word that of `Words`, its documentation the sentence, its fields the parameters.
///
/// ```ignore
/// #[derive(Words, Operations)]
/// #[operations(door = Door<'d>, answers = Done)]
/// enum Command {
///     /// Keeps a room for a while, to be confirmed.
///     #[operation(answer = Held)]
///     Hold {
///         property: Name,
///         #[parameter(flatten)]
///         stay: Stay,
///         #[parameter(name = "ttl_seconds", read_as = Seconds, default = 600_000, shown = 600)]
///         ttl_ms: u32,
///     },
///     #[operation(internal)]
///     Restarted,
/// }
/// ```
///
/// A parameter must be given unless its type is an `Option` or a `bool`, or it has a default. Doors show
/// the default of a number with a `max`, or what `shown` says. What a door knows is the type `door`; its methods read a field with `#[parameter(door = method)]`. An operation is
/// answered by the variant of `answers` that has its name, unless it names another. If the operations are
/// `checked`, their method `flaw` names a parameter that is wrong beside the others, and says why.
///
/// An operation needs the right `use` of its caller, unless it says `#[operation(right = manage)]` or all of
/// them say `#[operations(right = read)]`. What uses a hold or a transaction is `of_holder`. What takes
/// one of few things away from others `waits_in_line` in a rush. What makes one `opens` something, and what
/// may be answered late `may_wait`. `turnstile_chassis::Needs` tells all this.
///
/// In a cluster with several partitions the first one decides, unless the operations are `routed`. Then each
/// says its `route`: the field that names the partition, `pages` for a listing whose `cursor` goes from
/// partition to partition, `all` where the answers of all are added, or `first`.
#[proc_macro_derive(Operations, attributes(operations, operation, parameter))]
pub fn operations(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    operations::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Derives `turnstile_chassis::Parameters` for the fields of a struct, as for those of an operation.
#[proc_macro_derive(Parameters, attributes(parameter))]
pub fn parameters(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    parameters::derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
