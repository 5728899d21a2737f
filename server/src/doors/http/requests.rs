//! What happens around every request, and at the end of a connection.

use std::{
    convert::Infallible,
    future::{self, Future, poll_fn},
    io::{self, Read as _, Write as _},
    mem,
    net::Shutdown,
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
};

use axum::{
    Router,
    body::Body,
    http::{
        HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, uri::PathAndQuery,
    },
    response::IntoResponse,
};
use hyper::{body::Incoming, server::conn::http1};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time,
};
use tower::{Layer as _, Service, service_fn};
use tower_http::cors::CorsLayer;
use turnstile_http::{Code, Operation, Problem, acceptance, operation_at};
use turnstile_types::RequestId;

use super::{
    Door,
    access::{HttpRequester, problem_of_denied},
    call::joined,
    console,
    limits::{LINGER, READ_BYTES},
    line::{Line, LineIo, Verdict},
    metered::note_answer,
    noted::{RequestBegun, trace_of},
    reply::{REQUEST_ID, RaisedProblem, problem_response},
    routes::serve,
    secured::HttpStream,
    socket,
    stream::Endless,
};
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        quotas::Meter,
        request_log::TraceParent,
        tls::REFUSED_HANDSHAKE,
    },
    counters::{DoorName, ErrorCode},
};

/// What is answered before the journal is recovered; `/readyz` is not among it.
const ALWAYS_THERE: [&str; 7] = [
    "/",
    "/livez",
    "/version",
    "/openapi.json",
    "/docs",
    "/docs/style.css",
    "/docs/script.js",
];

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// A response in the making.
type Responding = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// The service of one connection.
struct RequestCourier {
    door: Arc<Door>,
    router: Router,
    line: Arc<Line>,
}

impl hyper::service::Service<Request<Incoming>> for RequestCourier {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn call(&self, mut request: Request<Incoming>) -> ResponseFuture {
        let trace = trace_of(request.headers());
        let id = request_id(&self.door, request.headers(), trace.as_ref());
        let instance = request.uri().path_and_query().cloned();
        let from = (self.line.peer_address(), trace);
        let mut note = RequestBegun::note(&self.door, &request, from);
        let (routed, meter) = match self.judge(&mut request, &id) {
            Ok((is_known, mut visitor)) => {
                visitor
                    .caller
                    .set_times(note.as_ref().map(|note| note.times()));
                if let Some(note) = &mut note {
                    note.principal = is_known.then_some(visitor.caller.principal);
                }
                let meter = visitor.caller.meter().cloned();
                (Ok(self.answer(request, visitor)), meter)
            }
            Err(problem) => (self.refuse(request, problem), None),
        };
        let line = Arc::clone(&self.line);
        ResponseFuture {
            is_last: self.door.is_draining() || self.door.is_end_near(),
            routed,
            instance,
            id,
            line,
            meter,
            note,
        }
    }
}

impl RequestCourier {
    /// Whether the request may be looked at: every one passes here, whichever way it goes on. Says who has
    /// sent it, and whether that is known.
    fn judge(
        &self,
        request: &mut Request<Incoming>,
        id: &HeaderValue,
    ) -> Result<(bool, HttpRequester), Problem> {
        let (headers, target) = (request.headers(), request.uri());
        if !self.door.hosts.are_named(headers, target.host()) {
            return Err(Problem::from(Code::MisdirectedRequest));
        }
        let origins = &self.door.origins;
        if origins.refuse(request.method(), target.path(), headers) {
            return Err(Problem::from(Code::ForeignOrigin));
        }
        judge_accept(request.method().as_str(), target.path(), headers)?;
        if request.method() == Method::OPTIONS && origins.configured().cors().is_some() {
            // A browser asks without a key what a page may send. No operation answers that.
            return Ok((false, HttpRequester::of(Caller::unknown())));
        }
        let identities = &self.door.identities;
        let (is_known, visitor) = identities.admit(request, self.line.peer(), id)?;
        if is_known {
            self.line.note_known();
        }
        let meter = visitor.caller.meter();
        if let Some(Err(exceeded)) = meter.map(|meter| meter.check_debt()) {
            self.door.counters.error(ErrorCode::QuotaExceeded);
            return Err(problem_of_denied(NotPermitted::Quota(exceeded)));
        }
        Ok((is_known, visitor))
    }

