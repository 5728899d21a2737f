//! One connection: pipelines calls and matches the replies in order.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use redis::{
    Cmd, Pipeline, RedisConnectionInfo, RedisFuture, RedisResult, Value, aio::ConnectionLike, cmd,
};
use tokio::{
    io::AsyncReadExt as _,
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Mutex as Turns, oneshot},
    task::JoinHandle,
    time::timeout,
};

use crate::replies::{ReplyBuffer, StrangeReply};

/// How long Redis may take for one call.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes that are read at once, at least.
const READ_BYTES: usize = 16 << 10;

/// One connection, for many callers at a time.
///
/// A call is written by whoever makes it, and a task reads the replies. The library's own connection hands
/// each call to a task that writes it, and reads replies by a general parser, which costs our process more
/// for the same.
///
/// The system holds a call back until Redis has acknowledged the one before (Nagle's algorithm), which it
/// mostly does by its answer. With `TCP_NODELAY` fewer and larger batches were under way, and no more was
/// decided.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    shared: Arc<LineState>,
    database: i64,
    _reader: Arc<Reader>,
}

#[derive(Debug)]
struct LineState {
    /// Whoever writes has its turn; what stands here is whether the one before wrote all it had.
    writing: Turns<WriteHalf>,
    awaited: Mutex<PendingCalls>,
}

#[derive(Debug)]
struct WriteHalf {
    half: OwnedWriteHalf,
    /// A call was cut off in the middle: whatever followed would be taken for its rest.
    is_cut: bool,
}

/// Who waits for replies, in the order of their calls.
#[derive(Debug, Default)]
struct PendingCalls {
    calls: VecDeque<PipelinedCall>,
    /// Why there will be none any more.
    ended: Option<String>,
}

/// A call, and what has come of its replies.
#[derive(Debug)]
struct PipelinedCall {
    replies: Vec<Value>,
    expected: usize,
    answer: oneshot::Sender<Vec<Value>>,
}

/// The task that reads; it ends with this.
#[derive(Debug)]
struct Reader(JoinHandle<()>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Line {
    /// Connects, and says who we are.
    ///
    /// # Errors
    /// There is nobody, nobody answers, or we are refused.
    pub(crate) async fn connect(
        (host, port): (&str, u16),
        settings: &RedisConnectionInfo,
    ) -> RedisResult<Self> {
        let connecting = timeout(PATIENCE, TcpStream::connect((host, port)));
        let socket = connecting.await.map_err(|_elapsed| late("connection"))??;
        let (incoming, half) = socket.into_split();
        let shared = Arc::new(LineState {
            writing: Turns::new(WriteHalf {
                half,
                is_cut: false,
            }),
            awaited: Mutex::default(),
        });
        let reader = tokio::spawn(read(incoming, Arc::clone(&shared)));
        let mut line = Self {
            shared,
            database: settings.db(),
            _reader: Arc::new(Reader(reader)),
        };
        if let Some(password) = settings.password() {
            let mut login = cmd("AUTH");
            login.arg(settings.username()).arg(password);
            login.query_async::<()>(&mut line).await?;
        }
        if line.database != 0 {
            let mut select = cmd("SELECT");
            select.arg(line.database);
            select.query_async::<()>(&mut line).await?;
        }
        Ok(line)
    }

    /// Whether nothing more can be asked here.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.awaited().ended.is_some()
    }

    /// Has a call done that has so many replies. Where it fails, the connection has ended.
    async fn call(&self, bytes: &[u8], replies: usize) -> RedisResult<Vec<Value>> {
        let called = timeout(PATIENCE, self.shared.call(bytes, replies)).await;
        let called = called.unwrap_or_else(|_elapsed| Err(late("answer")));
        Ok(called.inspect_err(|error| self.shared.awaited().end(error.to_string()))?)
    }
}

impl LineState {
    async fn call(&self, bytes: &[u8], replies: usize) -> io::Result<Vec<Value>> {
        assert!(replies > 0, "a call expects a reply");
        let (answer, answered) = oneshot::channel();
        {
            let mut writing = self.writing.lock().await;
            if mem::replace(&mut writing.is_cut, true) {
                return Err(lost("a call was cut off"));
            }
            self.awaited().put(replies, answer)?;
            write_all(&writing.half, bytes).await?;
            writing.is_cut = false;
        }
        answered.await.map_err(|_gone| {
            let ended = self.awaited().ended.clone();
            lost(&ended.unwrap_or_default())
        })
    }

    fn awaited(&self) -> MutexGuard<'_, PendingCalls> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write_all(half: &OwnedWriteHalf, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match half.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => half.writable().await?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes replies as they come, until the connection ends.
async fn read(mut incoming: OwnedReadHalf, shared: Arc<LineState>) {
    let mut replies = ReplyBuffer::default();
    let ended = loop {
        match incoming.read_buf(replies.space(READ_BYTES)).await {
            Ok(0) => break "the connection was closed".to_owned(),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
        if let Err(strange) = shared.awaited().take(&mut replies) {
            break strange.to_string();
        }
    };
    shared.awaited().end(ended);
}

impl PendingCalls {
    fn put(&mut self, expected: usize, answer: oneshot::Sender<Vec<Value>>) -> io::Result<()> {
        if let Some(reason) = &self.ended {
            return Err(lost(reason));
        }
        self.calls.push_back(PipelinedCall {
            replies: Vec::with_capacity(expected),
            expected,
            answer,
        });
        Ok(())
    }

    /// Gives the replies that are whole to those who wait for them.
    fn take(&mut self, replies: &mut ReplyBuffer) -> Result<(), StrangeReply> {
        while let Some(reply) = replies.take()? {
            let Some(call) = self.calls.front_mut() else {
                return Err(StrangeReply::Unasked);
            };
            call.replies.push(reply);
            if call.replies.len() == call.expected
                && let Some(call) = self.calls.pop_front()
            {
                // Whoever was tired of waiting has dropped its end.
                drop(call.answer.send(call.replies));
            }
        }
        Ok(())
    }

    /// Those who wait learn of it when their ends are dropped. What ended it first is what they are told.
    fn end(&mut self, reason: String) {
        self.ended.get_or_insert(reason);
        self.calls.clear();
    }
}

fn late(what: &str) -> io::Error {
    let seconds = PATIENCE.as_secs();
    io::Error::new(ErrorKind::TimedOut, format!("no {what} for {seconds} s"))
}

fn lost(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::ConnectionReset, reason.to_owned())
}

impl ConnectionLike for Line {
    fn req_packed_command<'a>(&'a mut self, call: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let mut replies = self.call(&call.get_packed_command(), 1).await?;
            Ok(replies.pop().unwrap_or(Value::Nil))
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        calls: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let bytes = calls.get_packed_pipeline();
            let replies = self.call(&bytes, offset + count).await?;
            Ok(replies.into_iter().skip(offset).collect())
        })
    }

    fn get_db(&self) -> i64 {
        self.database
    }
}
