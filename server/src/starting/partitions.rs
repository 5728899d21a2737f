//! The other partitions of a node: a server without doors for each, on a directory of its own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use turnstile_embedded::files;
use turnstile_jetstream::{LogSettings, NodeName};
use turnstile_types::PartitionNumber;

use super::{BesideLoop, Running, Starting};
use crate::{
    Settings, StartError, Stopper,
    core::{
        cluster::other_nodes::KnownNodes,
        feed::Feeds,
        partitions::{OpenLine, PartitionHome, PartitionLine, Partitions},
    },
    doors::http::FollowedPartitions,
};

/// Where the directories of other partitions lie, below that of the first.
const FOLDER: &str = "partitions";

/// The file with the key that seals id numbers: all partitions have the same.
const ID_KEY: &str = "id.key";

/// What the loop of another partition has in place of doors.
pub(super) struct InPlaceOfDoors {
    /// Where its answers go.
    pub(super) home: PartitionHome,
    /// Where its events go.
    pub(super) feeds: Feeds,
    /// Who stops when it ends.
    pub(super) first: Stopper,
}

/// Another partition that is to be started.
pub(super) struct PartitionStart {
    number: PartitionNumber,
    name: String,
    settings: Settings,
    line: OpenLine,
    home: PartitionHome,
    feeds: Feeds,
}

/// A partition that is recovered, by its number and its name.
type BegunPartition = (Starting, (PartitionNumber, String, Feeds), OpenLine);

/// The partitions of a node, for those who follow them, with what is known of other nodes.
pub(super) fn followed(settings: &Settings, starts: &[PartitionStart]) -> FollowedPartitions {
    let followed = |start: &PartitionStart| {
        let feeds = start.feeds.clone();
        start.line.followed(start.name.clone(), feeds)
    };
    let first = settings.partitions.first().map(ToString::to_string);
    FollowedPartitions {
        first: first.unwrap_or_default(),
        others: starts.iter().map(followed).collect(),
        elsewhere: settings
            .partitions
            .iter()
            .filter(|name| !holds(settings, name))
            .map(ToString::to_string)
            .collect(),
        known: KnownNodes::default(),
    }
}

/// Whether a server is the first of several partitions: it has the doors, and starts the others.
pub(super) fn is_first_of_several(settings: &Settings) -> bool {
    let own = settings.cluster.as_ref().map(|log| &log.partition);
    settings.partitions.len() > 1 && settings.partitions.first() == own
}

/// Whether a node holds a partition of its cluster.
pub(super) fn holds(settings: &Settings, name: &NodeName) -> bool {
    settings.holds.is_empty() || settings.holds.contains(name)
}

/// The other partitions that a node is configured to hold, each with the ends of the way to it.
pub(super) fn of_node(
    settings: &Settings,
    mut way: impl FnMut() -> (OpenLine, PartitionHome),
) -> Vec<PartitionStart> {
    let (Some(log), Some(data)) = (&settings.cluster, &settings.data) else {
        return Vec::new();
    };
    if !is_first_of_several(settings) {
        return Vec::new();
    }
    let numbers = (0..).map_while(PartitionNumber::new);
    let others = numbers.zip(&settings.partitions).skip(1);
    let held = others.filter(|(_, name)| holds(settings, name));
    let start = |(number, name): (PartitionNumber, &NodeName)| {
        let (line, home) = way();
        PartitionStart {
            number,
            name: name.to_string(),
            settings: Settings {
                data: Some(directory(data, name.as_str())),
                cluster: Some(LogSettings {
                    partition: name.clone(),
                    ..log.clone()
                }),
                partitions: settings.partitions.clone(),
                limits: settings.limits,
                ..Settings::closed(settings.storage)
            },
            line,
            home,
            feeds: Feeds::new(settings.limits.http.events),
        }
    };
    held.map(start).collect()
}

/// Starts all of them, and waits until they are recovered. Those that run are beside the loop, also when one
/// does not start.
pub(super) fn start(
    starts: Vec<PartitionStart>,
    first: &Path,
    main: &Stopper,
    beside: &mut BesideLoop,
) -> Result<Vec<(PartitionNumber, PartitionLine)>, StartError> {
    let mut begun = Vec::new();
    for start in starts {
        let begin = || {
            if let Some(own) = &start.settings.data {
                prepare(first, own).map_err(StartError::System)?;
            }
            let in_place_of_doors = InPlaceOfDoors {
                home: start.home,
                feeds: start.feeds.clone(),
                first: main.clone(),
            };
            Starting::begin_partition(&start.settings, in_place_of_doors)
        };
        match begin() {
            Ok(starting) => {
                main.add(starting.stopper());
                let known = (start.number, start.name, start.feeds);
                begun.push((starting, known, start.line));
            }
            Err(failure) => {
                give_up(begun, beside);
                return Err(failure);
            }
        }
    }
    let mut lines = Vec::new();
    let mut begun = begun.into_iter();
    while let Some((starting, (number, name, feeds), line)) = begun.next() {
        match starting.finish() {
            Ok(one) => {
                lines.push((number, line.to(name, one.gate(), feeds)));
                beside.partitions.push(one);
            }
            Err(failure) => {
                give_up(begun.collect(), beside);
                return Err(failure);
            }
        }
    }
    Ok(lines)
}

/// The ways to all other partitions, of which this node has these.
pub(super) fn ways(
    settings: &Settings,
    lines: Vec<(PartitionNumber, PartitionLine)>,
) -> Option<Partitions> {
    if !is_first_of_several(settings) {
        return None;
    }
    let mut ways: Vec<_> = settings.partitions.iter().skip(1).map(|_| None).collect();
    for (number, line) in lines {
        let place = usize::from(number.get()).checked_sub(1);
        if let Some(way) = place.and_then(|place| ways.get_mut(place)) {
            *way = Some(line);
        }
    }
    let names = settings.partitions.iter().map(ToString::to_string);
    Some(Partitions::new(names.collect(), ways))
}

/// Ends what has begun; what runs already is left beside the loop.
fn give_up(begun: Vec<BegunPartition>, beside: &mut BesideLoop) {
    for (starting, ..) in begun {
        starting.stopper().stop();
        beside.partitions.extend(starting.finish().ok());
    }
}

/// Stops partitions whose server does not start.
pub(super) fn stop(running: impl IntoIterator<Item = Running>) {
    for one in running {
        one.stopper().stop();
        if let Err(failure) = one.join() {
            tracing::warn!(%failure, "a partition did not end well");
        }
    }
}

fn directory(data: &Path, name: &str) -> PathBuf {
    data.join(FOLDER).join(name)
}

/// Makes the directory of a partition, with the key of the first, unless it is there.
fn prepare(first: &Path, own: &Path) -> io::Result<()> {
    files::make_directory(own)?;
    let unfinished = format!("{ID_KEY}.new");
    let mut is_new = true;
    for entry in fs::read_dir(own)? {
        is_new &= entry?.file_name() == unfinished.as_str();
    }
    if is_new {
        files::put(own, ID_KEY, &fs::read(first.join(ID_KEY))?)?;
    }
    Ok(())
}
