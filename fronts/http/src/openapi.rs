//! The OpenAPI 3.1 document, made of the table of operations and the shapes.

mod resp;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Map;
use utoipa::openapi::{
    Components, ComponentsBuilder, Content, HttpMethod, Info, License, ObjectBuilder, OpenApi,
    OpenApiBuilder, Paths, Ref, RefOr, Required, Response, ResponseBuilder, Type,
    extensions::{Extensions, ExtensionsBuilder},
    path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::{AnyOfBuilder, Schema},
    security::{
        ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
    },
    server::Server,
    tag::TagBuilder,
};

use crate::{
    answer::Receipt,
    audit, cluster, glossary, lab,
    operation::{Answerer, Audience, Method, Operation, RECEIPT, Service, Success, is_needed},
    problem::{FieldError, Place},
    recount, reload,
    schema::{Schemas, body_name, parameter_schema},
    security,
    sessions::{self, SESSION_COOKIE},
    table::{chapters, operations},
};

/// What is wrong with a request that could not be read in one way only, and the like.
const ANY_PROBLEM: &str = "Problem";

/// The document.
///
/// # Panics
/// Never: the table and the shapes are ours.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut paths = Paths::new();
    for operation in operations() {
        let method = vec![http_method(operation.method)];
        paths.add_path_operation(operation.path.as_str(), method, describe(operation));
    }
    let mut info = Info::new("Turnstile", env!("CARGO_PKG_VERSION"));
    info.description = Some(ABOUT.to_owned());
    info.license = Some(License::new(env!("CARGO_PKG_LICENSE")));
    let mut server = Server::new("http://localhost:8470");
    server.description = Some("A server on this machine".to_owned());
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
        .tags(Some(chapters().map(|(service, about)| {
            TagBuilder::new()
                .name(tag(service))
                .description(Some(about))
                .build()
        })))
        .paths(paths)
        .components(Some(components()))
        .build()
}

/// The names of the ways to show who calls.
const KEY_SCHEME: &str = "key";
const SESSION_SCHEME: &str = "session";

/// Who may call the operation. A server without keys asks for none.
fn secured(described: OperationBuilder, audience: Audience) -> OperationBuilder {
    let none = SecurityRequirement::default();
    if audience == Audience::Everybody {
        return described.security(none);
    }
    let by = |scheme| SecurityRequirement::new(scheme, [] as [&str; 0]);
    described.securities(Some([by(KEY_SCHEME), by(SESSION_SCHEME), none]))
}

/// What OpenAPI has no field for: the right that the operation needs, and how RESP asks for the same. It is one
/// extension, because several are written in any order.
fn extensions(operation: &Operation) -> Option<Extensions> {
    let right = operation.audience.right();
    let words = resp::words(operation);
    if right.is_none() && words.is_none() {
        return None;
    }
    let mut said = Map::new();
    said.extend(right.map(|right| ("right".to_owned(), right.into())));
    said.extend(words.map(|words| ("resp".to_owned(), words.into())));
    let extensions = ExtensionsBuilder::new();
    Some(extensions.add("x-turnstile", said).build())
}

fn key_scheme() -> SecurityScheme {
    let description = "A key of a principal, once the server has keys: `turnstile key create`. The \
                       operation's `x-turnstile.right` is the right that the principal needs.";
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("ts_ENV_ID_SECRET")
        .description(Some(description));
    SecurityScheme::Http(bearer.build())
}

fn session_scheme() -> SecurityScheme {
    let description = "The cookie of a browser session, as `POST /v1/session` sets it: its name ends in `_` and \
                       the port where the address has one, as in `turnstile_session_8470`. Every request that \
                       is not GET also sends the session's `csrf_token` in `X-CSRF-Token`.";
    let cookie = ApiKeyValue::with_description(SESSION_COOKIE, description);
    SecurityScheme::ApiKey(ApiKey::Cookie(cookie))
}

const ABOUT: &str = "Every change takes an `Idempotency-Key`: the same key and content get the first \
                     answer again. An answer that is no success is `application/problem+json` with a \
                     stable `code`.";

