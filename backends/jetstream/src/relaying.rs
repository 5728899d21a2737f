//! Messages between nodes, beside the log: requests for partitions that another node holds, their answers,
//! and what nodes say of themselves. Brokers keep none of them.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use async_nats::{
    Client, Message, StatusCode, Subject, SubscribeError, Subscriber, connection::State,
};
use bytes::Bytes;
use futures_util::{
    StreamExt as _,
    stream::{SelectAll, select_all},
};
use tokio::{
    runtime::Builder,
    sync::{mpsc, watch},
    time::{sleep, timeout},
};

use crate::{
    connecting::{self, ConnectionSignals},
    id::NodeName,
    settings::LogSettings,
    subjects::LineSubjects,
};

/// Messages on their way to or from the thread.
const MESSAGES_MAX: usize = 16_384;

/// How long the end waits for brokers to take what is on its way.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long a line that brokers refuse, or whose files are not what they should be, waits before it tries
/// again: somebody may be changing them.
const REFUSED_PAUSE: Duration = Duration::from_secs(5);

/// The group of those of which one gets each request.
const HOLDERS: &str = "holders";

/// Where the answer to a request goes. Only a request that has come has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyAddress(Subject);

/// What has come from other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeMessage {
    /// A request for a partition that this node holds.
    Asked { from: ReplyAddress, bytes: Bytes },
    /// The answer to the request of this number.
    Answered { number: u64, bytes: Bytes },
    /// No node that holds the partition is there: nobody has got the request of this number.
    Missed { number: u64 },
    /// A node says who it is.
    Announced { bytes: Bytes },
    /// What is wrong with the connection, in words.
    Trouble(String),
}

/// What the thread is told.
enum LineOrder {
    Ask {
        number: u64,
        partition: NodeName,
        bytes: Bytes,
    },
    Answer {
        to: ReplyAddress,
        bytes: Bytes,
    },
    Announce {
        bytes: Bytes,
    },
    Leave,
}

/// The line of a node to the other nodes of its cluster, through the brokers.
///
/// A request goes to one of the nodes that hold its partition, at most once. No method waits for brokers: while
/// none is there, the line connects again, and what was to be sent may be lost. Dropped, it ends.
#[derive(Debug)]
pub struct NodeLine {
    orders: Option<mpsc::Sender<LineOrder>>,
    /// Dropped at the end.
    life: Option<watch::Sender<()>>,
    messages: mpsc::Receiver<NodeMessage>,
    is_woken: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Too much is on its way to the brokers: nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineIsFull;

impl fmt::Display for LineIsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many messages to other nodes wait for the brokers")
    }
}

impl std::error::Error for LineIsFull {}

