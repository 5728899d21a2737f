//! The attributes that a declaration carries, and what its documentation says.

use proc_macro2::Ident;
use syn::{
    Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Result, Token, ext::IdentExt as _,
    punctuated::Punctuated,
};

/// The documentation, its lines joined.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(ExprLit {
                lit: Lit::Str(line),
                ..
            }) = &pair.value
        {
            lines.push(line.value().trim().to_owned());
        }
    }
    lines.join(" ").trim().to_owned()
}

/// The attribute of this name, if the item carries it.
pub(crate) fn find<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|one| one.path().is_ident(name))
}

/// `CamelCase` as `camel_case`.
pub(crate) fn snake_case(name: &Ident) -> String {
    let mut word = String::new();
    for letter in name.unraw().to_string().chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

/// How a field is shown: `#[field(name = "type", with = seconds)]`.
#[derive(Default)]
pub(crate) struct FieldOptions {
    pub(crate) name: Option<LitStr>,
    /// Its own fields stand in its place.
    pub(crate) is_flat: bool,
    pub(crate) is_skipped: bool,
    /// Its fields are null where it is not set, so that each keeps its place.
    pub(crate) is_null: bool,
    /// What makes the shown value of the stored one.
    pub(crate) with: Option<Expr>,
}

impl FieldOptions {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Self::default();
        let Some(attribute) = find(attributes, "field") else {
            return Ok(options);
        };
        let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        for part in parts {
            match &part {
                Meta::Path(path) if path.is_ident("flatten") => options.is_flat = true,
                Meta::Path(path) if path.is_ident("skip") => options.is_skipped = true,
                Meta::Path(path) if path.is_ident("or_null") => options.is_null = true,
                Meta::NameValue(pair) if pair.path.is_ident("name") => {
                    options.name = Some(text(&pair.value)?);
                }
                Meta::NameValue(pair) if pair.path.is_ident("with") => {
                    options.with = Some(pair.value.clone());
                }
                _ => {
                    let known = "a field is `name = \"...\"`, `with = function`, `flatten`, \
                                 `or_null` or `skip`";
                    return Err(Error::new_spanned(part, known));
                }
            }
        }
        Ok(options)
    }
}

/// The text of a literal.
pub(crate) fn text(value: &Expr) -> Result<LitStr> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Ok(text.clone()),
        _ => Err(Error::new_spanned(value, "expected text in quotes")),
    }
}
