//! The OpenAPI 3.1 document, made of the table of operations and the shapes.

use turnstile_games::{Game, Measure};
use turnstile_travel::Stage;
use utoipa::openapi::{
    Components, ComponentsBuilder, Content, HttpMethod, Info, ObjectBuilder, OpenApi,
    OpenApiBuilder, Paths, Ref, RefOr, Required, Response, ResponseBuilder, Type,
    path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::{Schema, SchemaType},
    server::Server,
    tag::TagBuilder,
};

use crate::{
    answer::Receipt,
    exchange, games,
    operation::{Method, Operation, Success, chapters, operations},
    problem::{FieldError, Place},
    request::{
        Cancellation, Confirmation, Extension, GuestSearch, NewBooking, NewHold, NewProperty,
        NewRoom,
    },
    schema::Service,
    travel,
};

/// The document.
///
/// # Panics
/// Never: the table and the shapes are ours.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut paths = Paths::new();
    for operation in operations() {
        paths.add_path_operation(
            operation.path,
            vec![http_method(operation.method)],
            describe(operation),
        );
    }
    OpenApiBuilder::new()
        .info(Info::new("Turnstile", env!("CARGO_PKG_VERSION")))
        .servers(Some([Server::new("/")]))
        .tags(Some(chapters().map(|(name, about)| {
            TagBuilder::new()
                .name(name)
                .description(Some(about))
                .build()
        })))
        .paths(paths)
        .components(Some(components()))
        .build()
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
    let components = exchange_shapes(rooms_shapes(ComponentsBuilder::new()));
    travel_shapes(games_shapes(components))
        .schema_from::<FieldError>()
        .schema_from::<Place>()
        .schema("Problem", problem_schema())
        .build()
}

fn rooms_shapes(components: ComponentsBuilder) -> ComponentsBuilder {
    let rooms = Service::new("Rooms")
        .done::<turnstile_rooms::Done>()
        .answers::<turnstile_rooms::Answer>()
        .event::<turnstile_rooms::Event>();
    rooms
        .into_components(components)
        .schema_from::<NewProperty<'_>>()
        .schema_from::<NewRoom<'_>>()
        .schema_from::<NewBooking<'_>>()
        .schema_from::<NewHold<'_>>()
        .schema_from::<Extension>()
        .schema_from::<Confirmation<'_>>()
        .schema_from::<Cancellation<'_>>()
        .schema_from::<GuestSearch<'_>>()
        .schema_from::<Receipt>()
}

fn exchange_shapes(components: ComponentsBuilder) -> ComponentsBuilder {
    let exchange = Service::new("Exchange")
        .done::<turnstile_exchange::Done>()
        .answers::<turnstile_exchange::Answer>()
        .event::<turnstile_exchange::Event>();
    exchange
        .into_components(components)
        .schema_from::<exchange::NewAccount<'_>>()
        .schema_from::<exchange::CashAmount<'_>>()
        .schema_from::<exchange::NewLimits<'_>>()
        .schema_from::<exchange::NewSymbol<'_>>()
        .schema_from::<exchange::NewGrant<'_>>()
        .schema_from::<exchange::NewBand<'_>>()
        .schema_from::<exchange::NewOrder<'_>>()
        .schema_from::<exchange::OrderCancellation<'_>>()
        .schema_from::<exchange::OrderReplacement<'_>>()
        .schema_from::<exchange::MassCancellation<'_>>()
}

fn games_shapes(components: ComponentsBuilder) -> ComponentsBuilder {
    let games = Service::new("Games")
        .done::<turnstile_games::Done>()
        .answers::<turnstile_games::Answer>()
        .event::<turnstile_games::Event>()
        .without(&["Connected", "Counted"]);
    games
        .into_components(components)
        .schema_from::<games::Challenge<'_>>()
        .schema_from::<games::Search<'_>>()
        .schema_from::<games::NewMatch<'_>>()
        .schema_from::<games::Move<'_>>()
        .schema_from::<games::PlayerNamed<'_>>()
        .schema_from::<games::DrawAnswer<'_>>()
}

