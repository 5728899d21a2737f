//! Schemas of what a service takes and answers, from the declarations of its types.

use std::collections::BTreeMap;

use turnstile_chassis::{Field, Fields, Kind, Need, Value, Variants};
use utoipa::openapi::{
    ArrayBuilder, ComponentsBuilder, KnownFormat, Object, ObjectBuilder, Ref, RefOr, SchemaFormat,
    Type,
    schema::{AdditionalProperties, Schema, SchemaType},
};

use crate::{
    answer::Receipt,
    given::NUMBER,
    operation::{Operation, PlacedParameter, is_needed},
    problem::Place,
};

/// The schemas of one service, each under the service's name and its own.
pub(crate) struct Schemas {
    name: &'static str,
    schemas: BTreeMap<String, Object>,
}

impl Schemas {
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
            components.schema(name, Schema::Object(schema))
        })
    }

    /// The data of refusals, by their names.
    pub(crate) fn data_of<R: Variants>(mut self) -> Vec<(&'static str, RefOr<Schema>)> {
        let fields = R::variants().into_iter().flat_map(|one| one.fields);
        fields
            .map(|field| (field.name, self.schema(field.kind, field.meaning)))
            .collect()
    }

    /// Adds fields under a name, and what is among them.
    pub(crate) fn named<F: Fields>(mut self, name: &str, meaning: &str) -> Self {
        self.add(name, meaning, F::describe());
        self
    }

    /// The same of fields that are listed.
    pub(crate) fn listed(mut self, name: &str, meaning: &str, fields: Vec<Field>) -> Self {
        self.add(name, meaning, fields);
        self
    }

    /// The schema of fields that are no object of a service.
    pub(crate) fn of_fields<F: Fields>(meaning: &str) -> Schema {
        let mut schemas = Self::new("");
        schemas.add("", meaning, F::describe());
        Schema::Object(schemas.schemas.remove("").expect("it was added"))
    }

    /// Adds the body of an operation.
    pub(crate) fn body(mut self, operation: &Operation) -> Self {
        let parameters = operation.parameters.iter();
        let object = described(ObjectBuilder::new(), operation.summary)
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let object =
            parameters
                .filter(|one| one.place == Place::Body)
                .fold(object, |object, parameter| {
                    let object = object.property(parameter.name, parameter_schema(parameter));
                    if is_needed(parameter.need) {
                        object.required(parameter.name)
                    } else {
                        object
                    }
                });
        self.schemas.insert(body_name(operation), object.build());
        self
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
        let schema = object.build();
        // A variant of the answers and the type that it holds have one name, and then one shape; the
        // variant says what it is.
        if let Some(first) = self.schemas.get(&name) {
            assert!(
                first.properties == schema.properties,
                "{name} has two shapes"
            );
            if meaning.is_empty() {
                return;
            }
        }
        self.schemas.insert(name, schema);
    }

    fn schema(&mut self, kind: Kind, meaning: &str) -> RefOr<Schema> {
        match kind {
            Kind::Optional(kind) => self.schema(*kind, meaning),
            Kind::List(kind) => {
                let items = self.schema(*kind, "");
                list(items, meaning).into()
            }
            Kind::Object { name, fields } => {
                self.add(name, "", fields());
                Ref::from_schema_name(format!("{}{name}", self.name)).into()
            }
            plain => plain_schema(&plain, meaning).into(),
        }
    }
}

/// The name of the schema of a body.
pub(crate) fn body_name(operation: &Operation) -> String {
    let (first, rest) = operation.id.split_at(1);
    format!("{}{rest}Request", first.to_ascii_uppercase())
}

/// Decimals that are not longer can always be kept.
const DECIMAL_LENGTH: usize = 18;

/// The years of the dates that are kept: the last night is in June 2149.
const YEARS: &str = "^(19[7-9][0-9]|20[0-9]{2}|21[0-4][0-9])-";

