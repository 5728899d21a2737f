//! What doors show of a type: its fields by name, with their kinds and what they mean.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, LitStr, Result, ext::IdentExt as _};

use crate::{
    attributes::{FieldOptions, documentation, find, text},
    parameters,
};

/// The fields of a struct or variant: how a pattern binds them, what visits and what describes them.
struct Shape {
    pattern: TokenStream,
    visit: TokenStream,
    describe: TokenStream,
}

impl Shape {
    fn new(fields: &Fields) -> Result<Self> {
        let (mut bound, mut visit, mut describe) =
            (Vec::new(), TokenStream::new(), TokenStream::new());
        for (index, field) in fields.iter().enumerate() {
            let options = options_of(field)?;
            let local = format_ident!("field{index}");
            bound.push(match (&field.ident, options.is_skipped) {
                (Some(name), true) => quote!(#name: _),
                (Some(name), false) => quote!(#name: #local),
                (None, true) => quote!(_),
                (None, false) => quote!(#local),
            });
            if options.is_skipped {
                continue;
            }
            let shown_type = &field.ty;
            if options.is_flat {
                let (shown, fields) = if let Some(with) = &options.with {
                    let fields = quote!(::turnstile_chassis::fields_with(|field: &#shown_type| (#with)(field)));
                    (quote!(&(#with)(#local)), fields)
                } else {
                    let fields = quote!(<#shown_type as ::turnstile_chassis::Fields>::describe());
                    (quote!(#local), fields)
                };
                visit.extend(if options.is_null {
                    quote!(::turnstile_chassis::visit_or_null(#shown, visitor);)
                } else {
                    quote!(::turnstile_chassis::Fields::visit(#shown, visitor);)
                });
                describe.extend(quote!(fields.extend(#fields);));
                continue;
            }
            let name = match (&options.name, &field.ident) {
                (Some(name), _) => name.value(),
                (None, Some(name)) => name.unraw().to_string(),
                (None, None) => {
                    let nameless = "name it, #[field(name = \"...\")], or #[field(flatten)]";
                    return Err(Error::new_spanned(field, nameless));
                }
            };
            let meaning = documentation(&field.attrs);
            let kind = if let Some(with) = &options.with {
                visit.extend(quote!(visitor.field(#name, &(#with)(#local));));
                quote!(::turnstile_chassis::kind_with(|field: &#shown_type| (#with)(field)))
            } else {
                visit.extend(quote!(visitor.field(#name, #local);));
                quote!(<#shown_type as ::turnstile_chassis::Value>::kind())
            };
            describe.extend(quote! {
                fields.push(::turnstile_chassis::Field::new(#name, #meaning, #kind));
            });
        }
        let pattern = match fields {
            Fields::Named(_) => quote!({ #(#bound),* }),
            Fields::Unnamed(_) => quote!((#(#bound),*)),
            Fields::Unit => TokenStream::new(),
        };
        Ok(Self {
            pattern,
            visit,
            describe,
        })
    }
}

/// How a field is shown. What a request gives is shown under the name of its parameter; what only a door
/// can read is never shown: it is made of a secret.
fn options_of(field: &syn::Field) -> Result<FieldOptions> {
    if find(&field.attrs, "field").is_some() {
        return FieldOptions::read(&field.attrs);
    }
    let parameter = parameters::Options::read(field)?;
    Ok(FieldOptions {
        name: parameter.name,
        is_flat: parameter.is_flat,
        is_skipped: parameter.door.is_some(),
        ..FieldOptions::default()
    })
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let tag = tag(input)?;
    match &input.data {
        Data::Struct(data) => {
            let Shape {
                pattern,
                visit,
                describe,
            } = Shape::new(&data.fields)?;
            let visit = quote!(let Self #pattern = self; #visit);
            Ok(implement(input, &visit, &describe, true))
        }
        Data::Enum(data) => of_enum(input, data, tag.as_ref()),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a union has no fields")),
    }
}

/// The name of the field that holds the word of the variant: `#[fields(tag = "state")]`.
fn tag(input: &DeriveInput) -> Result<Option<LitStr>> {
    let Some(attribute) = find(&input.attrs, "fields") else {
        return Ok(None);
    };
    let pair: syn::MetaNameValue = attribute.parse_args()?;
    if !pair.path.is_ident("tag") {
        return Err(Error::new_spanned(pair, "expected `tag = \"...\"`"));
    }
    text(&pair.value).map(Some)
}

fn of_enum(input: &DeriveInput, data: &DataEnum, tag: Option<&LitStr>) -> Result<TokenStream> {
    let (mut arms, mut variants) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let ident = &variant.ident;
        let Shape {
            pattern,
            visit,
            describe,
        } = Shape::new(&variant.fields)?;
        let (name, meaning) = (ident.unraw().to_string(), documentation(&variant.attrs));
        arms.push(quote!(Self::#ident #pattern => { #visit }));
        variants.push(quote! {{
            let mut fields = ::std::vec::Vec::new();
            #describe
            ::turnstile_chassis::Variant { name: #name, meaning: #meaning, fields }
        }});
    }
    let (visit_tag, describe_tag) = match tag {
        Some(tag) => (
            quote!(visitor.field(#tag, &self.code());),
            quote! {
                let words = ::turnstile_chassis::Kind::OneOf(Self::WORDS);
                fields.push(::turnstile_chassis::Field::new(#tag, "", words));
            },
        ),
        None => (TokenStream::new(), TokenStream::new()),
    };
    let visit = quote!(#visit_tag match self { #(#arms)* });
    let describe = quote! {
        #describe_tag
        ::turnstile_chassis::merge(
            <Self as ::turnstile_chassis::Variants>::variants(),
            &mut fields,
        );
    };
    let implemented = implement(input, &visit, &describe, tag.is_some());
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #implemented

        #[automatically_derived]
        impl #generics ::turnstile_chassis::Variants for #name #arguments #bounds {
            fn variants() -> ::std::vec::Vec<::turnstile_chassis::Variant> {
                ::std::vec![#(#variants),*]
            }
        }
    })
}

/// `is_object`: it can stand in a field, as an object of its own.
fn implement(
    input: &DeriveInput,
    visit: &TokenStream,
    describe: &TokenStream,
    is_object: bool,
) -> TokenStream {
    let name: &Ident = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    let value = is_object.then(|| {
        let text = name.unraw().to_string();
        quote! {
            #[automatically_derived]
            impl #generics ::turnstile_chassis::Value for #name #arguments #bounds {
                #[inline]
                fn show<S: ::turnstile_chassis::Show>(&self, show: S) -> S::Out {
                    show.object(self)
                }

                fn kind() -> ::turnstile_chassis::Kind {
                    ::turnstile_chassis::Kind::Object {
                        name: #text,
                        fields: <Self as ::turnstile_chassis::Fields>::describe,
                    }
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #generics ::turnstile_chassis::Fields for #name #arguments #bounds {
            #[inline]
            #[allow(unused_variables, reason = "a variant may have no fields")]
            fn visit(&self, visitor: &mut impl ::turnstile_chassis::Visitor) {
                #visit
            }

            fn describe() -> ::std::vec::Vec<::turnstile_chassis::Field> {
                #[allow(unused_mut, reason = "there may be no fields")]
                let mut fields = ::std::vec::Vec::new();
                #describe
                fields
            }
        }

        #value
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_field_without_a_name_or_with_an_unknown_option_is_refused() {
        let error = |input: DeriveInput| derive(&input).unwrap_err().to_string();
        let nameless = error(parse_quote!(
            enum Done {
                Started(Xid),
            }
        ));
        assert_eq!(
            nameless,
            "name it, #[field(name = \"...\")], or #[field(flatten)]"
        );
        let unknown = error(parse_quote!(
            struct Entry {
                #[field(rename = "x")]
                reference: Reference,
            }
        ));
        assert!(unknown.starts_with("a field is `name"), "{unknown}");
    }

    #[test]
    fn a_parameter_keeps_its_name_and_what_only_a_door_can_read_is_skipped() {
        let derived = derive(&parse_quote!(
            enum Command {
                Cancel {
                    #[parameter(name = "reference")]
                    booking: Reference,
                    #[parameter(name = "id_number", door = guest_id)]
                    id: GuestId,
                },
            }
        ));
        let derived = derived.unwrap().to_string();
        assert!(derived.contains("\"reference\""), "{derived}");
        assert!(!derived.contains("id_number"), "{derived}");
    }
}
