//! Where one request ends and the next begins: one strict reading of the bytes, or none.
//!
//! Request smuggling lives on two readers that disagree. So this scanner stands before the HTTP
//! library and lets only bytes through on which no two readers can: heads of CRLF lines, and a body
//! by one `Content-Length` or in plain chunks, never both. Chunks have neither extensions nor
//! trailer fields, as readers treat these differently and no request here needs them.

use memchr::memchr;

/// The longest head: request line and header fields, in bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// The most header fields in a head.
const FIELDS_MAX: usize = 100;

/// The longest body, in bytes; refused from the declared length, or from the length of the chunk
/// that exceeds it, before a byte of that is read.
const BODY_BYTES_MAX: u64 = 64 * 1024;

/// The longest line with the length of a chunk, its CRLF included: as many digits as fit 32 bits.
const CHUNK_LINE_MAX: usize = 8 + 2;

/// Follows one connection's bytes through requests.
///
/// It owns the kept start of the line that is being read, and nothing else of the bytes: it can be
/// fed pieces of any size, and costs one pass over heads and none over bodies.
#[derive(Debug)]
pub struct Scanner {
    part: Part,
    requests: u64,
    head_bytes: usize,
    fields: usize,
    length: Option<u64>,
    chunked: bool,
    /// The request line says `HTTP/1.0`, which knows no chunks.
    is_old: bool,
    /// The bytes of the chunks that have come.
    chunk_bytes: u64,
    /// The start of the current line, for lines that came in pieces and for judging.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Before the first byte of a request.
    Between,
    Line(LineKind),
    /// The rest of the body, in bytes.
    Body(u64),
    /// The rest of a chunk, in bytes.
    Chunk(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Request,
    Field,
    /// The line with the length of a chunk.
    ChunkLength,
    /// The CRLF behind a chunk.
    ChunkEnd,
    /// The CRLF behind the last chunk, which has no bytes.
    LastChunk,
}

/// Where a connection's input stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Between requests.
    Between,
    /// In the head of one.
    Head,
    /// In the body of one.
    Body,
}

