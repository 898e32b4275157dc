import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A request as a server got it. */
export interface SignedRequest {
  readonly method: string;
  /** With its query, as on the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string | Buffer;
}

export interface VerifyingKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Says why a signature of version 4 does not hold; undefined where it does. Written from the vendor's description of the
 * algorithm, and shares no code with the signer.
 */
export function signatureIssue(
  { method, target, headers, body }: SignedRequest,
  key: VerifyingKey,
): string | undefined {
  const [, credential = '', signedNames = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (signature === undefined) return `no signature: ${headers.authorization}`;
  const [accessKeyId, day = '', region = '', service = '', end] = credential.split('/');
  if (accessKeyId !== key.accessKeyId || end !== 'aws4_request') return `another credential: ${credential}`;
  const at = String(headers['x-amz-date']);
  if (!at.startsWith(`${day}T`)) return `another day: ${at}`;
  if (headers['x-amz-security-token'] !== key.sessionToken) return 'another session token';
  const hash = sha256(body);
  const stated = headers['x-amz-content-sha256'];
  if (stated !== undefined && stated !== hash) return 'another body';
  const names = signedNames.split(';');
  for (const name of ['host', ...Object.keys(headers).filter((one) => one.startsWith('x-amz-'))])
    if (!names.includes(name)) return `${name} is not signed`;
  const [path = '', query = ''] = target.split('?');
  const canonical = [
    method,
    // Each part is encoded once more than on the request line.
    path.split('/').map(encoded).join('/'),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedNames,
    hash,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', at, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join(
    '\n',
  );
  const signingKey = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${key.secretAccessKey}`),
  );
  return hmac(signingKey, toSign).toString('hex') === signature ? undefined : 'another signature';
}

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value = ''] = part.split('=');
      const decoded = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
      return [encoded(decoded(name)), encoded(decoded(value))] as const;
    })
    .toSorted(([a, x], [b, y]) => (a < b || (a === b && x < y) ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
