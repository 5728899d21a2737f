//! The two halves of the stable bytes: what writes a type and what reads it.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Data, DataEnum, DeriveInput, Error, Fields, GenericParam, Lifetime, LifetimeParam, LitInt,
    Result, Variant, ext::IdentExt as _, parse_quote,
};

/// A variant or a struct, taken apart.
struct Shape {
    /// Its fields, named as the pattern binds them.
    bound: Vec<Ident>,
    /// What an error calls each of them.
    named: Vec<TokenStream>,
    /// Behind the name of the variant or struct: its fields, bound.
    pattern: TokenStream,
}

impl Shape {
    fn new(fields: &Fields) -> Self {
        let (bound, named): (Vec<Ident>, Vec<TokenStream>) = fields
            .iter()
            .enumerate()
            .map(|(index, field)| match &field.ident {
                Some(name) => {
                    let spoken = spoken(name);
                    (name.clone(), quote!(#spoken))
                }
                // It has the name of what it is in.
                None => (format_ident!("part{index}"), quote!(field)),
            })
            .unzip();
        let pattern = match fields {
            Fields::Named(_) => quote!({ #(#bound),* }),
            Fields::Unnamed(_) => quote!((#(#bound),*)),
            Fields::Unit => TokenStream::new(),
        };
        Self {
            bound,
            named,
            pattern,
        }
    }

    fn encode(&self) -> TokenStream {
        let bound = &self.bound;
        quote!(#(::turnstile_chassis::Encode::encode(#bound, out);)*)
    }

    fn decode(&self) -> TokenStream {
        let (bound, named) = (&self.bound, &self.named);
        quote!(#(let #bound = ::turnstile_chassis::Decode::decode(reader, #named)?;)*)
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let mut tag = TokenStream::new();
    let (encode, decode) = match &input.data {
        Data::Struct(data) => {
            let shape = Shape::new(&data.fields);
            let (pattern, encode, decode) = (&shape.pattern, shape.encode(), shape.decode());
            (
                quote!(let Self #pattern = self; #encode),
                quote!(#decode Ok(Self #pattern)),
            )
        }
        Data::Enum(data) => {
            let bytes = bytes(data)?;
            tag = implement_tagged(input, data, &bytes);
            of_enum(data, &bytes)
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(
                &input.ident,
                "a union has no stable bytes",
            ));
        }
    };
    let implemented = implement(input, &encode, &decode);
    Ok(quote!(#implemented #tag))
}

fn of_enum(data: &DataEnum, bytes: &[u8]) -> (TokenStream, TokenStream) {
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for (variant, byte) in data.variants.iter().zip(bytes) {
        let (ident, shape) = (&variant.ident, Shape::new(&variant.fields));
        let (pattern, encode, decode) = (&shape.pattern, shape.encode(), shape.decode());
        writes.push(quote!(Self::#ident #pattern => { out.push(#byte); #encode }));
        reads.push(quote!(#byte => { #decode Ok(Self::#ident #pattern) }));
    }
    (
        quote!(match self { #(#writes)* }),
        quote! {
            match reader.u8(field)? {
                #(#reads)*
                _ => Err(::turnstile_types::Malformed { field }),
            }
        },
    )
}

fn implement_tagged(input: &DeriveInput, data: &DataEnum, bytes: &[u8]) -> TokenStream {
    let name = &input.ident;
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::turnstile_chassis::Tagged for #name #arguments #bounds {
            fn byte(&self) -> u8 {
                match self {
                    #(Self::#variants { .. } => #bytes,)*
                }
            }
        }
    }
}

/// The byte of each variant.
fn bytes(data: &DataEnum) -> Result<Vec<u8>> {
    let mut taken = BTreeMap::new();
    data.variants
        .iter()
        .map(|variant| {
            let (literal, byte) = byte(variant)?;
            if let Some(other) = taken.insert(byte, &variant.ident) {
                let already = format!("{byte:#04x} stands for `{other}` already");
                return Err(Error::new_spanned(literal, already));
            }
            Ok(byte)
        })
        .collect()
}

fn byte(variant: &Variant) -> Result<(LitInt, u8)> {
    let mut attributes = variant.attrs.iter();
    let Some(attribute) = attributes.find(|one| one.path().is_ident("byte")) else {
        let none = format!(
            "say which byte stands for `{}`: #[byte(0x01)]",
            variant.ident
        );
        return Err(Error::new_spanned(&variant.ident, none));
    };
    let literal: LitInt = attribute.parse_args()?;
    let byte = literal.base10_parse()?;
    Ok((literal, byte))
}

fn implement(input: &DeriveInput, encode: &TokenStream, decode: &TokenStream) -> TokenStream {
    let name = &input.ident;
    let mut writing = input.generics.clone();
    let mut reading = input.generics.clone();
    // What is read borrows from the bytes where the type has a lifetime.
    let borrowed = match input.generics.lifetimes().next() {
        Some(lifetime) => lifetime.lifetime.clone(),
        None => {
            let lifetime: Lifetime = parse_quote!('bytes);
            let parameter = LifetimeParam::new(lifetime.clone());
            reading.params.insert(0, GenericParam::Lifetime(parameter));
            lifetime
        }
    };
    for parameter in writing.type_params_mut() {
        parameter
            .bounds
            .push(parse_quote!(::turnstile_chassis::Encode));
    }
    for parameter in reading.type_params_mut() {
        parameter
            .bounds
            .push(parse_quote!(::turnstile_chassis::Decode<#borrowed>));
    }
    let (_, arguments, bounds) = input.generics.split_for_impl();
    let (writing, ..) = writing.split_for_impl();
    let (reading, ..) = reading.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #writing ::turnstile_chassis::Encode for #name #arguments #bounds {
            fn encode(&self, out: &mut ::std::vec::Vec<u8>) {
                #encode
            }
        }

        #[automatically_derived]
        #[allow(unused_variables, reason = "fields that have names say those")]
        impl #reading ::turnstile_chassis::Decode<#borrowed> for #name #arguments #bounds {
            fn decode(
                reader: &mut ::turnstile_types::Reader<#borrowed>,
                field: &'static str,
            ) -> ::std::result::Result<Self, ::turnstile_types::Malformed> {
                #decode
            }
        }
    }
}

/// A field as errors name it: `last_four` is `last four`.
fn spoken(name: &Ident) -> String {
    name.unraw().to_string().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &DeriveInput) -> String {
        derive(input).unwrap_err().to_string()
    }

    #[test]
    fn a_declaration_without_a_byte_or_with_one_twice_is_refused() {
        let none = error(&parse_quote!(
            enum Side {
                #[byte(0)]
                Buy,
                Sell,
            }
        ));
        assert_eq!(none, "say which byte stands for `Sell`: #[byte(0x01)]");
        let twice = error(&parse_quote!(
            enum Side {
                #[byte(7)]
                Buy,
                #[byte(0x07)]
                Sell,
            }
        ));
        assert_eq!(twice, "0x07 stands for `Buy` already");
        let large = error(&parse_quote!(
            enum Side {
                #[byte(256)]
                Buy,
            }
        ));
        assert!(large.contains("too large"), "{large}");
        let union = error(&parse_quote!(union Both { a: u8, b: i8 }));
        assert_eq!(union, "a union has no stable bytes");
    }
}
