//! A bitmap of free rooms, sixty-four to a word.

use turnstile_chassis::prefetch;
use turnstile_types::{Night, Stay};

use crate::{arena::CellArena, index::Index, slab::RecyclingSlab};

/// Rooms of one shelf: the bits of a word.
pub(crate) const SHELF_ROOMS: usize = 64;

/// Nights of one page: 256 bytes.
const PAGE_NIGHTS: u16 = 32;

/// A chunk of pages is two mebibytes, one large page of the system.
const PAGES: u32 = 13;

/// For each of some nights, the rooms of a shelf about which something is so.
type Page = [u64; PAGE_NIGHTS as usize];

/// Up to 64 rooms of one type that follow each other in natural order.
///
/// A room keeps its bit as long as it is on the shelf, and `order` says in which order the bits
/// are offered: a room put between two others moves nobody's nights.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    /// The bits that stand for rooms.
    used: u64,
    occupied: Index,
    stopped: Index,
}

/// The rooms of a shelf, which only searches for any room read.
#[derive(Clone, Debug)]
struct Label {
    order: [u8; SHELF_ROOMS],
    rooms: [u32; SHELF_ROOMS],
    /// The keys of the rooms' names, by `order::key`.
    keys: [u128; SHELF_ROOMS],
}

/// What is asked about rooms and nights.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Occupied,
    Stopped,
}

#[derive(Debug)]
pub(crate) struct Shelves {
    shelves: RecyclingSlab<Shelf>,
    labels: RecyclingSlab<Label>,
    pages: RecyclingSlab<Page, PAGES>,
    indexes: CellArena<u64>,
}

impl Shelf {
    const fn index(&self, mark: Mark) -> &Index {
        match mark {
            Mark::Occupied => &self.occupied,
            Mark::Stopped => &self.stopped,
        }
    }

    const fn index_mut(&mut self, mark: Mark) -> &mut Index {
        match mark {
            Mark::Occupied => &mut self.occupied,
            Mark::Stopped => &mut self.stopped,
        }
    }

    const fn len(&self) -> usize {
        self.used.count_ones() as usize
    }
}

impl Label {
    fn bits(&self, length: usize) -> &[u8] {
        self.order
            .get(..length)
            .expect("a shelf has at most 64 rooms")
    }

    fn room(&self, bit: u8) -> u32 {
        *self.rooms.get(usize::from(bit)).expect("a bit is below 64")
    }
}

impl Shelves {
    pub(crate) fn new() -> Self {
        Self {
            shelves: RecyclingSlab::new(),
            labels: RecyclingSlab::new(),
            pages: RecyclingSlab::new(),
            indexes: CellArena::new(),
        }
    }

    /// A shelf without rooms.
    pub(crate) fn add(&mut self) -> u32 {
        let shelf = self.shelves.take(Shelf {
            used: 0,
            occupied: Index::default(),
            stopped: Index::default(),
        });
        let label = self.labels.take(Label {
            order: [0; SHELF_ROOMS],
            rooms: [0; SHELF_ROOMS],
            keys: [0; SHELF_ROOMS],
        });
        assert!(shelf == label, "shelves and labels come and go together");
        shelf
    }

    /// Gives back a shelf without rooms.
    pub(crate) fn remove(&mut self, shelf: u32) {
        let head = self.shelves.at(shelf);
        assert!(
            head.used == 0 && head.occupied.is_empty() && head.stopped.is_empty(),
            "an empty shelf has no nights"
        );
        self.shelves.give_back(shelf);
        self.labels.give_back(shelf);
    }

    pub(crate) fn len(&self, shelf: u32) -> usize {
        self.shelves.at(shelf).len()
    }

    /// The bits of all rooms of a shelf.
    pub(crate) fn used(&self, shelf: u32) -> u64 {
        self.shelves.at(shelf).used
    }

    /// The key and the room at a place in the order of a shelf that has so many rooms.
    pub(crate) fn keyed_at(&self, shelf: u32, place: usize) -> (u128, u32) {
        let label = self.labels.at(shelf);
        let &bit = label.order.get(place).expect("a place below 64");
        let &key = label.keys.get(usize::from(bit)).expect("a bit is below 64");
        (key, label.room(bit))
    }

    /// The first of some rooms, which are named by their bits.
    pub(crate) fn first_of(&self, shelf: u32, bits: u64) -> Option<u32> {
        let label = self.labels.at(shelf);
        label
            .bits(self.len(shelf))
            .iter()
            .find(|&&bit| bits >> bit & 1 == 1)
            .map(|&bit| label.room(bit))
    }

