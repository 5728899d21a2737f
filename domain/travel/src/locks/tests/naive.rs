//! The same rules without any cleverness: two lists, searched from the start each time.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Mode;
use crate::Xid;

#[derive(Clone, Copy, Debug)]
struct Wish {
    xid: Xid,
    resource: u8,
    mode: Mode,
    converts: bool,
}

#[derive(Debug, Default)]
pub(super) struct Naive {
    grants: Vec<(Xid, u8, Mode)>,
    /// In order of arrival.
    wishes: Vec<Wish>,
}

impl Naive {
    pub(super) fn acquire(&mut self, xid: Xid, resource: u8, mode: Mode) -> bool {
        let held = self
            .grants
            .iter()
            .find(|grant| grant.0 == xid && grant.1 == resource);
        let converts = held.is_some();
        let mode = match held {
            Some(&(_, _, had)) if had == mode || had == Mode::Exclusive => return true,
            Some(_) => Mode::Exclusive,
            None => mode,
        };
        self.wishes.push(Wish {
            xid,
            resource,
            mode,
            converts,
        });
        self.serve();
        !self.wishes.iter().any(|wish| wish.xid == xid)
    }

    pub(super) fn release(&mut self, xid: Xid) -> Vec<Xid> {
        let waited: BTreeSet<Xid> = self.waiting().into_iter().collect();
        self.grants.retain(|grant| grant.0 != xid);
        self.wishes.retain(|wish| wish.xid != xid);
        self.serve();
        let waits: BTreeSet<Xid> = self.waiting().into_iter().chain([xid]).collect();
        waited.difference(&waits).copied().collect()
    }

    pub(super) fn waiting(&self) -> Vec<Xid> {
        let mut waiting: Vec<Xid> = self.wishes.iter().map(|wish| wish.xid).collect();
        waiting.sort();
        waiting
    }

    pub(super) fn held(&self) -> Vec<(Xid, u8, Mode)> {
        let mut held = self.grants.clone();
        held.sort();
        held
    }

    fn stands_before(&self, other: usize, at: usize) -> bool {
        let (other_wish, wish) = (self.wishes[other], self.wishes[at]);
        other != at
            && other_wish.resource == wish.resource
            && match (other_wish.converts, wish.converts) {
                (true, false) => true,
                (false, true) => false,
                _ => other < at,
            }
    }

    fn serve(&mut self) {
        while let Some(at) = (0..self.wishes.len()).find(|&at| self.may_be_served(at)) {
            let wish = self.wishes.remove(at);
            let mine = |grant: &(Xid, u8, Mode)| grant.0 == wish.xid && grant.1 == wish.resource;
            self.grants.retain(|grant| !mine(grant));
            self.grants.push((wish.xid, wish.resource, wish.mode));
        }
    }

    fn may_be_served(&self, at: usize) -> bool {
        let wish = self.wishes[at];
        let jumps =
            wish.converts || !(0..self.wishes.len()).any(|other| self.stands_before(other, at));
        jumps && !self.grants.iter().any(|grant| blocks(grant, wish))
    }

    /// Everybody for whom somebody waits: holders and those before it that it cannot share with.
    pub(super) fn edges(&self) -> Vec<(Xid, Xid)> {
        let mut edges = Vec::new();
        for (at, &wish) in self.wishes.iter().enumerate() {
            let holders = self.grants.iter().filter(|grant| blocks(grant, wish));
            edges.extend(holders.map(|grant| (wish.xid, grant.0)));
            for (other, ahead) in self.wishes.iter().enumerate() {
                let shared = ahead.mode == wish.mode && wish.mode != Mode::Exclusive;
                if self.stands_before(other, at) && !shared && !wish.converts {
                    edges.push((wish.xid, ahead.xid));
                }
            }
        }
        edges
    }
}

fn blocks(grant: &(Xid, u8, Mode), wish: Wish) -> bool {
    let fits = grant.2 == wish.mode && wish.mode != Mode::Exclusive;
    grant.0 != wish.xid && grant.1 == wish.resource && !fits
}

/// Those who wait, through others, for themselves.
pub(super) fn on_cycles(edges: &[(Xid, Xid)]) -> BTreeSet<Xid> {
    let mut next: BTreeMap<Xid, Vec<Xid>> = BTreeMap::new();
    for &(from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let reaches_itself = |start: Xid| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Xid> = next.get(&start).cloned().unwrap_or_default();
        while let Some(xid) = open.pop() {
            if xid == start {
                return true;
            }
            if seen.insert(xid) {
                open.extend(next.get(&xid).into_iter().flatten());
            }
        }
        false
    };
    next.keys()
        .copied()
        .filter(|&xid| reaches_itself(xid))
        .collect()
}