impl NodeLine {
    /// Begins to connect. `settings` are those of the first partition, `run` tells this run of the node from
    /// earlier ones, and `holds` are the partitions whose requests come here. From a thread of the line,
    /// `wake` is called when [`next_message`](Self::next_message) has something after it had nothing; it must not block.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(
        settings: &LogSettings,
        run: u64,
        holds: Vec<NodeName>,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, to_do) = mpsc::channel(MESSAGES_MAX);
        let (tell, messages) = mpsc::channel(MESSAGES_MAX);
        let (life, lives) = watch::channel(());
        let is_woken = Arc::new(AtomicBool::new(false));
        let work = LineWork {
            subjects: LineSubjects {
                cluster: settings.partition.clone(),
                node: settings.node.clone(),
                run,
            },
            settings: settings.clone(),
            holds,
            orders: to_do,
            lives,
            tell: LineTeller {
                messages: tell,
                is_woken: Arc::clone(&is_woken),
                wake: Box::new(wake),
            },
        };
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let thread = thread::Builder::new()
            .name("node-line".to_owned())
            .spawn(move || {
                runtime.block_on(work.run());
                // A look-up of an address may still be under way, and must not keep the caller.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            orders: Some(orders),
            life: Some(life),
            messages,
            is_woken,
            thread: Some(thread),
        })
    }

    /// Sends a request to a node that holds the partition. The number tells it from all others of this run.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn ask(
        &self,
        number: u64,
        partition: &NodeName,
        bytes: Arc<[u8]>,
    ) -> Result<(), LineIsFull> {
        self.order(LineOrder::Ask {
            number,
            partition: partition.clone(),
            bytes: Bytes::from_owner(bytes),
        })
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Nothing was sent: who asked hears nothing.
    pub fn answer(&self, to: ReplyAddress, bytes: Vec<u8>) -> Result<(), LineIsFull> {
        let bytes = bytes.into();
        self.order(LineOrder::Answer { to, bytes })
    }

    /// Says to all nodes, this one too, who this one is.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn announce(&self, bytes: Vec<u8>) -> Result<(), LineIsFull> {
        let bytes = bytes.into();
        self.order(LineOrder::Announce { bytes })
    }

    /// Gets no more requests. What has come is still answered.
    ///
    /// # Errors
    /// Nothing happened.
    pub fn leave(&self) -> Result<(), LineIsFull> {
        self.order(LineOrder::Leave)
    }

    fn order(&self, order: LineOrder) -> Result<(), LineIsFull> {
        let orders = self.orders.as_ref().ok_or(LineIsFull)?;
        orders.try_send(order).map_err(|_full_or_ended| LineIsFull)
    }

    /// What has come next.
    pub fn next_message(&mut self) -> Option<NodeMessage> {
        if let Ok(message) = self.messages.try_recv() {
            return Some(message);
        }
        // From here on the thread wakes us. What it has sent before, without waking us, is taken now.
        self.is_woken.store(false, Ordering::SeqCst);
        self.messages.try_recv().ok()
    }
}

impl Drop for NodeLine {
    fn drop(&mut self) {
        self.orders = None;
        self.life = None;
        self.messages.close();
        if let Some(thread) = self.thread.take() {
            // It has no way to fail that anybody could do something about.
            drop(thread.join());
        }
    }
}

/// How the thread tells what has come.
struct LineTeller {
    messages: mpsc::Sender<NodeMessage>,
    is_woken: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send>,
}

impl LineTeller {
    /// Tells something; it is dropped when the node takes too little: who asked asks again, or waits for
    /// nothing longer.
    fn tell(&self, message: NodeMessage) {
        if self.messages.try_send(message).is_ok() && !self.is_woken.swap(true, Ordering::SeqCst) {
            (self.wake)();
        }
    }
}

/// Has the brokers send no more requests, before they are told anything else. What has come is still taken.
async fn leave(requests: &mut SelectAll<Subscriber>) {
    for subscriber in requests.iter_mut() {
        // It fails only when the client has ended.
        drop(subscriber.unsubscribe().await);
    }
}

/// Connects, however long that takes. A refusal is told each time.
async fn connect(
    settings: &LogSettings,
    signals: &Arc<ConnectionSignals>,
    tell: &LineTeller,
) -> Client {
    loop {
        match connecting::connect(settings, signals, |_obstacle| {}).await {
            Ok(client) => return client,
            Err(refused) => tell.tell(NodeMessage::Trouble(refused.to_string())),
        }
        sleep(REFUSED_PAUSE).await;
    }
}

/// What the thread begins with.
struct LineWork {
    settings: LogSettings,
    subjects: LineSubjects,
    holds: Vec<NodeName>,
    orders: mpsc::Receiver<LineOrder>,
    lives: watch::Receiver<()>,
    tell: LineTeller,
}

