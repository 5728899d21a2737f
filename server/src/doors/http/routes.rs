//! Which function answers which operation.

use std::sync::Arc;

use axum::{
    Router,
    http::{
        HeaderValue, Method as HttpMethod,
        header::{CONTENT_ENCODING, ETAG},
    },
    middleware::map_response,
    response::{Redirect, Response},
    routing::{MethodFilter, MethodRouter, get, on},
};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
};
use turnstile_http::{Code, Method, Operation, Problem};

use super::{
    Door, documents, metrics,
    operations::{self, Direct},
    reply::Trouble,
    socket, stream, watch,
};

/// The shortest body that is compressed, in bytes: shorter ones fit in one packet as they are.
const COMPRESSED_MIN: u64 = 1_024;

/// The router of every operation in the table; the root leads to their documentation.
pub(super) fn router(door: &Arc<Door>) -> Router {
    let mut router = Router::new().route("/", get(async || Redirect::temporary("/docs")));
    for operation in turnstile_http::operations() {
        router = router.route(operation.path, function(operation));
    }
    router
        .method_not_allowed_fallback(async |method: HttpMethod| {
            let detail = format!("{method} is not among those in Allow");
            Trouble::from(Problem::with(Code::MethodNotAllowed, detail))
        })
        .fallback(async || {
            let detail = "what there is stands at /docs, and at /openapi.json for programs";
            Trouble::from(Problem::with(Code::UnknownPath, detail))
        })
        .with_state(Arc::clone(door))
        .layer(compression())
        .layer(map_response(weaken))
}

/// A strong entity tag is of the bytes as they are, so a compressed answer has a weak one.
async fn weaken(mut response: Response) -> Response {
    let headers = response.headers_mut();
    if headers.contains_key(CONTENT_ENCODING)
        && let Some(Ok(strong)) = headers.get(ETAG).map(HeaderValue::to_str)
        && let Ok(weak) = HeaderValue::try_from(format!("W/{strong}"))
    {
        headers.insert(ETAG, weak);
    }
    response
}

/// Answers that are worth it are compressed for clients that ask for it. Streams are not: their events
/// would wait in the compressor.
fn compression() -> CompressionLayer<impl Predicate> {
    let worth = SizeAbove::new(COMPRESSED_MIN)
        .and(NotForContentType::const_new("text/event-stream"))
        .and(NotForContentType::const_new("application/x-ndjson"));
    // One thread serves all connections, so the time of others counts more than the last percent.
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(worth)
}

/// Operations that are called without the router, under their paths.
pub(super) struct DirectRoutes(Vec<(&'static str, Direct)>);

impl DirectRoutes {
    pub(super) fn new() -> Self {
        let posts = turnstile_http::operations().filter(|one| one.method == Method::Post);
        Self(
            posts
                .filter_map(|one| Some((one.path, operations::direct(one.id)?)))
                .collect(),
        )
    }

    /// The function that answers a request, if it is a direct one.
    pub(super) fn of(&self, method: &HttpMethod, path: &str) -> Option<Direct> {
        if method != HttpMethod::POST {
            return None;
        }
        let found = self.0.iter().find(|(direct, _)| *direct == path);
        found.map(|&(_, function)| function)
    }
}

fn function(operation: &Operation) -> MethodRouter<Arc<Door>> {
    let filter = match operation.method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    };
    if let Some(function) = operations::function(filter, operation.id) {
        return function;
    }
    match operation.id {
        "events" => on(filter, stream::rooms),
        "exchangeEvents" => on(filter, stream::exchange),
        "travelEvents" => on(filter, stream::travel),
        "gamesEvents" => on(filter, stream::games),
        "exchangeFeed" => on(filter, socket::feed),
        "matchEvents" => on(filter, watch::watch),
        "play" => on(filter, socket::play),
        "live" => on(filter, documents::live),
        "ready" => on(filter, documents::ready),
        "version" => on(filter, documents::version),
        "metrics" => on(filter, metrics::metrics),
        "openapi" => on(filter, documents::openapi),
        "docs" => on(filter, documents::docs),
        "docsStyle" => on(filter, documents::style),
        other => unreachable!("operation {other} has a function"),
    }
}
