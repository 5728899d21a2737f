// The pages, in the order of the menu, and who sees them.
import type { Component } from 'svelte';
import type { session } from '../lib/session.svelte';

interface Page {
  name: string;
  title: string;
  isFor: (who: typeof session) => boolean;
  load: () => Promise<{ default: Component }>;
}

export const pages: Page[] = [
  { name: 'overview', title: 'Overview', isFor: (who) => who.mayOperate, load: () => import('./Overview.svelte') },
  {
    name: 'rooms',
    title: 'Rooms',
    isFor: (who) => who.may('rooms', 'read'),
    load: () => import('./Rooms.svelte'),
  },
  {
    name: 'exchange',
    title: 'Exchange',
    isFor: (who) => who.may('exchange', 'read'),
    load: () => import('./Exchange.svelte'),
  },
  {
    name: 'seats',
    title: 'Seats',
    isFor: (who) => who.may('seats', 'read'),
    load: () => import('./Seats.svelte'),
  },
  {
    name: 'games',
    title: 'Games',
    isFor: (who) => who.may('games', 'read'),
    load: () => import('./Games.svelte'),
  },
  {
    name: 'travel',
    title: 'Travel',
    isFor: (who) => who.may('travel', 'read'),
    load: () => import('./Travel.svelte'),
  },
  {
    name: 'access',
    title: 'Access',
    isFor: (who) => who.may('access', 'read'),
    load: () => import('./Access.svelte'),
  },
  { name: 'lab', title: 'Lab', isFor: (who) => who.mayOperate, load: () => import('./Lab.svelte') },
  { name: 'try', title: 'Try it', isFor: () => true, load: () => import('./Try.svelte') },
];
