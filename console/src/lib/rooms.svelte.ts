// A property's bookings and holds over some nights, kept true by its events.
import { all, asProblem, get, pages, part, Problem } from './api';
import { follow, type Followed, type Standing } from './follow';
import { day, text, type Day } from './nights';

export interface Entry {
  reference: string;
  state: 'booked' | 'held' | 'expired';
  room: string;
  arrival: string;
  departure: string;
  guest?: string;
  id_number?: string;
  principal?: string;
  since?: string;
  until?: string;
  property?: string;
  position?: number;
}

export interface Bar {
  entry: Entry;
  from: Day;
  to: Day;
}

export interface Told {
  at: string;
  kind: string;
  room: string;
  reference: string;
  arrival: string;
  departure: string;
  position: number;
  ordinal: number;
  from_room?: string;
  from_arrival?: string;
  from_departure?: string;
}

interface TypeNights {
  type: string;
  rooms: number;
  free: number[];
}

const natural = new Intl.Collator('en', { numeric: true });
/** The longest range that one question of availability takes. */
const NIGHTS_AT_ONCE = 90;
const FEED = 200;
/** Pages of rooms that are read: an open property may have millions. */
const ROOM_PAGES = 20;
/** Pages of bookings that are read. */
const ENTRY_PAGES = 1_000;
const ENDED = new Set(['cancelled', 'released', 'expired']);
const PLACED = new Set(['booked', 'held', 'confirmed', 'moved']);
/** Between two questions for the counts while there are changes. */
const COUNT_MS = 400;

/** Bookings and holds by reference and by room. A change costs as much as its room has bars. */
class Entries {
  readonly all = new Map<string, Entry>();
  readonly held = new Map<string, Entry>();
  readonly bars = new Map<string, Bar[]>();
  /** Whether a room has got its first bar or lost its last since somebody looked. */
  rooms = false;

  put(entry: Entry): void {
    this.drop(entry.reference);
    this.all.set(entry.reference, entry);
    if (entry.state === 'expired') return;
    if (entry.state === 'held') this.held.set(entry.reference, entry);
    const bar = { entry, from: day(entry.arrival), to: day(entry.departure) };
    const line = this.bars.get(entry.room);
    if (!line) {
      this.bars.set(entry.room, [bar]);
      this.rooms = true;
      return;
    }
    let place = line.length;
    while (place > 0 && line[place - 1]!.from > bar.from) place -= 1;
    line.splice(place, 0, bar);
  }

  drop(reference: string): void {
    const entry = this.all.get(reference);
    if (!entry) return;
    this.all.delete(reference);
    this.held.delete(reference);
    const line = this.bars.get(entry.room) ?? [];
    const place = line.findIndex((bar) => bar.entry === entry);
    if (place >= 0) line.splice(place, 1);
    if (place >= 0 && line.length === 0) {
      this.bars.delete(entry.room);
      this.rooms = true;
    }
  }
}

