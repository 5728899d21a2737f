//! A whole state of rooms goes from a directory to every back end, and back, and goes on there.

mod interrupted;
mod keys;
mod places;
mod presence;

use turnstile_contract::{
    conformance::check_copy,
    copy::{Refusal, Stage, copy},
};
use turnstile_types::Timestamp;

use self::places::{Place, every_place, opened};

/// Copies what lies in one place to another.
async fn copy_between(
    (from, to): (&Place, &Place),
    now: Timestamp,
    again: bool,
) -> Result<(), Refusal> {
    let (mut source, mut target) = (opened(&from.url()).await, opened(&to.url()).await);
    let sides = (&mut *source as _, &mut *target as _);
    let mut stages = Vec::new();
    let mut note = |stage: Stage, done, total| {
        assert!(done <= total, "{stage:?}: {done} of {total}");
        if stages.last() != Some(&stage) {
            stages.push(stage);
        }
    };
    copy(sides, now, again, &mut note).await?;
    assert!(stages.ends_with(&[Stage::Copying, Stage::Comparing]));
    Ok(())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn a_state_goes_on_wherever_it_is_copied() {
    let (directory, places) = (Place::directory(), every_place());
    block_on(async {
        for (seed, place) in (0..).step_by(10).zip(&places) {
            for (further, (from, to)) in (0..).zip([(&directory, place), (place, &directory)]) {
                let copied = async |now| {
                    to.forget_journal();
                    let copied = copy_between((from, to), now, false).await;
                    copied.map_err(|refusal| refusal.to_string())
                };
                let checked = Box::pin(check_copy((from, to), seed + further, 80, copied)).await;
                checked.unwrap_or_else(|difference| panic!("{from:?} to {to:?}: {difference}"));
            }
        }
    });
}
