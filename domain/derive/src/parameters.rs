//! What an operation takes: a parameter for each field.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Expr, Field, Fields, GenericArgument, LitStr, Meta, PathArguments,
    Result, Token, Type, ext::IdentExt as _, punctuated::Punctuated,
};

use crate::attributes::{documentation, find, text};

/// How a field is given: `#[parameter(name = "limit", max = 1_000, default = 100)]`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    /// Several parameters stand in its place.
    pub(crate) is_flat: bool,
    /// It stands behind the others that must be given.
    is_last: bool,
    /// The type that is read, of which the field is made.
    read_as: Option<Type>,
    /// The method of the door that reads it.
    pub(crate) door: Option<Ident>,
    /// The bounds of a whole number.
    min: Option<Expr>,
    max: Option<Expr>,
    /// What it is when it is not given.
    default: Option<Expr>,
    /// How doors show the default, where it is not a bounded number.
    shown: Option<Expr>,
    /// The word for nothing, where it must be given.
    none: Option<LitStr>,
    /// The type of the values of which it has several.
    repeated: Option<Type>,
    /// The most values.
    most: Option<Expr>,
    /// What its text is, where its type does not say it.
    kind: Option<Expr>,
}

impl Options {
    pub(crate) fn read(field: &Field) -> Result<Self> {
        let mut options = Self::default();
        let Some(attribute) = find(&field.attrs, "parameter") else {
            return Ok(options);
        };
        let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        for part in parts {
            match &part {
                Meta::Path(path) if path.is_ident("flatten") => options.is_flat = true,
                Meta::Path(path) if path.is_ident("last") => options.is_last = true,
                Meta::NameValue(pair) => {
                    let (key, value) = (&pair.path, &pair.value);
                    let value_type = || syn::parse2::<Type>(quote!(#value));
                    match () {
                        () if key.is_ident("name") => options.name = Some(text(value)?),
                        () if key.is_ident("none") => options.none = Some(text(value)?),
                        () if key.is_ident("default") => options.default = Some(value.clone()),
                        () if key.is_ident("shown") => options.shown = Some(value.clone()),
                        () if key.is_ident("read_as") => options.read_as = Some(value_type()?),
                        () if key.is_ident("repeated") => options.repeated = Some(value_type()?),
                        () if key.is_ident("door") => {
                            options.door = Some(syn::parse2(quote!(#value))?)
                        }
                        () if key.is_ident("most") => options.most = Some(value.clone()),
                        () if key.is_ident("kind") => options.kind = Some(value.clone()),
                        () if key.is_ident("min") => options.min = Some(value.clone()),
                        () if key.is_ident("max") => options.max = Some(value.clone()),
                        () => return Err(unknown(&part)),
                    }
                }
                _ => return Err(unknown(&part)),
            }
        }
        Ok(options)
    }
}

fn unknown(part: &Meta) -> Error {
    let known = "a parameter is `name = \"...\"`, `flatten`, `last`, `read_as = Type`, \
                 `door = method`, `kind = value`, `min = 1`, `max = 9`, `default = value`, `shown = text`, `none = \"...\"`, \
                 `repeated = Type` or `most = 9`";
    Error::new_spanned(part, known)
}

/// One field: how it is read into `local`, and what describes it.
struct Part {
    local: Ident,
    is_required: bool,
    is_last: bool,
    read: TokenStream,
    describe: TokenStream,
}

impl Part {
    fn new(field: &Field, local: Ident) -> Result<Self> {
        let options = Options::read(field)?;
        let field_type = &field.ty;
        if options.is_flat || field.ident.is_none() {
            return Ok(Self {
                local,
                is_required: true,
                is_last: false,
                read: quote!(<#field_type as ::turnstile_chassis::Parameters>::read(source)),
                describe: quote! {
                    parameters.extend(<#field_type as ::turnstile_chassis::Parameters>::parameters());
                },
            });
        }
        let name = match (&options.name, &field.ident) {
            (Some(name), _) => name.value(),
            (None, own) => own
                .as_ref()
                .map_or_else(String::new, |own| own.unraw().to_string()),
        };
        let inner = optional(field_type);
        let own_type = inner.unwrap_or(field_type);
        let value = options.repeated.as_ref().unwrap_or(own_type);
        let (by, kind) = reader(&options, value);
        let is_flag = matches!(value, Type::Path(path) if path.path.is_ident("bool"))
            && options.read_as.is_none();
        let (need, read) = if is_flag {
            (quote!(Optional), quote!(source.flag(#name)))
        } else {
            asked(&options, (&name, field_type), &by)
        };
        let is_required =
            need.to_string() == "Required" || options.repeated.is_some() || options.none.is_some();
        let kind = match &options.kind {
            Some(kind) => quote!(#kind),
            None if is_flag => quote!(::turnstile_chassis::Kind::Flag),
            None => kind,
        };
        let default = match (&options.shown, &options.max, &options.default) {
            (Some(shown), ..) => quote!(::core::option::Option::Some((#shown).to_string())),
            (None, Some(_), Some(default)) => quote!({
                let default: #value = #default;
                ::core::option::Option::Some(default.to_string())
            }),
            _ => quote!(::core::option::Option::None),
        };
        let meaning = documentation(&field.attrs);
        let describe = quote! {
            parameters.push(::turnstile_chassis::Parameter {
                name: #name,
                meaning: #meaning,
                kind: #kind,
                need: ::turnstile_chassis::Need::#need,
                default: #default,
            });
        };
        Ok(Self {
            local,
            is_required,
            is_last: options.is_last,
            read,
            describe,
        })
    }
}

/// How much a field is needed, and what asks the source for it.
fn asked(
    options: &Options,
    (name, field_type): (&str, &Type),
    by: &TokenStream,
) -> (TokenStream, TokenStream) {
    if let Some(none) = &options.none {
        (
            quote!(RequiredOr(#none)),
            quote!(source.required_or(#name, #none, #by)),
        )
    } else if options.repeated.is_some() {
        let read = quote! {
            source.repeated(#name, #by).and_then(|values| {
                <#field_type>::try_from(values)
                    .map_err(|invalid| source.invalid(#name, invalid))
                    .ok()
            })
        };
        let most = &options.most;
        (quote!(Repeated { most: #most }), read)
    } else if let Some(default) = &options.default {
        let read = quote!(source.optional(#name, #by).map(|given| given.unwrap_or(#default)));
        (quote!(Optional), read)
    } else if optional(field_type).is_some() {
        (quote!(Optional), quote!(source.optional(#name, #by)))
    } else {
        (quote!(Required), quote!(source.required(#name, #by)))
    }
}

/// What reads a value of this type, and its kind.
fn reader(options: &Options, value: &Type) -> (TokenStream, TokenStream) {
    if let Some(method) = &options.door {
        let kind = quote!(<#value as ::turnstile_chassis::Value>::kind());
        return (quote!(|text| door.#method(text)), kind);
    }
    if let Some(max) = &options.max {
        let min = options
            .min
            .as_ref()
            .map_or_else(|| quote!(0), |min| quote!(#min));
        let by = quote!(|text| ::turnstile_chassis::whole::<#value>(text, #min, #max));
        let kind = quote!(::turnstile_chassis::Kind::Number { min: #min, max: #max });
        return (by, kind);
    }
    match &options.read_as {
        Some(other) => (
            quote!(|text| <#other as ::turnstile_chassis::Readable>::read(text).map(<#value>::from)),
            quote!(<#other as ::turnstile_chassis::Readable>::kind()),
        ),
        None => (
            quote!(<#value as ::turnstile_chassis::Readable>::read),
            quote!(<#value as ::turnstile_chassis::Readable>::kind()),
        ),
    }
}

/// `T` of `Option<T>`.
fn optional(field: &Type) -> Option<&Type> {
    let Type::Path(path) = field else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match (last.ident == "Option", arguments.args.first()?) {
        (true, GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

/// Reads the fields, those that must be given first, and makes `path` of them.
pub(crate) fn construct(
    path: &TokenStream,
    fields: &Fields,
    given: &[(Ident, TokenStream)],
) -> Result<[TokenStream; 2]> {
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    for (at, field) in fields.iter().enumerate() {
        let local = format_ident!("field{at}");
        let found = given
            .iter()
            .find(|(name, _)| field.ident.as_ref() == Some(name));
        let value = match found {
            Some((_, value)) => value.clone(),
            None => {
                parts.push(Part::new(field, local.clone())?);
                quote!(#local?)
            }
        };
        values.push(match &field.ident {
            Some(name) => quote!(#name: #value),
            None => value,
        });
    }
    parts.sort_by_key(|part| (!part.is_required, part.is_last));
    let reads = parts
        .iter()
        .map(|Part { local, read, .. }| quote!(let #local = #read;));
    let made = match fields {
        Fields::Named(_) => quote!(#path { #(#values),* }),
        Fields::Unnamed(_) => quote!(#path(#(#values),*)),
        Fields::Unit => quote!(#path),
    };
    let describe = parts.iter().map(|part| &part.describe);
    Ok([
        quote!(#(#reads)* ::core::option::Option::Some(#made)),
        quote!(#(#describe)*),
    ])
}

/// The parameters of a struct.
pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "only a struct has parameters",
        ));
    };
    let [made, describe] = construct(&quote!(Self), &data.fields, &[])?;
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl<'a> ::turnstile_chassis::Parameters<'a> for #name {
            fn parameters() -> ::std::vec::Vec<::turnstile_chassis::Parameter> {
                let mut parameters = ::std::vec::Vec::new();
                #describe
                parameters
            }

            #[inline]
            fn read<S: ::turnstile_chassis::Source<'a>>(source: &mut S) -> ::core::option::Option<Self> {
                #made
            }
        }
    })
}
