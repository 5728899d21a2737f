//! What each broker of a cluster says of itself: its version, and whether it syncs.

use std::{collections::BTreeSet, sync::Arc};

use async_nats::{ServerAddr, ServerInfo};
use serde::Deserialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    connecting::{self, ConnectionSignals},
    event::BrokerWarning,
    settings::LogSettings,
    version::{BrokerVersion, RefusedVersion},
};

/// How many brokers are asked: a cluster for a log has three or five.
const BROKERS_MAX: usize = 32;

/// The most bytes that a monitoring address may answer.
const MONITOR_BYTES_MAX: u64 = 1 << 20;

/// What the brokers say.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) warnings: Vec<BrokerWarning>,
    /// The first broker whose version is refused.
    pub(crate) refused: Option<(String, RefusedVersion)>,
    /// How many brokers said something.
    pub(crate) heard: usize,
}

/// Asks every broker that the settings or another broker name.
pub(crate) async fn survey(settings: &LogSettings) -> Result<Survey, String> {
    let mut survey = Survey::default();
    let mut servers = BTreeSet::new();
    let mut asked = BTreeSet::new();
    let mut to_ask = connecting::addresses(settings);
    while let Some(address) = to_ask.pop() {
        let place = format!("{}:{}", address.host(), address.port());
        if asked.len() >= BROKERS_MAX || !asked.insert(place.clone()) {
            continue;
        }
        match info(settings, address).await? {
            Err(reason) => survey.warnings.push(BrokerWarning::Unreachable {
                address: place,
                reason,
            }),
            Ok(info) => {
                let urls = info.connect_urls.iter();
                to_ask.extend(urls.filter_map(|url| url.parse().ok()));
                if servers.insert(info.server_id.clone()) {
                    survey.hear(&info);
                }
            }
        }
    }
    let lazy = lazy(settings, &mut survey.warnings).await;
    if settings.monitors.is_empty() {
        survey.warnings.push(BrokerWarning::SyncUnknown);
    }
    for broker in lazy {
        survey.warnings.push(BrokerWarning::DoesNotSync { broker });
    }
    Ok(survey)
}

impl Survey {
    fn hear(&mut self, info: &ServerInfo) {
        self.heard += 1;
        let broker = info.server_name.clone();
        match BrokerVersion::trusted(&info.version) {
            Ok(version) if version.is_untried() => {
                let version = info.version.clone();
                self.warnings
                    .push(BrokerWarning::UntriedVersion { broker, version });
            }
            Ok(_) => {}
            Err(refused) => self.refused = self.refused.take().or(Some((broker, refused))),
        }
    }
}

/// What one broker says of itself when we connect to it alone; inside, why it says nothing.
async fn info(
    settings: &LogSettings,
    address: ServerAddr,
) -> Result<Result<ServerInfo, String>, String> {
    let options = connecting::options(settings, &Arc::new(ConnectionSignals::default()))?;
    let alone = options.ignore_discovered_servers().max_reconnects(Some(1));
    let connected = timeout(settings.timeouts.connect, alone.connect(address)).await;
    Ok(match connected {
        Ok(Ok(client)) => Ok(client.server_info()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_elapsed) => Err("no answer in time".to_owned()),
    })
}

/// What a broker says under `/varz`, as far as it matters.
#[derive(Debug, Deserialize)]
struct Varz {
    server_name: String,
    #[serde(default)]
    jetstream: VarzJetStream,
}

#[derive(Debug, Default, Deserialize)]
struct VarzJetStream {
    #[serde(default)]
    config: VarzConfig,
}

#[derive(Debug, Default, Deserialize)]
struct VarzConfig {
    #[serde(default)]
    sync_always: bool,
}

/// The brokers that do not sync.
async fn lazy(settings: &LogSettings, warnings: &mut Vec<BrokerWarning>) -> Vec<String> {
    let mut lazy = Vec::new();
    for address in &settings.monitors {
        match timeout(settings.timeouts.connect, varz(address)).await {
            Ok(Ok(varz)) if varz.jetstream.config.sync_always => {}
            Ok(Ok(varz)) => lazy.push(varz.server_name),
            Ok(Err(reason)) => warnings.push(BrokerWarning::NoMonitor {
                address: address.clone(),
                reason,
            }),
            Err(_elapsed) => warnings.push(BrokerWarning::NoMonitor {
                address: address.clone(),
                reason: "no answer in time".to_owned(),
            }),
        }
    }
    lazy
}

async fn varz(address: &str) -> Result<Varz, String> {
    let sentence = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(address).await.map_err(sentence)?;
    let request = format!("GET /varz HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .map_err(sentence)?;
    let mut answer = String::new();
    let mut bounded = stream.take(MONITOR_BYTES_MAX);
    bounded
        .read_to_string(&mut answer)
        .await
        .map_err(sentence)?;
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| "no answer of HTTP".to_owned())?;
    if !head.contains(" 200 ") {
        let line = head.lines().next().unwrap_or_default();
        return Err(line.chars().take(100).collect());
    }
    serde_json::from_str(body).map_err(|error| error.to_string())
}
