//! Who did what: the journal's files, read on a thread of its own.

mod newest;

use std::{
    mem,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use tokio::sync::{Mutex, MutexGuard, oneshot};
use turnstile_chassis::{Right, Subject};
use turnstile_embedded::{AuditExtent, Auditor, VerifyError};
use turnstile_http::{AuditRequest, Code, Problem, read_audit};
use turnstile_json::{AuditFilter, AuditLine, AuditLines, AuditPage};
use turnstile_types::{Audited, Machine as _, Position, Principal};

use self::newest::NewestLines;
use super::{
    Door,
    call::HttpCall,
    documents::unstored,
    limits::{AUDIT_BYTES, AUDIT_COMMANDS, AUDIT_KEPT, AUDIT_LEASE},
    operations::Answered,
    reply::RaisedProblem,
};

/// The audits that are open.
#[derive(Debug, Default)]
pub(super) struct Audits {
    open: Mutex<Option<OpenAudit>>,
    newest: Mutex<Option<NewestLines>>,
}

/// An audit that rests after a page.
///
/// To say what was refused and why, the commands are decided again, which takes the state of all services a
/// second time. So there is one audit at a time, and it rests between two pages: the next page goes on
/// where the last has ended. While a page is made, this is locked and empty; if its client leaves, the
/// audit ends.
#[derive(Debug)]
pub(super) struct OpenAudit {
    filter: AuditFilter,
    /// Who reads it.
    reader: Principal,
    /// Where it goes on.
    place: Position,
    /// Whether its last page was the end of the journal.
    is_whole: bool,
    used: Instant,
    /// Its thread ends with this.
    wishes: SyncSender<PageWish>,
}

/// A page that somebody waits for.
struct PageWish {
    limit: usize,
    /// Takes the page, and where the next begins.
    page: oneshot::Sender<Result<(Position, AuditPage), String>>,
}

impl Audits {
    /// Takes the place of an audit that gives way: the journal is decided again for one reader at a time.
    pub(super) fn claim(
        &self,
        reader: &Principal,
    ) -> Result<MutexGuard<'_, Option<OpenAudit>>, Problem> {
        let mut open = self.open.try_lock().map_err(|_locked| busy())?;
        if open.as_ref().is_some_and(|open| !open.gives_way(reader)) {
            return Err(busy());
        }
        *open = None;
        Ok(open)
    }

    /// Ends an audit that nobody has read for a while: it holds much memory.
    pub(super) fn rest(&self) {
        if let Ok(mut kept) = self.open.try_lock() {
            kept.take_if(|kept| kept.used.elapsed() >= AUDIT_KEPT);
        }
        if let Ok(mut kept) = self.newest.try_lock() {
            kept.take_if(|kept| kept.used.elapsed() >= AUDIT_KEPT);
        }
    }
}

impl OpenAudit {
    fn serves(&self, request: &AuditRequest) -> bool {
        self.filter == request.filter && self.place == request.after
    }

    /// Whether another request may end it: it has come to its end, or its reader has left or asks for another.
    fn gives_way(&self, reader: &Principal) -> bool {
        self.is_whole || self.reader == *reader || self.used.elapsed() >= AUDIT_LEASE
    }

    fn begin(
        directory: PathBuf,
        reader: Principal,
        request: &AuditRequest,
    ) -> Result<Self, Problem> {
        let (wishes, wished) = sync_channel(1);
        let (filter, after) = (request.filter.clone(), request.after);
        let thread = thread::Builder::new().name("audit".to_owned());
        let lines = AuditLines::new(filter.clone());
        let begun = thread.spawn(move || read_journal(&directory, (lines, after), &wished));
        begun.map_err(|failure| {
            tracing::error!(%failure, "the thread of an audit cannot be made");
            Problem::from(Code::Unavailable)
        })?;
        Ok(Self {
            filter,
            reader,
            place: after,
            is_whole: false,
            used: Instant::now(),
            wishes,
        })
    }
}

/// Answers one page of the audit.
pub(super) async fn audit(door: Arc<Door>, call: HttpCall) -> Answered {
    let access = turnstile_access::Access::SERVICE;
    call.visitor
        .may_follow(access, Right::Read, &Subject::All)?;
    let request = read_audit(&call.given()?)?;
    let Some(directory) = door.about.data.clone() else {
        let none = "this server keeps no journal on a disk";
        return Err(RaisedProblem::from(Problem::with(Code::Unsupported, none)));
    };
    let reader = call.visitor.caller.principal;
    let page = match request.before {
        Some(before) => newest::page(&door.audits, directory, reader, &request, before).await,
        None => next_page(&door.audits, directory, reader, &request).await,
    };
    Ok(unstored(page?.json(), "application/json"))
}

fn busy() -> Problem {
    Problem::with(Code::Overloaded, "another audit is read: try again soon")
}

fn unaudited(cause: String) -> Problem {
    tracing::error!(%cause, "the journal cannot be audited");
    Problem::with(Code::Unavailable, cause)
}

