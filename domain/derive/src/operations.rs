//! What can be asked of a service: an operation for each variant, with a parameter for each field.

mod routing;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{
    BinOp, Data, DataEnum, DeriveInput, Error, Expr, Lifetime, Member, Meta, Result, Token, Type,
    Variant,
    ext::IdentExt as _,
    parse::{Parse, ParseStream},
    parse_quote,
    punctuated::Punctuated,
};

use crate::{
    attributes::{documentation, find, text},
    parameters::construct,
    words::{VariantNaming, names},
};

/// What an enum says of all its operations:
/// `#[operations(door = Door<'d>, answers = Done, about = About, right = read, checked)]`.
struct Declared {
    door: Type,
    answers: Option<Type>,
    /// The enum that says what a request is about. It has a variant `All`.
    about: Option<Ident>,
    /// What is needed of the caller of an operation that says nothing else.
    right: Ident,
    /// Whether its method `flaw` finds what is wrong between several parameters.
    is_checked: bool,
    /// Whether each operation says which partition decides it; if not, the first one does.
    is_routed: bool,
}

impl Declared {
    fn read(input: &DeriveInput) -> Result<Self> {
        match find(&input.attrs, "operations") {
            Some(attribute) => attribute.parse_args(),
            None => Ok(Self::default()),
        }
    }
}

impl Default for Declared {
    fn default() -> Self {
        Self {
            door: parse_quote!(()),
            answers: None,
            about: None,
            right: parse_quote!(Use),
            is_checked: false,
            is_routed: false,
        }
    }
}

impl Parse for Declared {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut declared = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name == "checked" {
                declared.is_checked = true;
            } else if name == "routed" {
                declared.is_routed = true;
            } else if name == "door" {
                declared.door = value(input)?;
            } else if name == "answers" {
                declared.answers = Some(value(input)?);
            } else if name == "about" {
                input.parse::<Token![=]>()?;
                declared.about = Some(input.parse()?);
            } else if name == "right" {
                input.parse::<Token![=]>()?;
                declared.right = right(&input.parse()?)?;
            } else {
                let known = "operations have `door = Type`, `answers = Type`, `about = Enum` and \
                             `right = read`, or are `checked` or `routed`";
                return Err(Error::new_spanned(name, known));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(declared)
    }
}

/// The rights as attributes name them.
const RIGHTS: [(&str, &str); 3] = [("read", "Read"), ("use", "Use"), ("manage", "Manage")];

/// The variant of `Right` that a word names.
fn right(value: &Expr) -> Result<Ident> {
    let named = match value {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let found = RIGHTS
        .iter()
        .find(|(word, _)| named.is_some_and(|name| name == word));
    match found {
        Some((_, variant)) => Ok(Ident::new(variant, Span::call_site())),
        None => Err(Error::new_spanned(
            value,
            "a right is `read`, `use` or `manage`",
        )),
    }
}

fn value(input: ParseStream<'_>) -> Result<Type> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn lifetime_of(input: &DeriveInput) -> Lifetime {
    let first = input.generics.lifetimes().next();
    first.map_or_else(|| parse_quote!('a), |parameter| parameter.lifetime.clone())
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "only an enum has operations",
        ));
    };
    let declared = Declared::read(input)?;
    let OperationTokens {
        list,
        mut read,
        needed,
        count,
    } = operations(data, &declared)?;
    if declared.is_checked {
        read = quote! {
            let mut read = || -> ::core::option::Option<Self> { #read };
            let operation = read()?;
            if let ::core::option::Option::Some((name, reason)) = operation.flaw() {
                source.invalid(name, reason);
                return ::core::option::Option::None;
            }
            ::core::option::Option::Some(operation)
        };
    }
    let about = about(input, data, &declared)?;
    let routed = routing::methods(data, &declared)?;
    let door = &declared.door;
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    let lifetime = lifetime_of(input);
    Ok(quote! {
        #about

        #[automatically_derived]
        impl #generics ::turnstile_chassis::Needs for #name #arguments #bounds {
            const NEEDED: &'static [::turnstile_chassis::Needed] = {
                const ALL: [::turnstile_chassis::Needed; #count] =
                    ::turnstile_chassis::joined(::turnstile_chassis::Needed::MANAGE, &[#(#needed),*]);
                &ALL
            };

            #[inline]
            fn needed(&self) -> ::turnstile_chassis::Needed {
                let needed = Self::NEEDED.get(self.place());
                needed.copied().unwrap_or(::turnstile_chassis::Needed::MANAGE)
            }
        }

        #[automatically_derived]
        impl #generics ::turnstile_chassis::Routed for #name #arguments #bounds {
            #routed
        }

        #[automatically_derived]
        impl<#lifetime> ::turnstile_chassis::Operations<#lifetime> for #name #arguments {
            type Door<'d> = #door;

            fn operations() -> ::std::vec::Vec<::turnstile_chassis::Operation> {
                let mut operations = ::std::vec::Vec::new();
                #list
                operations
            }

            #[inline]
            #[allow(unused_variables, reason = "not every operation needs its door")]
            fn read<S: ::turnstile_chassis::Source<#lifetime>>(
                place: usize,
                source: &mut S,
                door: Self::Door<'_>,
            ) -> ::core::option::Option<Self> {
                #read
            }
        }
    })
}

