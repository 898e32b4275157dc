import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { redactionOf } from '../wire/redaction.ts';
import { headersToCaller, headersToProvider, type RequestPassage, withheldBetas } from './passed-headers.ts';

const SECRET = 'sk-platform-0123456789abcdef';

// Credentials, cookies, forwarding and personal headers, also in the protocols' own names.
const NEVER_TO_PROVIDER = {
  ...{ authorization: 'Bearer x', 'x-api-key': 'x', 'api-key': 'x', 'proxy-authorization': 'x' },
  ...{ cookie: 'a=b', 'set-cookie': ['a=b'], host: 'x', connection: 'close', te: 'trailers', upgrade: 'h2c' },
  ...{ forwarded: 'for=10.0.0.1', 'x-forwarded-for': '10.0.0.1', 'x-real-ip': '10.0.0.1', via: '1.1 x' },
  ...{ 'x-openwebui-user-email': 'a@b.c', 'x-claude-code-session-id': 's', 'session-id': 's' },
  ...{ 'x-svc-meta-team': 'search', 'user-agent': 'caller/1', referer: 'x', origin: 'x', accept: 'x' },
  ...{ 'content-length': '5', 'transfer-encoding': 'chunked', 'accept-encoding': 'gzip', expect: 'x' },
  ...{ 'anthropic-api-key': 'x', 'anthropic-auth-token': 'x', 'anthropic-cookie': 'x' },
  ...{ 'anthropic-user-email': 'x', 'openai-api-key': 'x', 'openai-user-id': 'x', 'x-anything': 'x' },
};
const PASSED_TO_PROVIDER = {
  openai: { 'openai-beta': 'responses=v1', 'x-client-request-id': 'mine' },
  anthropic: {
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a-2026-01-01, b-2026-01-01',
    'anthropic-dangerous-direct-browser-access': 'true',
    'x-client-request-id': 'mine',
  },
};
const ALL = { ...NEVER_TO_PROVIDER, ...PASSED_TO_PROVIDER.openai, ...PASSED_TO_PROVIDER.anthropic };

const passage = (given: Partial<RequestPassage>): RequestPassage => ({
  dialect: 'openai',
  isByok: false,
  isNative: true,
  betaHeaders: 'forward',
  organizationId: 'org',
  ...given,
});

describe('headersToProvider', () => {
  for (const dialect of ['openai', 'anthropic'] as const) {
    for (const isByok of [false, true]) {
      it(`passes the headers of the ${dialect} protocol and none of the others (own key: ${isByok})`, () => {
        assert.deepEqual(headersToProvider(ALL, passage({ dialect, isByok })), PASSED_TO_PROVIDER[dialect]);
      });
    }
  }

  it('passes no header of a protocol that is translated', () => {
    const passed = headersToProvider(ALL, passage({ dialect: 'anthropic', isNative: false }));
    assert.deepEqual(passed, { 'x-client-request-id': 'mine' });
  });

  it('lets a caller choose the account only with its own key', () => {
    const account = { 'openai-organization': 'org-1', 'openai-project': 'proj-1' };
    assert.deepEqual(headersToProvider(account, passage({})), {});
    assert.deepEqual(headersToProvider(account, passage({ isByok: true })), account);
  });

  it('keeps the idempotency keys of organisations apart on one credential', () => {
    const keyOf = (given: Partial<RequestPassage>, key = 'k') =>
      headersToProvider({ 'idempotency-key': key }, passage(given))['idempotency-key'];
    assert.equal(keyOf({ isByok: true }), 'k');
    assert.equal(keyOf({}), keyOf({}));
    assert.notEqual(keyOf({}), keyOf({ organizationId: 'other' }));
    assert.notEqual(keyOf({}), keyOf({}, 'l'));
    assert.match(keyOf({}) ?? '', /^[\w-]{43}$/);
  });

  for (const [rule, expected] of [
    ['forward', 'a, b,c'],
    ['strip', undefined],
    [{ a: 'z', c: null }, 'z,b'],
    [{ a: null, b: null, c: null }, undefined],
  ] as const) {
    it(`makes ${expected} of the betas by the rule ${JSON.stringify(rule)}`, () => {
      const passed = headersToProvider(
        { 'anthropic-beta': 'a, b,c' },
        passage({ dialect: 'anthropic', betaHeaders: rule }),
      );
      assert.equal(passed['anthropic-beta'], expected);
    });
  }

  const RAISING = 'a-2026-01-01, context-1m-2025-08-07,Fast-Mode-2026-02-01, context-management-2025-06-27';
  const LISTED = { 'context-1m-2025-08-07': 'context-1m-2025-08-07' };
  for (const [isByok, rule, expected, withheld] of [
    [true, 'forward', RAISING, []],
    [
      false,
      'forward',
      'a-2026-01-01,context-management-2025-06-27',
      ['context-1m-2025-08-07', 'Fast-Mode-2026-02-01'],
    ],
    [
      false,
      LISTED,
      'a-2026-01-01,context-1m-2025-08-07,context-management-2025-06-27',
      ['Fast-Mode-2026-02-01'],
    ],
    [
      false,
      { b: null },
      'a-2026-01-01,context-management-2025-06-27',
      ['context-1m-2025-08-07', 'Fast-Mode-2026-02-01'],
    ],
    [
      true,
      { b: null },
      'a-2026-01-01,context-1m-2025-08-07,Fast-Mode-2026-02-01,context-management-2025-06-27',
      [],
    ],
    [false, 'strip', undefined, []],
  ] as const) {
    it(`passes betas that raise context or price by a list (own key: ${isByok}, ${JSON.stringify(rule)})`, () => {
      const headers = { 'anthropic-beta': RAISING };
      const given = passage({ dialect: 'anthropic', isByok, betaHeaders: rule });
      assert.equal(headersToProvider(headers, given)['anthropic-beta'], expected);
      assert.deepEqual(withheldBetas(headers, given), withheld);
    });
  }

  for (const [title, value] of [
    ['a gateway key', 'sk_svc_0123456789abcdefABCDEF0123456789'],
    ['bytes that are no text', 'é'],
    ['more than two kilobytes', 'x'.repeat(2_049)],
    ['nothing', ''],
  ]) {
    it(`leaves out a header with ${title}`, () => {
      assert.deepEqual(headersToProvider({ 'openai-beta': value }, passage({})), {});
    });
  }

  it('passes at most 32', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`openai-x${index}`, 'x']));
    assert.equal(Object.keys(headersToProvider(many, passage({}))).length, 32);
  });
});

