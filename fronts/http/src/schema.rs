//! Schemas of what a service answers, from the declarations of its types.

use std::collections::BTreeMap;

use turnstile_chassis::{Field, Fields, Kind, Value, Variants};
use utoipa::openapi::{
    ArrayBuilder, ComponentsBuilder, KnownFormat, ObjectBuilder, Ref, RefOr, SchemaFormat, Type,
    schema::Schema,
};

use crate::answer::Receipt;

/// The schemas of one service, each under the service's name and its own.
pub(crate) struct Service {
    name: &'static str,
    schemas: BTreeMap<String, Schema>,
}

impl Service {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            schemas: BTreeMap::new(),
        }
    }

    /// Adds what its commands answer: the fields of each variant, and the receipt behind them.
    pub(crate) fn done<D: Variants>(self) -> Self {
        self.done_but::<D>(&[])
    }

    /// The same without some variants.
    pub(crate) fn done_but<D: Variants>(mut self, names: &[&str]) -> Self {
        for variant in D::variants() {
            if !variant.fields.is_empty() && !names.contains(&variant.name) {
                let fields = variant.fields.into_iter().chain(Receipt::describe());
                self.add(variant.name, variant.meaning, fields.collect());
            }
        }
        self
    }

    /// Adds what a command that only reads answers: it has no receipt.
    pub(crate) fn read<D: Variants>(mut self, name: &str) -> Self {
        let variant = D::variants().into_iter().find(|one| one.name == name);
        let variant = variant.expect("it is a variant");
        self.add(variant.name, variant.meaning, variant.fields);
        self
    }

    /// Adds what its queries answer.
    pub(crate) fn answers<A: Variants>(mut self) -> Self {
        for variant in A::variants() {
            if !variant.fields.is_empty() {
                self.add(variant.name, variant.meaning, variant.fields);
            }
        }
        self
    }

    /// Adds what an operation shows of its own.
    pub(crate) fn shown<V: Value>(mut self) -> Self {
        self.schema(V::kind(), "");
        self
    }

    /// Adds to pages of this name where the next page begins.
    pub(crate) fn paged(mut self, names: &[&str]) -> Self {
        for name in names {
            let page = self.schemas.get_mut(&format!("{}{name}", self.name));
            let Some(Schema::Object(page)) = page else {
                unreachable!("{name} is an object");
            };
            let next = ObjectBuilder::new()
                .schema_type(Type::String)
                .description(Some("Where the next page begins; not set on the last."));
            page.properties.insert("next".to_owned(), next.into());
        }
        self
    }

    pub(crate) fn event<E: Fields>(mut self) -> Self {
        self.add("Event", "One thing that happened.", E::describe());
        self
    }

    /// Leaves out what no operation answers.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            let removed = self.schemas.remove(&format!("{}{name}", self.name));
            assert!(removed.is_some(), "{name} has a schema");
        }
        self
    }

    pub(crate) fn into_components(self, components: ComponentsBuilder) -> ComponentsBuilder {
        let schemas = self.schemas.into_iter();
        schemas.fold(components, |components, (name, schema)| {
            components.schema(name, schema)
        })
    }

    fn add(&mut self, name: &str, meaning: &str, fields: Vec<Field>) {
        let object = described(ObjectBuilder::new(), meaning);
        let object = fields.into_iter().fold(object, |object, field| {
            let schema = self.schema(field.kind, field.meaning);
            let object = object.property(field.name, schema);
            if field.is_required {
                object.required(field.name)
            } else {
                object
            }
        });
        let name = format!("{}{name}", self.name);
        let schema = Schema::from(object);
        // A variant of the answers and the type that it holds have one name, and then one shape; the
        // variant says what it is.
        if let Some(first) = self.schemas.get(&name) {
            assert!(
                properties(first) == properties(&schema),
                "{name} has two shapes"
            );
            if meaning.is_empty() {
                return;
            }
        }
        self.schemas.insert(name, schema);
    }

    fn schema(&mut self, kind: Kind, meaning: &str) -> RefOr<Schema> {
        let object = || described(ObjectBuilder::new(), meaning);
        let text = || object().schema_type(Type::String);
        let formatted = |format| text().format(Some(SchemaFormat::KnownFormat(format)));
        match kind {
            Kind::Text("") => text().into(),
            Kind::Text(example) => text().examples([example]).into(),
            Kind::Number => object().schema_type(Type::Integer).minimum(Some(0)).into(),
            Kind::Signed => object().schema_type(Type::Integer).into(),
            Kind::Flag => object().schema_type(Type::Boolean).into(),
            Kind::Decimal => text().pattern(Some(r"^[0-9]+(\.[0-9]+)?$")).into(),
            Kind::Night => formatted(KnownFormat::Date).into(),
            Kind::Instant => formatted(KnownFormat::DateTime).into(),
            Kind::Cursor => text().pattern(Some("^c[0-9a-f]{16}$")).into(),
            Kind::OneOf(words) => text().enum_values(Some(words.iter().copied())).into(),
            Kind::Forms(forms) => text().examples(forms.iter().copied()).into(),
            Kind::Optional(kind) => self.schema(*kind, meaning),
            Kind::List(kind) => {
                let items = self.schema(*kind, "");
                let list = ArrayBuilder::new().items(items);
                let description = (!meaning.is_empty()).then_some(meaning);
                list.description(description).into()
            }
            Kind::Object { name, fields } => {
                self.add(name, "", fields());
                Ref::from_schema_name(format!("{}{name}", self.name)).into()
            }
        }
    }
}

fn properties(schema: &Schema) -> Option<serde_json::Value> {
    let schema = serde_json::to_value(schema).ok()?;
    schema.get("properties").cloned()
}

fn described(object: ObjectBuilder, meaning: &str) -> ObjectBuilder {
    object.description((!meaning.is_empty()).then_some(meaning))
}
