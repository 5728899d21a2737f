//! A client of HTTP/1.1 that sends one request over and over, on a connection that stays for as long as
//! the server lets it.

use std::fmt;

use turnstile_client::{AccessKey, resp::put_decimal};

use super::{ANSWER_BYTES_MAX, Numbers, REQUEST_BYTES_MAX, template::Template};
use crate::{
    Error,
    pace::{Answer, Garbled, ParsedAnswer, User},
};

/// Headers of an answer; more are no answer.
const HEADERS_MAX: usize = 64;

/// What is sent. In path and body the number of the request may stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub method: String,
    /// For the header of that name: `localhost:8080`.
    pub host: String,
    /// With the query: `/rooms?page=2`.
    pub path: String,
    /// `name: value` each, without those that follow from the rest.
    pub headers: Vec<String>,
    pub body: Option<String>,
    /// What the header `authorization` says.
    pub key: Option<AccessKey>,
}

/// One user.
#[derive(Clone)]
pub(super) struct Browser {
    /// Up to the length of the body, and from there to the body; without a body all of it.
    head: Template,
    body: Option<Template>,
    bodyless: bool,
    /// The body with its number.
    text: Vec<u8>,
    numbers: Numbers,
    /// Whether the server closes the connection after the last answer.
    parts: bool,
}

/// Without what is sent: a key may be in it.
impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = &self.numbers;
        f.debug_struct("Browser")
            .field("numbers", numbers)
            .finish_non_exhaustive()
    }
}

impl Browser {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Request {
            method,
            host,
            path,
            headers,
            body,
            key,
        } = request;
        let one_word =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let lines = |text: &String| text.contains(':') && !text.contains(['\r', '\n']);
        if !one_word(method) || !one_word(path) || !one_word(host) || !headers.iter().all(lines) {
            return Err(Error::Setting(
                "a request has a method, a path without spaces, and headers `name: value`",
            ));
        }
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if let Some(key) = key {
            head.push_str("authorization: ");
            head.push_str(&key.bearer());
            head.push_str("\r\n");
        }
        head.push_str(if body.is_some() {
            "content-length: "
        } else {
            "\r\n"
        });
        let head = Template::new(head.as_bytes());
        let body = body.as_ref().map(|body| Template::new(body.as_bytes()));
        let longest = body.as_ref().map_or(0, Template::longest);
        if head.longest() + longest + 32 > REQUEST_BYTES_MAX {
            return Err(Error::Setting("a request has at most 16,000 bytes"));
        }
        Ok(Self {
            head,
            body,
            bodyless: method.eq_ignore_ascii_case("HEAD"),
            text: Vec::with_capacity(longest),
            numbers: Numbers { next: 0, step: 1 },
            parts: false,
        })
    }

    pub(super) fn numbered(mut self, numbers: Numbers) -> Self {
        self.numbers = numbers;
        // A clone has no more room than it needs.
        self.text
            .reserve(self.body.as_ref().map_or(0, Template::longest));
        self
    }
}

impl User for Browser {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["request"];

    const REQUEST_BYTES_MAX: usize = REQUEST_BYTES_MAX;

    const ANSWER_BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let number = self.numbers.take();
        self.head.put(number, out);
        if let Some(body) = &self.body {
            self.text.clear();
            body.put(number, &mut self.text);
            put_decimal(
                out,
                u64::try_from(self.text.len()).expect("a body is short"),
            );
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(&self.text);
        }
        Some(())
    }

    fn operation((): &()) -> usize {
        0
    }

    fn connected(&mut self) {
        self.parts = false;
    }

    fn parts(&self) -> bool {
        self.parts
    }

    fn is_replaced(&self) -> bool {
        true
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let mut skipped = 0;
        loop {
            let Some(answer) = HttpAnswer::read(&bytes[skipped..], self.bodyless)? else {
                return Ok(None);
            };
            let Some(length) = answer.length else {
                return Ok(None);
            };
            let digits = &bytes[skipped + 9..skipped + 12];
            skipped += length;
            // What is only on the way says nothing yet.
            if answer.code >= 200 {
                self.parts = answer.closes;
                let answer = if answer.is_done() {
                    Answer::Done
                } else {
                    Answer::Error(digits)
                };
                let length = skipped;
                return Ok(Some(ParsedAnswer { length, answer }));
            }
        }
    }

    fn hear_end(&mut self, (): &(), bytes: &[u8]) -> Option<Answer<'static>> {
        let answer = HttpAnswer::read(bytes, self.bodyless).ok()??;
        let until_the_end = answer.length.is_none() && answer.until_the_end;
        until_the_end.then_some(if answer.is_done() {
            Answer::Done
        } else {
            Answer::Error(b"closed with an error")
        })
    }
}

