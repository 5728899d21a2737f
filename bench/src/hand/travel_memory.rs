//! What ten thousand open interactive transactions take.

use anyhow::{Context as _, Result};
use turnstile_client::resp::Value;

use crate::{
    ground::{Ground, tell},
    load::fill,
    process::bytes_each,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
    server::{Kind, ServerDurability},
};

const OPEN: u32 = 10_000;

/// One connection may have only so many transactions open.
const OPEN_EACH: u64 = 500;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    const BYTES: &str = "bytes/transaction";
    let title = "Ten thousand open transactions";
    let mut section = Section::between_probes(ground, title, || {
        let bytes = (0..ground.rounds()).map(|_round| sample(ground));
        let bytes = SubjectMetric::new(BYTES, bytes.collect::<Result<_>>()?);
        let setting = format!(
            "{OPEN} transactions, each of which has queried a customer and queried and reserved a flight, \
             a car and a room of its own: by how much the resident memory of a server in memory has grown \
             for each, {} rounds",
            ground.rounds()
        );
        Ok((
            setting,
            vec![MeasuredRow::new("turnstile memory", vec![bytes])],
        ))
    })?;
    let target = "resident bytes of an open transaction";
    let ratio = Ratio::spread(section.subjects[0].values(BYTES));
    section.claim_ratio(target, ratio, Bound::AtMost(4_096.0));
    Ok(section)
}

fn sample(ground: &Ground) -> Result<f64> {
    let server = ground.start(Kind::Turnstile(ServerDurability::Memory))?;
    let lines = [
        "1 TRAVEL.START".to_owned(),
        format!("{OPEN} TRAVEL.ADD-CUSTOMER __id__ CUSTOMER 9000__n__"),
        format!("{OPEN} TRAVEL.ADD-ITEM __id__ flight-9000__n__ 9 100"),
        format!("{OPEN} TRAVEL.ADD-ITEM __id__ car-L__n__ 9 50"),
        format!("{OPEN} TRAVEL.ADD-ITEM __id__ room-L__n__ 9 80"),
        "1 TRAVEL.COMMIT __id__".to_owned(),
    ];
    fill::run(&mut server.connect()?, &lines)?;
    let before = server.resident_bytes()?;
    let mut connection = server.connect()?;
    for key in 0..u64::from(OPEN) {
        if key % OPEN_EACH == 0 {
            connection = server.connect()?;
        }
        open(&mut connection, key)?;
    }
    let grown = server.resident_bytes()?.saturating_sub(before);
    let each = bytes_each(grown, OPEN)?;
    tell(&format!(
        "Memory: {each:.0} bytes for each open transaction"
    ))?;
    Ok(each)
}

/// Opens one, and has it query and reserve what is its own.
fn open(connection: &mut turnstile_client::Connection, key: u64) -> Result<()> {
    let started = connection.command(&[b"TRAVEL.START"])?;
    let id = started.as_array().and_then(|parts| parts.get(1));
    let Some(Value::Integer(id)) = id else {
        anyhow::bail!("not started: {started:?}");
    };
    let customer = format!("9000{key}");
    let mut ask = |command: String| {
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        let reply = connection.command(&words)?;
        let is_error = matches!(reply, Value::Error(_));
        (!is_error)
            .then_some(())
            .with_context(|| format!("{command}: {reply:?}"))
    };
    ask(format!("TRAVEL.QUERY-CUSTOMER {id} {customer}"))?;
    for item in [
        format!("flight-{customer}"),
        format!("car-L{key}"),
        format!("room-L{key}"),
    ] {
        ask(format!("TRAVEL.QUERY-ITEM {id} {item}"))?;
        ask(format!("TRAVEL.RESERVE {id} {customer} {item}"))?;
    }
    Ok(())
}
