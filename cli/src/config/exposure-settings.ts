import type { BlockList } from 'node:net';
import type { CorsOrigins } from '@gatehouse/gateway';
import type { ServedHosts } from '@gatehouse/http';
import { addressRanges } from './address-ranges.ts';
import { hostNames, isLoopbackOnly } from './hosts.ts';
import { type Setting, setting, wholeNumber } from './setting.ts';

// Who may reach the service, and where. See docs/decisions/0024.

const origin = (text: string): string | undefined => {
  const url = URL.parse(text.trim());
  return url && (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/' && !url.search
    ? url.origin.toLowerCase()
    : undefined;
};

function origins(text: string): ReadonlySet<string> | undefined {
  const listed = text.split(',').map(origin);
  return listed.every((value) => value !== undefined) ? new Set(listed) : undefined;
}

// Clients append /v1 to it, or the path of their own protocol.
const baseUrl = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || /[?#]/.test(text))
    return undefined;
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '');
};

const LOOPBACK = addressRanges('127.0.0.0/8,::1');

export const exposureSettings = {
  allowedOrigins: setting(
    'ALLOWED_ORIGINS',
    'Additional origins whose requests may change something: pages that reach the API through their own proxy. No cross-origin headers are sent.',
    {
      expected: 'origins such as https://app.example.com, separated by commas',
      fallback: new Set<string>() as ReadonlySet<string>,
      fallbackText: 'none',
      parse: origins,
    },
  ),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    'Additional names in the Host header, besides localhost, IP addresses, HOST, the hosts of ALLOWED_ORIGINS and, at the gateway, of PUBLIC_GATEWAY_URL. * accepts every name, which allows DNS rebinding.',
    {
      expected: 'host names such as gatehouse.example.com without a port, separated by commas, or *',
      fallback: new Set<string>() as ServedHosts,
      fallbackText: 'none',
      parse: hostNames,
    },
  ),
  gatewayCorsOrigins: setting(
    'GATEWAY_CORS_ORIGINS',
    'The origins whose pages may call the gateway (CORS), or * for every page. Visitors can read the key in such a page and spend its credit.',
    {
      expected: 'origins such as https://app.example.com, separated by commas, or *',
      fallback: new Set<string>() as CorsOrigins,
      fallbackText: 'none: a browser’s preflight answers 405',
      parse: (text) => (text.trim() === '*' ? '*' : origins(text)),
    },
  ),
  publicGatewayUrl: setting(
    'PUBLIC_GATEWAY_URL',
    'Where clients reach the gateway, if that is not where it listens, as behind a proxy or in a container. The gateway accepts its host name.',
    {
      expected: 'an address starting with http:// or https://, without a user, a query and a fragment',
      fallback: undefined as string | undefined,
      fallbackText: 'http:// or https://, HOST and GATEWAY_PORT; unknown if HOST stands for every address',
      parse: baseUrl,
    },
  ),
  trustedProxyHops: setting(
    'TRUSTED_PROXY_HOPS',
    'How many of your proxies append to X-Forwarded-For; 0 ignores the header.',
    {
      ...wholeNumber(0, 32),
      fallback: undefined as number | undefined,
      fallbackText: '1; must be set with the embedded database if HOST admits other machines',
    },
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'The addresses of those proxies: X-Forwarded-For and X-Forwarded-Proto are trusted from them only.',
    {
      expected: 'IP addresses and ranges such as 10.0.0.0/8, separated by commas',
      fallback: LOOPBACK as BlockList,
      fallbackText: '127.0.0.0/8,::1',
      parse: addressRanges,
    },
  ),
  registrationsPerNetwork: setting(
    'REGISTRATIONS_PER_NETWORK',
    'Registration attempts per hour from one network (/24 of IPv4, /48 of IPv6), except programs on this machine.',
    { ...wholeNumber(1, 1_000_000), fallback: 20 },
  ),
  registrationsPerHour: setting('REGISTRATIONS_PER_HOUR', 'The same limit for all networks together.', {
    ...wholeNumber(1, 1_000_000),
    fallback: 1_000,
  }),
};

/** Defaults that suit one machine must be chosen if other machines can reach it. Names each that is not. */
export function unchosenIssues(
  host: string,
  choices: readonly (readonly [setting: Setting<unknown>, isChosen: boolean, fallback: string])[],
): string[] {
  if (isLoopbackOnly(host)) return [];
  const open = choices
    .filter(([, isChosen]) => !isChosen)
    .map(([{ name, expected }, , fallback]) => `${name} (${fallback} unless set; expected ${expected})`);
  if (open.length === 0) return [];
  return [`HOST is ${JSON.stringify(host)}, which other machines can reach, so choose ${open.join(' and ')}`];
}