/// What the front of some bytes says of an answer.
#[derive(Clone, Copy, Debug)]
struct HttpAnswer {
    code: u16,
    /// Of all of it, if that is there.
    length: Option<usize>,
    /// Whether only the end of the connection ends it.
    until_the_end: bool,
    /// Whether the server closes the connection after it.
    closes: bool,
}

impl HttpAnswer {
    /// Nothing before the end of its head.
    fn read(bytes: &[u8], bodyless: bool) -> Result<Option<Self>, Garbled> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response.parse(bytes).map_err(|_malformed| Garbled)?;
        let httparse::Status::Complete(head) = parsed else {
            return Ok(None);
        };
        let code = response.code.ok_or(Garbled)?;
        let value = |name: &str| {
            let mut headers = response.headers.iter();
            let found = headers.find(|one| one.name.eq_ignore_ascii_case(name));
            found.map(|header| header.value)
        };
        let says = |word: &[u8]| {
            let mut words = value("connection")
                .unwrap_or_default()
                .split(|&byte| byte == b',');
            words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word))
        };
        let closes = says(b"close") || (response.version == Some(0) && !says(b"keep-alive"));
        let mut answer = Self {
            code,
            length: Some(head),
            until_the_end: false,
            closes: closes && code >= 200,
        };
        if bodyless || code < 200 || code == 204 || code == 304 {
            return Ok(Some(answer));
        }
        let chunked = value("transfer-encoding").is_some_and(|coding| coding.ends_with(b"chunked"));
        answer.length = if chunked {
            chunks_length(&bytes[head..])?.map(|body| head + body)
        } else if let Some(length) = value("content-length") {
            let length: usize = std::str::from_utf8(length)
                .ok()
                .and_then(|digits| digits.trim().parse().ok())
                .ok_or(Garbled)?;
            (length <= bytes.len() - head).then_some(head + length)
        } else {
            answer.until_the_end = true;
            None
        };
        Ok(Some(answer))
    }

    const fn is_done(self) -> bool {
        self.code < 400
    }
}

