// A property's bookings and holds over some nights, kept true by its events.
import { all, asProblem, get, part, Problem } from './api';
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
const ENDED = new Set(['cancelled', 'released', 'expired']);

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
  bars = new Map<string, Bar[]>();
  stops = new Map<string, Set<Day>>();
  entries = new Map<string, Entry>();
  #events: Followed | null = null;
  #asked = new AbortController();
  #heard: Told[] = [];
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
      const query = { from: text(this.from), to: text(this.from + this.nights), limit: 1_000 };
      const listed = await all<Entry>(`${this.#place}/bookings`, 'entries', query, asked.signal);
      this.entries = new Map(listed.items.map((entry) => [entry.reference, entry]));
      this.partial = listed.more;
      const inSale = await all<{ room: string; type: string }>(`${this.#place}/rooms`, 'rooms', { limit: 1_000 }, asked.signal, ROOM_PAGES);
      this.kinds = new Map(inSale.items.map((one) => [one.room, one.type]));
      this.partial ||= inSale.more;
      await this.#count(asked.signal);
      this.#arrange();
    } catch (failure) {
      if (!asked.signal.aborted) this.problem = asProblem(failure);
    } finally {
      if (this.#asked === asked) this.loading = false;
    }
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

  #arrange(): void {
    const bars = new Map<string, Bar[]>();
    for (const entry of this.entries.values()) {
      if (entry.state === 'expired') continue;
      const bar = { entry, from: day(entry.arrival), to: day(entry.departure) };
      const line = bars.get(entry.room);
      if (line) line.push(bar);
      else bars.set(entry.room, [bar]);
    }
    for (const line of bars.values()) line.sort((one, other) => one.from - other.from);
    this.bars = bars;
    const rooms = new Set([...this.kinds.keys(), ...bars.keys(), ...this.stops.keys()]);
    // Thousands of rooms are put in order only when there are others than before.
    if (rooms.size !== this.#placed.size || [...rooms].some((room) => !this.#placed.has(room))) {
      this.#placed = rooms;
      this.rooms = [...rooms].sort(natural.compare);
    } else {
      // Another list, so that what is shown of the rooms is drawn again.
      this.rooms = [...this.rooms];
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
    let counts = false;
    let changed = false;
    for (const event of heard) {
      if (event.kind === 'room_added' || event.kind === 'room_withdrawn') changed = true;
      else if (ENDED.has(event.kind)) this.entries.delete(event.reference);
      else if (event.kind === 'booked' || event.kind === 'held' || event.kind === 'confirmed') {
        const touches = day(event.arrival) < this.from + this.nights && day(event.departure) > this.from;
        if (touches) this.entries.set(event.reference, this.#changed(event));
      }
      counts = true;
    }
    this.feed = [...heard.reverse(), ...this.feed].slice(0, FEED);
    this.#arrange();
    if (changed) void this.load();
    else if (counts) {
      clearTimeout(this.#soon);
      // Counts follow a little later: one question for many changes.
      this.#soon = setTimeout(() => {
        this.#count(this.#asked.signal)
          .then(() => this.#arrange())
          .catch(() => {});
      }, 400);
    }
  }

  #changed(event: Told): Entry {
    const before = this.entries.get(event.reference);
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
