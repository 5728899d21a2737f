// Nights are dates without a zone: a hotel's day is its own.

const DAY_MS = 86_400_000;

export type Day = number;

/** Days since 1970. */
export const day = (text: string): Day => Math.round(Date.parse(`${text}T00:00:00Z`) / DAY_MS);
export const text = (at: Day): string => new Date(at * DAY_MS).toISOString().slice(0, 10);
export const isDay = (given: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(given) && !Number.isNaN(day(given));

export function today(): Day {
  const now = new Date();
  return Math.round(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / DAY_MS);
}

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export const weekdayOf = (at: Day): string => weekday.format(at * DAY_MS).slice(0, 2);
export const monthOf = (at: Day): string => month.format(at * DAY_MS);
export const shortly = (at: Day): string => short.format(at * DAY_MS);
export const isWeekend = (at: Day): boolean => [0, 6].includes(new Date(at * DAY_MS).getUTCDay());
export const isFirst = (at: Day): boolean => new Date(at * DAY_MS).getUTCDate() === 1;
export const dateOf = (at: Day): number => new Date(at * DAY_MS).getUTCDate();