/// The length of all chunks and what follows them, when all are there.
fn chunks_length(bytes: &[u8]) -> Result<Option<usize>, Garbled> {
    let mut used = 0;
    loop {
        let rest = bytes.get(used..).unwrap_or(&[]);
        let (line, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete(found)) => found,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_invalid) => return Err(Garbled),
        };
        if size == 0 {
            // Trailers, if any, up to an empty line.
            let after = &rest[line..];
            let end = if after.starts_with(b"\r\n") {
                Some(2)
            } else {
                let blank = after.windows(4).position(|four| four == b"\r\n\r\n");
                blank.map(|at| at + 4)
            };
            return Ok(end.map(|end| used + line + end));
        }
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= ANSWER_BYTES_MAX);
        used += line + size.ok_or(Garbled)? + 2;
        if used > bytes.len() {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_whether_it_closes_the_connection() {
        let rows = [
            ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", false),
            (
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
                true,
            ),
            ("HTTP/1.1 204 No\r\nConnection: x, Close\r\n\r\n", true),
            ("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", true),
            (
                "HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n",
                false,
            ),
        ];
        for (text, parts) in rows {
            let mut browser = browser(None);
            browser.hear(&(), text.as_bytes()).unwrap().unwrap();
            assert_eq!(browser.parts(), parts, "{text}");
            browser.connected();
            assert!(!browser.parts(), "{text}");
        }
    }

    #[test]
    fn an_answer_without_a_length_ends_with_the_connection() {
        let rows = [
            ("HTTP/1.1 200 OK\r\n\r\nuntil the end", Some(Answer::Done)),
            ("HTTP/1.1 200 OK\r\n\r\n", Some(Answer::Done)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", None),
            ("HTTP/1.1 200 O", None),
            ("", None),
        ];
        for (text, answer) in rows {
            let heard = browser(None).hear_end(&(), text.as_bytes());
            assert_eq!(heard, answer, "{text}");
        }
    }

    fn browser(body: Option<&str>) -> Browser {
        Browser::new(&Request {
            method: "POST".to_owned(),
            host: "a:1".to_owned(),
            path: "/rooms/__n__".to_owned(),
            headers: vec!["accept: x/y".to_owned()],
            body: body.map(str::to_owned),
            key: None,
        })
        .unwrap()
    }

    #[test]
    fn a_request_has_the_length_of_its_body() {
        let mut out = Vec::new();
        let mut numbered = browser(Some("{\"n\":__n__}")).numbered(Numbers { next: 9, step: 3 });
        numbered.ask(&mut out).unwrap();
        numbered.ask(&mut out).unwrap();
        let both = "POST /rooms/9 HTTP/1.1\r\nhost: a:1\r\naccept: x/y\r\ncontent-length: 7\r\n\r\n\
            {\"n\":9}\
            POST /rooms/12 HTTP/1.1\r\nhost: a:1\r\naccept: x/y\r\ncontent-length: 8\r\n\r\n\
            {\"n\":12}";
        assert_eq!(String::from_utf8(out).unwrap(), both);
        let mut out = Vec::new();
        browser(None).ask(&mut out).unwrap();
        assert!(out.ends_with(b"accept: x/y\r\n\r\n"), "{out:?}");
    }

    #[test]
    fn a_key_is_sent_and_not_shown() {
        let with = |key| {
            let request = Request {
                method: "GET".to_owned(),
                host: "a:1".to_owned(),
                path: "/".to_owned(),
                headers: Vec::new(),
                body: None,
                key,
            };
            assert!(!format!("{request:?}").contains("secret"));
            Browser::new(&request).unwrap()
        };
        let mut browser = with(AccessKey::parse("ts_secret").ok());
        let mut out = Vec::new();
        browser.ask(&mut out).unwrap();
        let sent = "GET / HTTP/1.1\r\nhost: a:1\r\nauthorization: Bearer ts_secret\r\n\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), sent);
        assert!(!format!("{browser:?}").contains("secret"));
    }

    #[test]
    fn an_answer_ends_where_its_head_says() {
        type Found = Result<Option<(Answer<'static>, usize)>, Garbled>;
        let done = |length| Ok(Some((Answer::Done, length)));
        let rows: [(&str, Found); 12] = [
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", done(40)),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500",
                done(40),
            ),
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no", Ok(None)),
            ("HTTP/1.1 200 O", Ok(None)),
            ("HTTP/1.1 204 No Content\r\n\r\n", done(27)),
            (
                "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n",
                Ok(Some((Answer::Error(b"503"), 38))),
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                done(59),
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
                Ok(None),
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                Err(Garbled),
            ),
            ("HTTP/1.1 200 OK\r\n\r\nuntil the end", Ok(None)),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 X\r\n\r\n",
                done(43),
            ),
            ("+PONG\r\n", Err(Garbled)),
        ];
        for (bytes, expected) in rows {
            let heard = browser(None).hear(&(), bytes.as_bytes());
            let heard = heard.map(|heard| heard.map(|heard| (heard.answer, heard.length)));
            assert_eq!(heard, expected, "{bytes}");
        }
    }

    #[test]
    fn a_request_that_is_none_is_refused() {
        let sound = Request {
            method: "GET".to_owned(),
            host: "a".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: None,
            key: None,
        };
        let broken: [fn(&mut Request); 4] = [
            |request| request.method = String::new(),
            |request| request.path = "/a b".to_owned(),
            |request| request.headers = vec!["a: b\r\nc: d".to_owned()],
            |request| request.body = Some("x".repeat(REQUEST_BYTES_MAX)),
        ];
        for breaks in broken {
            let mut request = sound.clone();
            breaks(&mut request);
            assert!(Browser::new(&request).is_err(), "{request:?}");
        }
    }
}