/// The name of a part of the document.
pub(crate) const fn tag(service: Option<Service>) -> &'static str {
    match service {
        Some(service) => service.name(),
        None => "server",
    }
}

const fn http_method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Put => HttpMethod::Put,
        Method::Delete => HttpMethod::Delete,
    }
}

fn components() -> Components {
    let services = schemas_of_services();
    let components = services
        .into_iter()
        .chain([
            sessions::schemas(),
            audit::schemas(),
            security::schemas(),
            reload::schemas(),
            cluster::schemas(),
            recount::schemas(),
            with_bodies(None, lab::schemas()),
        ])
        .fold(ComponentsBuilder::new(), |components, schemas| {
            schemas.into_components(components)
        });
    let components = STATUSES
        .iter()
        .fold(components, |components, (status, name, meaning)| {
            components.response(*name, problem_response(*status, meaning))
        });
    components
        .response(
            ANY_PROBLEM,
            problem_response(0, "Any other answer that is no success"),
        )
        .security_scheme(KEY_SCHEME, key_scheme())
        .security_scheme(SESSION_SCHEME, session_scheme())
        .schema("Receipt", Schemas::of_fields::<Receipt>("What was done."))
        .schema_from::<FieldError>()
        .schema_from::<Place>()
        .schema("Problem", problem_schema())
        .build()
}

macro_rules! schemas {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn schemas_of_services() -> Vec<Schemas> {
            vec![$({
                let schemas = Schemas::new(stringify!($machine));
                crate::$name::schemas(with_bodies(Some(Service::$machine), schemas))
            }),+]
        }

        /// The data of all refusals.
        fn data_of_refusals() -> Vec<(&'static str, RefOr<Schema>)> {
            let mut all = Vec::new();
            $(all.extend(Schemas::new(stringify!($machine)).data_of::<turnstile_services::$name::Refusal>());)+
            all
        }
    };
}

turnstile_services::services!(schemas);

fn with_bodies(service: Option<Service>, schemas: Schemas) -> Schemas {
    let of_service = operations().iter().filter(|one| one.service() == service);
    let with_body = of_service.filter(|one| one.has(Place::Body));
    with_body.fold(schemas, Schemas::body)
}

/// A problem: what each has, and the data of every refusal, which depend on its code.
fn problem_schema() -> Schema {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let number = || ObjectBuilder::new().schema_type(Type::Integer);
    let truth = || ObjectBuilder::new().schema_type(Type::Boolean);
    let errors = utoipa::openapi::ArrayBuilder::new()
        .items(RefOr::<Schema>::Ref(Ref::from_schema_name("FieldError")));
    let codes: BTreeSet<&str> = glossary::chapters()
        .iter()
        .flat_map(|(_, words)| words.iter().map(|(word, _, _)| *word))
        .collect();
    let problem = ObjectBuilder::new()
        .description(Some(
            "RFC 9457. A refusal has its data beside these, as its code has them.",
        ))
        .property("type", text())
        .property("title", text())
        .property("status", number())
        .property("detail", text())
        .property("instance", text())
        .property("code", text().enum_values(Some(codes)))
        .property("retryable", truth())
        .property("request_id", text())
        .property("errors", errors)
        .property("position", number())
        .property(
            "place",
            number().description(Some("In the waiting room, from 1")),
        )
        .property(
            "wait_seconds",
            number().description(Some("Until the turn of this place comes")),
        )
        .property("replayed", truth());
    let always = [
        "type",
        "title",
        "status",
        "instance",
        "code",
        "retryable",
        "request_id",
    ];
    let problem = always.into_iter().fold(problem, ObjectBuilder::required);
    let mut members: BTreeMap<&str, Vec<RefOr<Schema>>> = BTreeMap::new();
    for (name, schema) in data_of_refusals() {
        let known = members.entry(name).or_default();
        if !known.contains(&schema) {
            known.push(schema);
        }
    }
    let problem = members
        .into_iter()
        .fold(problem, |problem, (name, mut schemas)| {
            if schemas.len() == 1 {
                return problem.property(name, schemas.remove(0));
            }
            let either = schemas.into_iter();
            let either = either.fold(AnyOfBuilder::new(), AnyOfBuilder::item);
            problem.property(name, Schema::AnyOf(either.build()))
        });
    problem.into()
}

