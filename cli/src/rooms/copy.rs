//! `turnstile rooms copy`: a whole state of rooms from a data directory to a database, or back.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use turnstile_contract::copy::{Digest, Refusal, Stage, copy};
use turnstile_server::CopyPlace;
use turnstile_stats::units::Count;
use turnstile_types::Timestamp;

use crate::{
    connect::secret_in,
    exit,
    hidden_value::HiddenValue,
    terminal::{self, Progress, Table},
};

#[derive(Args, Debug)]
pub(crate) struct CopyArguments {
    /// Place to copy from
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = HiddenValue::<CopyPlace>::new(),
        required_unless_present = "from_file"
    )]
    from: Option<CopyPlace>,
    /// File that holds the place to copy from, such as a URL with a password
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    from_file: Option<PathBuf>,
    /// Place to copy to; must be empty
    #[arg(
        long,
        value_name = "PLACE",
        value_parser = HiddenValue::<CopyPlace>::new(),
        required_unless_present = "to_file"
    )]
    to: Option<CopyPlace>,
    /// File that holds the place to copy to, such as a URL with a password
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    to_file: Option<PathBuf>,
    /// Delete what an unfinished copy left in the target, and start over
    #[arg(long)]
    again: bool,
}

pub(crate) fn run(arguments: &CopyArguments) -> anyhow::Result<()> {
    let from = place(arguments.from.as_ref(), arguments.from_file.as_deref())?;
    let to = place(arguments.to.as_ref(), arguments.to_file.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let digest = runtime.block_on(copy_all(&from, &to, arguments.again))?;
    terminal::line(format_args!("copied {from} to {to}, and both are equal"))?;
    tabulate(&digest).print()?;
    Ok(())
}

/// A place that was named on the command line or in a file.
fn place(named: Option<&CopyPlace>, file: Option<&Path>) -> anyhow::Result<CopyPlace> {
    if let Some(place) = named {
        return Ok(place.clone());
    }
    let file = file.expect("clap requires the place or its file");
    let shown = file.display();
    let text = secret_in(file, "the place")?;
    let text = str::from_utf8(&text).with_context(|| shown.to_string())?;
    let place = text.trim().parse();
    place.map_err(|invalid| exit::Coded::usage(format!("{shown}: {invalid}")).into())
}

async fn copy_all(from: &CopyPlace, to: &CopyPlace, again: bool) -> anyhow::Result<Digest> {
    if from == to {
        let message = "a state is copied from one place to another".to_owned();
        return Err(exit::Coded::usage(message).into());
    }
    if matches!((from, to), (CopyPlace::Database(_), CopyPlace::Database(_))) {
        let message = format!(
            "rooms are not copied from one database to another; copy them over an empty directory:\n  \
             turnstile rooms copy --from {from} --to DIR\n  \
             turnstile rooms copy --from DIR --to {to}"
        );
        return Err(exit::Coded::usage(message).into());
    }
    let unopened = |reason| anyhow!("{reason}");
    let mut source = from.open().await.map_err(unopened)?;
    let mut target = to.open().await.map_err(unopened)?;
    let mut progress = Bars::default();
    let mut show = |stage, done, total| progress.show(stage, done, total);
    let sides = (&mut *source as _, &mut *target as _);
    let copied = copy(sides, now()?, again, &mut show).await;
    progress.finish();
    copied.map(|copied| copied.digest).map_err(|refusal| {
        if matches!(refusal, Refusal::Different(_)) {
            return exit::Coded::violation(refusal.to_string()).into();
        }
        refusal.into()
    })
}

fn now() -> anyhow::Result<Timestamp> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Timestamp(u64::try_from(since.as_millis())?))
}

fn tabulate(digest: &Digest) -> Table {
    let mut table = Table::default();
    table.row("properties", Count(digest.properties));
    table.row("rooms", Count(digest.rooms));
    table.row("runs of stopped nights", Count(digest.stopped));
    table.row("bookings", Count(digest.bookings));
    table.row("holds", Count(digest.holds));
    table.row("slots of ended references", Count(digest.over));
    table.row("idempotency keys", Count(digest.keys));
    table.row("digest", format_args!("{:032x}", digest.hash));
    table
}

/// One bar after the other, a bar for each stage.
#[derive(Default)]
struct Bars {
    current: Option<(Stage, Progress)>,
}

impl Bars {
    fn show(&mut self, stage: Stage, done: u64, total: u64) {
        let is_current = matches!(&self.current, Some((shown, _)) if *shown == stage);
        if !is_current {
            self.finish();
            let what = match stage {
                Stage::Looking => "looking",
                Stage::Copying => "copying",
                Stage::Comparing => "comparing",
            };
            self.current = Some((stage, Progress::new(what, total)));
        }
        if let Some((_, bar)) = &mut self.current {
            bar.reach(done);
        }
    }

    fn finish(&mut self) {
        if let Some((_, bar)) = self.current.take() {
            bar.finish();
        }
    }
}
