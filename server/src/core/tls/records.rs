//! Records of TLS on the way in and out, whichever side of the connection this is.

use rustls::{
    Error,
    client::ClientConnectionData,
    server::ServerConnectionData,
    unbuffered::{
        ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedConnectionCommon,
        UnbufferedStatus,
    },
};

use crate::core::buffer::Input;

/// What a record adds to its content at most, in bytes.
const RECORD_OVERHEAD: usize = 64;

/// The most that a record holds, in bytes.
const RECORD_BYTES: usize = 16 * 1_024;

/// What records are made of.
#[derive(Clone, Copy)]
pub(super) enum Sealed<'a> {
    Bytes(&'a [u8]),
    /// That nothing more will come.
    End,
}

/// One side of a connection, in the library's words: it gives both the same method, and no trait.
pub(super) trait TlsSide: Sized {
    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self>,
        came: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self>;
}

impl TlsSide for ServerConnectionData {
    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self>,
        came: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self> {
        connection.process_tls_records(came)
    }
}

impl TlsSide for ClientConnectionData {
    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self>,
        came: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self> {
        connection.process_tls_records(came)
    }
}

/// Takes all whole records: what they hold goes to the input, what they are answered to `outgoing`.
/// Answers how many bytes were used, and whether the peer has ended its side.
pub(super) fn drive<D: TlsSide>(
    connection: &mut UnbufferedConnectionCommon<D>,
    came: &mut [u8],
    input: &mut Input,
    outgoing: &mut Vec<u8>,
) -> Result<(usize, bool), Error> {
    let (mut used, mut has_ended) = (0, false);
    loop {
        let rest = came.get_mut(used..).unwrap_or_default();
        let UnbufferedStatus { mut discard, state } = D::process(connection, rest);
        let mut is_done = false;
        match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let record = record?;
                    discard += record.discard;
                    input.append(record.payload);
                }
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => encode(&mut data, outgoing)?,
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::PeerClosed) => has_ended = true,
            Ok(ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_)) => {
                is_done = true;
            }
            Ok(ConnectionState::Closed) => (is_done, has_ended) = (true, true),
            // Requests before the end of a handshake are not accepted: they could be repeated.
            Ok(_) => return Err(Error::HandshakeNotComplete),
            Err(failure) => {
                put_alert(connection, came.get_mut(used + discard..), outgoing);
                return Err(failure);
            }
        }
        used += discard;
        if is_done {
            return Ok((used, has_ended));
        }
    }
}

/// Appends what the peer is told of an error.
fn put_alert<D: TlsSide>(
    connection: &mut UnbufferedConnectionCommon<D>,
    rest: Option<&mut [u8]>,
    outgoing: &mut Vec<u8>,
) {
    let status = D::process(connection, rest.unwrap_or_default());
    if let Ok(ConnectionState::EncodeTlsData(mut data)) = status.state
        && let Err(failure) = encode(&mut data, outgoing)
    {
        tracing::debug!(%failure, "a peer is not told of an error");
    }
}

/// Makes records at the end of `outgoing`. What has come and is not whole is at hand again: the library
/// knows how much of it is known.
pub(super) fn seal<D: TlsSide>(
    connection: &mut UnbufferedConnectionCommon<D>,
    partial: &mut Vec<u8>,
    what: Sealed<'_>,
    outgoing: &mut Vec<u8>,
) -> Result<(), Error> {
    loop {
        let UnbufferedStatus { discard, state } = D::process(connection, partial);
        match state? {
            ConnectionState::WriteTraffic(mut traffic) => {
                let length = match what {
                    Sealed::Bytes(bytes) => bytes.len(),
                    Sealed::End => 0,
                };
                let room = length + (length / RECORD_BYTES + 2) * RECORD_OVERHEAD;
                return append(outgoing, room, |room| match what {
                    Sealed::Bytes(bytes) => traffic.encrypt(bytes, room),
                    Sealed::End => traffic.queue_close_notify(room),
                });
            }
            ConnectionState::EncodeTlsData(mut data) => encode(&mut data, outgoing)?,
            ConnectionState::TransmitTlsData(data) => data.done(),
            ConnectionState::PeerClosed => {}
            _ => return Err(Error::HandshakeNotComplete),
        }
        partial.drain(..discard);
    }
}

/// Lets records be put at the end of `outgoing`, where there is so much room for them, or as much as
/// they ask for.
fn append(
    outgoing: &mut Vec<u8>,
    mut room: usize,
    mut put: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), Error> {
    let begun = outgoing.len();
    loop {
        outgoing.resize(begun + room, 0);
        let put = put(outgoing.get_mut(begun..).unwrap_or_default());
        outgoing.truncate(begun + put.as_ref().map_or(0, |&length| length));
        match put {
            Ok(_) => return Ok(()),
            Err(EncryptError::InsufficientSize(wanted)) if wanted.required_size > room => {
                room = wanted.required_size;
            }
            Err(failure) => return Err(Error::General(failure.to_string())),
        }
    }
}

/// Appends a record of the handshake.
fn encode<D>(data: &mut EncodeTlsData<'_, D>, outgoing: &mut Vec<u8>) -> Result<(), Error> {
    let begun = outgoing.len();
    let mut put = data.encode(&mut []);
    if let Err(EncodeError::InsufficientSize(wanted)) = &put {
        outgoing.resize(begun + wanted.required_size, 0);
        put = data.encode(outgoing.get_mut(begun..).unwrap_or_default());
    }
    let length = put.map_err(|failure| Error::General(failure.to_string()))?;
    outgoing.truncate(begun + length);
    Ok(())
}
