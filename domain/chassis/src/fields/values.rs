//! The kinds of the types that every service shares.

use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use super::{Field, Fields, Kind, Show, Value, Visitor};

impl<T: Value + ?Sized> Value for &T {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        T::show(self, show)
    }

    fn is_none(&self) -> bool {
        T::is_none(self)
    }

    fn kind() -> Kind {
        T::kind()
    }
}

impl<T: Value> Value for Box<T> {
    fn show<S: Show>(&self, show: S) -> S::Out {
        T::show(self, show)
    }

    fn is_none(&self) -> bool {
        T::is_none(self)
    }

    fn kind() -> Kind {
        T::kind()
    }
}

impl<T: Value> Value for Option<T> {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        match self {
            Some(value) => value.show(show),
            None => show.none(),
        }
    }

    #[inline]
    fn is_none(&self) -> bool {
        self.is_none()
    }

    fn kind() -> Kind {
        Kind::Optional(Box::new(T::kind()))
    }
}

impl<T: Value> Value for [T] {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.list(self.len(), self.iter())
    }

    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }
}

impl<T: Value> Value for Vec<T> {
    fn show<S: Show>(&self, show: S) -> S::Out {
        self.as_slice().show(show)
    }

    fn kind() -> Kind {
        <[T]>::kind()
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn show<S: Show>(&self, show: S) -> S::Out {
        self.as_slice().show(show)
    }

    fn kind() -> Kind {
        <[T]>::kind()
    }
}

macro_rules! numbers {
    ($($type:ident),+) => {$(
        impl Value for $type {
            #[inline]
            fn show<S: Show>(&self, show: S) -> S::Out {
                show.number(u64::from(*self))
            }

            fn kind() -> Kind {
                Kind::Number {
                    min: 0,
                    max: Self::MAX.into(),
                }
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64);

macro_rules! signed_numbers {
    ($($type:ident),+) => {$(
        impl Value for $type {
            #[inline]
            fn show<S: Show>(&self, show: S) -> S::Out {
                show.signed(i64::from(*self))
            }

            fn kind() -> Kind {
                Kind::Signed {
                    min: Self::MIN.into(),
                    max: Self::MAX.into(),
                }
            }
        }
    )+};
}

signed_numbers!(i32, i64);

impl Value for bool {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.flag(*self)
    }

    fn kind() -> Kind {
        Kind::Flag
    }
}

impl Value for str {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self)
    }

    fn kind() -> Kind {
        Kind::Text("")
    }
}

impl Value for Box<str> {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self)
    }

    fn kind() -> Kind {
        Kind::Text("")
    }
}

impl Value for Name {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self)
    }

    fn kind() -> Kind {
        Kind::NAME
    }
}

impl Value for Principal {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(&self.0)
    }

    fn kind() -> Kind {
        Kind::Text("local")
    }
}

impl Value for Night {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.night(*self)
    }

    fn kind() -> Kind {
        Kind::Night
    }
}

impl Value for Timestamp {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.instant(*self)
    }

    fn kind() -> Kind {
        Kind::Instant
    }
}

impl Value for Position {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.number(self.0)
    }

    fn kind() -> Kind {
        Kind::NUMBER
    }
}

impl Fields for Stay {
    #[inline]
    fn visit(&self, visitor: &mut impl Visitor) {
        visitor.field("arrival", &self.arrival());
        visitor.field("departure", &self.departure());
    }

    fn describe() -> Vec<Field> {
        ["arrival", "departure"]
            .map(|name| Field::new(name, "", Kind::Night))
            .into()
    }
}

/// Two of a kind: the first and the second.
impl<T: Value> Fields for [T; 2] {
    fn visit(&self, visitor: &mut impl Visitor) {
        let [first, second] = self;
        visitor.field("first", first);
        visitor.field("second", second);
    }

    fn describe() -> Vec<Field> {
        ["first", "second"]
            .map(|name| Field::new(name, "", T::kind()))
            .into()
    }
}

impl Fields for () {
    fn visit(&self, _visitor: &mut impl Visitor) {}

    fn describe() -> Vec<Field> {
        Vec::new()
    }
}

/// What is not there has no fields.
impl<T: Fields> Fields for Option<T> {
    #[inline]
    fn visit(&self, visitor: &mut impl Visitor) {
        if let Some(fields) = self {
            fields.visit(visitor);
        }
    }

    fn describe() -> Vec<Field> {
        let fields = T::describe().into_iter();
        let optional = |field| Field {
            is_required: false,
            ..field
        };
        fields.map(optional).collect()
    }
}

impl<T: Fields> Fields for Box<T> {
    fn visit(&self, visitor: &mut impl Visitor) {
        T::visit(self, visitor);
    }

    fn describe() -> Vec<Field> {
        T::describe()
    }
}
