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
  expected:
    'the address of a proxy, such as http://proxy.example.com:3128, with a user and a password or without',
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
    'The proxy for connections to `https://` addresses: providers, OpenID issuers, webhooks, the OpenTelemetry collector. Its name in lower case counts first. Stores and mail servers are reached directly, and so is this machine.',
    proxy,
  ),
  httpProxy: setting('HTTP_PROXY', 'The same for `http://` addresses.', proxy),
  noProxy: setting(
    'NO_PROXY',
    'Where no proxy leads, separated by commas: names, `.suffix` for all names below it, addresses, ranges (`10.0.0.0/8`), or `*`. All but ranges with a port or without.',
    {
      expected:
        'names, .suffix, addresses, ranges such as 10.0.0.0/8, or *, separated by commas, with a port or without',
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