/// A page in the order of the journal.
async fn next_page(
    audits: &Audits,
    directory: PathBuf,
    reader: Principal,
    request: &AuditRequest,
) -> Result<AuditPage, Problem> {
    let mut kept = audits.open.try_lock().map_err(|_locked| busy())?;
    let mut audit = match kept.take() {
        Some(audit) if audit.serves(request) => audit,
        Some(other) if !other.gives_way(&reader) => {
            *kept = Some(other);
            return Err(busy());
        }
        _ => OpenAudit::begin(directory, reader, request)?,
    };
    let (answer, page) = oneshot::channel();
    let wish = PageWish {
        limit: request.limit,
        page: answer,
    };
    audit
        .wishes
        .try_send(wish)
        .map_err(|_ended| Problem::from(Code::Unavailable))?;
    let page = page.await.map_err(|_ended| Code::Unavailable)?;
    let (next, page) = page.map_err(unaudited)?;
    audit.place = next;
    audit.is_whole = page.next.is_none();
    audit.used = Instant::now();
    *kept = Some(audit);
    Ok(page)
}

/// The thread of an audit: it makes pages as long as somebody wishes for one.
fn read_journal(
    directory: &Path,
    (lines, after): (AuditLines, Position),
    wished: &Receiver<PageWish>,
) {
    let Ok(wish) = wished.recv() else { return };
    let mut pages = AuditPages {
        lines,
        after,
        read: Position(0),
        begin: Position(0),
        page: AuditPage::default(),
        taken: Taken::default(),
        wish: Some(wish),
        wished,
    };
    if let Err(failure) = pages.make(directory)
        && let Some(wish) = pages.wish.take()
    {
        // Its client may have left.
        drop(wish.page.send(Err(failure.to_string())));
    }
}

/// What was read for a page, shown or not.
#[derive(Debug, Default)]
struct Taken {
    commands: u64,
    /// Bytes of commands and outcomes that are shown.
    bytes: usize,
}

/// Makes pages of what the journal has.
struct AuditPages<'a> {
    lines: AuditLines,
    /// What was decided up to here is not shown: earlier pages had it.
    after: Position,
    /// The last record that was read.
    read: Position,
    /// Where the journal begins.
    begin: Position,
    page: AuditPage,
    taken: Taken,
    /// Who waits for the page; nobody between two pages.
    wish: Option<PageWish>,
    wished: &'a Receiver<PageWish>,
}

impl AuditPages<'_> {
    /// Makes pages until nobody wishes for one.
    fn make(&mut self, directory: &Path) -> Result<(), VerifyError> {
        let mut auditor = Auditor::open(directory)?;
        self.begin = auditor.from();
        loop {
            let (extent, more) = auditor.read(|audited| self.take(&audited))?;
            let Some(more) = more else { return Ok(()) };
            if self.end(extent).is_break() {
                return Ok(());
            }
            auditor = more;
        }
    }

    fn take(&mut self, audited: &Audited<'_>) -> ControlFlow<()> {
        let by = audited.by();
        // What one record has answered stands on one page, so that a position says where the next begins.
        if by > self.read && self.is_full() {
            self.hand_over(false)?;
        }
        if self.wish.as_ref().is_none_or(|wish| wish.page.is_closed()) {
            return ControlFlow::Break(());
        }
        self.read = by;
        let bytes = match audited {
            Audited::Command(command) => {
                self.taken.commands += 1;
                self.page.read += u64::from(by > self.after);
                command.payload.len() + command.outcome.len()
            }
            Audited::Answer { outcome, .. } => outcome.len(),
        };
        let line = self.lines.take(audited);
        if let Some(line) = line.filter(|_| by > self.after) {
            self.taken.bytes += bytes;
            self.page.commands.push(line);
        }
        ControlFlow::Continue(())
    }

    fn is_full(&self) -> bool {
        let limit = self.wish.as_ref().map_or(0, |wish| wish.limit);
        self.page.commands.len() >= limit
            || self.taken.commands >= AUDIT_COMMANDS
            || self.taken.bytes >= AUDIT_BYTES
    }

    /// Hands over the last page, with the commands that nobody has answered.
    fn end(&mut self, extent: AuditExtent) -> ControlFlow<()> {
        self.read = extent.last;
        let waiting: Vec<AuditLine> = self.lines.waiting().cloned().collect();
        self.page.commands.extend(waiting);
        self.hand_over(true)
    }

    /// Hands over the page, and waits for the wish of the next.
    fn hand_over(&mut self, is_last: bool) -> ControlFlow<()> {
        let next = self.read.max(self.after);
        let mut page = mem::take(&mut self.page);
        page.after = self.begin.0;
        page.position = self.read.0;
        if !is_last {
            page.go_on_at(next);
        }
        if let Some(wish) = self.wish.take() {
            // Its client may have left: then there is no next.
            drop(wish.page.send(Ok((next, page))));
        }
        self.after = next;
        self.taken = Taken::default();
        match self.wished.recv() {
            Ok(wish) => {
                self.wish = Some(wish);
                ControlFlow::Continue(())
            }
            Err(_nobody) => ControlFlow::Break(()),
        }
    }
}
