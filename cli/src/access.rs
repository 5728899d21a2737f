//! The access service, where commands find it: at a server that runs, or in a directory that none uses.

mod stopped;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use serde_json::Value as Json;
use turnstile_client::NamedConnection;
use turnstile_resp::catalogue::refusals;

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    resp,
};
pub(crate) use stopped::{StoppedDirectory, now, unopened};

/// Entries that are asked for at once: the longest page that a server gives.
const PAGE: &str = "1000";

/// Where principals and keys are.
#[derive(Args, Clone, Debug)]
pub(crate) struct AccessPlace {
    /// RESP address of the server. The key to log in with needs the role admin
    #[arg(long, global = true, value_name = "ADDR", value_parser = address::RESP, default_value = resp::ADDRESS)]
    resp: DoorAddress,
    /// Data directory to work on instead; no server may use it
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "resp")]
    data: Option<PathBuf>,
    #[command(flatten)]
    security: Security,
}

/// The access service.
#[derive(Debug)]
pub(crate) enum AccessDoor {
    Server(NamedConnection),
    Directory(Box<StoppedDirectory>),
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccessReply {
    /// With the fields of the answer.
    Done(Json),
    /// With the code.
    Refused(String),
}

/// The fields of a request, each as often as it has values.
pub(crate) type NamedFields<'a> = [(&'a str, &'a str)];

impl AccessPlace {
    pub(crate) fn open(&self) -> anyhow::Result<AccessDoor> {
        Ok(match &self.data {
            Some(data) => AccessDoor::Directory(Box::new(StoppedDirectory::open(data)?)),
            None => AccessDoor::Server(resp::connect_named(&self.security.resp(&self.resp)?)?),
        })
    }
}

impl AccessDoor {
    /// Asks for an operation of the access service by its word, such as `add_key`. A directory has it on
    /// its disk when this returns.
    ///
    /// # Errors
    /// The server or the directory failed, or the request is none.
    pub(crate) fn ask(
        &mut self,
        word: &str,
        fields: &NamedFields<'_>,
    ) -> anyhow::Result<AccessReply> {
        let connection = match self {
            Self::Directory(directory) => return directory.ask(word, fields),
            Self::Server(connection) => connection,
        };
        let answer = connection.ask(&format!("access.{word}"), fields)?;
        Ok(match answer.refusal() {
            Some(code) => AccessReply::Refused(code.to_owned()),
            None => AccessReply::Done(resp::json(answer.fields()).map_err(anyhow::Error::msg)?),
        })
    }

    /// The same, where a refusal is an error.
    ///
    /// # Errors
    /// As of [`ask`](Self::ask), or it was refused.
    pub(crate) fn done(&mut self, word: &str, fields: &NamedFields<'_>) -> anyhow::Result<Json> {
        match self.ask(word, fields)? {
            AccessReply::Done(answer) => Ok(answer),
            AccessReply::Refused(code) => Err(refused(&code)),
        }
    }

    /// All entries of a listing: those in the field `named` of every page.
    ///
    /// # Errors
    /// As of [`done`](Self::done).
    pub(crate) fn list(
        &mut self,
        word: &str,
        named: &str,
        fields: &NamedFields<'_>,
    ) -> anyhow::Result<Vec<Json>> {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut asked = vec![("limit", PAGE)];
            asked.extend_from_slice(fields);
            asked.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let mut page = self.done(word, &asked)?;
            let Json::Array(entries) = page[named].take() else {
                return Err(anyhow!("the answer has no list of {named}"));
            };
            all.extend(entries);
            match &page["next"] {
                Json::Null => return Ok(all),
                Json::String(next) => cursor = Some(next.clone()),
                next => cursor = Some(next.to_string()),
            }
        }
    }

    /// Ends the work: a directory is left to whoever comes next.
    ///
    /// # Errors
    /// The directory could not be closed.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Directory(directory) => directory.close(),
            Self::Server(_) => Ok(()),
        }
    }
}

/// A refusal as an error.
pub(crate) fn refused(code: &str) -> anyhow::Error {
    let known = refusals("access").into_iter();
    let meaning = known.into_iter().find(|refusal| refusal.code == code);
    match meaning {
        Some(refusal) => anyhow!("refused: {} ({code})", refusal.sentence),
        None => anyhow!("refused: {code}"),
    }
}