    /// Answers a request, and says whose pages may read that, where pages of others may.
    fn answer(&self, request: Request<Incoming>, visitor: HttpRequester) -> Responding {
        let origins = self.door.origins.configured();
        let Some(cors) = origins.cors() else {
            return route(&self.door, &self.router, (request, visitor));
        };
        let (door, router) = (Arc::clone(&self.door), self.router.clone());
        readable(cors, request, move |request| {
            route(&door, &router, (request, visitor.clone()))
        })
    }

    /// Refuses a request, of which nothing was looked at.
    fn refuse(
        &self,
        request: Request<Incoming>,
        problem: Problem,
    ) -> Result<Responding, RaisedProblem> {
        let problem = RaisedProblem::from(problem);
        let origins = self.door.origins.configured();
        let Some(cors) = origins.cors() else {
            return Err(problem);
        };
        Ok(readable(cors, request, move |_request| {
            Box::pin(future::ready(problem.clone().into_response()))
        }))
    }
}

/// An answer that says whose pages may read it.
fn readable(
    cors: &CorsLayer,
    request: Request<Incoming>,
    answer: impl Fn(Request<Incoming>) -> Responding + Send + 'static,
) -> Responding {
    let answer = service_fn(move |request| {
        let answer = answer(request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let answer = cors.layer(answer).call(request);
    Box::pin(async {
        let Ok(response) = answer.await;
        response
    })
}

fn route(
    door: &Arc<Door>,
    router: &Router,
    (mut request, visitor): (Request<Incoming>, HttpRequester),
) -> Responding {
    if let Some(recovery) = door.gate.recovery()
        && !ALWAYS_THERE.contains(&request.uri().path())
        && !console::has(request.uri().path())
    {
        let problem = Problem::with(Code::Recovering, recovery.sentence());
        return Box::pin(future::ready(RaisedProblem::from(problem).into_response()));
    }
    let direct = door.direct.of(request.method(), request.uri().path());
    if let Some(operation) = direct {
        let answer = serve(Arc::clone(door), operation, Vec::new(), (request, visitor));
        return Box::pin(async { answer.await.into_response() });
    }
    request.extensions_mut().insert(visitor);
    let answer = router.clone().call(request);
    Box::pin(async {
        let Ok(response) = answer.await;
        response
    })
}

/// The answer to one request, in the making.
struct ResponseFuture {
    /// Nothing of a refused request was looked at.
    routed: Result<Responding, RaisedProblem>,
    instance: Option<PathAndQuery>,
    id: HeaderValue,
    line: Arc<Line>,
    /// Whether the client is to ask another node from now on.
    is_last: bool,
    /// What is counted for its principal, where that has a quota.
    meter: Option<Arc<Meter>>,
    note: Option<Box<RequestBegun>>,
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response = match &mut self.routed {
            Ok(answer) => ready!(answer.as_mut().poll(cx)),
            Err(refused) => refused.clone().into_response(),
        };
        if response.status() == StatusCode::SWITCHING_PROTOCOLS
            && let Some(invitation) = response.extensions_mut().remove()
        {
            self.line.invite(invitation);
        }
        if response.extensions_mut().remove::<Endless>().is_some() {
            self.line.note_stream();
        }
        // The body broke after its head was read: whatever was made of that, this is what is wrong.
        if let Some(violation) = self.line.broken_body() {
            response = RaisedProblem::from(violation).into_response();
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
        let mut code = None;
        if let Some(RaisedProblem(problem)) = response.extensions_mut().remove() {
            code = Some(problem.code.word());
            let instance = self.instance.as_ref().map_or("", PathAndQuery::path);
            problem_response(&mut response, &problem, instance, &self.id);
        }
        if let Some(meter) = &self.meter {
            note_answer(&mut response, meter);
        }
        if self.is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
            response.headers_mut().insert(header::CONNECTION, CLOSE);
        }
        let id = mem::replace(&mut self.id, HeaderValue::from_static(""));
        if let Some(note) = self.note.take() {
            note.end(&response, code, &id);
        }
        response.headers_mut().insert(REQUEST_ID, id);
        self.line.note_answer();
        Poll::Ready(Ok(response))
    }
}

/// Asserts that the client accepts what the operation answers, before anything is done. What is no
/// success is a problem, whatever is accepted.
fn judge_accept(method: &str, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let named = || headers.get_all(header::ACCEPT).iter();
    // What almost all clients send, if they send any.
    if named().all(|value| value.is_empty() || value == "*/*" || value == "application/json, */*") {
        return Ok(());
    }
    let contents = operation_at(method, path).map_or(&[][..], Operation::contents);
    let accept = joined(headers, header::ACCEPT).unwrap_or_default();
    if contents.is_empty() || contents.iter().any(|one| acceptance(&accept, one) > 0) {
        return Ok(());
    }
    let detail = format!("this path answers {}", contents.join(" or "));
    Err(Problem::with(Code::NotAcceptable, detail))
}

/// The id that the client brought, when it is one, or that of its trace, or a new one.
fn request_id(door: &Door, headers: &HeaderMap, trace: Option<&TraceParent>) -> HeaderValue {
    let is_id = |value: &&HeaderValue| RequestId::parse(value.as_bytes()).is_ok();
    let brought = headers.get(REQUEST_ID).filter(is_id).cloned();
    brought.unwrap_or_else(|| {
        let made = trace.map_or_else(|| door.request_id(), |trace| trace.trace_id().to_owned());
        HeaderValue::try_from(made).expect("an id is hexadecimal digits and a dash")
    })
}

/// Serves one connection to its end.
pub(super) async fn serve_line(door: Arc<Door>, router: Router, line: Arc<Line>) {
    let number = door.lines().insert(Arc::clone(&line));
    // All others were told before it was among them.
    if door.is_stopping() {
        line.judge(Verdict::Stop);
    }
    let closing = speak(&door, router, &line).await;
    door.lines().remove(number);
    door.speaking.fetch_sub(1, Ordering::Relaxed);
    if let (None, Some(invitation)) = (&closing, line.take_invitation()) {
        Box::pin(socket::serve(&door, line, invitation)).await;
        door.counters.of(DoorName::Http).open.take(1);
        return;
    }
    door.counters.of(DoorName::Http).open.take(1);
    let Some(line) = Arc::into_inner(line) else {
        return;
    };
    match (closing, line.into_stream()) {
        (Some(problem), stream) => say_goodbye(&door, stream, &problem).await,
        (None, HttpStream::Plain(_)) => {}
        (None, mut stream) => {
            // The last record says that nothing is missing.
            let ended = time::timeout(LINGER, stream.shutdown()).await;
            if let Ok(Err(failure)) = ended {
                tracing::debug!(%failure, "the last record could not be sent");
            }
        }
    }
}

/// Speaks HTTP until one side ends it; returns what is left to be said.
///
/// The library keeps buffers of 16 KiB for a connection. One that rests gives them back, and gets new ones
/// with its next request.
async fn speak(door: &Arc<Door>, router: Router, line: &Arc<Line>) -> Option<Problem> {
    loop {
        let mut spoken = Box::pin(converse(door, router.clone(), line)).await;
        if spoken.is_continue() {
            spoken = rest(line).await;
        }
        if let ControlFlow::Break(last) = spoken {
            return last;
        }
    }
}

/// Waits until a client that has been told everything asks for more, or until the connection ends.
async fn rest(line: &Line) -> ControlFlow<Option<Problem>> {
    poll_fn(|cx| {
        line.set_owner(cx.waker());
        match judge_line(line) {
            ControlFlow::Break(last) => Poll::Ready(ControlFlow::Break(last)),
            ControlFlow::Continue(()) => line.poll_wake(cx).map(ControlFlow::Continue),
        }
    })
    .await
}

/// Answers requests until one side ends it, or until the connection rests.
async fn converse(
    door: &Arc<Door>,
    router: Router,
    line: &Arc<Line>,
) -> ControlFlow<Option<Problem>> {
    let service = RequestCourier {
        door: Arc::clone(door),
        router,
        line: Arc::clone(line),
    };
    let connection = http1::Builder::new()
        .half_close(true)
        .pipeline_flush(true)
        .max_buf_size(2 * READ_BYTES)
        .serve_connection(LineIo(Arc::clone(line)), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let (mut known, mut stopped) = (false, false);
    poll_fn(|cx| {
        if !known {
            line.set_owner(cx.waker());
            known = true;
        }
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(ControlFlow::Break(line.violation().map(Problem::from)));
        }
        match line.verdict() {
            Verdict::Rests if line.fall_asleep() => Poll::Ready(ControlFlow::Continue(())),
            Verdict::Stop if !line.is_dropped() => {
                if mem::replace(&mut stopped, true) {
                    return Poll::Pending;
                }
                connection.as_mut().graceful_shutdown();
                let ended = connection.as_mut().poll(cx);
                ended.map(|_ended| ControlFlow::Break(None))
            }
            _ => match judge_line(line) {
                ControlFlow::Break(last) => Poll::Ready(ControlFlow::Break(last)),
                ControlFlow::Continue(()) => Poll::Pending,
            },
        }
    })
    .await
}

/// Whether a connection is to end at once, and with which last word.
fn judge_line(line: &Line) -> ControlFlow<Option<Problem>> {
    if line.is_dropped() {
        return ControlFlow::Break(None);
    }
    match line.verdict() {
        Verdict::None | Verdict::Rests => ControlFlow::Continue(()),
        Verdict::Evicted if line.gives_way() => ControlFlow::Break(None),
        Verdict::Evicted => ControlFlow::Continue(()),
        Verdict::Stop | Verdict::Idle => ControlFlow::Break(None),
        Verdict::Late => ControlFlow::Break(Some(Problem::from(Code::RequestTimeout))),
    }
}

/// Answers a connection over the limit.
pub(super) async fn turn_away(door: Arc<Door>, stream: TcpStream) {
    let problem = Problem::from(Code::TooManyConnections);
    say_goodbye(&door, HttpStream::Plain(stream), &problem).await;
    door.turned_away.fetch_sub(1, Ordering::Relaxed);
}

/// Answers a connection over the limit that cannot be waited for, because too many others are.
pub(super) fn turn_away_at_once(door: &Door, stream: TcpStream) {
    let answer = last_answer(door, &Problem::from(Code::TooManyConnections));
    say_at_once(stream, &answer);
}

/// Ends a connection over the limit before its handshake.
pub(super) fn refuse_handshake(stream: TcpStream) {
    say_at_once(stream, &REFUSED_HANDSHAKE);
}

fn say_at_once(stream: TcpStream, answer: &[u8]) {
    // What is left unread when it is closed would reset the connection.
    let told = stream.into_std().and_then(|mut stream| {
        stream.write_all(answer)?;
        stream.shutdown(Shutdown::Write)?;
        match stream.read(&mut [0; READ_BYTES]) {
            Err(failure) if failure.kind() != io::ErrorKind::WouldBlock => Err(failure),
            Ok(_) | Err(_) => Ok(()),
        }
    });
    if let Err(failure) = told {
        tracing::debug!(%failure, "cannot send the refusal to a client");
    }
}

/// An answer after which nothing comes.
fn last_answer(door: &Door, problem: &Problem) -> Vec<u8> {
    let id = door.request_id();
    let body = problem.json("", &id);
    let retry = problem
        .code
        .retry_after()
        .map_or_else(String::new, |after| format!("retry-after: {after}\r\n"));
    let mut answer = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         connection: close\r\nx-request-id: {id}\r\n{retry}\r\n",
        problem.code.status(),
        StatusCode::from_u16(problem.code.status())
            .ok()
            .and_then(|status| status.canonical_reason())
            .unwrap_or_default(),
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    answer
}

/// Writes a last answer and closes, without a reset that could overtake the answer.
pub(super) async fn say_goodbye(door: &Door, mut stream: HttpStream, problem: &Problem) {
    let answer = last_answer(door, problem);
    let goodbye = async {
        stream.write_all(&answer).await?;
        stream.shutdown().await?;
        let mut rest = vec![0; READ_BYTES];
        while stream.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    match time::timeout(LINGER, goodbye).await {
        Ok(Ok(())) | Err(_) => {}
        Ok(Err(failure)) => tracing::debug!(%failure, "the last answer could not be sent"),
    }
}
