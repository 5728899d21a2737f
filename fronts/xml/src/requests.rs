//! One frame as a request: read whole first, so that nothing of a malformed one is done.

use turnstile_exchange::AccountId;

use crate::{
    Attribute, Flaw, Invalid, MalformedRequest, Options, RequestItem, number,
    scan::{RootChild, Top, scan},
};

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    Create,
    /// For this account, where one is named: else each item is answered with what is wrong with it.
    Transactions(Result<AccountId, Invalid>),
}

/// Items for which memory is kept between two frames.
const CHILDREN_KEPT: usize = 256;

/// The places of the items of one frame. It is made once and used for one frame after the other,
/// so that reading costs no memory.
#[derive(Debug)]
pub struct Requests {
    options: Options,
    root: Root,
    children: Vec<RootChild>,
}

/// One well-formed request, of which nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    xml: &'a str,
    requests: &'a Requests,
}

impl Requests {
    #[must_use]
    pub const fn new(options: Options) -> Self {
        Self {
            options,
            root: Root::Create,
            children: Vec::new(),
        }
    }

    /// Reads the XML of one frame to its end.
    ///
    /// # Errors
    /// It is not one request: answer with [`put_error`](crate::put_error) and do nothing.
    pub fn read<'a>(&'a mut self, xml: &'a [u8]) -> Result<Batch<'a>, MalformedRequest> {
        self.children.clear();
        let xml = text(xml)?;
        self.root = match scan(xml, &mut self.children)? {
            Top::Create => Root::Create,
            Top::Transactions { id } => {
                let account = number::account(id.of(xml), &self.options);
                Root::Transactions(account.map_err(|why| match why {
                    Invalid::Missing(Attribute::Id) => Invalid::NoAccount,
                    why => why,
                }))
            }
        };
        Ok(Batch {
            xml,
            requests: self,
        })
    }

    /// The memory it takes, in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.children.capacity() * size_of::<RootChild>()
    }

    /// Forgets what was read last, and keeps memory for a small frame only.
    pub fn forget(&mut self) {
        self.children.clear();
        self.children.shrink_to(CHILDREN_KEPT);
    }

    /// The batch that was read last, once more: so a caller may stop between two items, keep their
    /// number, and go on later.
    ///
    /// # Panics
    /// Now or when items are asked for, if `xml` is not what was read.
    #[must_use]
    pub fn batch<'a>(&'a self, xml: &'a [u8]) -> Batch<'a> {
        let xml = text(xml).expect("what was read is UTF-8");
        Batch {
            xml,
            requests: self,
        }
    }
}

impl<'a> Batch<'a> {
    #[must_use]
    pub const fn root(&self) -> Root {
        self.requests.root
    }

    #[must_use]
    pub const fn len(&self) -> usize {
        self.requests.children.len()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.requests.children.is_empty()
    }

    /// The item at `place`, from 0.
    #[must_use]
    #[inline]
    pub fn get(&self, place: usize) -> Option<RequestItem<'a>> {
        let child = self.requests.children.get(place)?;
        let account = match self.requests.root {
            Root::Transactions(account) => account,
            Root::Create => Err(Invalid::NoAccount),
        };
        Some(RequestItem::read(
            child,
            self.xml,
            account,
            &self.requests.options,
        ))
    }

    /// The items in the order in which they were sent.
    pub fn items(self) -> impl Iterator<Item = RequestItem<'a>> + Clone {
        (0..self.len()).filter_map(move |place| self.get(place))
    }
}

/// The XML as text, without the mark that some editors put before it.
fn text(xml: &[u8]) -> Result<&str, MalformedRequest> {
    let xml = xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml);
    str::from_utf8(xml).map_err(|found| MalformedRequest {
        flaw: Flaw::Characters,
        at: found.valid_up_to(),
    })
}
