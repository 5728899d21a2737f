//! What nodes pass on to others that hold the partitions.

use turnstile_seed::Random;

use super::{PartitionBug, PartitionHistory, index};
use crate::{
    cluster::{
        mail::{MailContent, NodeMail},
        node::ClusterCaller,
    },
    violation::{Judged, Violation, violation},
};

impl PartitionHistory {
    /// A node passes an operation on to one that holds the partition.
    pub(super) fn pass_on(
        &mut self,
        (at, node): (usize, usize),
        (operation, has_key): (usize, bool),
    ) -> Judged {
        let may_repeat = has_key || self.bug == PartitionBug::RepeatWithoutKey;
        let to = self.partitions[at].number;
        let now = self.now_at(node);
        let asked = self.relays[node].ask(now, (to, Vec::new()), may_repeat, operation);
        let message =
            asked.map_err(|_operation| Violation("few requests are passed on".to_owned()))?;
        self.summary.relayed += 1;
        self.mail.send(NodeMail {
            by: (node, self.starts[node]),
            number: message.number,
            operation,
            at,
            carries: MailContent::Request {
                hops: 1,
                has_key: true,
            },
        });
        Ok(())
    }

    /// Sends again what has waited for another node, and gives up what has waited too long.
    pub(super) fn tend_relay(&mut self, node: usize) {
        let now = self.now_at(node);
        let due = self.relays[node].due(now);
        for message in due.again {
            let operation = self.relays[node].caller_of(message.number);
            let operation = *operation.expect("it waits");
            self.summary.relayed_again += 1;
            self.mail.send(NodeMail {
                by: (node, self.starts[node]),
                number: message.number,
                operation,
                at: usize::from(message.to.get()),
                carries: MailContent::Request {
                    hops: 1,
                    has_key: self.bug != PartitionBug::ForgetKeyInRelay,
                },
            });
        }
        self.summary.unknown += due.ended.len() as u64;
    }

    /// A message between nodes comes, or is lost.
    pub(super) fn take_mail(&mut self, may_fail: bool) -> Judged {
        let Some(mail) = self.mail.some(&mut self.random) else {
            return Ok(());
        };
        if may_fail && self.random.one_in(8) {
            return Ok(());
        }
        match mail.carries {
            MailContent::Request { hops, has_key } => {
                let node = self.reached(mail.at, may_fail);
                self.take_request(node, &mail, (hops, has_key))
            }
            MailContent::Decided { .. } | MailContent::NotHeld => self.take_answer(mail),
        }
    }

    /// The node to which a request for a partition comes: one that holds it, or seldom another one.
    fn reached(&mut self, at: usize, may_fail: bool) -> usize {
        let goes_astray = may_fail && self.random.one_in(6);
        let fits = |node: &usize| goes_astray || self.holds[*node][at];
        let fitting: Vec<usize> = (0..self.holds.len()).filter(fits).collect();
        fitting[index(self.random.below(fitting.len() as u64))]
    }

    fn take_request(
        &mut self,
        node: usize,
        mail: &NodeMail,
        (hops, has_key): (u32, bool),
    ) -> Judged {
        if hops > 1 {
            return violation(format!("{hops} nodes have passed a request on"));
        }
        let NodeMail {
            by,
            number,
            operation,
            at,
            ..
        } = *mail;
        if !self.holds[node][at] {
            let carries = match self.bug {
                PartitionBug::RelayInCircle => MailContent::Request {
                    hops: hops + 1,
                    has_key,
                },
                _ => MailContent::NotHeld,
            };
            self.mail.send(NodeMail {
                carries,
                ..mail.clone()
            });
            return Ok(());
        }
        let record = self.partitions[at].oracle.record_of(operation);
        let record = if has_key {
            record
        } else {
            record.without_key()
        };
        let caller = ClusterCaller::Relayed {
            by,
            number,
            operation,
        };
        self.put((at, node), record, caller)
    }

    fn take_answer(&mut self, mail: NodeMail) -> Judged {
        let (node, run) = mail.by;
        if run != self.starts[node] {
            return Ok(());
        }
        match mail.carries {
            MailContent::NotHeld => {
                self.relays[node].missed(mail.number);
                Ok(())
            }
            MailContent::Decided { sequence, told } => {
                let answered = self.relays[node].answered(mail.number);
                if answered.is_none() && self.bug != PartitionBug::AnswerTwice {
                    return Ok(());
                }
                self.summary.relayed_answers += 1;
                self.tell((mail.at, mail.operation), sequence, &told)
            }
            MailContent::Request { .. } => Ok(()),
        }
    }
}

/// Which of so many partitions a node holds: the first, and of the others some, so that each has a node.
pub(super) fn held(random: &mut Random, node: u64, nodes: u64, partitions: usize) -> Vec<bool> {
    let holds = |at: usize| at == 0 || at as u64 % nodes == node || random.one_in(2);
    (0..partitions).map(holds).collect()
}
