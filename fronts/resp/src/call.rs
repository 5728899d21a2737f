//! An operation of a service in RESP: its name, the parameters that must be given in their order, then
//! options in any order.
//!
//! An option is the name of its parameter in capitals and its value, a flag its name alone; words that
//! tell what they are for stand alone too. Letters may be of any case.

use std::fmt;

use turnstile_chassis::{Field, Kind, Need, Operation, Operations, Source};
use turnstile_types::Key;

use crate::Arguments;

/// The most options of one operation, the key among them.
const OPTIONS_MAX: usize = 9;

/// The option that every command has.
pub(crate) const KEY: &str = "key";

/// One request to a service with commands `C` and queries `Q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a, C, Q> {
    Command { command: C, key: Option<Key<'a>> },
    Query(Q),
}

impl<C, Q> Request<'_, C, Q> {
    pub const fn command(&self) -> Option<&C> {
        match self {
            Self::Command { command, .. } => Some(command),
            Self::Query(_) => None,
        }
    }
}

/// An operation of a service, as requests call it.
#[derive(Debug)]
pub struct Call {
    /// The service and the operation's word: `rooms.add-property`.
    name: String,
    is_read: bool,
    operation: Operation,
    options: Vec<OptionSyntax>,
    /// The fields of what it is answered with, in their order.
    answer: Vec<Field>,
}

/// There is one for each name.
impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Call {}

/// What may stand behind the parameters that must be given.
#[derive(Debug)]
struct OptionSyntax {
    name: &'static str,
    form: OptionForm,
}

#[derive(Debug)]
enum OptionForm {
    /// The name, then a value.
    Value,
    /// The name alone.
    Flag,
    /// One of these alone.
    Words(&'static [&'static str]),
}

impl Call {
    pub(crate) fn new(
        service: &str,
        operation: Operation,
        is_read: bool,
        answer: Vec<Field>,
    ) -> Self {
        let key = (!is_read).then_some(OptionSyntax {
            name: KEY,
            form: OptionForm::Value,
        });
        let options = operation.parameters.iter().filter_map(|parameter| {
            let form = match (parameter.need, &parameter.kind) {
                (Need::Required | Need::RequiredOr(_) | Need::Repeated { .. }, _) => return None,
                (Need::Optional, Kind::Flag) => OptionForm::Flag,
                (Need::OptionalWord, Kind::OneOf(words)) => OptionForm::Words(words),
                (Need::Optional | Need::OptionalWord, _) => OptionForm::Value,
            };
            Some(OptionSyntax {
                name: parameter.name,
                form,
            })
        });
        let options: Vec<OptionSyntax> = options.chain(key).collect();
        assert!(options.len() <= OPTIONS_MAX, "{service} {options:?}");
        Self {
            name: format!("{service}.{}", operation.word.replace('_', "-")),
            is_read,
            operation,
            options,
            answer,
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a query.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        self.is_read
    }

    /// What is declared of it.
    #[must_use]
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The fields of what it is answered with, in their order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.answer
    }

    /// What stands in RESP2 between the `1` and the position; nothing for a query, which has names.
    pub(crate) fn answer(&self) -> Option<&[Field]> {
        (!self.is_read).then_some(&*self.answer)
    }

    /// Whether the answer may be long, however short the request is.
    #[must_use]
    pub fn may_be_long(&self) -> bool {
        let mut fields = self.answer.iter();
        self.is_read || fields.any(|field| matches!(field.kind, Kind::List(_)))
    }

    /// Reads the arguments of a request whose words the catalogue has counted.
    ///
    /// # Errors
    /// The first argument that is not what it should be.
    #[inline]
    pub(crate) fn read<'a, C, Q>(
        &'static self,
        arguments: Arguments<'a, '_>,
        door: C::Door<'_>,
    ) -> Result<Request<'a, C, Q>, Box<Invalid>>
    where
        C: Operations<'a>,
        Q: for<'d> Operations<'a, Door<'d> = C::Door<'d>>,
    {
        let mut words = RequestWords {
            call: self,
            arguments,
            next: 1,
            found: [0; OPTIONS_MAX],
            is_found: false,
            has_options: false,
            fault: None,
        };
        if self.is_read {
            let query = Q::read(self.operation.place, &mut words, door);
            words.find_options();
            return match (query, words.fault) {
                (Some(query), None) => Ok(Request::Query(query)),
                (_, fault) => Err(self.fault(fault)),
            };
        }
        let command = C::read(self.operation.place, &mut words, door);
        let key = words.optional(KEY, Key::parse);
        match (command, key, words.fault) {
            (Some(command), Some(key), None) => Ok(Request::Command { command, key }),
            (_, _, fault) => Err(self.fault(fault)),
        }
    }

    /// What was noted, or that the door has no such operation.
    #[cold]
    fn fault(&'static self, noted: Option<Box<Invalid>>) -> Box<Invalid> {
        noted.unwrap_or_else(|| self.invalid("operation", "there is none such"))
    }

    /// An argument that could be read alone and is wrong beside the others.
    #[cold]
    pub(crate) fn invalid(&'static self, argument: &'static str, reason: &str) -> Box<Invalid> {
        Box::new(Invalid {
            call: self,
            argument,
            reason: reason.to_owned(),
        })
    }
}

