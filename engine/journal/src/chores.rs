//! Who does what a commit need not wait for.

/// Who prepares segments, and who carries submitted groups to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chores {
    /// Threads of their own: a commit never waits for zeros, a submitted group is carried at once.
    Background,
    /// The committing thread: a segment right after the last one was taken, a submitted group
    /// when it is asked for. Everything happens in the same order each time.
    Inline,
}
