import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { AwsCredential } from '@gatehouse/contract';
import { type ProxyOf, proxyAgent } from '@gatehouse/http/outgoing';
import type { Issued } from './renewal.ts';

/** A key of an account, as AWS issues it. */
export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The parts of a request that are signed. */
export interface Unsigned {
  /** As it goes out, with its base path and query. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Above this a body is hashed outside of the main thread: here that takes a millisecond. */
const MAX_HASHED_HERE_BYTES = 256 * 1024;
/** Signed are the headers that say what the request is: proxies may change others. */
const SIGNED_HEADERS = new Set(['host', 'content-type']);

/** Asks the default chain: variables, web identity, shared files, containers, instances. */
export async function openAwsKeys(
  { region }: Pick<AwsCredential, 'region'>,
  proxyOf: ProxyOf,
): Promise<() => Promise<Issued<AwsKey>>> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  // The chain asks the token service of the region; what it asks of containers and instances is never behind a proxy.
  const agent = proxyAgent(new URL(`https://sts.${region}.amazonaws.com`), proxyOf);
  const provide = defaultProvider({
    clientConfig: { region, ...(agent && { requestHandler: { httpsAgent: agent } }) },
  });
  return async () => {
    const { expiration, ...key } = await provide();
    return { value: key, livesMs: expiration ? expiration.getTime() - Date.now() : Number.POSITIVE_INFINITY };
  };
}

/**
 * The headers with the signature of version 4, for the request as it is sent. Source: "Create a signed AWS API request" in the
 * vendor's documentation.
 */
export async function signedHeaders(
  key: AwsKey,
  { region, service }: Omit<AwsCredential, 'kind'>,
  { url, headers, body }: Unsigned,
  at?: Date,
): Promise<Record<string, string>> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const signer = new SignatureV4({ credentials: key, region, service, sha256: Sha256 });
  const { headers: signed } = await signer.sign(
    {
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: { ...headers, host: url.host, 'x-amz-content-sha256': await sha256Of(body) },
    },
    {
      unsignableHeaders: new Set(Object.keys(headers).filter((name) => !SIGNED_HEADERS.has(name))),
      ...(at && { signingDate: at }),
    },
  );
  const { host: _host, ...others } = signed;
  return others;
}

function queryOf({ searchParams }: URL): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const [first = '', ...others] = searchParams.getAll(name);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
}

async function sha256Of(body: Buffer): Promise<string> {
  if (body.length <= MAX_HASHED_HERE_BYTES) return createHash('sha256').update(body).digest('hex');
  return Buffer.from(await crypto.subtle.digest('SHA-256', body as Uint8Array<ArrayBuffer>)).toString('hex');
}

/** SHA-256, with a key or without, in the form that the signer takes. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(key));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}