/// What an operation takes as a parameter.
pub(crate) fn parameter_schema(parameter: &PlacedParameter) -> RefOr<Schema> {
    let schema = plain_schema(&parameter.kind, parameter.meaning);
    let schema = schema.default(default_of(parameter));
    let schema = match &parameter.kind {
        Kind::Decimal => schema.max_length(Some(DECIMAL_LENGTH)),
        Kind::Night | Kind::Instant => schema.pattern(Some(YEARS)),
        _ => schema,
    };
    match parameter.need {
        Need::Repeated { most } => {
            list(plain_schema(&parameter.kind, "").into(), parameter.meaning)
                .min_items(Some(1))
                .max_items(Some(most))
                .into()
        }
        need if is_needed(need) || parameter.place != Place::Body => schema.into(),
        // In a body, null is as good as nothing.
        _ => nullable(schema).into(),
    }
}

/// What a parameter is when it is not given.
fn default_of(parameter: &PlacedParameter) -> Option<serde_json::Value> {
    let text = parameter.default.as_deref()?;
    match parameter.kind {
        Kind::Number { .. } | Kind::Signed { .. } => text.parse().ok(),
        _ => Some(text.into()),
    }
}

fn nullable(schema: ObjectBuilder) -> ObjectBuilder {
    let mut object = schema.build();
    let types = match object.schema_type {
        SchemaType::Type(only) => vec![only, Type::Null],
        SchemaType::Array(mut several) => {
            several.push(Type::Null);
            several
        }
        SchemaType::AnyValue => return object.into(),
    };
    object.schema_type = SchemaType::Array(types);
    if let Some(words) = &mut object.enum_values {
        words.push(serde_json::Value::Null);
    }
    object.into()
}

fn list(items: RefOr<Schema>, meaning: &str) -> ArrayBuilder {
    let description = (!meaning.is_empty()).then_some(meaning);
    ArrayBuilder::new().items(items).description(description)
}

/// What is one value.
fn plain_schema(kind: &Kind, meaning: &str) -> ObjectBuilder {
    let object = || described(ObjectBuilder::new(), meaning);
    let text = || object().schema_type(Type::String);
    let formatted = |format| text().format(Some(SchemaFormat::KnownFormat(format)));
    let integer = || object().schema_type(Type::Integer);
    match kind {
        Kind::Text("") => text(),
        Kind::Text(example) => text().examples([*example]),
        Kind::Pattern { example, pattern } => text().pattern(Some(*pattern)).examples([*example]),
        Kind::Forms {
            forms,
            example,
            pattern,
        } => {
            let either = forms.contains(&NUMBER);
            let types = either.then_some([Type::String, Type::Integer]);
            let text = types.map_or_else(text, |types| {
                object()
                    .schema_type(SchemaType::Array(types.into()))
                    .minimum(Some(0_u64))
                    .maximum(Some(u64::MAX))
            });
            text.pattern(Some(*pattern)).examples([*example])
        }
        Kind::Number { min, max } => integer().minimum(Some(*min)).maximum(Some(*max)),
        Kind::Signed { min, max } => integer().minimum(Some(*min)).maximum(Some(*max)),
        Kind::Flag => object().schema_type(Type::Boolean),
        Kind::Decimal => text()
            .pattern(Some(r"^[0-9]+(\.[0-9]+)?$"))
            .examples(["12.5"]),
        Kind::Night => formatted(KnownFormat::Date).examples(["2027-05-01"]),
        Kind::Instant => formatted(KnownFormat::DateTime).examples(["2027-05-01T12:00:00.000Z"]),
        Kind::Cursor => text().pattern(Some("^c[0-9a-f]{16}$")),
        Kind::OneOf(words) => text().enum_values(Some(words.iter().copied())),
        Kind::Optional(kind) => plain_schema(kind, meaning),
        Kind::List(_) | Kind::Object { .. } => object(),
    }
}

fn described(object: ObjectBuilder, meaning: &str) -> ObjectBuilder {
    object.description((!meaning.is_empty()).then_some(meaning))
}
