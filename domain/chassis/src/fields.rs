//! What doors show: named fields, each of a kind, and no wire format.
//!
//! A domain type says once what its fields are called and what they hold; each front knows once how a
//! kind looks on its wire. Structs and enums derive [`Fields`](turnstile_derive::Fields).

mod values;

use std::fmt;

use turnstile_types::{Night, Timestamp};

/// Something that doors show as named fields.
pub trait Fields {
    /// Hands every field to the visitor, in the order in which doors show them.
    fn visit(&self, visitor: &mut impl Visitor);

    /// The fields that [`visit`](Self::visit) may hand over, in that order.
    fn describe() -> Vec<Field>;
}

/// An enum of which each variant has fields of its own.
pub trait Variants: Fields {
    /// The variants in the order of their declaration.
    fn variants() -> Vec<Variant>;
}

/// Takes the fields of one thing, one after the other.
pub trait Visitor {
    fn field(&mut self, name: &'static str, value: &impl Value);
}

/// What a field can hold.
pub trait Value {
    /// Hands the value to `show` in the form of its kind.
    fn show<S: Show>(&self, show: S) -> S::Out;

    /// Whether there is nothing to show. A field that is not set is null where fields have places, and
    /// left out where they have names only.
    fn is_none(&self) -> bool {
        false
    }

    fn kind() -> Kind;
}

/// Takes one value, and knows how each kind looks on its wire.
pub trait Show: Sized {
    type Out;

    fn text(self, text: &str) -> Self::Out;

    /// Text that is written, not kept.
    fn display(self, text: &impl fmt::Display) -> Self::Out;

    fn number(self, number: u64) -> Self::Out;

    fn signed(self, number: i64) -> Self::Out;

    fn flag(self, flag: bool) -> Self::Out;

    /// `units / 10^scale`, in the shortest form. The scale is at most 18.
    fn decimal(self, units: u128, scale: u8) -> Self::Out;

    /// Where the next page of a listing begins: opaque to callers.
    fn cursor(self, cursor: u64) -> Self::Out;

    fn night(self, night: Night) -> Self::Out {
        self.display(&night)
    }

    fn instant(self, instant: Timestamp) -> Self::Out {
        self.display(&instant)
    }

    /// Nothing is set.
    fn none(self) -> Self::Out;

    /// A list of `length` values.
    fn list<T: Value>(self, length: usize, values: impl Iterator<Item = T>) -> Self::Out;

    fn object(self, fields: &impl Fields) -> Self::Out;
}

/// A field without its value.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    /// What the declaration says of it; empty when its name says it all.
    pub meaning: &'static str,
    pub kind: Kind,
    /// Whether it is always there.
    pub is_required: bool,
}

impl Field {
    /// A field whose kind says whether it is always there.
    #[must_use]
    pub fn new(name: &'static str, meaning: &'static str, kind: Kind) -> Self {
        let is_required = !matches!(kind, Kind::Optional(_));
        Self {
            name,
            meaning,
            kind,
            is_required,
        }
    }
}

/// A variant of an enum without its values.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in the code.
    pub name: &'static str,
    pub meaning: &'static str,
    pub fields: Vec<Field>,
}

/// What the values of a field have in common.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Text, with an example of it.
    Text(&'static str),
    /// Text of one form: an example, and the regular expression of this text and no other.
    Pattern {
        example: &'static str,
        pattern: &'static str,
    },
    /// A whole number from 0, between these bounds.
    Number {
        min: u64,
        max: u64,
    },
    /// A whole number between these bounds.
    Signed {
        min: i64,
        max: i64,
    },
    Flag,
    /// A number with a point, exactly, as text.
    Decimal,
    /// A date, `2027-05-01`.
    Night,
    /// An instant in UTC, `2027-05-01T12:00:00.000Z`.
    Instant,
    /// Where the next page of a listing begins.
    Cursor,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Text in one of these forms, where capitals stand for something else: an example, and the regular
    /// expression of all of them.
    Forms {
        forms: &'static [&'static str],
        example: &'static str,
        pattern: &'static str,
    },
    /// It may not be set.
    Optional(Box<Self>),
    List(Box<Self>),
    /// Fields of their own, under the name of their type.
    Object {
        name: &'static str,
        fields: fn() -> Vec<Field>,
    },
}

impl Kind {
    /// A whole number from 0.
    pub const NUMBER: Self = Self::Number {
        min: 0,
        max: u64::MAX,
    };
    /// A name that many things may have: of a room, a property, an account.
    pub const NAME: Self = Self::Pattern {
        example: "101",
        pattern: "^[A-Za-z0-9._:-]{1,64}$",
    };

