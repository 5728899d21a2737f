//! Why a request was not done: one code for each reason, the refusals of the services among them.

use crate::refusal::Refusal;

macro_rules! codes {
    ($($name:ident $status:literal $word:literal $title:literal,)+) => {
        /// Why a request was not done: each has one status, one word and one title.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Code {
            /// A service's "no", durable and repeatable, with its data.
            Refused(Box<Refusal>),
            /// There is no room for another idempotency key for `retry_after_s` seconds.
            KeysFull {
                retry_after_s: u32,
            },
            /// Others are before this caller, who may ask again after `retry_after_s` seconds. Its place
            /// in line, and the seconds until its turn, if it has a place.
            InLine {
                place: Option<(u64, u64)>,
                retry_after_s: u32,
            },
            /// The caller has asked for as much as a quota of it allows, for `retry_after_s` seconds.
            QuotaExceeded {
                /// What the quota is of, in one word.
                policy: &'static str,
                /// How many, or how many a second.
                most: u32,
                retry_after_s: u32,
            },
            $(#[doc = $title] $name,)+
        }

        impl Code {
            /// Those that are no refusals of a service.
            pub(crate) const PLAIN: &[Self] = &[
                $(Self::$name,)+
                Self::KeysFull { retry_after_s: 1 },
                Self::InLine { place: None, retry_after_s: 1 },
                Self::QuotaExceeded { policy: "requests", most: 1, retry_after_s: 1 },
            ];

            /// The HTTP status.
            #[must_use]
            pub fn status(&self) -> u16 {
                match self {
                    Self::Refused(refusal) => refusal.status(),
                    Self::KeysFull { .. } | Self::InLine { .. } => 503,
                    Self::QuotaExceeded { .. } => 429,
                    $(Self::$name => $status,)+
                }
            }

            /// The stable word.
            #[must_use]
            pub fn word(&self) -> &'static str {
                match self {
                    Self::Refused(refusal) => refusal.word(),
                    Self::KeysFull { .. } => "keys_full",
                    Self::InLine { .. } => "in_line",
                    Self::QuotaExceeded { .. } => "quota_exceeded",
                    $(Self::$name => $word,)+
                }
            }

            /// One short sentence without data, the same for every occurrence.
            #[must_use]
            pub fn title(&self) -> &'static str {
                match self {
                    Self::Refused(refusal) => refusal.title(),
                    Self::KeysFull { .. } => "The memory for idempotency keys is full",
                    Self::InLine { .. } => "Others are before this caller in the waiting room",
                    Self::QuotaExceeded { .. } => "The caller has asked for as much as its quota allows",
                    $(Self::$name => $title,)+
                }
            }
        }
    };
}

codes! {
    InvalidRequest 400 "invalid_request" "Fields of the request are wrong",
    MalformedJson 400 "malformed_json" "The body is not the JSON that this operation takes",
    InvalidIdempotencyKey 400 "invalid_idempotency_key" "The Idempotency-Key is not a valid key",
    MalformedHead 400 "malformed_head" "The request cannot be read in one way only",
    NotLoggedIn 401 "not_logged_in" "The server asks for a key",
    WrongKey 401 "wrong_key" "The key is none of this server, or has ended",
    CsrfTokenNeeded 403 "csrf_token_needed" "A change by a browser session needs its X-CSRF-Token",
    KeyNeeded 403 "key_needed" "A browser session is opened by a key or a certificate, and by no other session",
    TooManyFailedLogins 429 "too_many_failed_logins" "Too many logins from this address have failed",
    TooManySessions 503 "too_many_sessions" "Too many sessions or tickets are open",
    UnknownSession 404 "unknown_session" "There is no such session",
    MissingRight 403 "missing_right" "The caller has not the right",
    UnknownPath 404 "unknown_path" "There is nothing at this path",
    NoCluster 404 "no_cluster" "The server is no node of a cluster",
    NoSuchPlayer 404 "no_such_player" "Nothing is known of the player",
    MethodNotAllowed 405 "method_not_allowed" "This path does not take this method",
    MisdirectedRequest 421 "misdirected_request" "The Host is not this server",
    RequestTimeout 408 "request_timeout" "The request did not arrive in time",
    NotAcceptable 406 "not_acceptable" "The Accept header names nothing that this path answers",
    PreconditionFailed 412 "precondition_failed" "The thing has changed",
    ForeignOrigin 403 "foreign_origin" "Pages of other origins are not served",
    UpgradeRequired 426 "upgrade_required" "This path speaks WebSocket, version 13",
    UnknownLabRun 404 "unknown_lab_run" "There is no such load",
    LabRunUnderWay 409 "lab_run_under_way" "A load of the lab is under way",
    SessionFull 409 "session_full" "The session has as many open orders as it can cancel at its end",
    BodyTooLarge 413 "body_too_large" "The body is too large",
    HeadTooLarge 431 "head_too_large" "The head of the request is too large",
    UnsupportedMediaType 415 "unsupported_media_type" "The body must be application/json",
    KeyReused 422 "idempotency_key_reused" "The Idempotency-Key came before with other content",
    AnswerForgotten 410 "answer_forgotten" "What was answered to this Idempotency-Key is not kept any more",
    NotKept 410 "not_kept" "What was asked for is not kept any more",
    Overloaded 503 "overloaded" "More work waits than the server takes on",
    TooManyStreams 503 "too_many_streams" "Too many event streams are open",
    TooManyConnections 503 "too_many_connections" "Too many connections are open",
    ReadOnly 503 "read_only" "The disk is full: reads are answered, changes are not",
    Recovering 503 "recovering" "The server recovers its journal",
    Unavailable 503 "unavailable" "The server cannot answer now",
    CommandTooLarge 413 "command_too_large" "The command does not fit a record",
    Unsupported 501 "unsupported" "The database behind this service does not offer it",
    OutcomeUnknown 504 "outcome_unknown" "The command was done or not: ask again under its Idempotency-Key",
    NeedsRestart 409 "needs_restart" "Settings have changed that need a restart; nothing was taken over",
    InvalidConfiguration 409 "invalid_configuration" "The configuration is wrong; nothing was taken over",
    BackendBroken 502 "backend_broken" "The database behind this service gave an answer that it never should give",
}

impl Code {
    /// Whether the same request, sent again later, may be answered otherwise. A refusal is final
    /// for its idempotency key; without one it may of course be tried again. A transaction of travel
    /// that was aborted for no fault of its own may be begun anew.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.is_passing(),
            _ => matches!(self.status(), 408 | 429 | 503),
        }
    }

    /// Seconds for `Retry-After`, where waiting helps.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        match self.status() {
            429 => match self {
                Self::QuotaExceeded { retry_after_s, .. } => Some(*retry_after_s),
                _ => Some(60),
            },
            503 => Some(match self {
                Self::KeysFull { retry_after_s } | Self::InLine { retry_after_s, .. } => {
                    *retry_after_s
                }
                Self::ReadOnly | Self::Unavailable => 10,
                _ => 1,
            }),
            _ => None,
        }
    }
}

macro_rules! refused {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl From<turnstile_services::$name::Refusal> for Code {
            fn from(refusal: turnstile_services::$name::Refusal) -> Self {
                Self::Refused(Box::new(Refusal::$machine(refusal)))
            }
        }
    )+};
}

turnstile_services::services!(refused);
