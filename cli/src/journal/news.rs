//! Waits until something is written in a directory.

use std::{io, mem::MaybeUninit, os::fd::OwnedFd, path::Path};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify::{self, CreateFlags, WatchFlags},
    io::{Errno, read},
};

/// How long it waits at most: not every file system tells what happens on it.
const LOOK_AGAIN: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// What the system tells of a directory.
#[derive(Debug)]
pub(super) struct JournalNews(OwnedFd);

impl JournalNews {
    pub(super) fn of(dir: &Path) -> io::Result<Self> {
        let news = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let told = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
        inotify::add_watch(&news, dir, told)?;
        Ok(Self(news))
    }

    /// Returns when something was written since the last call, or after a while.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let mut ready = [PollFd::new(&self.0, PollFlags::IN)];
        match poll(&mut ready, Some(&LOOK_AGAIN)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut events = [MaybeUninit::uninit(); 4_096];
        loop {
            match read(&self.0, &mut events) {
                Ok(_told) => {}
                Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
