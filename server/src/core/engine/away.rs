//! Requests that are decided elsewhere and answered later: by a database, in the order of a shared log, or by
//! another partition.

use std::iter;

use turnstile_chassis::{PartitionRoute, Routed};
use turnstile_contract::{Failure, Request, Scope};
use turnstile_embedded::Services;
use turnstile_jetstream::ReplyAddress;
use turnstile_replica::RelayAnswer;
use turnstile_types::{Hosts, Key, PartitionNumber, Position, Principal};

use super::Engine;
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        cluster::{
            ClusterAsker, ClusterEnded, Clustered,
            other_nodes::{FromNodes, OtherNodes},
        },
        partitions::Partitions,
        remote::{Housed, Job, Landed, Landing, Questioner, RequestOrigin, Requester, ScopedQuery},
    },
    registry::Registered,
};

macro_rules! judge_jobs {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Looks whether the caller of a job may ask for it; gives it back, and why not.
        pub(super) fn permit_again(&mut self, asker: ClusterAsker) -> (ClusterAsker, Option<Failure>) {
            match asker {
                asker @ (ClusterAsker::Nobody
                | ClusterAsker::Note(..)
                | ClusterAsker::Onward(..)
                | ClusterAsker::Batch(_)) => (asker, None),
                $(ClusterAsker::$machine(caller, job) => self.permit_job_of(caller, job),)+
            }
        }

        /// Makes the rights of a job's caller those that are known here now; gives it back, and why it is
        /// nobody any more.
        fn renew_asker(&mut self, asker: ClusterAsker) -> (ClusterAsker, Option<Failure>) {
            match asker {
                asker @ (ClusterAsker::Nobody | ClusterAsker::Note(..) | ClusterAsker::Onward(..)) => {
                    (asker, None)
                }
                ClusterAsker::Batch(askers) => {
                    let renewed = askers.into_iter().map(|asker| self.renew_asker(asker));
                    let (askers, failures): (_, Vec<_>) = renewed.unzip();
                    (ClusterAsker::Batch(askers), failures.into_iter().flatten().next())
                }
                $(ClusterAsker::$machine(caller, job) => self.renew_caller_of(caller, job),)+
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
        if self.cluster.is_some() {
            let is_here = job.partition() == PartitionNumber::FIRST || self.partitions.is_none();
            let asker = M::asker(self.caller.clone(), job);
            return if is_here {
                self.send_in_order(vec![asker])
            } else {
                self.relay(asker)
            };
        }
        let remote = M::remote(&self.remotes);
        remote.expect("what is sent away is decided there").ask(job);
    }

    /// The partition that decides a request, or is asked first.
    pub(crate) fn partition_of(&self, request: &impl Routed) -> PartitionNumber {
        let Some(partitions) = &self.partitions else {
            return PartitionNumber::FIRST;
        };
        let count = partitions.count();
        match request.route() {
            PartitionRoute::First | PartitionRoute::All | PartitionRoute::Pages(None) => {
                PartitionNumber::FIRST
            }
            PartitionRoute::Named(name) => PartitionNumber::of_name(&name, count),
            PartitionRoute::Given(partition) => partition.among(count),
            PartitionRoute::Pages(Some(cursor)) => cursor.apart().0.among(count),
        }
    }

    /// Whether this loop alone has all that a query is about, so that it may be answered from what is known
    /// here, if the caller of a node wants that.
    pub(crate) fn is_answered_here(&self, query: &impl Routed) -> bool {
        let is_of_one = !matches!(
            query.route(),
            PartitionRoute::All | PartitionRoute::Pages(_)
        );
        self.cluster.is_some()
            && (self.partitions.is_none()
                || is_of_one && self.partition_of(query) == PartitionNumber::FIRST)
    }

    /// Sends a query of the caller, and what it may name, to where it is answered: by one partition, or by
    /// all of them.
    pub(crate) fn ask_away<M: Clustered>(
        &mut self,
        (mut query, scope): ScopedQuery<M>,
        mut asker: Questioner<M>,
    ) {
        let principal = self.caller.principal;
        asker.partition = self.partition_of(&query);
        let Some(partitions) = &mut self.partitions else {
            return self.send_away::<M>(Job::Queries(principal, vec![(query, scope)], asker));
        };
        match query.route() {
            PartitionRoute::First | PartitionRoute::Named(_) | PartitionRoute::Given(_) => {}
            PartitionRoute::Pages(cursor) => {
                asker.is_page = true;
                if let Some(inside) = query.cursor_mut() {
                    *inside = cursor.and_then(|cursor| cursor.apart().1);
                }
            }
            PartitionRoute::All => {
                let count = partitions.count();
                let sum = M::landed(Landing::Queries(Vec::new(), asker));
                let number = partitions.gather(sum);
                for partition in (0..count).filter_map(PartitionNumber::new) {
                    let timed = self.stopwatch.time::<M>(iter::empty());
                    let part = Requester::new(RequestOrigin::Gathering(number), timed);
                    let queries = vec![(query.clone(), scope.clone())];
                    self.send_away::<M>(Job::Queries(principal, queries, part.of(partition)));
                }
                return;
            }
        }
        self.send_away::<M>(Job::Queries(principal, vec![(query, scope)], asker));
    }

    /// An answer, or the sum of all partitions' when it is the last of them; nothing before that.
    pub(crate) fn gathered(&mut self, landed: Landed) -> Option<Landed> {
        match (landed.gathering(), &mut self.partitions) {
            (Some(number), Some(partitions)) => partitions.add(number, landed),
            _ => Some(landed),
        }
    }

    /// Has another partition decide what the caller asks for. What is known of rights must be new, or
    /// becomes so first: no order of the other partition says that they have changed.
    pub(super) fn relay(&mut self, asker: ClusterAsker) {
        if !self.holds(asker.partition()) {
            return self.ask_node(asker);
        }
        let is_known = |partitions: &Partitions| partitions.are_rights_known(self.now);
        if self.partitions.as_ref().is_some_and(is_known) {
            return self.pass_on(asker);
        }
        if let Some(cluster) = &mut self.cluster {
            let at = (self.now, self.backend.sequencer().state());
            cluster.wait_for_order(at, asker);
        }
    }

    /// Has another node decide what the caller asks for: one that holds the partition, and looks at the rights
    /// of the caller itself. What another node has sent here goes to no third one.
    fn ask_node(&mut self, asker: ClusterAsker) {
        let (Some(cluster), Some(nodes)) = (&mut self.cluster, &mut self.nodes) else {
            return;
        };
        let state = self.backend.sequencer().state();
        nodes.ask(self.now, cluster.head(state), asker);
    }

    /// Gets no more requests of other nodes.
    pub(crate) fn leave_nodes(&mut self) {
        if let Some(nodes) = &mut self.nodes {
            nodes.leave();
        }
    }

    /// Whether another node waits for an answer.
    pub(crate) fn owes_nodes(&self) -> bool {
        self.nodes.as_ref().is_some_and(OtherNodes::owes)
    }

    /// Answers another node.
    pub(crate) fn answer_node(&mut self, to: ReplyAddress, answer: &RelayAnswer) {
        if let Some(nodes) = &mut self.nodes {
            nodes.answer(to, answer);
        }
    }

    /// Takes what has come from other nodes, and gives the answers to those who asked here.
    pub(crate) fn take_from_nodes(&mut self) -> Vec<Landed> {
        let Some(nodes) = &mut self.nodes else {
            return Vec::new();
        };
        let mut landed = Vec::new();
        for came in nodes.take(self.now) {
            match came {
                FromNodes::Landed(answer) => landed.push(answer),
                FromNodes::Asked { from, bytes } => {
                    landed.extend(self.take_from_node(from, &bytes))
                }
            }
        }
        landed
    }

    /// Has a request of another node decided here. Its caller has the rights that it has by all that its
    /// sender knew, and by all that was ordered up to a second before.
    fn take_from_node(&mut self, from: ReplyAddress, bytes: &[u8]) -> Vec<Landed> {
        let (known, asker) = match self.read_from_node(&from, bytes) {
            Ok(read) => read,
            Err(reason) => {
                self.answer_node(from, &RelayAnswer::NotTaken(reason.into()));
                return Vec::new();
            }
        };
        let state = self.backend.sequencer().state();
        let place = state.shared().map_or(0, |place| place.sequence);
        let is_known = |partitions: &Partitions| partitions.are_rights_known(self.now);
        if place >= known && self.partitions.as_ref().is_some_and(is_known) {
            return self.go_on(asker);
        }
        if let Some(cluster) = &mut self.cluster {
            cluster.wait_for_order((self.now, state), asker);
        }
        Vec::new()
    }

    /// Reads a request of another node: the last entry of the first partition that its sender knew, and who
    /// asks for what.
    fn read_from_node(
        &self,
        from: &ReplyAddress,
        bytes: &[u8],
    ) -> Result<(u64, ClusterAsker), String> {
        let (Some(nodes), Some(cluster)) = (&self.nodes, &self.cluster) else {
            return Err("it is no node of a cluster".to_owned());
        };
        let request = nodes.read(cluster.installation(), bytes)?;
        let partitions = self.partitions.as_ref();
        let count = partitions.map_or(1, Partitions::count);
        if !partitions.is_some_and(|partitions| partitions.holds(request.partition)) {
            return Err("it does not hold the partition".to_owned());
        }
        let known = request.known;
        let asker = ClusterAsker::of_node(request, (from.clone(), count), &self.stopwatch)?;
        Ok((known, asker))
    }

    fn pass_on(&mut self, asker: ClusterAsker) {
        let (Some(cluster), Some(partitions)) = (&mut self.cluster, &mut self.partitions) else {
            return;
        };
        if let Err(asker) = partitions.put(asker.partition(), asker) {
            let reason = "too many requests wait for another partition".to_owned();
            cluster.refuse(*asker, reason);
        }
    }

    /// Asks another partition, if the caller still may now that all is known that was ordered when it
    /// asked.
    fn go_on(&mut self, asker: ClusterAsker) -> Vec<Landed> {
        let (asker, failure) = self.renew_asker(asker);
        if let Some(failure) = failure {
            return asker.fail(&failure);
        }
        self.pass_on(asker);
        Vec::new()
    }

    fn renew_caller_of<M: Clustered>(
        &mut self,
        caller: Caller,
        job: Job<M>,
    ) -> (ClusterAsker, Option<Failure>) {
        self.caller = caller;
        let renewed = self.renew_caller();
        let caller = std::mem::replace(&mut self.caller, Caller::server());
        (M::asker(caller, job), renewed.err().map(failure_of))
    }

    /// Has the order of the shared log decide jobs of one caller, one right after the other. One whose key
    /// has no room is answered and left out.
    pub(crate) fn send_in_order(&mut self, mut askers: Vec<ClusterAsker>) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let sequencer = self.backend.sequencer();
        let check =
            |principal: &Principal, key: Key<'_>| sequencer.check_key(self.now, principal, key);
        let mut at = 0;
        while let Some(asker) = askers.get(at) {
            match asker.check_keys(&check) {
                Ok(()) => at += 1,
                Err(full) => cluster.refuse(askers.remove(at), full.to_string()),
            }
        }
        cluster.ask((self.now, sequencer.state()), askers);
    }

    /// Has a command of a connection decided elsewhere, within what it may name there.
    pub(crate) fn send_command<M: Clustered>(
        &mut self,
        connection: (usize, u64),
        command: &M::Command<'_>,
        scope: Scope,
    ) {
        let request = Request::new::<M>(self.caller.principal, None, command).within(scope);
        let requester = self.as_requester::<M, _>(connection, M::command_place(command));
        let requester = requester.of(self.partition_of(command));
        self.send_away::<M>(Job::Commands(vec![request], requester));
    }

    /// Has a query of a connection answered elsewhere.
    pub(crate) fn send_query<M: Clustered>(&mut self, connection: (usize, u64), query: M::Query) {
        self.counters.query::<M>(&query);
        let requester = self.as_requester::<M, _>(connection, M::query_place(&query));
        self.ask_away::<M>((query, Scope::EVERYTHING), requester);
    }

    fn as_requester<M: Clustered, T>(
        &self,
        (place, client): (usize, u64),
        operation: usize,
    ) -> Requester<T> {
        let timed = self.stopwatch.time::<M>([operation].into_iter());
        Requester::new(RequestOrigin::Connection { place, client }, timed)
            .noted(self.note_sent([operation].into_iter()))
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
        self.counters
            .entry_ms
            .set(self.backend.sequencer().state().time().0);
        let mut landed = ordered.landed;
        for (as_of, asker) in ordered.onward {
            if let Some(partitions) = &mut self.partitions {
                partitions.note_rights(as_of);
            }
            landed.extend(self.go_on(asker));
        }
        for run in ordered.void {
            let mut permitted = Vec::with_capacity(run.len());
            for asker in run {
                match self.permit_again(asker) {
                    (asker, None) => permitted.push(asker),
                    (asker, Some(failure)) => landed.extend(asker.fail(&failure)),
                }
            }
            self.send_in_order(permitted);
        }
        Ok(landed)
    }

    turnstile_services::services!(judge_jobs);

    fn permit_job_of<M: Clustered>(
        &mut self,
        caller: Caller,
        job: Job<M>,
    ) -> (ClusterAsker, Option<Failure>)
    where
        Services: Hosts<M>,
    {
        self.caller = caller;
        let permitted = self.permit_job(&job);
        let caller = std::mem::replace(&mut self.caller, Caller::server());
        (M::asker(caller, job), permitted.err().map(failure_of))
    }

    /// Asserts that the caller may ask for all of a job. Only the first partition knows the rights of today:
    /// others take those that the caller had where it is known.
    fn permit_job<M: Housed>(&mut self, job: &Job<M>) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        let knows_rights = job.partition() == PartitionNumber::FIRST;
        match job {
            Job::Commands(requests, _) => requests.iter().try_for_each(|request| {
                let command = request.command::<M>();
                let command = command.expect("it was a command when it came");
                let key = request
                    .key()
                    .and_then(|key| Key::parse(key.as_bytes()).ok());
                if knows_rights {
                    self.permit_command::<M>(key, &command)
                } else {
                    self.permit_known_command::<M>(key, &command)
                }
            }),
            Job::Queries(_, queries, _) => queries.iter().try_for_each(|(query, _)| {
                if knows_rights {
                    self.permit_query::<M>(query)
                } else {
                    self.permit_known_query::<M>(query)
                }
            }),
        }
    }

    /// Has the order of the shared log decide a command of the server itself, if there is such a log; says
    /// whether there is.
    pub(crate) fn note_in_order<M: Registered>(&mut self, command: &M::Command<'_>) -> bool {
        let Some(cluster) = &mut self.cluster else {
            return false;
        };
        let mut payload = Vec::new();
        M::encode_command(command, &mut payload);
        let at = (self.now, self.backend.sequencer().state());
        cluster.note(at, (M::SERVICE, payload));
        true
    }

    /// Has the shared log take what was asked in this turn.
    pub(crate) fn propose(&mut self) {
        if let Some(cluster) = &mut self.cluster {
            cluster.propose(self.now, self.backend.sequencer().state());
        }
    }
}

/// What is answered to a request that its caller may not ask, or not any more: nothing was done.
fn failure_of(denied: NotPermitted) -> Failure {
    match denied {
        NotPermitted::Missing(missing) => Failure::Forbidden(missing),
        // Its next request is told that it is nobody any more, or has asked for too much.
        NotPermitted::NotLoggedIn | NotPermitted::LoggedOut | NotPermitted::Quota(_) => {
            let reason = denied.to_string();
            Failure::Unavailable { reason }
        }
    }
}

#[cfg(test)]
mod tests {
    use turnstile_access::MissingRight;

    use super::*;

    /// A client could not tell a right that was taken away from a cluster that does not answer, and tried
    /// again for ever.
    #[test]
    fn who_has_lost_a_right_is_told_which() {
        let missing = MissingRight::Operate;
        let failures = [NotPermitted::Missing(missing), NotPermitted::LoggedOut].map(failure_of);
        assert_eq!(failures[0], Failure::Forbidden(missing));
        assert!(matches!(failures[1], Failure::Unavailable { .. }));
    }
}
