//! Requests that are decided elsewhere and answered later: by a database, or in the order of a shared
//! log.

use turnstile_access::Access;
use turnstile_contract::Failure;
use turnstile_embedded::Services;
use turnstile_record::RecordRef;
use turnstile_types::{Author, Hosts, Key, Machine as _, Position, Principal};

use super::Engine;
use crate::core::{
    caller::{Caller, NotPermitted},
    cluster::{ClusterAsker, ClusterEnded, Clustered},
    remote::{Housed, Job, Landed},
};

macro_rules! ask_again {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Asks for something again whose entry was void, if its caller still may.
        fn ask_again(&mut self, asker: ClusterAsker) -> Option<Landed> {
            match asker {
                ClusterAsker::Nobody => None,
                $(ClusterAsker::$machine(caller, job) => self.ask_job_again(caller, job),)+
            }
        }
    };
}

impl Engine {
    /// Whether requests to this service are decided elsewhere.
    pub(crate) fn is_away<M: Housed>(&self) -> bool {
        self.cluster.is_some() || M::remote(&self.remotes).is_some()
    }

    /// Sends requests of the caller to where they are decided.
    ///
    /// # Panics
    /// Nothing [is away](Self::is_away).
    pub(crate) fn send_away<M: Clustered>(&mut self, job: Job<M>) {
        if let Some(cluster) = &mut self.cluster {
            let sequencer = self.backend.sequencer();
            let has_room = job
                .keys()
                .try_for_each(|(principal, key)| sequencer.check_key(self.now, principal, key));
            return match has_room {
                Ok(()) => cluster.ask((self.now, sequencer.state()), &self.caller, job),
                Err(full) => cluster.refuse(job, full.to_string()),
            };
        }
        let remote = M::remote(&self.remotes);
        remote.expect("what is sent away is decided there").ask(job);
    }

    /// The last position that is known from where a service is decided.
    pub(crate) fn seen<M: Housed>(&self) -> Position {
        match M::remote(&self.remotes) {
            Some(remote) => remote.seen,
            None => self.backend.sequencer().firm_position(),
        }
    }

    /// Applies what has come from the shared log, and answers what it has decided.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub(crate) fn take_ordered(&mut self) -> Result<Vec<Landed>, ClusterEnded> {
        let Some(cluster) = &mut self.cluster else {
            return Ok(Vec::new());
        };
        let ordered = cluster.take(&mut self.backend, self.now)?;
        let mut landed = ordered.landed;
        for asker in ordered.void {
            landed.extend(self.ask_again(asker));
        }
        Ok(landed)
    }

    turnstile_services::services!(ask_again);

    fn ask_job_again<M: Clustered>(&mut self, caller: Caller, job: Job<M>) -> Option<Landed>
    where
        Services: Hosts<M>,
    {
        self.caller = caller;
        let permitted = self.permit_job(&job);
        let landed = match permitted {
            Ok(()) => {
                self.send_away(job);
                None
            }
            Err(denied) => {
                let reason = denied.to_string();
                M::asker(self.caller.clone(), job).fail(&Failure::Unavailable { reason })
            }
        };
        self.caller = Caller::server();
        landed
    }

    /// Asserts that the caller may ask for all of a job.
    fn permit_job<M: Housed>(&mut self, job: &Job<M>) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        match job {
            Job::Commands(requests, _) => requests.iter().try_for_each(|request| {
                let command = request.command::<M>();
                let command = command.expect("it was a command when it came");
                let key = request
                    .key()
                    .and_then(|key| Key::parse(key.as_bytes()).ok());
                self.permit_command::<M>(key, &command)
            }),
            Job::Queries(_, queries, _) => {
                let mut queries = queries.iter();
                queries.try_for_each(|query| self.permit_query::<M>(query))
            }
        }
    }

    /// Has the order of the shared log decide a command of the server itself, if there is such a log.
    pub(super) fn note_in_order(&mut self, command: &turnstile_access::Command) -> bool {
        let Some(cluster) = &mut self.cluster else {
            return false;
        };
        let mut payload = Vec::new();
        Access::encode_command(command, &mut payload);
        let principal = Principal::local();
        let record = RecordRef {
            service: Access::SERVICE,
            author: Author::server(&principal),
            key: None,
            payload: &payload,
        };
        cluster.note((self.now, self.backend.sequencer().state()), &record);
        true
    }

    /// Has the shared log take what was asked in this turn.
    pub(crate) fn propose(&mut self) {
        if let Some(cluster) = &mut self.cluster {
            cluster.propose(self.now, self.backend.sequencer().state());
        }
    }
}
