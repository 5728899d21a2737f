//! A server that answers at once in a process of its own: what a process may have open is limited, and
//! ten thousand connections have two ends.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use turnstile_client::descriptors;

use crate::{
    server::{Record, Server, Setup},
    wire::Wire,
};

/// The words that let the program of the lab be such a server.
pub const WORDS: [&str; 2] = ["lab", "answer"];

/// Descriptors that it asks the system for.
const DESCRIPTORS: u64 = 16_384;

/// The process, until it is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    pub address: SocketAddr,
    child: Child,
}

impl ServerProcess {
    /// Starts the program of the lab on a processor that this thread keeps to.
    ///
    /// # Errors
    /// It cannot be started, or does not say where it listens.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(WORDS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().map(BufReader::new);
        let mut line = String::new();
        let read = out.map(|mut out| out.read_line(&mut line)).transpose();
        match read.map(|_bytes| line.trim().parse()) {
            Ok(Ok(address)) => Ok(Self { address, child }),
            told => {
                let ended = child.kill().and_then(|()| child.wait());
                Err(io::Error::other(format!(
                    "it does not say where it listens: {told:?}, {ended:?}"
                )))
            }
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The end of its input ends it, and a signal does if it does not read.
        drop(self.child.stdin.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Is the server: tells where it listens, and answers until its input ends.
///
/// # Errors
/// The system has no socket to give, or nobody reads the address.
pub fn answer(mut input: impl Read, mut output: impl Write) -> io::Result<Record> {
    // As many as there are must do.
    descriptors::allow(DESCRIPTORS).ok();
    let server = Server::start(Setup::at_once(Wire::Numbers, None))?;
    writeln!(output, "{}", server.address)?;
    output.flush()?;
    io::copy(&mut input, &mut io::sink())?;
    server.stop()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Cursor, Read as _, Write as _},
        net::TcpStream,
        path::Path,
    };

    use super::{ServerProcess, answer};

    #[test]
    fn it_says_where_it_listens_and_answers_until_its_input_ends() {
        let (input, mut ends) = std::io::pipe().unwrap();
        let (told, output) = std::io::pipe().unwrap();
        let server = std::thread::spawn(move || answer(input, output));
        let mut told = std::io::BufReader::new(told);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut told, &mut line).unwrap();
        let mut stream = TcpStream::connect(line.trim()).unwrap();
        stream.write_all(&5_u64.to_le_bytes()).unwrap();
        let mut number = [0; 8];
        stream.read_exact(&mut number).unwrap();
        assert_eq!(u64::from_le_bytes(number), 5);
        ends.flush().unwrap();
        drop(ends);
        assert_eq!(server.join().unwrap().unwrap().answers, 1);
        assert_eq!(answer(Cursor::new([]), Vec::new()).unwrap().answers, 0);
    }

    #[test]
    fn a_program_that_is_none_of_ours_is_an_error() {
        let told = ServerProcess::start(Path::new("true"))
            .unwrap_err()
            .to_string();
        assert!(told.contains("does not say where it listens"), "{told}");
        ServerProcess::start(Path::new("/nowhere/at/all")).unwrap_err();
    }
}