fn travel_shapes(components: ComponentsBuilder) -> ComponentsBuilder {
    let travel = Service::new("Travel")
        .done_but::<turnstile_travel::Done>(&["Bill", "Stock", "Summary"])
        .read::<turnstile_travel::Done>("Summary")
        .answers::<turnstile_travel::Answer>()
        .without(&["Customer", "Itinerary", "Transaction"])
        .shown::<turnstile_travel::ItineraryView>()
        .paged(&["Items", "Transactions"])
        .event::<turnstile_travel::Event>();
    travel
        .into_components(components)
        .schema_from::<travel::NewStock<'_>>()
        .schema_from::<travel::NewCustomer>()
        .schema_from::<travel::NewReservation<'_>>()
        .schema_from::<travel::NewItinerary<'_>>()
        .schema_from::<travel::Resolution<'_>>()
}

/// Written by hand, because its extension members depend on the code.
fn problem_schema() -> Schema {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let number = || ObjectBuilder::new().schema_type(Type::Integer);
    let truth = || ObjectBuilder::new().schema_type(Type::Boolean);
    let list = |items: RefOr<Schema>| utoipa::openapi::ArrayBuilder::new().items(items);
    let number_or_text =
        ObjectBuilder::new().schema_type(SchemaType::Array(vec![Type::Integer, Type::String]));
    let errors = list(RefOr::Ref(Ref::from_schema_name("FieldError")));
    ObjectBuilder::new()
        .description(Some(
            "RFC 9457. Refusals carry their data, each only where it belongs. Rooms: nights, night, \
             limit, ttl_seconds_max, until_max. Exchange: field, scale, needed, free, low, high, \
             limit, order. Games: limit, player, match, state, until. Travel: item, customer, limit, ttl_seconds_max, desk, reason, holder.",
        ))
        .property("type", text())
        .property("title", text())
        .property("status", number())
        .property("detail", text())
        .property("instance", text())
        .property("code", text())
        .property("retryable", truth())
        .property("request_id", text())
        .property("errors", errors)
        .property("nights", list(text().into()))
        .property("night", text())
        .property("limit", number_or_text)
        .property("ttl_seconds_max", number())
        .property("until_max", text())
        .property("field", text())
        .property("scale", number())
        .property("needed", text())
        .property("free", text())
        .property("low", text())
        .property("high", text())
        .property("order", number())
        .property("item", text())
        .property("customer", number())
        .property("desk", text())
        .property("reason", text())
        .property("holder", number())
        .property("player", text())
        .property("match", number())
        .property("state", RefOr::Ref(Ref::from_schema_name("GamesMatch")))
        .property("until", text())
        .property("position", number())
        .property("replayed", truth())
        .required("type")
        .required("title")
        .required("status")
        .required("instance")
        .required("code")
        .required("retryable")
        .required("request_id")
        .into()
}

fn describe(operation: &Operation) -> OperationBuilder {
    let mut described = OperationBuilder::new()
        .operation_id(Some(operation.id))
        .summary(Some(operation.summary))
        .tag(operation.chapter());
    for parameter in parameters(operation) {
        described = described.parameter(parameter);
    }
    if let Some(schema) = operation.body {
        let body = RequestBodyBuilder::new()
            .content(
                "application/json",
                Content::new(Some(Ref::from_schema_name(schema))),
            )
            .required(Some(Required::True))
            .build();
        described = described.request_body(Some(body));
    }
    described = match operation.success {
        Success::Made(schema) => described
            .response("201", json_response("Done", schema))
            .response(
                "200",
                json_response("The first answer to this key, again", schema),
            ),
        Success::Json(schema) => described.response("200", json_response("Done", schema)),
        Success::Protocol(protocol) => {
            let response = ResponseBuilder::new();
            described.response("101", response.description(protocol).build())
        }
        Success::Content(contents) => {
            let response = ResponseBuilder::new().description("Done");
            let response = contents.iter().fold(response, |response, content| {
                response.content(*content, Content::new(None::<RefOr<Schema>>))
            });
            described.response("200", response.build())
        }
    };
    let guard = operation.is_guarded().then_some(403);
    let form = (!operation.contents().is_empty()).then_some(406);
    for status in operation.problems.iter().copied().chain(guard).chain(form) {
        described = described.response(status.to_string(), problem_response(status));
    }
    if matches!(operation.success, Success::Made(_) | Success::Json(_)) {
        described = described.response("503", problem_response(503));
    }
    described
}

