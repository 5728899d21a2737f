//! A wire to a server that can be cut.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// When the next connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cut {
    Never,
    /// When something is sent, before the server has it.
    Request,
    /// When the server answers, before anybody hears it.
    Answer,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    cut: Arc<AtomicU8>,
    silent: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) async fn start(target: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("the loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let cut = Arc::new(AtomicU8::new(Cut::Never as u8));
        let silent = Arc::new(AtomicBool::new(false));
        let (orders, silence) = (Arc::clone(&cut), Arc::clone(&silent));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let orders = (Arc::clone(&orders), Arc::clone(&silence));
                tokio::spawn(carry(client, target, orders));
            }
        });
        Self { port, cut, silent }
    }

    /// Cuts a connection that is open when something is sent on it, and takes new ones without carrying a
    /// byte.
    pub(crate) fn be_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }

    /// Cuts one connection, once.
    pub(crate) fn cut(&self, when: Cut) {
        self.cut.store(when as u8, Ordering::SeqCst);
    }

    /// The same database, through this wire.
    pub(crate) fn through(&self, url: &str, target: u16) -> String {
        url.replace(&format!(":{target}/"), &format!(":{}/", self.port))
    }
}

/// Carries bytes both ways until one side ends, or the order comes.
async fn carry(
    mut client: TcpStream,
    target: u16,
    (orders, silence): (Arc<AtomicU8>, Arc<AtomicBool>),
) {
    if silence.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", target)).await else {
        return;
    };
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let is_cut = |when: Cut| {
        let (now, never) = (when as u8, Cut::Never as u8);
        silence.load(Ordering::SeqCst)
            || orders
                .compare_exchange(now, never, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
    };
    loop {
        let carried = tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(length @ 1..) if !is_cut(Cut::Request) => {
                    server.write_all(&asked[..length]).await
                }
                _ => return,
            },
            read = server.read(&mut answered) => match read {
                Ok(length @ 1..) if !is_cut(Cut::Answer) => {
                    client.write_all(&answered[..length]).await
                }
                _ => return,
            },
        };
        if carried.is_err() {
            return;
        }
    }
}
