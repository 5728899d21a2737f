// A symbol's book and trades and an account's orders, from the exchange's feed.
import type { Standing } from './follow';
import { DRAWN_MS, Paced } from './paced';
import { connect, type Connected } from './socket';

export interface Level {
  price: string;
  quantity: string;
  orders: number;
}

export interface Trade {
  trade: number;
  at: string;
  price: string;
  quantity: string;
  side: string;
}

export interface Order {
  order: number;
  client_id?: string;
  symbol: string;
  side: string;
  limit: string;
  open: string;
}

export interface Fill {
  order: number;
  trade: number;
  at: string;
  symbol: string;
  side: string;
  price: string;
  quantity: string;
}

/** What was paid in a span of time that begins at `at`, in seconds since 1970. */
export interface Candle {
  at: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

interface OrderEvent {
  kind: string;
  at: string;
  symbol: string;
  order: number;
  client_id?: string;
  side: string;
  price: string;
  quantity: string;
  open: string;
  trade: number;
}

interface Message {
  op: string;
  channel: 'book' | 'trades' | 'orders';
  symbol?: string;
  account?: string;
  seq: number;
  prev_seq?: number;
  title?: string;
  detail?: string;
  data: {
    bids?: Level[];
    asks?: Level[];
    trades?: Trade[];
    orders?: Order[];
    changes?: (Level & { side: string })[];
    events?: OrderEvent[];
  };
}

const TRADES = 500;
/** Seconds with trades that are kept: 48 minutes, when there are trades in each. */
const SECONDS = 2_880;
const FILLS = 100;

/** Adds what came later: to the last candle, where that is of the same span. */
function join(candles: Candle[], one: Candle): void {
  const last = candles.at(-1);
  if (last?.at !== one.at) {
    candles.push(one);
    return;
  }
  last.high = Math.max(last.high, one.high);
  last.low = Math.min(last.low, one.low);
  last.close = one.close;
  last.volume += one.volume;
}

export class Market {
  /** Counts the drawings in which something is new. */
  version = $state(0);
  standing = $state.raw<Standing>('connecting');
  refused = $state('');
  bids = new Map<string, Level>();
  asks = new Map<string, Level>();
  /** The newest last. */
  trades: Trade[] = [];
  /** Each second with trades since one looks, the newest last. */
  readonly #seconds: Candle[] = [];
  #newest = -1;
  orders = new Map<number, Order>();
  fills: Fill[] = [];
  /** Counts what concerns the account, so that its figures are read again. */
  owned = $state(0);
  #socket: Connected | null = null;
  #seq = new Map<string, number>();
  readonly #drawing = new Paced(DRAWN_MS, () => {
    this.version += 1;
    if (this.#ownedNow) this.owned += 1;
    this.#ownedNow = false;
  });
  #ownedNow = false;

  constructor(
    readonly symbol: string,
    readonly account: string,
  ) {}

  open(): () => void {
    const socket = connect(
      '/v1/exchange/feed',
      {},
      (now) => {
        this.standing = now;
        if (now === 'live') this.#subscribe();
      },
      (text) => this.#hear(JSON.parse(text) as Message),
    );
    this.#socket = socket;
    return () => {
      this.#drawing.stop();
      socket.close();
    };
  }

  #subscribe(): void {
    this.refused = '';
    for (const channel of ['book', 'trades']) this.#say({ op: 'subscribe', channel, symbol: this.symbol });
    if (this.account !== '') this.#say({ op: 'subscribe', channel: 'orders', account: this.account });
  }

  #say(message: Record<string, unknown>): void {
    this.#socket?.say(message);
  }

  #hear(message: Message): void {
    if (message.op === 'snapshot') this.#snapshot(message);
    else if (message.op === 'delta') this.#delta(message);
    else if (message.op === 'error' || message.op === 'refused') this.refused = message.detail || message.title || 'refused';
    else return;
    // Many messages, one picture.
    this.#drawing.ask();
  }

  #snapshot({ channel, seq, data }: Message): void {
    this.#seq.set(channel, seq);
    if (channel === 'book') {
      this.bids = new Map((data.bids ?? []).map((level) => [level.price, level]));
      this.asks = new Map((data.asks ?? []).map((level) => [level.price, level]));
    } else if (channel === 'trades') {
      this.trades = data.trades ?? [];
      this.#count(this.trades);
    } else {
      this.orders = new Map((data.orders ?? []).map((order) => [order.order, order]));
      this.#ownedNow = true;
    }
  }

  #delta(message: Message): void {
    const { channel, data } = message;
    if (this.#seq.get(channel) !== message.prev_seq) {
      // A gap: the snapshot comes again.
      const whose = channel === 'orders' ? { account: this.account } : { symbol: this.symbol };
      this.#say({ op: 'subscribe', channel, ...whose });
      return;
    }
    this.#seq.set(channel, message.seq);
    for (const change of data.changes ?? []) {
      const side = change.side === 'buy' ? this.bids : this.asks;
      if (change.quantity === '0') side.delete(change.price);
      else side.set(change.price, change);
    }
    if (data.trades) {
      this.trades.push(...data.trades);
      this.#count(data.trades);
      if (this.trades.length > TRADES) this.trades.splice(0, this.trades.length - TRADES);
    }
    for (const event of data.events ?? []) this.#own(event);
  }

  /** Adds trades to the seconds; a snapshot brings some again. */
  #count(trades: Trade[]): void {
    for (const { trade, at, price: paid, quantity } of trades) {
      if (trade <= this.#newest) continue;
      this.#newest = trade;
      const price = Number(paid);
      const one = { at: Math.floor(Date.parse(at) / 1_000), open: price, high: price, low: price, close: price, volume: Number(quantity) };
      join(this.#seconds, one);
    }
    if (this.#seconds.length > SECONDS) this.#seconds.splice(0, this.#seconds.length - SECONDS);
  }

  /** The last candles of so many seconds each. */
  candles(span: number, most: number): Candle[] {
    const found: Candle[] = [];
    for (const one of this.#seconds.slice(-span * most)) join(found, { ...one, at: Math.floor(one.at / span) * span });
    return found.slice(-most);
  }

  #own(event: OrderEvent): void {
    this.#ownedNow = true;
    const { order, symbol, side } = event;
    if (event.kind === 'opened') {
      this.orders.set(order, { order, client_id: event.client_id, symbol, side, limit: event.price, open: event.open });
    } else if (event.kind === 'executed') {
      this.fills.unshift({ order, trade: event.trade, at: event.at, symbol, side, price: event.price, quantity: event.quantity });
      this.fills.length = Math.min(this.fills.length, FILLS);
      this.#left(event);
    } else if (event.kind === 'reduced') {
      this.#left(event);
    } else {
      this.orders.delete(order);
    }
  }

  #left({ order, open }: OrderEvent): void {
    const known = this.orders.get(order);
    if (open === '0') this.orders.delete(order);
    else if (known) this.orders.set(order, { ...known, open });
  }

  /** The best levels of a side, the best first, with what is there up to each. */
  side(which: 'bids' | 'asks', most: number): (Level & { all: number })[] {
    const sign = which === 'bids' ? -1 : 1;
    const levels = [...this[which].values()].sort((one, other) => sign * (Number(one.price) - Number(other.price)));
    let all = 0;
    return levels.slice(0, most).map((level) => ({ ...level, all: (all += Number(level.quantity)) }));
  }
}