    /// Puts a room, which has no nights, at a place in the order, and returns its bit. The shelf
    /// is not full.
    pub(crate) fn put(&mut self, shelf: u32, place: usize, (key, room): (u128, u32)) -> u8 {
        let head = self.shelves.at_mut(shelf);
        let length = head.len();
        let bit = u8::try_from(head.used.trailing_ones()).expect("at most 64");
        head.used |= 1_u64
            .checked_shl(u32::from(bit))
            .expect("the shelf is not full");
        let label = self.labels.at_mut(shelf);
        label.order.copy_within(place..length, place + 1);
        *label.order.get_mut(place).expect("the shelf is not full") = bit;
        let at = usize::from(bit);
        *label.rooms.get_mut(at).expect("a bit is below 64") = room;
        *label.keys.get_mut(at).expect("a bit is below 64") = key;
        bit
    }

    /// Takes a room without nights off its shelf.
    pub(crate) fn take_off(&mut self, shelf: u32, bit: u8) {
        let head = self.shelves.at_mut(shelf);
        let length = head.len();
        head.used &= !(1 << bit);
        let label = self.labels.at_mut(shelf);
        let place = label
            .bits(length)
            .iter()
            .position(|&other| other == bit)
            .expect("the room is on this shelf");
        label.order.copy_within(place + 1..length, place);
    }

    /// Moves the upper half of a full shelf to a new one; the rooms keep their bits.
    pub(crate) fn split(&mut self, shelf: u32) -> u32 {
        let upper = self.add();
        let label = self.labels.at(shelf).clone();
        let moved: u64 = label
            .order
            .iter()
            .skip(SHELF_ROOMS / 2)
            .fold(0, |bits, &bit| bits | 1 << bit);
        let upper_label = self.labels.at_mut(upper);
        *upper_label = label;
        upper_label.order.rotate_left(SHELF_ROOMS / 2);
        self.shelves.at_mut(shelf).used &= !moved;
        self.shelves.at_mut(upper).used = moved;
        for mark in [Mark::Occupied, Mark::Stopped] {
            self.split_pages(shelf, upper, moved, mark);
        }
        upper
    }

    fn split_pages(&mut self, shelf: u32, upper: u32, moved: u64, mark: Mark) {
        let index = *self.shelves.at(shelf).index(mark);
        let pages: Vec<(u16, u32)> = index.iter_from(&self.indexes, 0).collect();
        for (number, page) in pages {
            let all = *self.pages.at(page);
            let high = all.map(|word| word & moved);
            let low = all.map(|word| word & !moved);
            if high != [0; PAGE_NIGHTS as usize] {
                let copy = self.pages.take(high);
                let index = self.shelves.at_mut(upper).index_mut(mark);
                index.insert(&mut self.indexes, number, copy);
            }
            *self.pages.at_mut(page) = low;
            if low == [0; PAGE_NIGHTS as usize] {
                let index = self.shelves.at_mut(shelf).index_mut(mark);
                index.remove(&mut self.indexes, number);
                self.pages.give_back(page);
            }
        }
    }

    /// Marks or clears a room's nights.
    pub(crate) fn mark(&mut self, shelf: u32, bit: u8, mark: Mark, stay: Stay, set: bool) {
        let (arrival, departure) = (stay.arrival().days(), stay.departure().days());
        let mut next = arrival;
        while next < departure {
            let number = next / PAGE_NIGHTS;
            let end = departure.min(next.saturating_add(PAGE_NIGHTS - next % PAGE_NIGHTS));
            let nights =
                usize::from(next % PAGE_NIGHTS)..usize::from(end - next + next % PAGE_NIGHTS);
            next = end;
            let Some(page) = self.page(shelf, mark, number, set) else {
                continue;
            };
            self.pages.look(page);
            let words = self.pages.at_mut(page);
            for word in words.get_mut(nights).expect("a piece lies in its page") {
                *word = if set {
                    *word | 1 << bit
                } else {
                    *word & !(1 << bit)
                };
            }
            if !set && *words == [0; PAGE_NIGHTS as usize] {
                let index = self.shelves.at_mut(shelf).index_mut(mark);
                index.remove(&mut self.indexes, number);
                self.pages.give_back(page);
            }
        }
    }

