//! The processes whose resource usage is recorded during a load.

use clap::Args;
use turnstile_client::ServerAddress;
use turnstile_load::resources::{self, Watched};

use crate::child::Server;

/// What the lab cannot find out by itself.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Behind {
    /// Process id of the server's database; default: the lab asks the server for its database and
    /// finds the process on this machine
    #[arg(long, value_name = "PID")]
    database_pid: Option<u32>,
}

impl Behind {
    /// The server at this address, which may be our own, and the database behind it: those of them
    /// that are on this machine and may be seen. `resp`: where the server can be asked.
    pub(super) fn watched(
        self,
        own: Option<&Server>,
        address: &ServerAddress,
        resp: Option<&ServerAddress>,
    ) -> Vec<Watched> {
        let server = own.map_or_else(
            || resources::listener(address.socket()),
            |own| Some(own.pid()),
        );
        let database = self.database_pid.or_else(|| resources::database(resp?));
        let found = [("server", server), ("database", database)];
        found
            .into_iter()
            .filter_map(|(role, pid)| Some(Watched::new(role, pid?)))
            .collect()
    }
}