/// Why bytes are no request that this server reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingViolation {
    /// A line that ends in a bare LF, or holds a bare CR or a NUL.
    LineEnd,
    /// A header line that continues the one before.
    FoldedField,
    /// A header line without a name, without a colon, or with space around the name.
    FieldName,
    /// A length that is not plain digits, or more than one length.
    Length,
    /// Both a length and a transfer coding.
    TwoFramings,
    /// A transfer coding other than `chunked`.
    TransferCoding,
    /// A chunk whose length is not 1 to 8 hexadecimal digits alone, or that does not end where it
    /// says; or a trailer field.
    Chunk,
    /// A request line that is not method, target and `HTTP/1.0` or `HTTP/1.1`.
    RequestLine,
    /// More than 16 KiB, or more than 100 header fields.
    HeadTooLarge,
    /// A body of more than 64 KiB.
    BodyTooLarge,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            part: Part::Between,
            requests: 0,
            head_bytes: 0,
            fields: 0,
            length: None,
            chunked: false,
            is_old: false,
            chunk_bytes: 0,
            line: Vec::new(),
        }
    }

    #[must_use]
    pub const fn framing(&self) -> Framing {
        match self.part {
            Part::Between => Framing::Between,
            Part::Line(LineKind::Request | LineKind::Field) => Framing::Head,
            Part::Body(_) | Part::Chunk(_) | Part::Line(_) => Framing::Body,
        }
    }

    /// How many requests have begun: their heads were read whole and are sound.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// Follows the next bytes. After an error the connection ends: the scanner is of no more use.
    ///
    /// # Errors
    /// The violation, and how many of these bytes come before the request that it is in.
    pub fn follow(&mut self, bytes: &[u8]) -> Result<(), (usize, FramingViolation)> {
        let mut at = 0;
        let mut start = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            at += match self.part {
                Part::Body(left) => self.skip(rest, left, Part::Body, Part::Between),
                Part::Chunk(left) => {
                    self.skip(rest, left, Part::Chunk, Part::Line(LineKind::ChunkEnd))
                }
                Part::Between => {
                    start = at;
                    self.begin();
                    let followed = self.follow_line(rest, LineKind::Request);
                    followed.map_err(|wrong| (start, wrong))?
                }
                Part::Line(kind) => {
                    let followed = self.follow_line(rest, kind);
                    followed.map_err(|wrong| (start, wrong))?
                }
            };
        }
        Ok(())
    }

    /// Passes over bytes of a body, of which `left` are to come.
    fn skip(&mut self, rest: &[u8], left: u64, more: fn(u64) -> Part, end: Part) -> usize {
        let available = u64::try_from(rest.len()).expect("a length fits 64 bits");
        let taken = available.min(left);
        self.part = if taken == left {
            end
        } else {
            more(left - taken)
        };
        usize::try_from(taken).expect("at most the length of a slice")
    }

    /// Reads up to the end of the line, or all that is there of it.
    fn follow_line(&mut self, rest: &[u8], kind: LineKind) -> Result<usize, FramingViolation> {
        let end = memchr(b'\n', rest);
        let piece = rest.get(..end.map_or(rest.len(), |end| end + 1));
        let piece = piece.expect("the end was found inside");
        if self.framing() == Framing::Body {
            if self.line.len() + piece.len() > CHUNK_LINE_MAX {
                return Err(FramingViolation::Chunk);
            }
        } else {
            self.head_bytes += piece.len();
            if self.head_bytes > HEAD_BYTES_MAX {
                return Err(FramingViolation::HeadTooLarge);
            }
        }
        if end.is_none() {
            self.keep(piece);
            return Ok(piece.len());
        }
        if self.line.is_empty() {
            self.end_line(piece, kind)?;
        } else {
            self.keep(piece);
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, kind)?;
            self.line = line;
            self.line.clear();
        }
        Ok(piece.len())
    }

    fn begin(&mut self) {
        self.part = Part::Line(LineKind::Request);
        self.head_bytes = 0;
        self.fields = 0;
        self.length = None;
        self.chunked = false;
        self.chunk_bytes = 0;
        self.line.clear();
    }

    /// Keeps a piece of a line whose end has not come: bounded, as the head is.
    fn keep(&mut self, piece: &[u8]) {
        self.line.extend_from_slice(piece);
    }

    /// Judges one whole line, its LF included.
    fn end_line(&mut self, line: &[u8], kind: LineKind) -> Result<(), FramingViolation> {
        let Some(text) = line.strip_suffix(b"\r\n") else {
            return Err(FramingViolation::LineEnd);
        };
        if memchr::memchr2(b'\r', 0, text).is_some() {
            return Err(FramingViolation::LineEnd);
        }
        match kind {
            LineKind::Request => {
                judge_request_line(text)?;
                self.is_old = text.ends_with(b"1.0");
                self.part = Part::Line(LineKind::Field);
                Ok(())
            }
            LineKind::Field if text.is_empty() => self.end_head(),
            LineKind::Field => self.field(text),
            LineKind::ChunkLength => self.begin_chunk(text),
            LineKind::ChunkEnd | LineKind::LastChunk if !text.is_empty() => {
                Err(FramingViolation::Chunk)
            }
            LineKind::ChunkEnd => {
                self.part = Part::Line(LineKind::ChunkLength);
                Ok(())
            }
            LineKind::LastChunk => {
                self.part = Part::Between;
                Ok(())
            }
        }
    }

    fn field(&mut self, text: &[u8]) -> Result<(), FramingViolation> {
        self.fields += 1;
        if self.fields > FIELDS_MAX {
            return Err(FramingViolation::HeadTooLarge);
        }
        if matches!(text, [b' ' | b'\t', ..]) {
            return Err(FramingViolation::FoldedField);
        }
        let colon = memchr(b':', text).ok_or(FramingViolation::FieldName)?;
        let (name, value) = text.split_at(colon);
        if name.is_empty() || !name.iter().copied().all(is_token_byte) {
            return Err(FramingViolation::FieldName);
        }
        // Only two lengths of name matter: the others are not compared.
        if name.len() == b"content-length".len() && name.eq_ignore_ascii_case(b"content-length") {
            return self.declare_length(value);
        }
        if name.len() == b"transfer-encoding".len()
            && name.eq_ignore_ascii_case(b"transfer-encoding")
        {
            let coding = value.get(1..).unwrap_or_default().trim_ascii();
            if self.chunked || !coding.eq_ignore_ascii_case(b"chunked") {
                return Err(FramingViolation::TransferCoding);
            }
            self.chunked = true;
        }
        Ok(())
    }

    fn begin_chunk(&mut self, digits: &[u8]) -> Result<(), FramingViolation> {
        let is_length = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
        let text = str::from_utf8(digits).ok().filter(|_| is_length);
        let length = text.and_then(|text| u64::from_str_radix(text, 16).ok());
        let length = length.ok_or(FramingViolation::Chunk)?;
        self.chunk_bytes += length;
        if self.chunk_bytes > BODY_BYTES_MAX {
            return Err(FramingViolation::BodyTooLarge);
        }
        self.part = match length {
            0 => Part::Line(LineKind::LastChunk),
            length => Part::Chunk(length),
        };
        Ok(())
    }

    fn declare_length(&mut self, value: &[u8]) -> Result<(), FramingViolation> {
        let digits = value.get(1..).unwrap_or_default().trim_ascii();
        let plain =
            !digits.is_empty() && digits.len() <= 19 && digits.iter().all(u8::is_ascii_digit);
        if !plain || self.length.is_some() {
            return Err(FramingViolation::Length);
        }
        self.length = Some(
            digits
                .iter()
                .fold(0, |length, digit| length * 10 + u64::from(digit - b'0')),
        );
        Ok(())
    }

    const fn end_head(&mut self) -> Result<(), FramingViolation> {
        self.part = match (self.length, self.chunked) {
            (Some(_), true) => return Err(FramingViolation::TwoFramings),
            (None, true) if self.is_old => return Err(FramingViolation::TransferCoding),
            (None, true) => Part::Line(LineKind::ChunkLength),
            (Some(length), false) if length > BODY_BYTES_MAX => {
                return Err(FramingViolation::BodyTooLarge);
            }
            (Some(0) | None, false) => Part::Between,
            (Some(length), false) => Part::Body(length),
        };
        self.requests += 1;
        Ok(())
    }
}

