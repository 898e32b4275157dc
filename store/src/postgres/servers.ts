/**
 * Several servers of one database, of which one is the primary: `postgres://user@a:5432,b:5432/database`, as managed services
 * hand it out. The driver knows one host, so the others are tried here. The server that answered last is tried first, by
 * every pool of the process; a standby is left at once, because everything here needs the primary.
 */
import pg from 'pg';
import { ConnectionUrlError } from './connection-url-error.ts';
import { DatabaseUnavailable } from './errors.ts';

const MAX_SERVERS = 16;
const ADDRESS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/i;
const HOST = /^(\[[0-9a-f:.%]+\]|[^:,[\]]+)(:[0-9]{1,5})?$/i;
const ATTRIBUTE = 'target_session_attrs';
/** `any` is libpq's default, and no use here: a standby takes no writes. */
const ACCEPTED = ['any', 'read-write', 'primary'];

export interface ServerUrls {
  /** An address for each server, in the order given. */
  readonly urls: readonly [string, ...string[]];
  /** True if the address asks for the primary. */
  readonly isChecked: boolean;
}

/** @throws ConnectionUrlError */
export function readServerUrls(text: string): ServerUrls {
  const [where = '', ...query] = text.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const attribute = parameters.get(ATTRIBUTE);
  if (attribute !== null && !ACCEPTED.includes(attribute)) {
    throw new ConnectionUrlError(
      `${ATTRIBUTE}=${attribute.slice(0, 40)} may lead to a standby, which takes no writes; use read-write`,
    );
  }
  if (attribute !== null) parameters.delete(ATTRIBUTE);
  const rest = attribute === null ? text.slice(where.length) : parameters.size > 0 ? `?${parameters}` : '';
  const [, before = '', hosts = '', after = ''] = ADDRESS.exec(where) ?? [];
  if (!hosts.includes(',')) return { urls: [where + rest], isChecked: attribute !== null };
  const [first, ...others] = hosts.split(',');
  if (others.length >= MAX_SERVERS) throw new ConnectionUrlError(`more than ${MAX_SERVERS} hosts`);
  const urlOf = (host: string) => {
    const port = HOST.exec(host)?.[2]?.slice(1);
    if (!HOST.test(host) || (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535)))
      throw new ConnectionUrlError('one of its hosts is not a host name with or without a port');
    return before + host + after + rest;
  };
  return { urls: [urlOf(first ?? ''), ...others.map(urlOf)], isChecked: true };
}

/** The servers of one address, and which of them is tried next. */
export class Servers {
  readonly urls: readonly [string, ...string[]];
  #index = 0;

  constructor(urls: readonly [string, ...string[]]) {
    this.urls = urls;
  }

  get current(): string {
    return this.urls[this.#index] as string;
  }

  /** Nothing happens when another connection has moved on already. */
  leave(url: string): void {
    if (this.current === url) this.#index = (this.#index + 1) % this.urls.length;
  }
}

const known = new Map<string, Servers>();

/** The servers of an address that names several or asks for the primary; undefined for any other. */
export function serversOf(url: string): Servers | undefined {
  const { urls, isChecked } = readServerUrls(url);
  if (!isChecked) return undefined;
  const servers = known.get(url) ?? new Servers(urls);
  known.set(url, servers);
  return servers;
}

type Callback = (error?: Error) => void;
interface Wire {
  readonly connection: { on(event: 'parameterStatus', listener: (message: Parameter) => void): void };
}
interface Parameter {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** A client of the server that is tried next. Its connect fails on a standby. */
export function clientOf(servers: Servers, failures = new WeakSet<Error>()): typeof pg.Client {
  return class extends pg.Client {
    readonly #url: string;
    #isStandby = false;

    constructor(config?: pg.ClientConfig) {
      const url = servers.current;
      super({ ...config, connectionString: url });
      this.#url = url;
      (this as unknown as Wire).connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
        if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
      });
    }

    override connect(): Promise<this>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<this> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      connected.then(() => callback(), callback);
      return undefined;
    }

    async #connect(): Promise<this> {
      try {
        await super.connect();
        if (!this.#isStandby) return this;
        this.on('error', () => undefined);
        super.end().catch(() => undefined);
        throw new DatabaseUnavailable('the server is a standby');
      } catch (error) {
        servers.leave(this.#url);
        failures.add(error as Error);
        throw error;
      }
    }
  } as typeof pg.Client;
}

type PoolCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (release?: unknown) => void,
) => void;

/** A pool that tries each server once before a caller gets an error. */
export function createServerPool(servers: Servers, config: pg.PoolConfig): pg.Pool {
  const failures = new WeakSet<Error>();
  class ServerPool extends pg.Pool {
    override connect(): Promise<pg.PoolClient>;
    override connect(callback: PoolCallback): void;
    override connect(callback?: PoolCallback): Promise<pg.PoolClient> | undefined {
      if (callback === undefined) {
        return new Promise((resolve, reject) => {
          this.connect((error, client) => (error ? reject(error) : resolve(client as pg.PoolClient)));
        });
      }
      const attempt = (left: number) =>
        super.connect((error, client, release) => {
          if (error && left > 1 && failures.has(error)) attempt(left - 1);
          else callback(error, client, release);
        });
      attempt(servers.urls.length);
      return undefined;
    }
  }
  return new ServerPool({ ...config, Client: clientOf(servers, failures) } as pg.PoolConfig);
}
