import { Secret } from '@gatehouse/contract';
import type { RedisAddress } from '@gatehouse/gateway';
import { path, setting, wholeNumber } from './setting.ts';
import { shownAddress } from './shown-value.ts';

// Where rates are counted for gateways on several machines.

const DEFAULT_PORT = 6379;
const MAX_DATABASE = 1_023;

const SEVERAL = /^(rediss?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;
const MAX_NODES = 64;

/** The address of Redis, without a certificate file. Several nodes have one login and one database. */
function redisAddress(text: string): RedisAddress | undefined {
  const [, before = '', hosts = '', behind = ''] = SEVERAL.exec(text) ?? [];
  const found = hosts.split(',', MAX_NODES + 1).map((host) => redisNode(before + host + behind));
  const [first, ...others] = found.filter((address) => address !== undefined);
  if (first === undefined || found.length > MAX_NODES || others.length < found.length - 1) return undefined;
  return {
    ...first,
    ...(others.length > 0 && { others: others.map(({ host, port }) => ({ host, port })) }),
  };
}

function redisNode(text: string): RedisAddress | undefined {
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '' || url.search || url.hash)
    return undefined;
  const database = /^\/?([0-9]{1,4})?$/.exec(url.pathname);
  if (!database || url.port === '0' || Number(database[1] ?? 0) > MAX_DATABASE) return undefined;
  try {
    const username = decodeURIComponent(url.username);
    const password = decodeURIComponent(url.password);
    // Without a password, nobody signs in.
    if (username !== '' && password === '') return undefined;
    return {
      host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
      port: Number(url.port || DEFAULT_PORT),
      ...(username && { username }),
      ...(password && { password: new Secret(password) }),
      database: Number(database[1] ?? 0),
      ...(url.protocol === 'rediss:' && { tls: {} }),
    };
  } catch {
    return undefined;
  }
}

export const rateSettings = {
  redis: setting(
    'REDIS_URL',
    'A Redis (6.2 or newer) or Valkey, single or a cluster (redis://user:password@a:6379,b:6379), that counts rates over several machines. rediss:// is TLS.',
    {
      expected:
        'an address such as redis://host:6379/0 or rediss://user:password@host:6379, without a query, special characters of the password percent-encoded',
      fallback: undefined as RedisAddress | undefined,
      fallbackText: 'rates are counted on each machine',
      parse: redisAddress,
      show: shownAddress,
      mayBeInFile: true,
    },
  ),
  redisCaFile: setting('REDIS_CA_FILE', 'A file of CA certificates (PEM) that verify a rediss:// server.', {
    ...path,
    fallback: undefined as string | undefined,
    fallbackText: 'those of Node.js',
  }),
  gatewayNodes: setting(
    'GATEWAY_NODES',
    'The least number of machines with this REDIS_URL. It bounds the share of a rate that each process allows without Redis.',
    { ...wholeNumber(1, 10_000), fallback: 2 },
  ),
};
