//! Drives any RESP server with one command: `raw ADDR USERS PIPELINE SECONDS COMMAND...`.
//!
//! To be set beside `redis-benchmark` at the same work:
//! `raw 127.0.0.1:6379 50 16 5 SET key value`.

use std::{error::Error, time::Duration};

use turnstile_load::raw::{self, Config};

const USAGE: &str = "usage: raw ADDR USERS PIPELINE SECONDS COMMAND...";

#[expect(clippy::print_stdout, reason = "an example prints its result")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, users, pipeline, seconds, command @ ..] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let config = Config {
        address: address.parse()?,
        users: users.parse()?,
        threads: 1,
        pipeline: pipeline.parse()?,
        warm_up: Duration::from_millis(500),
        duration: Duration::from_secs_f64(seconds.parse()?),
        command: command
            .iter()
            .map(|part| part.clone().into_bytes())
            .collect(),
    };
    println!("{}", raw::run(&config, &mut |_progress| {})?);
    Ok(())
}
