import type { BlockList } from 'node:net';
import type { ServedHosts } from '@gatehouse/http';
import { addressRanges } from './address-ranges.ts';
import { ConfigError } from './config-error.ts';
import { hostNames, isLoopbackOnly } from './hosts.ts';
import { type Setting, setting, wholeNumber } from './setting.ts';

// Who may reach the service, and as what.

const origin = (text: string): string | undefined => {
  const url = URL.parse(text.trim());
  return url && (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/' && !url.search
    ? url.origin.toLowerCase()
    : undefined;
};

const LOOPBACK = addressRanges('127.0.0.0/8,::1');

export const exposureSettings = {
  allowedOrigins: setting(
    'ALLOWED_ORIGINS',
    'Origins, separated by commas, from which a request that changes something is taken besides the service’s own: those of pages that reach the API through a relay of their own. No cross-origin headers are sent.',
    {
      expected: 'origins such as https://app.example.com, separated by commas',
      fallback: new Set<string>() as ReadonlySet<string>,
      fallbackText: 'none',
      parse: (text) => {
        const origins = text.split(',').map(origin);
        return origins.every((value) => value !== undefined) ? new Set(origins) : undefined;
      },
    },
  ),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    'Names, separated by commas, under which clients reach either listener (their Host header), besides localhost, IP addresses, HOST and the hosts of ALLOWED_ORIGINS. * takes every name, which lets a web page that points its own name at this service read it from inside a browser’s network.',
    {
      expected: 'host names such as gatehouse.example.com without a port, separated by commas, or *',
      fallback: new Set<string>() as ServedHosts,
      fallbackText: 'none',
      parse: hostNames,
    },
  ),
  trustedProxyHops: setting(
    'TRUSTED_PROXY_HOPS',
    'How many proxies of yours append to X-Forwarded-For; 0 ignores the header.',
    {
      ...wholeNumber(0, 32),
      fallback: undefined as number | undefined,
      fallbackText: '1; must be chosen with the embedded database where HOST lets other machines in',
    },
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'The addresses that those proxies connect from: X-Forwarded-For and X-Forwarded-Proto count from them only.',
    {
      expected: 'IP addresses and ranges such as 10.0.0.0/8, separated by commas',
      fallback: LOOPBACK as BlockList,
      fallbackText: '127.0.0.0/8,::1',
      parse: addressRanges,
    },
  ),
  registrationsPerNetwork: setting(
    'REGISTRATIONS_PER_NETWORK',
    'Attempts to register within an hour from one network (the /24 of an IPv4 address, the /48 of an IPv6 one) after which it has to wait. Programs on this machine are not counted.',
    { ...wholeNumber(1, 1_000_000), fallback: 20 },
  ),
  registrationsPerHour: setting('REGISTRATIONS_PER_HOUR', 'The same, from all networks together.', {
    ...wholeNumber(1, 1_000_000),
    fallback: 1_000,
  }),
};

/**
 * What is convenient on one machine is a decision where others can reach it. Throws ConfigError, naming each that is
 * not made, where the host lets other machines in.
 */
export function requireChosen(
  host: string,
  choices: readonly (readonly [setting: Setting<unknown>, chosen: unknown, soFar: string])[],
): void {
  if (isLoopbackOnly(host)) return;
  const open = choices
    .filter(([, chosen]) => chosen === undefined)
    .map(([{ name, expected }, , soFar]) => `${name} (${soFar} unless set; expected ${expected})`);
  if (open.length === 0) return;
  throw new ConfigError(
    `HOST is ${JSON.stringify(host)}, which other machines can reach, so choose ${open.join(' and ')}`,
  );
}
