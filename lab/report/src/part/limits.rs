//! Of part 7: what holds the server back, and what a change of it does.

use maud::{Markup, html};
use turnstile_result::{Bottleneck, Change, Suspect};

use super::stack::{StackSlice, stack};
use crate::text;

pub(super) fn body(found: &Bottleneck) -> Markup {
    html! {
        @if found.named == Bottleneck::NOTHING {
            p { "With " (found.users) " users " strong { "no bottleneck is named" } ": " (found.why) "." }
        } @else {
            p { "With " (found.users) " users "
                @if found.is_known() { "the bottleneck is " } @else { "no bottleneck of the server is named, for what limits is " }
                strong { (found.named) }
                " (in " (text::share(found.probability)) " of what chance could have made of these runs): " (found.why) "." }
        }
        p { "What can be done: " (found.cure) "." }
        @if !found.stages.is_empty() { (stack("Where the users stand", &slices(found))) }
        (suspects(&found.suspects))
        @if !found.changes.is_empty() { (changes(&found.changes)) (confirmed(found)) }
    }
}

fn slices(found: &Bottleneck) -> Vec<StackSlice> {
    let all: f64 = found.stages.iter().map(|stage| stage.users).sum();
    let slices = found.stages.iter().map(|stage| StackSlice {
        name: stage.name.clone(),
        share: stage.users / all.max(f64::MIN_POSITIVE),
        told: text::plain(stage.users),
    });
    slices.collect()
}

fn suspects(suspects: &[Suspect]) -> Markup {
    html! {
        div.wide { table {
            caption { "How full each resource is with all users, and what a request asks of it. A request asks for no less than nothing: an interval that would reach below 0 ends there. The chance says how often the resource is what is named when the pieces of the runs are drawn anew." }
            thead { tr { th { "resource" } th { "there are" } th { "busy" } th { "busy for one request" } th { "busy without any" } th { "chance" } } }
            tbody { @for suspect in suspects { tr {
                td { (suspect.resource) } td.n { (text::plain(suspect.servers)) }
                td.n { (text::interval(&suspect.used, text::share)) }
                td.n { (text::interval(&suspect.busy_ns, text::time)) }
                td.n { (text::plain(suspect.background)) } td.n { (format!("{:.2}", suspect.probability)) }
            } } }
        } }
    }
}

fn changes(changes: &[Change]) -> Markup {
    let ratio = |value: f64| format!("{value:.3}");
    html! {
        div.wide { table {
            caption { "One resource was changed at a time, in pairs of runs without and with the change. An elasticity of 1 is all that a resource can bring, 0 is nothing." }
            thead { tr { th { "change" } th { "of" } th { "factor" } th { "throughput" } th { "elasticity" } } }
            tbody { @for change in changes { tr {
                td { (change.changed) } td { (change.resources.join(", ")) }
                td.n { (change.factor.map_or_else(|| "none left".to_owned(), ratio)) }
                td.n { (text::interval(&change.throughput, ratio)) }
                td.n { (change.elasticity.map_or_else(|| "-".to_owned(), |one| text::interval(&one, |value| format!("{value:.2}")))) }
            } } }
        } }
    }
}

fn confirmed(found: &Bottleneck) -> Markup {
    html! { p { @match found.confirmed {
        Some(true) => { "Confirmed: a change of " (found.named) " changes the throughput." }
        Some(false) => { "Not confirmed: a change of " (found.named) " brings nothing." }
        None => { "Neither confirmed nor refuted: nothing here changes " (found.named) " alone." }
    } } }
}
