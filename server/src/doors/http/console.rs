//! The console: a page and what it loads, compiled in as `console/dist` holds them.

use std::io::{self, Read as _};

use axum::{
    body::Body,
    extract::Path,
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    response::{IntoResponse as _, Redirect},
};
use flate2::read::GzDecoder;
use turnstile_http::{Code, Problem};

use super::{
    documents::{confine, content},
    reply::RaisedProblem,
};

/// Each file by its path below the console's: its type, and its bytes, compressed with gzip.
const FILES: &[(&str, &str, &[u8])] = &include!("../../../../console/dist/files.in");

/// Where the page is. Everything that it loads is below.
pub(super) const PLACE: &str = "/console/";

/// Its own files only, and requests to its own origin; nothing inline and nothing from elsewhere.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The name of a file with a hash changes with its content.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Whether a path is one of the console: a page without data, which is shown to everybody.
pub(super) fn has(path: &str) -> bool {
    path == "/console" || path.starts_with(PLACE)
}

/// Paths in the page are relative to its folder.
pub(super) async fn redirect() -> Redirect {
    Redirect::permanent(PLACE)
}

pub(super) async fn page(headers: HeaderMap) -> Response<Body> {
    let mut response = answer("index.html", &headers);
    confine(&mut response, POLICY);
    response
}

pub(super) async fn file(path: Path<String>, headers: HeaderMap) -> Response<Body> {
    if path.as_str() == "index.html" {
        return page(headers).await;
    }
    answer(&path, &headers)
}

fn answer(path: &str, headers: &HeaderMap) -> Response<Body> {
    let Some((_, kind, packed)) = FILES.iter().find(|(name, ..)| *name == path) else {
        let detail = "the console has no such file; reload its page";
        return RaisedProblem::from(Problem::with(Code::UnknownPath, detail)).into_response();
    };
    let mut response = if takes_gzip(headers) {
        let mut response = content(*packed, kind);
        let gzip = HeaderValue::from_static("gzip");
        response
            .headers_mut()
            .insert(header::CONTENT_ENCODING, gzip);
        response
    } else {
        match unpacked(packed) {
            Ok(bytes) => content(bytes, kind),
            Err(failure) => {
                tracing::error!(%failure, path, "a file of the console is damaged");
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
        }
    };
    let caching = if path.starts_with("assets/") {
        FOR_EVER
    } else {
        ASK_AGAIN
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, caching);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let named = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = named
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0")
    })
}

fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all files together may take, compressed, in bytes.
    const BUDGET: usize = 200 * 1_024;

    fn text(path: &str) -> String {
        let (.., packed) = FILES.iter().find(|(name, ..)| *name == path).unwrap();
        String::from_utf8(unpacked(packed).unwrap()).unwrap()
    }

    #[test]
    fn the_files_are_small_and_whole() {
        let total: usize = FILES.iter().map(|(.., packed)| packed.len()).sum();
        assert!(total <= BUDGET, "{total} bytes");
        for (path, kind, packed) in FILES {
            assert!(!unpacked(packed).unwrap().is_empty(), "{path}");
            assert!(HeaderValue::from_str(kind).is_ok(), "{path}");
        }
    }

    /// The policy forbids what is inline, and a page that needs it would be broken.
    #[test]
    fn the_page_has_nothing_inline_and_names_files_that_are_there() {
        let page = text("index.html");
        for inline in ["<script>", "<style", " style=", " onload=", "javascript:"] {
            assert!(!page.contains(inline), "{inline}");
        }
        let named: Vec<&str> = page
            .split('"')
            .filter_map(|text| text.strip_prefix(PLACE))
            .collect();
        assert!(named.len() >= 2, "{page}");
        for path in named {
            assert!(FILES.iter().any(|(name, ..)| *name == path), "{path}");
        }
        assert!(!page.contains("https://") && !page.contains("http://"));
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (said, takes) in [
            ("gzip", true),
            ("br;q=1, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("identity", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(said));
            assert_eq!(takes_gzip(&headers), takes, "{said}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