fn describe(operation: &Operation) -> OperationBuilder {
    let mut described = OperationBuilder::new()
        .operation_id(Some(operation.id.as_str()))
        .summary(Some(operation.summary))
        .tag(tag(operation.service()));
    described = secured(described, operation.audience).extensions(extensions(operation));
    for parameter in parameters(operation) {
        described = described.parameter(parameter);
    }
    if operation.has(Place::Body) {
        let schema = Ref::from_schema_name(body_name(operation));
        let required = if operation.needs_body() {
            Required::True
        } else {
            Required::False
        };
        let body = RequestBodyBuilder::new()
            .content("application/json", Content::new(Some(schema)))
            .required(Some(required))
            .build();
        described = described.request_body(Some(body));
    }
    described = match operation.success {
        Success::Made { schema, .. } => described
            .response("201", json_response("It is made", operation, schema))
            .response(
                "200",
                json_response(
                    "It was made before: the first answer again",
                    operation,
                    schema,
                ),
            ),
        Success::Json(schema) => {
            described.response("200", json_response("Done", operation, schema))
        }
        Success::Protocol(protocol) => {
            let response = ResponseBuilder::new();
            described.response("101", response.description(protocol).build())
        }
        Success::Content(contents) => {
            let response = ResponseBuilder::new().description("Done");
            let response = contents.iter().fold(response, |response, content| {
                response.content(*content, content_of(operation, content))
            });
            described.response("200", response.build())
        }
    };
    let is_public = operation.audience == Audience::Everybody;
    let guard = (operation.is_guarded() || !is_public).then_some(403);
    let key = (!is_public).then_some(401);
    let form = (!operation.contents().is_empty()).then_some(406);
    let statuses = operation.problems.iter().copied();
    let statuses = statuses.chain(key).chain(guard).chain(form);
    for status in statuses.collect::<BTreeSet<u16>>() {
        let known = STATUSES.iter().find(|(known, ..)| *known == status);
        let (_, name, _) = known.expect("every status of a problem has a meaning");
        described = described.response(status.to_string(), Ref::from_response_name(*name));
    }
    described.response("default", Ref::from_response_name(ANY_PROBLEM))
}

/// What a document or a stream consists of.
fn content_of(operation: &Operation, content: &str) -> Content {
    let schema = match (operation.answerer, content) {
        (Answerer::SecurityEvents, _) => RefOr::Ref(Ref::from_schema_name("AccessSecurityEvent")),
        (Answerer::Events(_) | Answerer::MatchEvents, _) => {
            let service = operation.service().map_or("", Service::prefix);
            RefOr::Ref(Ref::from_schema_name(format!("{service}Event")))
        }
        (_, "application/json") => ObjectBuilder::new().schema_type(Type::Object).into(),
        _ => ObjectBuilder::new().schema_type(Type::String).into(),
    };
    Content::new(Some(schema))
}

fn json_response(description: &str, operation: &Operation, schema: &str) -> Response {
    let service = operation.service().filter(|_| schema != RECEIPT);
    let name = format!("{}{schema}", service.map_or("", Service::prefix));
    ResponseBuilder::new()
        .description(description)
        .content(
            "application/json",
            Content::new(Some(Ref::from_schema_name(name))),
        )
        .build()
}