export class Board {
  /** Counts the changes, so that what depends on the maps is drawn again. */
  version = $state(0);
  loading = $state(false);
  partial = $state(false);
  problem = $state<Problem | null>(null);
  standing = $state<Standing>('connecting');
  feed = $state.raw<Told[]>([]);
  types = $state.raw<{ type: string; rooms: number; free: Map<Day, number> }[]>([]);
  /** Rooms in sale, and those with an entry or a stop, as people count them. */
  rooms: string[] = [];
  /** The type of each room in sale. */
  kinds = new Map<string, string>();
  stops = new Map<string, Set<Day>>();
  entries = new Entries();
  #events: Followed | null = null;
  #asked = new AbortController();
  #heard: Told[] = [];
  /** What was heard while the bookings are read: a page may be older than that. */
  #meanwhile: Told[] = [];
  #frame = 0;
  #placed = new Set<string>();
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly property: string,
    readonly from: Day,
    readonly nights: number,
  ) {}

  open(): () => void {
    const path = `/v1/rooms/events`;
    this.#events = follow(
      path,
      (event) => this.#hear(event as unknown as Told & { property?: string }),
      () => void this.load(),
      (now) => (this.standing = now),
    );
    return () => {
      this.#events?.close();
      this.#asked.abort();
      cancelAnimationFrame(this.#frame);
      clearTimeout(this.#soon);
    };
  }

  get #place(): string {
    return `/v1/rooms/properties/${part(this.property)}`;
  }

  async load(): Promise<void> {
    this.#asked.abort();
    const asked = new AbortController();
    this.#asked = asked;
    this.loading = true;
    this.problem = null;
    try {
      this.#meanwhile = [];
      const inSale = await all<{ room: string; type: string }>(`${this.#place}/rooms`, 'rooms', { limit: 1_000 }, asked.signal, ROOM_PAGES);
      this.kinds = new Map(inSale.items.map((one) => [one.room, one.type]));
      const isWhole = await this.#read(asked.signal);
      this.partial = inSale.more || !isWhole;
      await this.#count(asked.signal);
      this.#arrange(true);
    } catch (failure) {
      if (!asked.signal.aborted) this.problem = asProblem(failure);
    } finally {
      if (this.#asked === asked) this.loading = false;
    }
  }

  /** Reads the bookings; says whether these are all. The first are shown at once, later ones replace what is there. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const entries = new Entries();
    const isFirst = this.entries.all.size === 0;
    if (isFirst) {
      this.entries = entries;
      this.#arrange(true);
    }
    const query = { from: text(this.from), to: text(this.from + this.nights), limit: 1_000 };
    let read = 0;
    let more = false;
    for await (const page of pages<Entry>(`${this.#place}/bookings`, 'entries', query, signal)) {
      for (const entry of page.items) entries.put(entry);
      if (isFirst) this.#arrange();
      read += 1;
      more = page.more;
      if (read === ENTRY_PAGES) break;
    }
    this.entries = entries;
    for (const event of this.#meanwhile) this.#change(event);
    this.#meanwhile = [];
    return !more;
  }

  /** Free rooms by type and night, and where the sale is stopped. */
  async #count(signal: AbortSignal): Promise<void> {
    const types = new Map<string, { type: string; rooms: number; free: Map<Day, number> }>();
    const stops = new Map<string, Set<Day>>();
    for (let begin = this.from; begin < this.from + this.nights; begin += NIGHTS_AT_ONCE) {
      const end = Math.min(begin + NIGHTS_AT_ONCE, this.from + this.nights);
      const stay = { arrival: text(begin), departure: text(end) };
      const [counted, listed] = await Promise.all([
        get<{ types: TypeNights[] }>(`${this.#place}/availability`, stay, signal),
        all<{ room: string; nights: string[] }>(`${this.#place}/stop-sells`, 'stop_sells', { ...stay, limit: 1_000 }, signal),
      ]);
      for (const one of counted.types) {
        const type = types.get(one.type) ?? { type: one.type, rooms: one.rooms, free: new Map<Day, number>() };
        one.free.forEach((free, place) => type.free.set(begin + place, free));
        types.set(one.type, type);
      }
      for (const stopped of listed.items) {
        const nights = stops.get(stopped.room) ?? new Set<Day>();
        for (const night of stopped.nights) nights.add(day(night));
        stops.set(stopped.room, nights);
      }
    }
    this.types = [...types.values()].sort((one, other) => natural.compare(one.type, other.type));
    this.stops = stops;
  }

  /** Has everything drawn again, with the rooms in their order where there are others than before. */
  #arrange(isNew = false): void {
    if (isNew || this.entries.rooms) {
      this.entries.rooms = false;
      const rooms = new Set([...this.kinds.keys(), ...this.entries.bars.keys(), ...this.stops.keys()]);
      if (rooms.size !== this.#placed.size || [...rooms].some((room) => !this.#placed.has(room))) {
        this.#placed = rooms;
        this.rooms = [...rooms].sort(natural.compare);
      }
    }
    this.version += 1;
  }

  #hear(event: Told & { property?: string }): void {
    if (event.property !== undefined && event.property !== this.property) return;
    this.#heard.push(event);
    if (this.#heard.length > 5_000) this.#heard.splice(0, this.#heard.length - 5_000);
    this.#frame ||= requestAnimationFrame(() => this.#apply());
  }

  /** All that came since the last frame, at once. */
  #apply(): void {
    this.#frame = 0;
    const heard = this.#heard;
    this.#heard = [];
    let changed = false;
    for (const event of heard) {
      changed ||= event.kind === 'room_added' || event.kind === 'room_withdrawn';
      this.#change(event);
    }
    if (this.loading) this.#meanwhile.push(...heard);
    this.feed = [...heard.reverse(), ...this.feed].slice(0, FEED);
    this.#arrange();
    if (changed) void this.load();
    // Counts follow a little later: one question for many changes.
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#count(this.#asked.signal)
        .then(() => this.#arrange(true))
        .catch(() => {});
    }, COUNT_MS);
  }

  #change(event: Told): void {
    if (ENDED.has(event.kind)) this.entries.drop(event.reference);
    else if (PLACED.has(event.kind)) {
      const entry = this.#changed(event);
      const touches = day(entry.arrival) < this.from + this.nights && day(entry.departure) > this.from;
      if (touches) this.entries.put(entry);
      else this.entries.drop(entry.reference);
    }
  }

  #changed(event: Told): Entry {
    const before = this.entries.all.get(event.reference);
    const state = event.kind === 'held' ? 'held' : 'booked';
    const { reference, room, arrival, departure } = event;
    return { ...before, reference, room, arrival, departure, state, since: before?.since ?? event.at };
  }

  /** Rooms that are taken on a night, of all; nothing where that is not known. */
  occupancy(at: Day): number | null {
    let rooms = 0;
    let free = 0;
    for (const type of this.types) {
      rooms += type.rooms;
      free += type.free.get(at) ?? type.rooms;
    }
    return rooms === 0 ? null : (rooms - free) / rooms;
  }
}
