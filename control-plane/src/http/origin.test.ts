import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import { refuseForeignOrigin } from './origin.ts';

const ALLOWED: ReadonlySet<string> = new Set(['https://console.example', 'http://localhost:5173']);

describe('refuseForeignOrigin', () => {
  const passes: [secFetchSite: string | undefined, origin: string | undefined, host: string | undefined][] = [
    // A script.
    [undefined, undefined, 'api.example'],
    [undefined, undefined, undefined],
    // The service's own page, by either header.
    ['same-origin', 'https://api.example', 'api.example'],
    ['same-origin', undefined, 'api.example'],
    ['none', undefined, 'api.example'],
    ['none', 'null', 'api.example'],
    [undefined, 'https://api.example', 'api.example'],
    [undefined, 'http://api.example', 'api.example'],
    [undefined, 'https://API.example', 'api.EXAMPLE'],
    [undefined, 'https://api.example:443', 'api.example'],
    [undefined, 'https://api.example', 'api.example:443'],
    [undefined, 'http://127.0.0.1:8080', '127.0.0.1:8080'],
    [undefined, 'http://[::1]:8080', '[::1]:8080'],
    // An allowed origin passes whatever Sec-Fetch-Site says.
    ['cross-site', 'https://console.example', 'api.example'],
    ['same-site', 'HTTPS://Console.Example', 'api.example'],
    [undefined, 'http://localhost:5173', 'api.example'],
    ['future', 'https://console.example', 'api.example'],
  ];
  for (const [secFetchSite, origin, host] of passes) {
    it(`lets ${secFetchSite} from ${origin} pass at ${host}`, () =>
      assert.doesNotThrow(() => refuseForeignOrigin({ secFetchSite, origin, host }, ALLOWED)));
  }

  const refused: typeof passes = [
    ['cross-site', undefined, 'api.example'],
    ['same-site', undefined, 'api.example'],
    ['cross-site', 'https://evil.example', 'api.example'],
    ['same-site', 'https://sibling.example', 'api.example'],
    // Sec-Fetch-Site counts more than a matching origin.
    ['cross-site', 'https://api.example', 'api.example'],
    ['same-site', 'https://api.example', 'api.example'],
    // Values that no browser sends.
    ...[
      '',
      'Same-Origin',
      'SAME-ORIGIN',
      'NONE',
      'same-origin ',
      'same_origin',
      'same-origin, same-origin',
      'none, none',
      'self',
      'future',
    ].flatMap((site): typeof passes => [
      [site, undefined, 'api.example'],
      [site, 'https://api.example', 'api.example'],
    ]),
    [undefined, 'https://evil.example', 'api.example'],
    [undefined, 'null', 'api.example'],
    [undefined, '', 'api.example'],
    [undefined, 'https://api.example', undefined],
    [undefined, 'https://api.example:8443', 'api.example'],
    [undefined, 'https://api.example', 'api.example:8443'],
    [undefined, 'https://api.example.evil.example', 'api.example'],
    [undefined, 'https://evil.example/api.example', 'api.example'],
    [undefined, 'https://api.example/', 'api.example'],
    [undefined, 'https://user@api.example', 'api.example'],
    [undefined, 'file://api.example', 'api.example'],
    [undefined, 'chrome-extension://api.example', 'api.example'],
    [undefined, 'https://api.example, https://api.example', 'api.example'],
    [undefined, 'https://console.example.evil.example', 'api.example'],
    [undefined, 'http://console.example', 'api.example'],
  ];
  for (const [secFetchSite, origin, host] of refused) {
    it(`rejects ${secFetchSite} from ${JSON.stringify(origin)} at ${host}`, () =>
      assert.throws(
        () => refuseForeignOrigin({ secFetchSite, origin, host }, ALLOWED),
        (error) =>
          error instanceof ApiError && error.status === 403 && typeof error.body['error'] === 'string',
      ));
  }
});