/// What each request is about: what its variant says of its fields, or everything.
fn about(input: &DeriveInput, data: &DataEnum, declared: &Declared) -> Result<TokenStream> {
    let mut arms = TokenStream::new();
    for variant in &data.variants {
        let Some(said) = OperationAttribute::read(variant)?.about else {
            continue;
        };
        let Some(about) = &declared.about else {
            let needed = "which enum says it: `#[operations(about = Enum)]`";
            return Err(Error::new_spanned(said, needed));
        };
        let ident = &variant.ident;
        let fields = variant.fields.members().map(|member| match member {
            Member::Named(name) => quote!(#name),
            // A variant around another type has one field.
            Member::Unnamed(_) => quote!(0: inner),
        });
        arms.extend(quote!(Self::#ident { #(#fields,)* } => #about::#said,));
    }
    let Some(about) = &declared.about else {
        return Ok(TokenStream::new());
    };
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics #name #arguments #bounds {
            /// What the request is about. A variant that says nothing is about everything.
            #[allow(unused_variables, reason = "it is about few of its fields")]
            #[allow(unreachable_patterns, reason = "every variant may say something")]
            pub(crate) fn about(&self) -> #about {
                match self {
                    #arms
                    _ => #about::All,
                }
            }
        }
    })
}

/// What is derived of all variants.
struct OperationTokens {
    /// Lists the operations.
    list: TokenStream,
    /// Reads the one at a place.
    read: TokenStream,
    /// What they need of their callers, part by part in the order of their words.
    needed: Vec<TokenStream>,
    /// How many words they have.
    count: TokenStream,
}

