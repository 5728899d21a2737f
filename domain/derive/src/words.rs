//! The stable word of each variant and, for refusals, its class and its sentence.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{
    Data, DataEnum, DeriveInput, Error, Fields, LitByteStr, LitStr, Meta, Result, Token, Type,
    Variant,
    parse::{Parse, ParseStream},
};

use crate::attributes::{find, snake_case};

/// `#[refusal(not_found, "There is no such property")]`.
struct Refusal {
    class: Ident,
    sentence: LitStr,
}

impl Parse for Refusal {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let class = input.parse()?;
        input.parse::<Token![,]>()?;
        let sentence = input.parse()?;
        Ok(Self { class, sentence })
    }
}

/// The classes as attributes name them.
const CLASSES: [(&str, &str); 7] = [
    ("invalid", "Invalid"),
    ("conflict", "Conflict"),
    ("early", "Early"),
    ("forbidden", "Forbidden"),
    ("not_found", "NotFound"),
    ("gone", "Gone"),
    ("elsewhere", "Elsewhere"),
];

/// How a variant is named.
pub(crate) enum VariantNaming {
    Word(String),
    /// By what one of its fields, a flag, is: `#[word(stopped, "stop_sell", "resume_sell")]`.
    Chosen {
        flag: Ident,
        words: [String; 2],
    },
    /// As its only field is, `#[word(inner)]`, or the field of this name, `#[word(inner = deed)]`.
    Inner {
        pattern: TokenStream,
        /// The field's name, where it has one.
        field: Option<Ident>,
        inner: Box<Type>,
    },
}

/// `stopped, "stop_sell", "resume_sell"`.
struct FlagWords {
    flag: Ident,
    words: [LitStr; 2],
}

