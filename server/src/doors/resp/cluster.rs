//! `CLUSTER`: what operators ask of a node that shares its log with others.

use turnstile_http::SecurityEventKind;
use turnstile_resp::{Arguments, Encoder, catalogue::Verb};

use super::{Next, Session, Surroundings};

const ALONE: &str = "ERR this server is no node of a cluster";

impl Session {
    pub(super) fn operate_cluster(
        &mut self,
        around: &mut Surroundings<'_>,
        verb: Verb,
        arguments: Arguments<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let is_draining = around.signals.is_draining();
        let engine = &mut *around.engine;
        let Some(cluster) = &mut engine.cluster else {
            return self.invalid(engine, format_args!("{ALONE}"), out);
        };
        let node = cluster.node_name().to_owned();
        match verb {
            Verb::ClusterDrain if arguments.get(2) != Some(node.as_bytes()) => {
                let sentence = format_args!("ERR this is node {node}, not the one to be drained");
                return self.invalid(engine, sentence, out);
            }
            Verb::ClusterDrain => {
                self.watches_drain = true;
                let by = Some(engine.caller.principal);
                engine
                    .security
                    .operated(SecurityEventKind::Drained, by, None);
                around.signals.drain();
                Encoder::new(out, self.protocol).ok();
            }
            Verb::ClusterAge => {
                let (now, state) = (engine.now(), engine.backend().sequencer().state());
                let entry = state.shared().map_or(0, |place| place.sequence);
                let mut reply = Encoder::new(out, self.protocol);
                reply.array(3);
                for number in [entry, state.position().0, now.ms_since(state.time())] {
                    reply.integer(number);
                }
            }
            Verb::ClusterStepDown => match cluster.step_down() {
                Ok(()) => Encoder::new(out, self.protocol).ok(),
                Err(busy) => return self.invalid(engine, format_args!("BUSY {busy}"), out),
            },
            _ => {
                let report = engine.cluster_report(is_draining);
                let report = report.map(|report| report.to_string()).unwrap_or_default();
                Encoder::new(out, self.protocol).text(&report);
            }
        }
        Next::Go
    }
}