fn judge_request_line(text: &[u8]) -> Result<(), FramingViolation> {
    let rest = text
        .strip_suffix(b" HTTP/1.1")
        .or_else(|| text.strip_suffix(b" HTTP/1.0"))
        .ok_or(FramingViolation::RequestLine)?;
    let space = memchr(b' ', rest).ok_or(FramingViolation::RequestLine)?;
    let (method, target) = rest.split_at(space);
    let target = target.get(1..).unwrap_or_default();
    let sound = !method.is_empty()
        && method.iter().copied().all(is_token_byte)
        && !target.is_empty()
        && target.iter().all(u8::is_ascii_graphic);
    if sound {
        Ok(())
    } else {
        Err(FramingViolation::RequestLine)
    }
}

fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES.get(usize::from(byte)).is_some_and(|&is| is)
}

/// The characters of methods and of header names: RFC 9110, section 5.6.2. A table, as every byte of
/// every name is looked up.
const TOKEN_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || is_among(byte, b"!#$%&'*+-.^_`|~");
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

const fn is_among(byte: u8, others: &[u8]) -> bool {
    let mut rest = others;
    while let [other, more @ ..] = rest {
        if *other == byte {
            return true;
        }
        rest = more;
    }
    false
}

#[cfg(test)]
mod tests;
