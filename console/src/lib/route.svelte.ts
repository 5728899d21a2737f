// Where the reader is: the page and its state stand in the address, so that a link shows the same.

function read(): { page: string; params: Record<string, string> } {
  const [page, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { page: page || 'overview', params: Object.fromEntries(new URLSearchParams(query ?? '')) };
}

class Route {
  #now = $state(read());

  constructor() {
    addEventListener('hashchange', () => (this.#now = read()));
  }

  get page(): string {
    return this.#now.page;
  }

  param(name: string, otherwise = ''): string {
    return this.#now.params[name] ?? otherwise;
  }

  /** Changes the state of the page that is shown; nothing for a name takes it away. */
  set(changes: Record<string, string | undefined>): void {
    const params = this.#changed(changes);
    this.#now = { page: this.#now.page, params };
    history.replaceState(null, '', link(this.#now.page, params));
  }

  /** The address of the page after such changes. */
  link(changes: Record<string, string | undefined>): string {
    return link(this.#now.page, this.#changed(changes));
  }

  #changed(changes: Record<string, string | undefined>): Record<string, string> {
    const params = { ...this.#now.params };
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === '') delete params[name];
      else params[name] = value;
    }
    return params;
  }
}

export const route = new Route();

export function link(page: string, params: Record<string, string> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `#/${page}${query ? `?${query}` : ''}`;
}