/// The statuses of problems: a name for each, and what it means.
const STATUSES: [(u16, &str, &str); 17] = [
    (304, "NotModified", "Not changed since this ETag"),
    (400, "BadRequest", "Wrong fields, parameters or JSON"),
    (
        401,
        "Unauthorized",
        "The server asks for a key, or the key has ended",
    ),
    (
        403,
        "Forbidden",
        "The caller has not the right, or a page of another origin asks",
    ),
    (404, "NotFound", "There is no such thing"),
    (
        406,
        "NotAcceptable",
        "The Accept header names no form of this answer",
    ),
    (409, "Conflict", "The state does not allow it"),
    (410, "Gone", "It is over"),
    (
        412,
        "PreconditionFailed",
        "The thing has changed since this ETag",
    ),
    (413, "BodyTooLarge", "The body is too large"),
    (
        415,
        "UnsupportedMediaType",
        "The body is not application/json",
    ),
    (421, "Elsewhere", "This server does not play that part"),
    (
        422,
        "KeyReused",
        "The Idempotency-Key came before with other content",
    ),
    (426, "UpgradeRequired", "This path speaks WebSocket"),
    (429, "TooManyRequests", "Too often: see Retry-After"),
    (501, "NotOffered", "This server does not offer it"),
    (
        503,
        "Unavailable",
        "Overloaded, read-only or not ready: see Retry-After",
    ),
];

fn problem_response(status: u16, meaning: &str) -> Response {
    let response = ResponseBuilder::new().description(meaning);
    if status == 304 {
        return response.build();
    }
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    response
        .content("application/problem+json", problem)
        .build()
}

/// What every query takes.
fn consistency() -> Parameter {
    let words = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["linearizable", "stale"]));
    ParameterBuilder::new()
        .name("consistency")
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(
            "`stale` has a node of a cluster answer from its own state, which others may be ahead of, also \
             while the brokers are gone; Turnstile-Entry-Age-Ms says how old its last entry is",
        ))
        .schema(Some(words))
        .build()
}

fn parameters(operation: &Operation) -> Vec<Parameter> {
    let declared = operation.parameters.iter();
    let outside = declared.filter_map(|one| {
        let place = match one.place {
            Place::Path => ParameterIn::Path,
            Place::Query => ParameterIn::Query,
            Place::Body | Place::Header => return None,
        };
        let required = if is_needed(one.need) || one.place == Place::Path {
            Required::True
        } else {
            Required::False
        };
        let meaning = (!one.meaning.is_empty()).then_some(one.meaning);
        let parameter = ParameterBuilder::new()
            .name(one.name)
            .parameter_in(place)
            .required(required)
            .description(meaning)
            .schema(Some(parameter_schema(one)))
            .build();
        Some(parameter)
    });
    let mut parameters: Vec<Parameter> = outside.collect();
    if matches!(operation.answerer, Answerer::Query(..)) {
        parameters.push(consistency());
    }
    let is_stream = matches!(
        operation.answerer,
        Answerer::Events(_) | Answerer::MatchEvents | Answerer::SecurityEvents
    );
    let headers = [
        (
            operation.is_versioned,
            "If-None-Match",
            "The ETag that is known",
            None,
        ),
        (
            operation.has_precondition,
            "If-Match",
            "The ETag that the thing must still have",
            None,
        ),
        (
            is_stream,
            "Last-Event-ID",
            "The event that was seen last",
            Some(r"^[0-9]{1,19}(\.[0-9]{1,9})?$"),
        ),
        (
            operation.mutates(),
            "Idempotency-Key",
            "The same key and content get the first answer again",
            Some("^[!#-~][!-~]{0,127}$"),
        ),
    ];
    let headers = headers.into_iter().filter(|(is_taken, ..)| *is_taken);
    parameters.extend(headers.map(|(_, name, meaning, pattern)| {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(pattern);
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(meaning))
            .schema(Some(schema))
            .build()
    }));
    parameters
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    use super::*;

    #[test]
    fn the_document_is_the_reviewed_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let mut document = openapi().to_pretty_json().unwrap();
        document.push('\n');
        if env::var_os("TURNSTILE_BLESS").is_some() {
            fs::write(&path, &document).unwrap();
        }
        let reviewed = fs::read_to_string(&path).unwrap();
        assert!(
            document == reviewed,
            "docs/openapi.json differs; review, then run with TURNSTILE_BLESS=1"
        );
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        let document = serde_json::to_value(openapi()).unwrap();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        let mut references = 0;
        for piece in text.split("\"#/components/schemas/").skip(1) {
            let name = piece.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
            references += 1;
        }
        assert!(references > operations().len(), "found {references}");
        assert_eq!(document["openapi"], "3.1.0");
    }
}