fn json_response(description: &str, schema: &str) -> Response {
    ResponseBuilder::new()
        .description(description)
        .content(
            "application/json",
            Content::new(Some(Ref::from_schema_name(schema))),
        )
        .build()
}

fn problem_response(status: u16) -> Response {
    let (meaning, body) = match status {
        304 => ("Not changed since this ETag", false),
        400 => ("Wrong fields, parameters or JSON", true),
        403 => (
            "Refused: it is somebody else's, or a page of another origin asks",
            true,
        ),
        404 => ("Refused: there is no such thing", true),
        406 => ("The Accept header names no form of this answer", true),
        409 => ("Refused: the state does not allow it", true),
        410 => ("Refused: it is over", true),
        412 => ("The thing has changed since this ETag", true),
        413 => ("The body is too large", true),
        415 => ("The body is not application/json", true),
        421 => ("Refused: this server does not play that part", true),
        422 => ("The Idempotency-Key came before with other content", true),
        426 => ("This path speaks WebSocket", true),
        503 => ("Overloaded, read-only or not ready: see Retry-After", true),
        other => unreachable!("status {other} has a meaning in this table"),
    };
    let response = ResponseBuilder::new().description(meaning);
    if !body {
        return response.build();
    }
    let problem = Content::new(Some(Ref::from_schema_name("Problem")));
    response
        .content("application/problem+json", problem)
        .build()
}

fn parameters(operation: &Operation) -> Vec<Parameter> {
    let path = operation.path_parameters();
    let mut parameters: Vec<Parameter> = path
        .map(|name| parameter(name, ParameterIn::Path, Required::True))
        .collect();
    for name in operation.query {
        let (name, required) = match name.strip_suffix('!') {
            Some(name) => (name, Required::True),
            None => (*name, Required::False),
        };
        parameters.push(parameter(name, ParameterIn::Query, required));
    }
    let header = match operation.id {
        "lookUp" | "getOrder" | "getBook" | "getQueue" | "getItinerary" | "getBill"
        | "getMatch" | "getStanding" | "getTally" => Some("If-None-Match"),
        "cancel" => Some("If-Match"),
        "events" | "exchangeEvents" | "gamesEvents" | "matchEvents" | "travelEvents" => {
            Some("Last-Event-ID")
        }
        _ => None,
    };
    let key = operation.mutates().then_some("Idempotency-Key");
    for name in header.into_iter().chain(key) {
        parameters.push(parameter(name, ParameterIn::Header, Required::False));
    }
    parameters
}

fn parameter(name: &str, place: ParameterIn, required: Required) -> Parameter {
    let object = ObjectBuilder::new();
    let schema = match name {
        "arrival" | "departure" | "from" | "to" => object.schema_type(Type::String).format(Some(
            utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::Date),
        )),
        "limit" | "levels" => object
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(crate::request::LIMIT_MAX)),
        "each_side" => object
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(games::EACH_SIDE_MAX)),
        "format" => object
            .schema_type(Type::String)
            .enum_values(Some(["sse", "ndjson"])),
        "game" => object
            .schema_type(Type::String)
            .enum_values(Some(Game::ALL.map(Game::code))),
        "measure" => object
            .schema_type(Type::String)
            .enum_values(Some(Measure::ALL.map(Measure::code))),
        "match" | "xid" | "customer" => object.schema_type(Type::Integer),
        "state" => object
            .schema_type(Type::String)
            .enum_values(Some(Stage::ALL.map(Stage::code))),
        _ => object.schema_type(Type::String),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .schema(Some(schema))
        .build()
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
        assert!(references > operations().count(), "found {references}");
        assert_eq!(document["openapi"], "3.1.0");
    }
}