impl Parse for FlagWords {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let flag = input.parse()?;
        input.parse::<Token![,]>()?;
        let set = input.parse()?;
        input.parse::<Token![,]>()?;
        let words = [set, input.parse()?];
        Ok(Self { flag, words })
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only an enum has words"));
    };
    let names = names(data)?;
    let words = words(input, data, &names);
    let is_refusal = data
        .variants
        .iter()
        .any(|variant| find(&variant.attrs, "refusal").is_some());
    let refuse = is_refusal
        .then(|| refuse(input, data, &names))
        .transpose()?;
    Ok(quote!(#words #refuse))
}

/// The names of all variants.
pub(crate) fn names(data: &DataEnum) -> Result<Vec<VariantNaming>> {
    let mut taken = BTreeMap::new();
    data.variants
        .iter()
        .map(|variant| {
            let name = name(variant)?;
            let own = match &name {
                VariantNaming::Word(word) => std::slice::from_ref(word),
                VariantNaming::Chosen { words, .. } => words,
                VariantNaming::Inner { .. } => &[],
            };
            for word in own {
                if let Some(other) = taken.insert(word.clone(), &variant.ident) {
                    let already = format!("\"{word}\" is the word of `{other}` already");
                    return Err(Error::new_spanned(&variant.ident, already));
                }
            }
            Ok(name)
        })
        .collect()
}

fn name(variant: &Variant) -> Result<VariantNaming> {
    let Some(attribute) = find(&variant.attrs, "word") else {
        return Ok(VariantNaming::Word(snake_case(&variant.ident)));
    };
    if let Ok(word) = attribute.parse_args::<LitStr>() {
        return Ok(VariantNaming::Word(word.value()));
    }
    if let Ok(FlagWords { flag, words }) = attribute.parse_args() {
        let words = words.map(|word| word.value());
        return Ok(VariantNaming::Chosen { flag, words });
    }
    let meta: Meta = attribute.parse_args()?;
    let inner = match (&meta, &variant.fields) {
        (Meta::Path(path), Fields::Unnamed(fields))
            if path.is_ident("inner") && fields.unnamed.len() == 1 =>
        {
            let inner = &fields.unnamed[0].ty;
            Some((quote!((inner)), None, inner))
        }
        (Meta::NameValue(pair), Fields::Named(fields)) if pair.path.is_ident("inner") => {
            let name = &pair.value;
            let name = quote!(#name).to_string();
            let mut fields = fields.named.iter();
            let field = fields.find(|field| field.ident.as_ref().is_some_and(|own| *own == name));
            field.map(|field| {
                let name = &field.ident;
                (quote!({ #name: inner, .. }), name.clone(), &field.ty)
            })
        }
        _ => None,
    };
    match inner {
        Some((pattern, field, inner)) => Ok(VariantNaming::Inner {
            pattern,
            field,
            inner: Box::new(inner.clone()),
        }),
        None => {
            let forms = "expected #[word(\"...\")], #[word(flag, \"...\", \"...\")], #[word(inner)] on a \
                         variant of one field, or #[word(inner = field)]";
            Err(Error::new_spanned(attribute, forms))
        }
    }
}

fn words(input: &DeriveInput, data: &DataEnum, names: &[VariantNaming]) -> TokenStream {
    let (mut codes, mut places, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = quote!(0);
    for (variant, name) in data.variants.iter().zip(names) {
        let ident = &variant.ident;
        match name {
            VariantNaming::Word(word) => {
                codes.push(quote!(Self::#ident { .. } => #word));
                places.push(quote!(Self::#ident { .. } => #before));
                parts.push(quote!(&[#word]));
                before = quote!(#before + 1);
            }
            VariantNaming::Chosen {
                flag,
                words: [set, unset],
            } => {
                codes.push(quote! {
                    Self::#ident { #flag, .. } => if *#flag { #set } else { #unset }
                });
                places.push(quote! {
                    Self::#ident { #flag, .. } => if *#flag { #before } else { #before + 1 }
                });
                parts.push(quote!(&[#set, #unset]));
                before = quote!(#before + 2);
            }
            VariantNaming::Inner { pattern, inner, .. } => {
                codes.push(quote!(Self::#ident #pattern => inner.code()));
                places.push(quote!(Self::#ident #pattern => #before + inner.place()));
                parts.push(quote!(<#inner>::WORDS));
                before = quote!(#before + <#inner>::WORDS.len());
            }
        }
    }
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    let plain = plain(data, names);
    let is_plain = data
        .variants
        .iter()
        .all(|variant| matches!(variant.fields, Fields::Unit));
    let receiver = if is_plain {
        quote!(self)
    } else {
        quote!(&self)
    };
    let shown = shown(input, data, names, is_plain);
    quote! {
        #[automatically_derived]
        impl #generics #name #arguments #bounds {
            /// The words, in the order of their declaration.
            pub const WORDS: &'static [&'static str] = {
                const ALL: [&str; #before] = ::turnstile_chassis::joined("", &[#(#parts),*]);
                &ALL
            };

            /// The stable word on every door and in every metric.
            #[must_use]
            #[allow(clippy::trivially_copy_pass_by_ref, reason = "one form for every enum with data")]
            pub const fn code(#receiver) -> &'static str {
                match self {
                    #(#codes,)*
                }
            }

            /// Where its word stands among all of them.
            #[must_use]
            #[allow(clippy::trivially_copy_pass_by_ref, reason = "one form for every enum with data")]
            pub const fn place(#receiver) -> usize {
                match self {
                    #(#places,)*
                }
            }

            #plain
        }

        #shown
    }
}

/// Finds the variant without data that has a word, where there are any.
fn plain(data: &DataEnum, names: &[VariantNaming]) -> Option<TokenStream> {
    let variants = data.variants.iter().zip(names);
    let plain: Vec<TokenStream> = variants
        .filter_map(|(variant, name)| match (name, &variant.fields) {
            (VariantNaming::Word(word), Fields::Unit) => {
                let ident = &variant.ident;
                Some(quote!(#word => ::core::option::Option::Some(Self::#ident)))
            }
            _ => None,
        })
        .collect();
    (!plain.is_empty()).then(|| {
        quote! {
            /// The variant without data that has this word.
            #[must_use]
            #[allow(dead_code, reason = "words of most types are only written")]
            pub fn plain(word: &str) -> ::core::option::Option<Self> {
                match word {
                    #(#plain,)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    })
}

/// A word as what a field holds and as what a parameter is read from. With a tag, the fields of an enum
/// stand beside its word, so that it is neither.
fn shown(
    input: &DeriveInput,
    data: &DataEnum,
    names: &[VariantNaming],
    is_plain: bool,
) -> TokenStream {
    if find(&input.attrs, "fields").is_some() {
        return TokenStream::new();
    }
    let readable = is_plain.then(|| readable(input, data, names));
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #generics ::turnstile_chassis::Value for #name #arguments #bounds {
            #[inline]
            fn show<S: ::turnstile_chassis::Show>(&self, show: S) -> S::Out {
                show.text(self.code())
            }

            fn kind() -> ::turnstile_chassis::Kind {
                ::turnstile_chassis::Kind::OneOf(Self::WORDS)
            }
        }

        #readable
    }
}

/// Reads a word of an enum without data, whatever the case of its letters.
fn readable(input: &DeriveInput, data: &DataEnum, names: &[VariantNaming]) -> TokenStream {
    let name = &input.ident;
    let arms = data.variants.iter().zip(names).map(|(variant, name)| {
        let ident = &variant.ident;
        let VariantNaming::Word(word) = name else {
            return TokenStream::new();
        };
        let bytes = LitByteStr::new(word.as_bytes(), ident.span());
        quote! {
            if text.eq_ignore_ascii_case(#bytes) {
                return ::core::result::Result::Ok(Self::#ident);
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl ::turnstile_chassis::Readable<'_> for #name {
            type Invalid = ::turnstile_chassis::NoWord;

            #[inline]
            fn read(text: &[u8]) -> ::core::result::Result<Self, Self::Invalid> {
                #(#arms)*
                ::core::result::Result::Err(::turnstile_chassis::NoWord(Self::WORDS))
            }

            fn kind() -> ::turnstile_chassis::Kind {
                ::turnstile_chassis::Kind::OneOf(Self::WORDS)
            }
        }
    }
}

fn refuse(input: &DeriveInput, data: &DataEnum, names: &[VariantNaming]) -> Result<TokenStream> {
    let (mut arms, mut list) = (Vec::new(), Vec::new());
    for (variant, name) in data.variants.iter().zip(names) {
        let ident = &variant.ident;
        let word = match name {
            VariantNaming::Word(word) => word,
            VariantNaming::Chosen { .. } => {
                let one = "a refusal has one word";
                return Err(Error::new_spanned(ident, one));
            }
            VariantNaming::Inner { pattern, inner, .. } => {
                arms.push(quote! {
                    Self::#ident #pattern => ::turnstile_chassis::Refuse::meaning(inner)
                });
                list.push(quote! {
                    list.extend(<#inner as ::turnstile_chassis::Refuse>::meanings());
                });
                continue;
            }
        };
        let Some(attribute) = find(&variant.attrs, "refusal") else {
            let none = format!("say what `{ident}` means: #[refusal(conflict, \"...\")]");
            return Err(Error::new_spanned(ident, none));
        };
        let Refusal { class, sentence } = attribute.parse_args()?;
        let known = CLASSES.iter().find(|(name, _)| class == name);
        let Some((_, known)) = known else {
            let classes = CLASSES.map(|(name, _)| name).join(", ");
            return Err(Error::new_spanned(
                class,
                format!("a class is one of: {classes}"),
            ));
        };
        let known = Ident::new(known, class.span());
        let meaning = quote! {
            ::turnstile_chassis::Meaning {
                code: #word,
                class: ::turnstile_chassis::Class::#known,
                sentence: #sentence,
            }
        };
        arms.push(quote!(Self::#ident { .. } => #meaning));
        list.push(quote!(list.push(#meaning);));
    }
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::turnstile_chassis::Refuse for #name #arguments #bounds {
            fn meaning(&self) -> ::turnstile_chassis::Meaning {
                match self {
                    #(#arms,)*
                }
            }

            fn meanings() -> ::std::vec::Vec<::turnstile_chassis::Meaning> {
                let mut list = ::std::vec::Vec::new();
                #(#list)*
                list
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn error(input: &DeriveInput) -> String {
        derive(input).unwrap_err().to_string()
    }

    #[test]
    fn a_word_used_twice_and_a_refusal_without_a_meaning_are_refused() {
        let twice = error(&parse_quote!(
            enum Refusal {
                SoldOut,
                #[word("sold_out")]
                Full,
            }
        ));
        assert_eq!(twice, "\"sold_out\" is the word of `SoldOut` already");
        let meaningless = error(&parse_quote!(
            enum Refusal {
                #[refusal(conflict, "The room exists")]
                RoomExists,
                SoldOut,
            }
        ));
        assert_eq!(
            meaningless,
            "say what `SoldOut` means: #[refusal(conflict, \"...\")]"
        );
        let class = error(&parse_quote!(
            enum Refusal {
                #[refusal(taken, "The room exists")]
                RoomExists,
            }
        ));
        assert!(class.starts_with("a class is one of: invalid"), "{class}");
        let form = error(&parse_quote!(
            enum Refusal {
                #[word(inner)]
                Illegal,
            }
        ));
        assert!(form.starts_with("expected #[word"), "{form}");
    }
}
