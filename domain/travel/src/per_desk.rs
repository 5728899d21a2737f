//! One value for each desk.

use turnstile_chassis::Bytes;

use crate::Desk;

/// One for each desk, in the order of [`Desk::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes)]
pub struct PerDesk<T>([T; 4]);

impl<T> PerDesk<T> {
    pub fn each(one: impl FnMut(Desk) -> T) -> Self {
        Self(Desk::ALL.map(one))
    }

    #[must_use]
    pub fn at(&self, desk: Desk) -> &T {
        self.0.get(desk as usize).expect("there are four desks")
    }

    pub fn at_mut(&mut self, desk: Desk) -> &mut T {
        self.0.get_mut(desk as usize).expect("there are four desks")
    }

    pub fn iter(&self) -> impl Iterator<Item = (Desk, &T)> {
        Desk::ALL.into_iter().zip(&self.0)
    }
}