/// An argument that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    pub call: &'static Call,
    /// The name of its parameter.
    pub argument: &'static str,
    pub reason: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.call.name.to_ascii_uppercase();
        write!(f, "{name} {}: {}", self.argument, self.reason)
    }
}

impl std::error::Error for Invalid {}

/// The words of one request, read from left to right up to the options.
struct RequestWords<'a, 'spans> {
    call: &'static Call,
    arguments: Arguments<'a, 'spans>,
    next: usize,
    /// Where the word of each option stands that has one; no argument has the place 0.
    found: [usize; OPTIONS_MAX],
    /// Whether the options have been looked for, and whether there are any.
    is_found: bool,
    has_options: bool,
    fault: Option<Box<Invalid>>,
}

impl<'a> RequestWords<'a, '_> {
    /// Only the first fault is kept.
    #[cold]
    #[inline(never)]
    fn note(&mut self, argument: &'static str, reason: &dyn fmt::Display) {
        self.fault.get_or_insert_with(|| {
            Box::new(Invalid {
                call: self.call,
                argument,
                reason: reason.to_string(),
            })
        });
    }

    #[inline]
    fn take<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        word: &'a [u8],
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        read(word).map_err(|invalid| self.note(name, &invalid)).ok()
    }

    /// The place of the option that a word begins, if it begins one.
    #[inline]
    fn option(&self, word: &[u8]) -> Option<usize> {
        let is_word = |other: &str| other.as_bytes().eq_ignore_ascii_case(word);
        self.call
            .options
            .iter()
            .position(|choice| match choice.form {
                OptionForm::Value | OptionForm::Flag => is_word(choice.name),
                OptionForm::Words(words) => words.iter().any(|other| is_word(other)),
            })
    }

    /// Looks once for the options in what is left.
    #[inline]
    fn find_options(&mut self) {
        if self.is_found {
            return;
        }
        self.is_found = true;
        self.has_options = self.next < self.arguments.len();
        if self.has_options {
            self.find_each();
        }
    }

    fn find_each(&mut self) {
        while let Some(word) = self.arguments.get(self.next) {
            let at = self.next;
            self.next += 1;
            let option = self.option(word);
            let chosen = option.and_then(|option| {
                let place = self.found.get_mut(option)?;
                Some((self.call.options.get(option)?, place))
            });
            let Some((choice, place)) = chosen else {
                return self.note(
                    "option",
                    &format_args!("argument {at} is no option of this command"),
                );
            };
            if *place != 0 {
                return self.note(choice.name, &"given twice");
            }
            *place = at;
            if matches!(choice.form, OptionForm::Value) {
                *place = self.next;
                if self.arguments.get(self.next).is_none() {
                    return self.note(choice.name, &"the value is missing");
                }
                self.next += 1;
            }
        }
    }

    /// The word that stands for an option: its value, or itself.
    #[inline]
    fn given(&mut self, name: &'static str) -> Option<&'a [u8]> {
        self.find_options();
        if !self.has_options {
            return None;
        }
        let mut options = self.call.options.iter().zip(self.found);
        let (_, place) = options.find(|(choice, _)| choice.name == name)?;
        if place == 0 {
            return None;
        }
        self.arguments.get(place)
    }
}

impl<'a> Source<'a> for RequestWords<'a, '_> {
    #[inline]
    fn required<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        let word = self.arguments.get(self.next);
        self.next += 1;
        match word {
            Some(word) => self.take(name, word, read),
            None => {
                self.note(name, &"the value is missing");
                None
            }
        }
    }

    #[inline]
    fn required_or<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        none: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        self.required(name, |word| {
            if word.eq_ignore_ascii_case(none.as_bytes()) {
                return Ok(None);
            }
            read(word)
                .map(Some)
                .map_err(|invalid| format!("{invalid}; or {none}"))
        })
    }

    #[inline]
    fn optional<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.given(name) {
            Some(word) => self.take(name, word, read).map(Some),
            None => Some(None),
        }
    }

    #[inline]
    fn flag(&mut self, name: &'static str) -> Option<bool> {
        Some(self.given(name).is_some())
    }

    /// All up to the first option. A word that is neither is read as one of these, which is
    /// mostly what was meant.
    fn repeated<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&'a [u8]) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        let mut values = Vec::new();
        while let Some(word) = self.arguments.get(self.next)
            && self.option(word).is_none()
        {
            self.next += 1;
            values.push(self.take(name, word, &mut read)?);
        }
        Some(values)
    }

    fn invalid(&mut self, name: &'static str, reason: impl fmt::Display) {
        self.note(name, &reason);
    }
}
