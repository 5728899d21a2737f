//! Values of options that may hold a password, such as the URL of a database.

use std::{ffi::OsStr, fmt::Display, marker::PhantomData, str::FromStr};

use clap::{Arg, Command, builder::TypedValueParser, error::ErrorKind};

/// Parses a value. The errors of clap's own parsers repeat the text; these do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HiddenValue<T>(PhantomData<fn() -> T>);

impl<T> HiddenValue<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> TypedValueParser for HiddenValue<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let refused = |reason: &dyn Display| {
            let argument = argument.map(ToString::to_string).unwrap_or_default();
            let told = format!("{argument}: {reason}\n");
            clap::Error::raw(ErrorKind::ValueValidation, told).with_cmd(command)
        };
        let text = value.to_str().ok_or_else(|| refused(&"no UTF-8"))?;
        text.parse().map_err(|invalid: T::Err| refused(&invalid))
    }
}
