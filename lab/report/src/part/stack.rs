//! A bar of parts that add up.

use maud::{Markup, html};

/// One part.
pub(super) struct StackSlice {
    pub(super) name: String,
    /// Of the whole.
    pub(super) share: f64,
    /// Its size in words.
    pub(super) told: String,
}

/// Slices below this are only in the words.
const DRAWN_MIN: f64 = 0.002;

pub(super) fn stack(title: &str, slices: &[StackSlice]) -> Markup {
    let mut from = 0.0;
    let mut placed = Vec::new();
    for (number, slice) in slices.iter().enumerate() {
        if slice.share >= DRAWN_MIN {
            placed.push((number, from, slice));
        }
        from += slice.share;
    }
    let words: Vec<String> = slices
        .iter()
        .map(|slice| format!("{} {}", slice.name, slice.told))
        .collect();
    html! {
        figure.stack {
            figcaption { (title) }
            svg viewBox="0 0 1000 34" preserveAspectRatio="none" role="img" aria-label={ (title) ": " (words.join(", ")) } {
                @for (number, from, slice) in placed {
                    g class={ "s" (number % 6) } {
                        rect.bar x=(format!("{:.1}", from * 1_000.0)) y="0" width=(format!("{:.1}", slice.share * 1_000.0)) height="34" {
                            title { (slice.name) ": " (slice.told) }
                        }
                    }
                }
            }
            ul.legend { @for (number, slice) in slices.iter().enumerate() {
                li { svg.swatch.(format!("s{}", number % 6)) viewBox="0 0 24 12" aria-hidden="true" { rect.bar x="4" y="1" width="16" height="10" {} }
                    (slice.name) " " (slice.told) }
            } }
        }
    }
}