describe('headersToCaller', () => {
  it('writes the media type in small letters, and its parameters as they came', () => {
    const head = { 'content-type': 'Text/Event-Stream;Charset=UTF-8' };
    assert.deepEqual(headersToCaller(head, { dialect: 'openai', isByok: false }, undefined), {
      'content-type': 'text/event-stream;Charset=UTF-8',
    });
  });

  const head = {
    'content-type': 'application/json',
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-should-retry': 'true',
    'openai-processing-ms': '12',
    'openai-organization': 'org-platform',
    'anthropic-organization-id': 'platform',
    'anthropic-ratelimit-tokens-remaining': '5',
    'x-ratelimit-remaining-tokens': '7',
    'x-request-id': 'theirs',
    'set-cookie': ['a=b'],
    ...{ authorization: 'x', 'www-authenticate': 'x', 'content-encoding': 'identity', location: '/x' },
    ...{ 'content-length': '5', connection: 'close', 'transfer-encoding': 'chunked', server: 'x' },
    ...{ 'x-gatehouse-dropped': 'x', 'access-control-allow-origin': '*', 'strict-transport-security': 'x' },
    'cf-ray': 'x',
  };
  const common = {
    'content-type': 'application/json',
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-should-retry': 'true',
    'x-upstream-ratelimit-remaining-tokens': '7',
    'x-upstream-request-id': 'theirs',
  };

  for (const [dialect, isByok, own] of [
    ['openai', false, { 'openai-processing-ms': '12' }],
    ['openai', true, { 'openai-processing-ms': '12', 'openai-organization': 'org-platform' }],
    ['anthropic', false, { 'anthropic-ratelimit-tokens-remaining': '5' }],
    [
      'anthropic',
      true,
      { 'anthropic-ratelimit-tokens-remaining': '5', 'anthropic-organization-id': 'platform' },
    ],
  ] as const) {
    it(`passes what is listed of a provider with the ${dialect} protocol (own key: ${isByok})`, () => {
      assert.deepEqual(headersToCaller(head, { dialect, isByok }, undefined), { ...common, ...own });
    });
  }

  it("takes the credential out, and leaves out what cannot be a header's value", () => {
    const odd = {
      'content-type': `text/x; key=${SECRET}`,
      'openai-version': 'é\u0007',
      'openai-model': 'x'.repeat(2_049),
    };
    assert.deepEqual(headersToCaller(odd, { dialect: 'openai', isByok: false }, redactionOf(SECRET)), {
      'content-type': 'text/x; key=[redacted]',
    });
  });
});
