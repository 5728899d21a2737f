//! Questions to brokers: on their monitoring port, and a request over their own protocol.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// How long one broker may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    Ok(stream)
}

/// What a monitoring port answers, in JSON.
pub(crate) fn get(address: SocketAddr, path: &str) -> io::Result<Value> {
    let mut stream = connect(address)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    if !head.contains(" 200 ") {
        return Err(io::Error::other("no answer of HTTP"));
    }
    serde_json::from_str(body).map_err(io::Error::other)
}

/// What a broker answers to a request on a subject, in JSON. It must ask for no login.
pub(crate) fn request(address: SocketAddr, subject: &str) -> io::Result<Value> {
    let stream = connect(address)?;
    let mut lines = BufReader::new((&stream).take(ANSWER_BYTES_MAX));
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let connect = r#"{"verbose":false,"pedantic":false,"lang":"rust","version":"1"}"#;
    let inbox = "_INBOX.brokers";
    write!(
        &stream,
        "CONNECT {connect}\r\nSUB {inbox} 1\r\nPUB {subject} {inbox} 0\r\n\r\n"
    )?;
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 || line.starts_with("-ERR") {
            return Err(io::Error::other(line));
        }
        if line.starts_with("PING") {
            write!(&stream, "PONG\r\n")?;
        }
        if line.starts_with("MSG ") {
            let length = line.trim().rsplit(' ').next();
            let length = length.and_then(|length| length.parse().ok());
            let mut body = vec![0; length.ok_or_else(|| io::Error::other("no length"))?];
            lines.read_exact(&mut body)?;
            return serde_json::from_slice(&body).map_err(io::Error::other);
        }
    }
}