    /// What a value of this kind looks like; empty where it is no single text.
    #[must_use]
    pub const fn example(&self) -> &'static str {
        match self {
            Self::Text(example) | Self::Pattern { example, .. } | Self::Forms { example, .. } => {
                example
            }
            Self::Night => "2027-05-01",
            Self::Instant => "2027-05-01T12:00:00Z",
            Self::Decimal => "12.5",
            Self::Number { .. } | Self::Signed { .. } => "1",
            Self::OneOf([first, ..]) => first,
            Self::OneOf([])
            | Self::Flag
            | Self::Cursor
            | Self::Optional(_)
            | Self::List(_)
            | Self::Object { .. } => "",
        }
    }
}

/// How serious a refusal is, and whose it is: every front has one answer for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// No state would allow it.
    Invalid,
    /// The state does not allow it.
    Conflict,
    /// The state does not allow it yet; later, the same request may be done.
    Early,
    /// It belongs to another caller.
    Forbidden,
    NotFound,
    /// It was there, and is over.
    Gone,
    /// Another server does this.
    Elsewhere,
}

/// What a refusal means, whatever its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The stable word on every door and in every metric.
    pub code: &'static str,
    pub class: Class,
    /// One sentence without its full stop.
    pub sentence: &'static str,
}

impl Meaning {
    /// The sentence as it goes on behind other words: it begins with a small letter.
    #[must_use]
    pub fn continued(&self) -> impl fmt::Display + use<> {
        ContinuedSentence(self.sentence)
    }
}

struct ContinuedSentence(&'static str);

impl fmt::Display for ContinuedSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = self.0.chars();
        if let Some(first) = letters.next() {
            write!(f, "{}", first.to_ascii_lowercase())?;
        }
        f.write_str(letters.as_str())
    }
}

/// Why something was not done: its data are fields.
pub trait Refuse: Fields {
    fn meaning(&self) -> Meaning;

    /// The meanings of all refusals, in the order of their declaration.
    fn meanings() -> Vec<Meaning>;
}

/// Lists, one behind the other. What `any` is does not matter.
///
/// # Panics
/// They are not `N` values together: the compiler says so.
#[must_use]
pub const fn joined<T: Copy, const N: usize>(any: T, lists: &[&[T]]) -> [T; N] {
    let mut all = [any; N];
    let (mut at, mut rest) = (0, lists);
    while let [list, others @ ..] = rest {
        let (_, free) = all.split_at_mut(at);
        let (place, _) = free.split_at_mut(list.len());
        place.copy_from_slice(list);
        at += list.len();
        rest = others;
    }
    assert!(at == N, "as many values as places");
    all
}

/// The kind of what a function makes of a field.
#[must_use]
pub fn kind_with<T: ?Sized, V: Value>(_with: impl Fn(&T) -> V) -> Kind {
    V::kind()
}

/// The fields of what a function makes of a field.
#[must_use]
pub fn fields_with<T: ?Sized, F: Fields>(_with: impl Fn(&T) -> F) -> Vec<Field> {
    F::describe()
}

/// Hands over the fields of what is set; where nothing is, each as null.
pub fn visit_or_null<T: Fields>(fields: &Option<T>, visitor: &mut impl Visitor) {
    match fields {
        Some(fields) => fields.visit(visitor),
        None => {
            for field in T::describe() {
                visitor.field(field.name, &None::<bool>);
            }
        }
    }
}

/// Appends the fields of all variants, each once: a field is required when every variant has it.
pub fn merge(variants: Vec<Variant>, fields: &mut Vec<Field>) {
    let all = variants.len();
    let mut found: Vec<(Field, usize)> = Vec::new();
    for field in variants.into_iter().flat_map(|variant| variant.fields) {
        match found.iter_mut().find(|(known, _)| known.name == field.name) {
            Some((_, times)) => *times += 1,
            None => found.push((field, 1)),
        }
    }
    fields.extend(found.into_iter().map(|(field, times)| Field {
        is_required: field.is_required && times == all,
        ..field
    }));
}

/// The number of fields that are handed over, those that are not set among them.
#[inline]
pub fn count_fields(fields: &impl Fields) -> usize {
    struct Count(usize);

    impl Visitor for Count {
        #[inline]
        fn field(&mut self, _name: &'static str, _value: &impl Value) {
            self.0 += 1;
        }
    }

    let mut count = Count(0);
    fields.visit(&mut count);
    count.0
}
