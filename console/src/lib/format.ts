// Numbers and times for people.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const two = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return (size >= 100 || Number.isInteger(value) ? whole : size >= 10 ? one : two).format(value);
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let place = 0;
  let left = value;
  while (left >= 1024 && place < units.length - 1) {
    left /= 1024;
    place += 1;
  }
  return `${number(left)} ${units[place]}`;
}

/** Seconds, in the unit that fits. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  if (value < 0.001) return `${number(value * 1e6)} µs`;
  if (value < 1) return `${number(value * 1e3)} ms`;
  if (value < 120) return `${number(value)} s`;
  if (value < 7_200) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  if (value < 172_800) return `${Math.floor(value / 3_600)} h ${Math.floor((value % 3_600) / 60)} min`;
  return `${Math.floor(value / 86_400)} d ${Math.floor((value % 86_400) / 3_600)} h`;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

export const time = (at: string | number): string => clock.format(new Date(at));
/** With day and zone. */
export const moment = (at: string | number): string => full.format(new Date(at));

/** A word of the API as people read it: `sold_out` is "sold out". */
export const words = (word: string): string => word.replaceAll('_', ' ');