    fn page(&mut self, shelf: u32, mark: Mark, number: u16, make: bool) -> Option<u32> {
        let index = self.shelves.at_mut(shelf).index_mut(mark);
        let found = index.find(&self.indexes, number);
        if found.is_none() && make {
            let page = self.pages.take([0; PAGE_NIGHTS as usize]);
            index.insert(&mut self.indexes, number, page);
            return Some(page);
        }
        found
    }

    /// The rooms marked on each night of a stay, in order; nights without marks at the end may be
    /// missing.
    pub(crate) fn words(&self, shelf: u32, mark: Mark, stay: Stay) -> Words<'_> {
        Words {
            shelves: self,
            index: *self.shelves.at(shelf).index(mark),
            next: stay.arrival().days(),
            departure: stay.departure().days(),
        }
    }

    /// The rooms marked on any night of a stay.
    pub(crate) fn any(&self, shelf: u32, mark: Mark, stay: Stay) -> u64 {
        if self.shelves.at(shelf).index(mark).is_empty() {
            return 0;
        }
        let mut words = self.words(shelf, mark, stay);
        std::iter::from_fn(|| words.piece()).fold(0, |union, piece| {
            piece.words.iter().fold(union, |union, word| union | word)
        })
    }

    /// Asks memory for a shelf; see `warming`.
    pub(crate) fn prefetch(&self, shelf: u32) {
        if let Some(head) = self.shelves.get(shelf) {
            prefetch(head);
        }
    }

    /// Asks memory for the place where a shelf's pages are found.
    pub(crate) fn prefetch_index(&self, shelf: u32) {
        if let Some(head) = self.shelves.get(shelf) {
            head.occupied.prefetch(&self.indexes);
        }
    }

    /// Asks memory for the word of a night.
    pub(crate) fn prefetch_night(&self, shelf: u32, night: Night) {
        let night = night.days();
        let word = self
            .shelves
            .get(shelf)
            .and_then(|head| head.occupied.find(&self.indexes, night / PAGE_NIGHTS))
            .and_then(|page| self.pages.get(page)?.get(usize::from(night % PAGE_NIGHTS)));
        if let Some(word) = word {
            prefetch(word);
        }
    }

    /// Pages in use, shelves in use.
    pub(crate) const fn census(&self) -> (u32, u32) {
        (self.pages.used(), self.shelves.used())
    }

    /// How many pages a shelf has, and how many bits are set in them for each mark, also for
    /// bits that stand for no room.
    pub(crate) fn census_of(&self, shelf: u32) -> (u32, [u64; 2]) {
        let mut pages = 0;
        let bits = [Mark::Occupied, Mark::Stopped].map(|mark| {
            let index = self.shelves.at(shelf).index(mark);
            let mut bits = 0;
            for (_, page) in index.iter_from(&self.indexes, 0) {
                pages += 1;
                bits += self
                    .pages
                    .at(page)
                    .iter()
                    .map(|word| u64::from(word.count_ones()))
                    .sum::<u64>();
            }
            bits
        });
        (pages, bits)
    }
}

/// The words of a shelf, page by page.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    shelves: &'a Shelves,
    index: Index,
    next: u16,
    departure: u16,
}

/// Words of consecutive nights; a page that is not there has none, and no room is marked.
#[derive(Debug)]
pub(crate) struct Words32<'a> {
    pub(crate) nights: u16,
    pub(crate) words: &'a [u64],
}

impl<'a> Words<'a> {
    fn piece(&mut self) -> Option<Words32<'a>> {
        if self.next >= self.departure {
            return None;
        }
        let start = self.next % PAGE_NIGHTS;
        let nights = (PAGE_NIGHTS - start).min(self.departure - self.next);
        let page = self
            .index
            .find(&self.shelves.indexes, self.next / PAGE_NIGHTS);
        self.next += nights;
        let words = page.map_or(&[][..], |page| {
            self.shelves
                .pages
                .at(page)
                .get(usize::from(start)..usize::from(start + nights))
                .expect("a piece lies in its page")
        });
        Some(Words32 { nights, words })
    }

    /// Calls `see` with each night's place in the stay and its word.
    pub(crate) fn each(mut self, mut see: impl FnMut(usize, u64)) {
        let mut night = 0;
        while let Some(piece) = self.piece() {
            for (offset, &word) in piece.words.iter().enumerate() {
                see(night + offset, word);
            }
            night += usize::from(piece.nights);
        }
    }
}
