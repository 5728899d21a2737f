//! What answers which operation.

use std::{future::ready, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{
        HeaderValue, Method as HttpMethod, Request,
        header::{CONTENT_ENCODING, ETAG},
    },
    middleware::map_response,
    response::{Redirect, Response},
    routing::{MethodFilter, MethodRouter, get, on},
};
use bytes::Bytes;
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
};
use tracing::{Instrument as _, Span};
use turnstile_http::{Answerer, Audience, Code, Method, Operation, Place, Problem};

use super::{
    Door,
    access::{self, HttpRequester},
    audit, backup,
    call::{HttpCall, PathValues},
    console, documents, lab, metrics,
    operations::{AnswerFuture, Answered, answer_command, answer_query},
    recount, reloads,
    reply::RaisedProblem,
    security, socket, stream, watch,
};
use crate::core::caller::Caller;

/// The shortest body that is compressed, in bytes: shorter ones fit in one packet as they are.
const COMPRESSED_MIN: u64 = 1_024;

/// The router of every operation in the table; the root leads to their documentation.
pub(super) fn router(door: &Arc<Door>) -> Router {
    let mut router = Router::new()
        .route("/", get(async || Redirect::temporary("/docs")))
        .route("/console", get(console::redirect))
        .route(console::PLACE, get(console::page))
        .route("/console/{*path}", get(console::file));
    for operation in turnstile_http::operations() {
        router = router.route(&operation.path, function(operation));
    }
    router
        .method_not_allowed_fallback(async |method: HttpMethod| {
            let detail = format!("{method} is not among those in Allow");
            RaisedProblem::from(Problem::with(Code::MethodNotAllowed, detail))
        })
        .fallback(async || {
            let detail = "what there is stands at /docs, and at /openapi.json for programs";
            RaisedProblem::from(Problem::with(Code::UnknownPath, detail))
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

/// Operations that are answered without the router, because they may come so often that its price
/// counts: on the way through it, a request allocates some ten times. Their answers are too short to be
/// compressed.
pub(super) struct DirectRoutes(Vec<&'static Operation>);

impl DirectRoutes {
    pub(super) fn new() -> Self {
        let operations = turnstile_http::operations().iter();
        let is_direct = |one: &&Operation| {
            matches!(one.answerer, Answerer::Command(..))
                && one.method == Method::Post
                && !one.has(Place::Path)
        };
        Self(operations.filter(is_direct).collect())
    }

    /// The operation that a request asks for, if it is a direct one.
    pub(super) fn of(&self, method: &HttpMethod, path: &str) -> Option<&'static Operation> {
        if method != HttpMethod::POST {
            return None;
        }
        self.0.iter().find(|one| one.path == path).copied()
    }
}

/// Reads the request of a visitor to an operation, and answers it.
pub(super) async fn serve<B>(
    door: Arc<Door>,
    operation: &'static Operation,
    path: PathValues,
    (request, visitor): (Request<B>, HttpRequester),
) -> Answered
where
    B: hyper::body::Body<Data = Bytes>,
{
    let call = HttpCall::read(operation, path, (request, visitor)).await?;
    answer(door, call).await
}

/// The same for a request that has come through the router, which carries its visitor.
async fn serve_routed(
    door: Arc<Door>,
    operation: &'static Operation,
    path: PathValues,
    mut request: Request<Body>,
) -> Answered {
    let visitor = request.extensions_mut().remove();
    let visitor = visitor.unwrap_or_else(|| HttpRequester::of(Caller::unknown()));
    serve(door, operation, path, (request, visitor)).await
}

fn answer(door: Arc<Door>, call: HttpCall) -> AnswerFuture {
    door.identities.tell_use(&call.visitor);
    if call.operation.audience == Audience::Operators
        && let Err(refused) = call.visitor.may_operate()
    {
        return Box::pin(ready(Err(refused)));
    }
    // What is logged on behalf of an operator says of which request.
    let span =
        (call.operation.audience == Audience::Operators).then(|| request_span(&call.visitor));
    let answering = dispatch(door, call);
    match span {
        None => answering,
        Some(span) => Box::pin(answering.instrument(span)),
    }
}

fn request_span(visitor: &HttpRequester) -> Span {
    let id = visitor.caller.request_id();
    let id = id.as_ref().map_or("", |id| id.as_str());
    tracing::info_span!("request", id, principal = %visitor.caller.principal)
}

fn dispatch(door: Arc<Door>, call: HttpCall) -> AnswerFuture {
    match call.operation.answerer {
        Answerer::Command(service, place) => answer_command(service, place, (door, call)),
        Answerer::Query(service, place) => answer_query(service, place, (door, call)),
        Answerer::Events(service) => stream::stream(service, door, call),
        Answerer::MatchEvents => Box::pin(watch::watch(door, call)),
        Answerer::ExchangeFeed => Box::pin(socket::feed(door, call)),
        Answerer::Play => Box::pin(socket::play(door, call)),
        Answerer::OpenSession => Box::pin(async move { access::open_session(&door, &call) }),
        Answerer::OwnSession => Box::pin(async move { access::own_session(&door, &call) }),
        Answerer::Logout => Box::pin(async move { access::log_out(&door, &call) }),
        Answerer::Sessions => Box::pin(async move { access::sessions(&door, &call) }),
        Answerer::EndSession => Box::pin(async move { access::end_session(&door, &call) }),
        Answerer::Ticket => Box::pin(async move { access::ticket(&door, &call) }),
        Answerer::SecurityEvents => Box::pin(security::follow(door, call)),
        Answerer::Audit => Box::pin(audit::audit(door, call)),
        Answerer::Backup => Box::pin(backup::description(door, call)),
        Answerer::BackupPieces => Box::pin(backup::pieces(door, call)),
        Answerer::BackupSnapshot => Box::pin(backup::snapshot(door, call)),
        Answerer::Cluster => Box::pin(documents::cluster(door, call)),
        Answerer::Recount => Box::pin(recount::recount(door, call)),
        Answerer::Reload => Box::pin(reloads::reload(door, call)),
        Answerer::StartLabRun => Box::pin(async move { lab::start(&door, &call) }),
        Answerer::LabRuns => Box::pin(async move { lab::list(&door, &call) }),
        Answerer::LabRun => Box::pin(async move { lab::show(&door, &call) }),
        Answerer::LabProgress => Box::pin(async move { lab::progress(&door, &call) }),
        Answerer::StopLabRun => Box::pin(async move { lab::stop(&door, &call) }),
        Answerer::LabResult => Box::pin(lab::result(door, call)),
        Answerer::LabReport => Box::pin(lab::report(door, call)),
        Answerer::Live => Box::pin(async { Ok(documents::live()) }),
        Answerer::Ready => Box::pin(documents::ready(door)),
        Answerer::Version => Box::pin(async { Ok(documents::version()) }),
        Answerer::Metrics => Box::pin(metrics::metrics(door, call.parts.headers)),
        Answerer::Openapi => Box::pin(async move { Ok(documents::openapi(&door)) }),
        Answerer::Docs => Box::pin(async move { Ok(documents::docs(&door)) }),
        Answerer::DocsStyle => Box::pin(async { Ok(documents::style()) }),
        Answerer::DocsScript => Box::pin(async { Ok(documents::script()) }),
    }
}

fn function(operation: &'static Operation) -> MethodRouter<Arc<Door>> {
    let filter = match operation.method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    };
    if !operation.has(Place::Path) {
        return on(filter, move |State(door): State<Arc<Door>>, request| {
            serve_routed(door, operation, Vec::new(), request)
        });
    }
    on(
        filter,
        async move |State(door): State<Arc<Door>>, path: PathOf, request| {
            let broken = "the path is not percent-encoded UTF-8";
            let Ok(Path(path)) = path else {
                let problem = Problem::with(Code::InvalidRequest, broken);
                return Err(RaisedProblem::from(problem));
            };
            serve_routed(door, operation, path, request).await
        },
    )
}

type PathOf = Result<Path<PathValues>, PathRejection>;
