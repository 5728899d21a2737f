//! A node of a test with a network and a clock of its own, which can fail.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use turnstile_brokers::{Brokers, Carriage, FaultyPath, PathWay};
use turnstile_tests::Turnstile;

use crate::cluster::{NodePlace, make_room};

/// What a node is started with, again and again.
pub(super) struct WiredNode {
    place: NodePlace,
    /// One to each broker.
    paths: Vec<FaultyPath>,
    /// The file that says how wrong its clock is.
    clock: PathBuf,
}

impl WiredNode {
    pub(super) fn of(folder: &Path, brokers: &Brokers, number: usize) -> Self {
        let paths = brokers.clients().into_iter().map(FaultyPath::to);
        let paths: Vec<FaultyPath> = paths.collect::<Result<_, _>>().expect("free ports");
        let mut place = NodePlace::of(folder, brokers, number);
        for (direct, path) in brokers.urls().iter().zip(&paths) {
            let mut words = place.arguments.iter_mut();
            let url = words.find(|word| *word == direct);
            *url.expect("each broker is named") = format!("nats://{}", path.address());
        }
        let clock = folder.join(format!("clock-{number}"));
        let node = Self {
            place,
            paths,
            clock,
        };
        node.set_clock(0);
        node
    }

    /// The directory of its journal.
    pub(super) fn data(&self) -> &Path {
        &self.place.data
    }

    /// Makes the directory of a new node, which shares the secret of another.
    pub(super) fn make(&self, secret_of: Option<&Self>) {
        match secret_of {
            None => fs::create_dir(self.data()).expect("a folder for a node"),
            Some(other) => make_room(self.data(), other.data()),
        }
    }

    pub(super) fn start(&self) -> Turnstile {
        let environment: [(&str, OsString); 4] = [
            ("LD_PRELOAD", faketime().into()),
            ("FAKETIME_TIMESTAMP_FILE", self.clock.clone().into()),
            ("FAKETIME_CACHE_DURATION", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ];
        Turnstile::begin_in(self.data(), &self.place.arguments, &environment).ready()
    }
    /// Sets the clock so many seconds ahead, or behind.
    pub(super) fn set_clock(&self, seconds: i32) {
        // The node may read at any time: it finds the old file or the new one.
        let new = self.clock.with_extension("new");
        fs::write(&new, format!("{seconds:+}s\n")).expect("a file for a clock");
        fs::rename(&new, &self.clock).expect("the same folder");
    }

    /// Changes how bytes are carried from the node to all brokers, or back.
    pub(super) fn carry(&self, way: PathWay, carriage: Carriage) {
        for path in &self.paths {
            path.set(way, carriage);
        }
    }

    pub(super) fn carry_both(&self, carriage: Carriage) {
        self.carry(PathWay::There, carriage);
        self.carry(PathWay::Back, carriage);
    }

    /// Its disk was replaced: nothing is left but the secret, which operators keep elsewhere.
    pub(super) fn lose_data(&self) {
        let key = fs::read(self.data().join("id.key")).expect("it has a key");
        fs::remove_dir_all(self.data()).expect("no node runs there");
        fs::create_dir(self.data()).expect("a folder for a node");
        let file = self.data().join("id.key");
        fs::write(&file, key).expect("the key of before");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&file, mode).expect("the file is ours");
    }
}

/// The library that tells a program another time of day.
fn faketime() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").expect("every Debian has libraries");
    let libraries = folders
        .flatten()
        .map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let mut found = libraries.filter(|library| library.is_file());
    found
        .next()
        .expect("`cargo xtask test` installs the package faketime")
}
