//! Which partition decides an operation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{DataEnum, Error, Result};

use super::{Declared, OperationAttribute};

/// The methods that say which partition decides an operation.
pub(super) fn methods(data: &DataEnum, declared: &Declared) -> Result<TokenStream> {
    let (mut routes, mut cursors) = (TokenStream::new(), TokenStream::new());
    for variant in &data.variants {
        let (ident, own) = (&variant.ident, OperationAttribute::read(variant)?);
        let route = match own.route {
            Some(_) if !declared.is_routed => {
                let needed = "only operations that are `routed` have routes";
                return Err(Error::new_spanned(variant, needed));
            }
            Some(route) => route,
            None if declared.is_routed && !own.is_internal => {
                let needed = "it has a `route`: a field, `pages`, `all` or `first`";
                return Err(Error::new_spanned(variant, needed));
            }
            None => Ident::new("first", Span::call_site()),
        };
        if route == "first" {
            routes
                .extend(quote!(Self::#ident { .. } => ::turnstile_chassis::PartitionRoute::First,));
        } else if route == "all" {
            routes.extend(quote!(Self::#ident { .. } => ::turnstile_chassis::PartitionRoute::All,));
        } else if route == "pages" {
            routes.extend(quote! {
                Self::#ident { cursor, .. } => ::turnstile_chassis::PartitionRoute::Pages(*cursor),
            });
            cursors.extend(quote! {
                Self::#ident { cursor, .. } => ::core::option::Option::Some(cursor),
            });
        } else {
            routes.extend(quote! {
                Self::#ident { #route, .. } => ::turnstile_chassis::Routing::route(#route),
            });
        }
    }
    let cursor = (!cursors.is_empty()).then(|| {
        quote! {
            fn cursor_mut(
                &mut self,
            ) -> ::core::option::Option<&mut ::core::option::Option<::turnstile_chassis::Cursor>> {
                #[allow(clippy::wildcard_enum_match_arm, reason = "few are listings")]
                match self {
                    #cursors
                    _ => ::core::option::Option::None,
                }
            }
        }
    });
    let route = if declared.is_routed {
        quote!(match self { #routes })
    } else {
        quote!(::turnstile_chassis::PartitionRoute::First)
    };
    let is_spread = declared.is_routed;
    Ok(quote! {
        const IS_SPREAD: bool = #is_spread;

        #[inline]
        fn route(&self) -> ::turnstile_chassis::PartitionRoute {
            #route
        }

        #cursor
    })
}