fn operations(data: &DataEnum, declared: &Declared) -> Result<OperationTokens> {
    let answers = declared.answers.as_ref();
    let (mut list, mut read) = (TokenStream::new(), TokenStream::new());
    let mut needed = Vec::new();
    let mut before = quote!(0);
    for (variant, name) in data.variants.iter().zip(names(data)?) {
        let ident = &variant.ident;
        let path = quote!(Self::#ident);
        let own = OperationAttribute::read(variant)?;
        let need = own.needed(&declared.right);
        let mut add = |(word, sentence, answer): (&str, &str, &[Ident]), given: &[_], place: &_| {
            if own.is_internal {
                return Result::Ok(());
            }
            let answers = answered(answers, answer);
            let [made, parameters] = construct(&path, &variant.fields, given)?;
            list.extend(quote! {{
                #[allow(unused_mut, reason = "there may be no parameters")]
                let mut parameters = ::std::vec::Vec::new();
                #parameters
                operations.push(::turnstile_chassis::Operation {
                    place: #place,
                    word: #word,
                    sentence: #sentence,
                    parameters,
                    answers: #answers,
                    needed: #need,
                });
            }});
            read.extend(quote!(if place == #place { #made } else));
            Ok(())
        };
        match name {
            VariantNaming::Word(word) => {
                add((&word, &own.sentence, &own.answers), &[], &before)?;
                needed.push(quote!(&[#need]));
                before = quote!(#before + 1);
            }
            VariantNaming::Chosen { flag, words } => {
                let [set, unset] = &words;
                let given = |is_set: bool| [(flag.clone(), quote!(#is_set))];
                let (first, second) = own.answers.split_at(own.answers.len().div_ceil(2));
                add((set, &own.sentence, first), &given(true), &before)?;
                let after = quote!(#before + 1);
                add((unset, &own.otherwise, second), &given(false), &after)?;
                needed.push(quote!(&[#need, #need]));
                before = quote!(#before + 2);
            }
            VariantNaming::Inner { inner, field, .. } => {
                if !own.is_internal {
                    let [parts, reading] = nested(&path, variant, (field, &inner), &before)?;
                    list.extend(parts);
                    read.extend(reading);
                }
                needed.push(quote!(<#inner as ::turnstile_chassis::Needs>::NEEDED));
                before = quote!(#before + <#inner>::WORDS.len());
            }
        }
    }
    Ok(OperationTokens {
        list,
        read: quote!(#read { ::core::option::Option::None }),
        needed,
        count: before,
    })
}

/// Lists these variants of the answers, which the compiler checks to exist.
fn answered(answers: Option<&Type>, names: &[Ident]) -> TokenStream {
    let Some(answers) = answers else {
        return quote!(::std::vec::Vec::new());
    };
    let words = names.iter().map(|name| name.unraw().to_string());
    quote! {{
        type DeclaredAnswers = #answers;
        let _exist = |answers: &DeclaredAnswers| {
            #(let _ = ::core::matches!(answers, DeclaredAnswers::#names { .. });)*
        };
        ::turnstile_chassis::variants_named::<DeclaredAnswers>(&[#(#words),*])
    }}
}

/// The operations of an enum inside a variant, behind the parameters of the variant itself.
fn nested(
    path: &TokenStream,
    variant: &Variant,
    (field, inner): (Option<Ident>, &Type),
    before: &TokenStream,
) -> Result<[TokenStream; 2]> {
    let Some(name) = field else {
        let needed = "the fields of a variant with operations inside have names";
        return Err(Error::new_spanned(variant, needed));
    };
    let value = quote! {
        <#inner as ::turnstile_chassis::Operations>::read(place - (#before), source, ())?
    };
    let [made, parameters] = construct(path, &variant.fields, &[(name, value)])?;
    let list = quote! {
        for mut operation in <#inner as ::turnstile_chassis::Operations>::operations() {
            #[allow(unused_mut, reason = "there may be no parameters")]
            let mut parameters = ::std::vec::Vec::new();
            #parameters
            parameters.append(&mut operation.parameters);
            operation.place += #before;
            operation.parameters = parameters;
            operations.push(operation);
        }
    };
    let read = quote! {
        if (#before..#before + <#inner>::WORDS.len()).contains(&place) { #made } else
    };
    Ok([list, read])
}

/// What an operation says with one word: the fields of `Needed` that are set then.
const FLAGS: [&str; 4] = ["of_holder", "waits_in_line", "opens", "may_wait"];

/// What a variant says of its operation:
/// `#[operation(answer = SaleStopped | SaleResumed, otherwise = "Resumes the sale", right = manage)]`.
struct OperationAttribute {
    is_internal: bool,
    /// What it is about: a variant of the enum that says so, with values of its fields.
    about: Option<Expr>,
    /// That of the enum when nothing is said.
    right: Option<Ident>,
    /// Those of the [`FLAGS`] that it has.
    flags: Vec<Ident>,
    /// What says which partition decides it: a field, or `pages`, `all` or `first`.
    route: Option<Ident>,
    sentence: String,
    /// The sentence for a flag that is not set.
    otherwise: String,
    /// The variants of the answers that it may have; as itself when nothing is said. Those of a flag
    /// that is not set are the second half.
    answers: Vec<Ident>,
}

impl OperationAttribute {
    fn read(variant: &Variant) -> Result<Self> {
        let sentence = documentation(&variant.attrs);
        let mut own = Self {
            is_internal: false,
            about: None,
            right: None,
            flags: Vec::new(),
            route: None,
            sentence: sentence.trim_end_matches('.').to_owned(),
            otherwise: String::new(),
            answers: vec![variant.ident.clone()],
        };
        let Some(attribute) = find(&variant.attrs, "operation") else {
            return Ok(own);
        };
        let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        for part in parts {
            match &part {
                Meta::Path(path) if path.is_ident("internal") => own.is_internal = true,
                Meta::Path(path) if FLAGS.iter().any(|flag| path.is_ident(flag)) => {
                    own.flags.push(path.require_ident()?.clone());
                }
                Meta::NameValue(pair) if pair.path.is_ident("right") => {
                    own.right = Some(right(&pair.value)?);
                }
                Meta::NameValue(pair) if pair.path.is_ident("about") => {
                    own.about = Some(pair.value.clone());
                }
                Meta::NameValue(pair) if pair.path.is_ident("route") => match &pair.value {
                    Expr::Path(path) => own.route = Some(path.path.require_ident()?.clone()),
                    other => return Err(Error::new_spanned(other, "a route is one word")),
                },
                Meta::NameValue(pair) if pair.path.is_ident("otherwise") => {
                    own.otherwise = text(&pair.value)?.value();
                }
                Meta::NameValue(pair) if pair.path.is_ident("answer") => {
                    own.answers = alternatives(&pair.value)?;
                }
                _ => {
                    let known = "an operation is `internal` or `of_holder`, `waits_in_line`, `opens`, \
                                 `may_wait`, or has `answer = Variant`, `about = Thing(*field)`, \
                                 `otherwise = \"...\"`, `right = manage` and `route = field`";
                    return Err(Error::new_spanned(part, known));
                }
            }
        }
        Ok(own)
    }

    /// What it needs of its caller. No door takes what is internal.
    fn needed(&self, usual: &Ident) -> TokenStream {
        if self.is_internal {
            return quote!(::turnstile_chassis::Needed::MANAGE);
        }
        let (right, flags) = (self.right.as_ref().unwrap_or(usual), &self.flags);
        quote! {
            ::turnstile_chassis::Needed {
                #(#flags: true,)*
                ..::turnstile_chassis::Needed::only(::turnstile_chassis::Right::#right)
            }
        }
    }
}

/// The names of `Challenged | Begun`.
fn alternatives(value: &Expr) -> Result<Vec<Ident>> {
    match value {
        Expr::Binary(either) if matches!(either.op, BinOp::BitOr(_)) => {
            let mut names = alternatives(&either.left)?;
            names.extend(alternatives(&either.right)?);
            Ok(names)
        }
        Expr::Path(path) => Ok(vec![path.path.require_ident()?.clone()]),
        other => {
            let needed = "answers are names of variants with `|` between them";
            Err(Error::new_spanned(other, needed))
        }
    }
}
