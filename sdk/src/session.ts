/** A session as it can be stored. It holds secrets. */
export interface SavedSession {
  /** The origin that set the cookies, and the only one that gets them. */
  readonly origin: string;
  readonly cookies: readonly SavedCookie[];
}

export interface SavedCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** In milliseconds since 1970; null for a cookie without an end. */
  readonly expiresAtMs: number | null;
}

const MAX_COOKIES = 16;
const MAX_COOKIE_LENGTH = 4_096;

/**
 * The cookies of one signed-in account, for programs outside a browser. They go only to the origin that set them, and only
 * over https or to this machine.
 */
export class Session {
  #origin: string | undefined;
  #cookies: SavedCookie[];
  readonly #nowMs: () => number;

  constructor(saved?: SavedSession, nowMs: () => number = Date.now) {
    this.#origin = saved?.origin;
    this.#cookies = [...(saved?.cookies ?? [])];
    this.#nowMs = nowMs;
  }

  /** The value of the Cookie header; undefined where there is none to send. */
  headerFor(url: URL): string | undefined {
    const now = this.#nowMs();
    if (url.origin !== this.#origin) return undefined;
    const pairs = this.#cookies
      .filter(({ path, expiresAtMs }) => covers(path, url.pathname) && (expiresAtMs ?? Infinity) > now)
      .map(({ name, value }) => `${name}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  /** Keeps the cookies of a reply. Throws where they could not be sent back. */
  keep(url: URL, setCookies: readonly string[]): void {
    if (setCookies.length === 0) return;
    if (!isPrivate(url))
      throw new Error(
        `The cookies of a session need https: ${url.origin} is neither https nor this machine.`,
      );
    if (url.origin !== this.#origin) this.#cookies = [];
    this.#origin = url.origin;
    for (const line of setCookies) {
      const cookie = readCookie(line, this.#nowMs());
      if (!cookie) continue;
      this.#cookies = this.#cookies.filter(({ name, path }) => name !== cookie.name || path !== cookie.path);
      const isLive = cookie.value !== '' && (cookie.expiresAtMs ?? Infinity) > this.#nowMs();
      if (isLive && this.#cookies.length < MAX_COOKIES) this.#cookies.push(cookie);
    }
  }

  /** True if there is a cookie that has not expired. */
  get isEmpty(): boolean {
    return !this.#cookies.some(({ expiresAtMs }) => (expiresAtMs ?? Infinity) > this.#nowMs());
  }

  /** The value that `new Session(saved)` takes; undefined where there is nothing to store. Keep it as secret as a password. */
  save(): SavedSession | undefined {
    return this.#origin === undefined || this.isEmpty
      ? undefined
      : { origin: this.#origin, cookies: [...this.#cookies] };
  }

  /** A session in a log shows no cookie. */
  toJSON(): string {
    return '[session]';
  }
}

function isPrivate({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' ||
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}

/** RFC 6265, 5.1.4. */
function covers(cookiePath: string, path: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`);
}

function readCookie(line: string, nowMs: number): SavedCookie | undefined {
  const [pair = '', ...attributes] = line.split(';').map((text) => text.trim());
  const [, name = '', value = ''] = /^([^=\s]+)=(.*)$/.exec(pair) ?? [];
  if (name === '' || line.length > MAX_COOKIE_LENGTH) return undefined;
  const attribute = (wanted: string) =>
    attributes
      .map((text) => /^([^=]+)=?(.*)$/.exec(text))
      .findLast((match) => match?.[1]?.toLowerCase() === wanted)?.[2];
  const path = attribute('path') ?? '/';
  return {
    name,
    value,
    path: path.startsWith('/') ? path : '/',
    expiresAtMs: expiry(attribute('max-age'), attribute('expires'), nowMs),
  };
}

function expiry(maxAge: string | undefined, expires: string | undefined, nowMs: number): number | null {
  if (maxAge !== undefined && /^-?\d{1,12}$/.test(maxAge)) return nowMs + Number(maxAge) * 1000;
  const date = Date.parse(expires ?? '');
  return Number.isNaN(date) ? null : date;
}
