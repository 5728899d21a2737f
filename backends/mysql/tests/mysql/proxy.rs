//! A wire to a server that can be cut after so many bytes.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// How far the next cut is; nowhere near when it is as large as this.
const NEVER: i64 = i64::MAX / 2;

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Bytes that still go to the server, and to the client.
    left: Arc<[AtomicI64; 2]>,
}

impl Proxy {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("the loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let left = Arc::new([AtomicI64::new(NEVER), AtomicI64::new(NEVER)]);
        let lefts = Arc::clone(&left);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, target, Arc::clone(&lefts)));
            }
        });
        Self { port, left }
    }

    /// Cuts a connection, once, when so many bytes more have gone to the server.
    pub(crate) fn cut_requests(&self, bytes: i64) {
        self.left[0].store(bytes, Ordering::SeqCst);
    }

    /// Cuts a connection, once, when so many bytes more have come from the server.
    pub(crate) fn cut_answers(&self, bytes: i64) {
        self.left[1].store(bytes, Ordering::SeqCst);
    }

    /// Whether the last cut is still to come; it will not.
    pub(crate) fn spare(&self) -> bool {
        let before = [&self.left[0], &self.left[1]].map(|left| left.swap(NEVER, Ordering::SeqCst));
        before.iter().any(|&left| left < NEVER / 2)
    }
}

/// Carries bytes both ways until one side ends or is cut.
async fn carry(client: TcpStream, target: u16, left: Arc<[AtomicI64; 2]>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", target)).await else {
        return;
    };
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    tokio::select! {
        () = pass(client_reads, server_writes, &left[0]) => {}
        () = pass(server_reads, client_writes, &left[1]) => {}
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, left: &AtomicI64) {
    let mut bytes = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let count = i64::try_from(length).expect("a small buffer");
        let before = left.fetch_sub(count, Ordering::SeqCst);
        if before <= count {
            left.store(NEVER, Ordering::SeqCst);
            let last = usize::try_from(before).unwrap_or(0);
            drop(to.write_all(&bytes[..last]).await);
            return;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