impl LineWork {
    async fn run(mut self) {
        let signals = Arc::new(ConnectionSignals::default());
        let Some(client) = self.connect(&signals).await else {
            return;
        };
        let subscribed = self.subscribe(&client).await;
        let Ok((requests, others)) = subscribed else {
            let trouble = "the brokers' client has ended".to_owned();
            return self.tell.tell(NodeMessage::Trouble(trouble));
        };
        let (mut requests, mut others) = (select_all(requests), select_all(others));
        let mut told = None;
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    None => break,
                    Some(LineOrder::Leave) => leave(&mut requests).await,
                    Some(order) => if !self.carry(&client, order).await {
                        break;
                    },
                },
                Some(message) = requests.next() => self.take(message),
                message = others.next() => match message {
                    None => break,
                    Some(message) => self.take(message),
                },
                () = signals.changed.notified() => {
                    if !signals.complains_as(told.as_ref()) {
                        told = signals.complaint();
                        let trouble = told.clone().map(NodeMessage::Trouble);
                        trouble.into_iter().for_each(|trouble| self.tell.tell(trouble));
                    }
                }
            }
        }
        // What is on its way to the brokers leaves before the connection ends.
        drop(timeout(FAREWELL, client.flush()).await);
    }

    /// Connects; nothing when the line has ended before.
    async fn connect(&mut self, signals: &Arc<ConnectionSignals>) -> Option<Client> {
        let connecting = connect(&self.settings, signals, &self.tell);
        tokio::pin!(connecting);
        loop {
            tokio::select! {
                client = &mut connecting => return Some(client),
                order = self.orders.recv() => match order? {
                    LineOrder::Ask { number, .. } => {
                        self.tell.tell(NodeMessage::Missed { number });
                    }
                    LineOrder::Answer { .. } | LineOrder::Announce { .. } | LineOrder::Leave => {}
                },
            }
        }
    }

    /// Where requests come, and where all else does.
    async fn subscribe(
        &self,
        client: &Client,
    ) -> Result<(Vec<Subscriber>, [Subscriber; 2]), SubscribeError> {
        let mut requests = Vec::new();
        for partition in &self.holds {
            let subject = self.subjects.requests(partition);
            requests.push(client.queue_subscribe(subject, HOLDERS.to_owned()).await?);
        }
        let answers = format!("{}.*", self.subjects.answers());
        let answers = client.subscribe(answers).await?;
        let announcements = client.subscribe(self.subjects.announcements()).await?;
        Ok((requests, [answers, announcements]))
    }

    /// Carries an order out; says whether the line goes on. What cannot be sent now is not sent later.
    async fn carry(&self, client: &Client, order: LineOrder) -> bool {
        if client.connection_state() != State::Connected {
            if let LineOrder::Ask { number, .. } = order {
                self.tell.tell(NodeMessage::Missed { number });
            }
            return true;
        }
        let mut lives = self.lives.clone();
        // While brokers come and go, this may take long.
        let end = async {
            let _ended = lives.changed().await;
            sleep(FAREWELL).await;
        };
        tokio::select! {
            () = self.send(client, order) => true,
            () = end => false,
        }
    }

    async fn send(&self, client: &Client, order: LineOrder) {
        let sent = match order {
            LineOrder::Ask {
                number,
                partition,
                bytes,
            } => {
                let answers = format!("{}.{number}", self.subjects.answers());
                let requests = self.subjects.requests(&partition);
                client.publish_with_reply(requests, answers, bytes).await
            }
            LineOrder::Answer { to, bytes } => client.publish(to.0, bytes).await,
            LineOrder::Announce { bytes } => {
                client.publish(self.subjects.announcements(), bytes).await
            }
            LineOrder::Leave => Ok(()),
        };
        if let Err(error) = sent {
            self.tell.tell(NodeMessage::Trouble(error.to_string()));
        }
    }

    fn take(&self, message: Message) {
        let Message {
            subject,
            reply,
            payload,
            status,
            ..
        } = message;
        let answers = self.subjects.answers();
        let number = subject.strip_prefix(&*answers);
        let number = number.and_then(|number| number.strip_prefix('.')?.parse().ok());
        self.tell.tell(match (number, reply) {
            (Some(number), _) if status == Some(StatusCode::NO_RESPONDERS) => {
                NodeMessage::Missed { number }
            }
            (Some(number), _) => NodeMessage::Answered {
                number,
                bytes: payload,
            },
            // Nobody has this node send something anywhere else.
            (None, Some(from)) if !from.starts_with(&self.subjects.all_answers()) => return,
            (None, Some(from)) => NodeMessage::Asked {
                from: ReplyAddress(from),
                bytes: payload,
            },
            (None, None) => NodeMessage::Announced { bytes: payload },
        });
    }
}
