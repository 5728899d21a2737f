// A property's bookings and holds over some nights, kept true by its events.
import { all, asProblem, get, pages, part, Problem } from './api';
import { follow, type Followed, type Standing } from './follow';
import { day, text, type Day } from './nights';
import { COUNTED_MS, Paced } from './paced';

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
  property?: string;
  partition?: string;
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
  standing = $state.raw<Standing>('connecting');
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
  /** What was heard while the board is read: a page may be older than that. */
  #meanwhile: Told[] = [];
  #placed = new Set<string>();
  readonly #counts = new Paced(COUNTED_MS, () => {
    this.#count(this.#asked.signal).catch(() => {});
  });

  constructor(
    readonly property: string,
    readonly from: Day,
    readonly nights: number,
  ) {}

  open(): () => void {
    this.#events = follow<Told>(
      '/v1/rooms/events',
      (events) => this.#hear(events.filter((event) => event.property === undefined || event.property === this.property)),
      () => this.load(),
      (now) => (this.standing = now),
    );
    return () => {
      this.#events?.close();
      this.#asked.abort();
      this.#counts.stop();
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
      const [read, stops] = await Promise.all([this.#read(asked.signal), this.#stopped(asked.signal)]);
      this.partial = inSale.more || read.more;
      this.entries = read.entries;
      this.stops = stops;
      for (const event of this.#meanwhile) this.#change(event);
      this.#meanwhile = [];
      await this.#count(asked.signal);
      this.#arrange(true);
    } catch (failure) {
      if (!asked.signal.aborted) this.problem = asProblem(failure);
    } finally {
      if (this.#asked === asked) this.loading = false;
    }
  }

  /** Reads the bookings; says whether there are more. On an empty board they are shown as they come. */
  async #read(signal: AbortSignal): Promise<{ entries: Entries; more: boolean }> {
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
    return { entries, more };
  }

  /** The nights of the board, in pieces that one question takes. */
  *#pieces(): Generator<{ begin: Day; stay: { arrival: string; departure: string } }> {
    for (let begin = this.from; begin < this.from + this.nights; begin += NIGHTS_AT_ONCE) {
      const end = Math.min(begin + NIGHTS_AT_ONCE, this.from + this.nights);
      yield { begin, stay: { arrival: text(begin), departure: text(end) } };
    }
  }

  /** Where the sale is stopped. */
  async #stopped(signal: AbortSignal): Promise<Map<string, Set<Day>>> {
    const stops = new Map<string, Set<Day>>();
    for (const { stay } of this.#pieces()) {
      const query = { ...stay, limit: 1_000 };
      const listed = await all<{ room: string; nights: string[] }>(`${this.#place}/stop-sells`, 'stop_sells', query, signal);
      for (const { room, nights } of listed.items) {
        const known = stops.get(room) ?? new Set<Day>();
        for (const night of nights) known.add(day(night));
        stops.set(room, known);
      }
    }
    return stops;
  }

  /** Counts the free rooms by type and night. */
  async #count(signal: AbortSignal): Promise<void> {
    const types = new Map<string, { type: string; rooms: number; free: Map<Day, number> }>();
    for (const { begin, stay } of this.#pieces()) {
      const counted = await get<{ types: TypeNights[] }>(`${this.#place}/availability`, stay, signal);
      for (const one of counted.types) {
        const type = types.get(one.type) ?? { type: one.type, rooms: one.rooms, free: new Map<Day, number>() };
        one.free.forEach((free, place) => type.free.set(begin + place, free));
        types.set(one.type, type);
      }
    }
    this.types = [...types.values()].sort((one, other) => natural.compare(one.type, other.type));
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

  #hear(events: Told[]): void {
    if (events.length === 0) return;
    for (const event of events) this.#change(event);
    if (this.loading) this.#meanwhile.push(...events);
    this.feed = [...events.reverse(), ...this.feed].slice(0, FEED);
    this.#arrange();
    if (events.some(({ kind }) => kind === 'room_added' || kind === 'room_withdrawn')) void this.load();
    this.#counts.ask();
  }

  #change(event: Told): void {
    if (ENDED.has(event.kind)) this.entries.drop(event.reference);
    else if (PLACED.has(event.kind)) {
      const entry = this.#changed(event);
      const touches = day(entry.arrival) < this.from + this.nights && day(entry.departure) > this.from;
      if (touches) this.entries.put(entry);
      else this.entries.drop(entry.reference);
    } else if (event.kind === 'sale_stopped' || event.kind === 'sale_resumed') {
      const nights = this.stops.get(event.room) ?? new Set<Day>();
      for (let night = day(event.arrival); night < day(event.departure); night += 1) {
        if (event.kind === 'sale_stopped') nights.add(night);
        else nights.delete(night);
      }
      if (nights.size > 0) this.stops.set(event.room, nights);
      else this.stops.delete(event.room);
      // An open property has rooms that only a stop names.
      this.entries.rooms = true;
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
