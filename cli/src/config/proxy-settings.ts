import {
  type ProxyExceptions,
  type ProxyOf,
  parseProxy,
  parseProxyExceptions,
  proxiesFor,
} from '@gatehouse/http/outgoing';
import { setting, settingValue } from './setting.ts';
import { shownAddress } from './shown-value.ts';

// The names are those that the tools of a machine share, and so is their lower case.

const proxy = {
  expected: 'an address such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128',
  fallback: undefined as URL | undefined,
  fallbackText: 'direct connections',
  parse: parseProxy,
  show: shownAddress,
  mayBeInFile: true,
  hasLowerCaseName: true,
};

export const proxySettings = {
  httpsProxy: setting(
    'HTTPS_PROXY',
    'The proxy for `https://` addresses, except stores, mail servers and this machine. The lower-case name takes precedence.',
    proxy,
  ),
  httpProxy: setting('HTTP_PROXY', 'The same for `http://` addresses.', proxy),
  noProxy: setting(
    'NO_PROXY',
    'Hosts without the proxy; `.suffix` is all names below it. All but ranges may have a port.',
    {
      expected: 'names, .suffix, addresses, ranges such as 10.0.0.0/8, or *, separated by commas',
      fallback: undefined as ProxyExceptions | undefined,
      fallbackText: 'no exceptions',
      parse: parseProxyExceptions,
      hasLowerCaseName: true,
    },
  ),
};

/** The same of an environment, for commands that need no other setting. @throws ConfigError */
export function proxyOfEnvironment(environment: Readonly<Record<string, string | undefined>>): ProxyOf {
  return proxyOfSettings({
    httpProxy: settingValue(proxySettings.httpProxy, environment),
    httpsProxy: settingValue(proxySettings.httpsProxy, environment),
    noProxy: settingValue(proxySettings.noProxy, environment),
  });
}

/** The proxy of these settings for each address. */
export function proxyOfSettings({
  httpProxy: http,
  httpsProxy: https,
  noProxy: exceptions,
}: {
  readonly httpProxy: URL | undefined;
  readonly httpsProxy: URL | undefined;
  readonly noProxy: ProxyExceptions | undefined;
}): ProxyOf {
  return proxiesFor({ http, https, exceptions });
}
