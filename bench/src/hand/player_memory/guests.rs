//! Players who connect at a door, play one game in pairs, and stay.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use turnstile_client::resp;

use super::super::newcomer::Newcomer;
use crate::{
    load::tables::{MOVES, number_of_match},
    server::Server,
};

/// A WebSocket's mask, which changes nothing: all its bytes are zero.
const MASK: [u8; 4] = [0; 4];

#[derive(Clone, Copy, Debug)]
pub(super) enum Door {
    Wire,
    Resp,
    WebSocket,
}

impl Door {
    /// Lets so many come and play.
    pub(super) fn seat(self, server: &Server, players: u32) -> Result<Vec<Newcomer>> {
        let mut guests = Vec::new();
        for first in (1..=players).step_by(2) {
            let pair = match self {
                Self::Wire => play_on_wire(server.doors().arena, first)?,
                Self::Resp => play_over_resp(server.resp(), first)?,
                Self::WebSocket => play_on_sockets(server.doors().http, first)?,
            };
            guests.extend(pair);
        }
        Ok(guests)
    }
}

/// Says a text in one frame of a WebSocket.
fn say_text(guest: &mut Newcomer, text: &str) -> Result<()> {
    let length = u8::try_from(text.len()).ok().filter(|&length| length < 126);
    let length = length.context("a message of the script is short")?;
    let mut frame = vec![0x81, 0x80 | length];
    frame.extend_from_slice(&MASK);
    frame.extend_from_slice(text.as_bytes());
    guest.say(&frame)
}

fn pair(address: SocketAddr) -> Result<[Newcomer; 2]> {
    Ok([
        Newcomer::connect(address, None)?,
        Newcomer::connect(address, None)?,
    ])
}

fn play_on_wire(address: SocketAddr, first: u32) -> Result<[Newcomer; 2]> {
    let mut pair = pair(address)?;
    for (guest, [own, other]) in pair
        .iter_mut()
        .zip([[first, first + 1], [first + 1, first]])
    {
        guest.say(format!("\x01{own}:{other}:").as_bytes())?;
    }
    let starts = [pair[0].message()?, pair[1].message()?];
    // Both may have been read in one turn of the server, in whichever order.
    if starts == [[2], [1]] {
        pair.swap(0, 1);
    } else {
        ensure!(starts == [[1], [2]], "no start: {starts:?}");
    }
    for cell in 1..=MOVES {
        let mover = usize::from(cell % 2 == 0);
        pair[mover].say(&[if cell == MOVES { 8 } else { 4 }, cell])?;
        ensure!(pair[1 - mover].message()? == [cell], "no move came");
    }
    for guest in &mut pair {
        guest.say(b"d")?;
    }
    for (guest, standing) in pair.iter_mut().zip(["1:1:0:", "1:0:1:"]) {
        ensure!(guest.message()? == standing.as_bytes(), "no statistics");
    }
    Ok(pair)
}

fn play_over_resp(address: SocketAddr, first: u32) -> Result<[Newcomer; 2]> {
    let mut pair = pair(address)?;
    let names = [first, first + 1].map(|name| name.to_string().into_bytes());
    let [one, other] = names.each_ref().map(Vec::as_slice);
    let mut ask = |guest: usize, words: &[&[u8]]| {
        let mut request = Vec::new();
        resp::put_command(&mut request, words);
        pair[guest].say(&request)?;
        let reply = pair[guest].reply()?;
        let is_done =
            reply.starts_with(b"*") && memchr::memmem::find(&reply, b"\r\n:1\r\n").is_some();
        ensure!(is_done, "refused: {}", reply.escape_ascii());
        anyhow::Ok(reply)
    };
    let begun = ask(0, &[b"GAMES.BEGIN", one, other, b"tic-tac-toe"])?;
    let number = number_of_match(&begun).context("no match began")?;
    for cell in 0..MOVES {
        let mover = usize::from(cell % 2 == 1);
        let (seen, cell) = ([b'0' + cell], [b'1' + cell]);
        let name = names[mover].as_slice();
        ask(mover, &[b"GAMES.MOVE", number, name, &seen, &cell])?;
    }
    Ok(pair)
}

fn play_on_sockets(address: SocketAddr, first: u32) -> Result<[Newcomer; 2]> {
    const BEGUN: &[u8] = br#"{"match":"#;
    let names = [first, first + 1];
    let mut pair = pair(address)?;
    for (guest, name) in pair.iter_mut().zip(names) {
        let request = format!(
            "GET /v1/games/play?player={name} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        guest.say(request.as_bytes())?;
        guest.until(br#""op":"state""#)?;
    }
    for (guest, opponent) in pair.iter_mut().zip([names[1], names[0]]) {
        let challenge =
            format!(r#"{{"op":"challenge","opponent":"{opponent}","game":"tic-tac-toe"}}"#);
        say_text(guest, &challenge)?;
        guest.until(br#""op":"done""#)?;
    }
    pair[0].until(BEGUN)?;
    let number = String::from_utf8(pair[0].until(b",")?)?;
    let number = number.trim_end_matches(',');
    for ply in 0..MOVES {
        let mover = usize::from(ply % 2 == 1);
        let choice = ply + 1;
        let step = format!(r#"{{"op":"move","match":{number},"ply":{ply},"choice":{choice}}}"#);
        say_text(&mut pair[mover], &step)?;
        pair[mover].until(br#""op":"done""#)?;
    }
    Ok(pair)
}
