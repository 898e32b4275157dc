import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SignedRequest, signatureIssue } from '../../testing/sigv4-verifier.ts';
import { signedHeaders } from './aws.ts';

// The key, the moment and the place of the vendor's published test suite ("aws-sig-v4-test-suite").
const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const AT = '20150830T123600Z';
const SCOPE = '20150830/us-east-1/service/aws4_request';

function ofSuite(
  method: string,
  target: string,
  signature: string,
  { headers = {}, body = '' }: Partial<SignedRequest> = {},
): SignedRequest {
  const all: Record<string, string | string[] | undefined> = {
    host: 'example.amazonaws.com',
    'x-amz-date': AT,
    ...headers,
  };
  const names = Object.keys(all).sort().join(';');
  const authorization = `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/${SCOPE}, SignedHeaders=${names}, Signature=${signature}`;
  return { method, target, headers: { ...all, authorization }, body };
}

describe('the verifier of signatures', () => {
  const SUITE: readonly (readonly [string, SignedRequest])[] = [
    ['get-vanilla', ofSuite('GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31')],
    [
      'post-vanilla',
      ofSuite('POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'),
    ],
    [
      'get-vanilla-query-order-key-case',
      ofSuite(
        'GET',
        '/?Param2=value2&Param1=value1',
        'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
      ),
    ],
    [
      'post-x-www-form-urlencoded',
      ofSuite('POST', '/', 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'Param1=value1',
      }),
    ],
  ];
  for (const [name, request] of SUITE)
    it(`accepts ${name} of the vendor's suite, and nothing else`, () => {
      assert.equal(signatureIssue(request, KEY), undefined);
      assert.ok(signatureIssue({ ...request, body: `${request.body} ` }, KEY));
      assert.ok(signatureIssue({ ...request, target: '/other' }, KEY));
      assert.ok(signatureIssue(request, { ...KEY, secretAccessKey: 'other' }));
    });
});

describe('the signature of a request', () => {
  const place = { region: 'eu-central-1', service: 'bedrock' };
  const sign = async (address: string, body: Buffer, key: typeof KEY & { sessionToken?: string }) => {
    const url = new URL(address);
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'user-agent': 'gatehouse',
      traceparent: '00-1',
    };
    const signed = await signedHeaders(key, place, { url, headers, body });
    const request = {
      method: 'POST',
      target: url.pathname + url.search,
      headers: { ...signed, host: url.host },
      body,
    };
    return { signed, request };
  };

  const ADDRESSES = [
    'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1/chat/completions',
    'https://bedrock-runtime.eu-central-1.amazonaws.com:8443/model/anthropic.claude%3A1/invoke',
    'https://bedrock.example/v1/a%20b?api-version=2026-01-01&b=c+d&a=%2F',
  ];
  for (const address of ADDRESSES)
    it(`holds as it arrives at ${address}`, async () => {
      const body = Buffer.from('{"model":"m","messages":[{"content":"später"}]}');
      const { request, signed } = await sign(address, body, { ...KEY, sessionToken: 'FwoGZXIvYXdzE' });
      assert.equal(signatureIssue(request, { ...KEY, sessionToken: 'FwoGZXIvYXdzE' }), undefined);
      assert.match(
        signed['authorization'] ?? '',
        /\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;/,
      );
      // A proxy may change these.
      assert.doesNotMatch(signed['authorization'] ?? '', /accept|user-agent|traceparent/);
    });

  it('holds for a body that is hashed outside of the main thread, and for none', async () => {
    for (const bytes of [0, 256 * 1024, 256 * 1024 + 1, 3 * 1024 * 1024]) {
      const { request } = await sign(ADDRESSES[0] ?? '', Buffer.alloc(bytes, 'a'), KEY);
      assert.equal(signatureIssue(request, KEY), undefined);
    }
  });
});
