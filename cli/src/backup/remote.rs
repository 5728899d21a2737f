//! A server that is copied over its HTTP door.

use turnstile_backup::{BackupSource, JournalPieces, PiecesPlace, SourceDescription, SourceError};
use turnstile_client::{ConnectionError, Denied, http};
use zeroize::Zeroizing;

use crate::{
    address::DoorAddress,
    audit::problem,
    connect::{HttpServer, Security},
};

/// A running server. It is connected to when something is asked, and again after a failure.
pub(crate) struct RemoteSource {
    server: HttpServer,
    connection: Option<http::Connection>,
}

impl RemoteSource {
    /// # Errors
    /// A file of the key or of TLS cannot be read.
    pub(crate) fn new(security: &Security, door: &DoorAddress) -> anyhow::Result<Self> {
        Ok(Self {
            server: security.http_server(door)?,
            connection: None,
        })
    }

    fn ask(&mut self, target: &str) -> Result<Vec<u8>, SourceError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.server.connect().map_err(unreached)?,
        };
        let answer = connection.get(target).map_err(unreached)?;
        self.connection = Some(connection);
        let told = problem(answer.status, &answer.body);
        match answer.status {
            200 => Ok(answer.body),
            403 => Err(away(Denied::MissingRight(told), false)),
            410 => Err(SourceError::Unsuitable(told)),
            429 | 503 => Err(away(told, true)),
            _ => Err(away(format!("the server refused: {told}"), false)),
        }
    }
}

fn away(
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    is_passing: bool,
) -> SourceError {
    SourceError::Away {
        cause: cause.into(),
        is_passing,
    }
}

/// A server that does not let us in will not do so later.
fn unreached(error: ConnectionError) -> SourceError {
    let is_final = matches!(error, ConnectionError::Denied(_));
    away(error, !is_final)
}

impl BackupSource for RemoteSource {
    fn describe(&mut self) -> Result<SourceDescription, SourceError> {
        let answer = self.ask("/v1/backup")?;
        let described = serde_json::from_slice(&answer);
        let described: SourceDescription = described.map_err(|_json| {
            SourceError::Unsuitable("the server describes its journal in another way".to_owned())
        })?;
        if described.format > 1 {
            return Err(SourceError::Unsuitable(format!(
                "the server has version {} of this program, and describes its journal in a newer way",
                described.program
            )));
        }
        Ok(described)
    }

    fn pieces(&mut self, place: PiecesPlace) -> Result<JournalPieces, SourceError> {
        let PiecesPlace {
            segment,
            offset,
            after,
        } = place;
        let answer = self.ask(&format!(
            "/v1/backup/pieces?segment={segment}&offset={offset}&after={after}"
        ))?;
        let pieces = JournalPieces::decode(answer);
        pieces.ok_or_else(|| SourceError::Damaged("an answer is cut short".to_owned()))
    }

    fn snapshot(&mut self, position: u64, offset: u64) -> Result<Vec<u8>, SourceError> {
        let part = self.ask(&format!(
            "/v1/backup/snapshot?position={position}&offset={offset}"
        ));
        match part {
            Err(SourceError::Unsuitable(_)) => Err(SourceError::Gone),
            part => part,
        }
    }

    fn id_key(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, SourceError> {
        Ok(None)
    }
}
