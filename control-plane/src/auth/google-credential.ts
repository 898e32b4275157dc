import { createHash } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import type { GoogleIssuer } from './google-issuer.ts';
import { type GoogleIdentity, headerFault, readClaims } from './google-rules.ts';

/** A sign-in with Google that is not accepted. The reason is for the log: whoever asks is not told. */
export class GoogleRefused extends Error {
  override readonly name = 'GoogleRefused';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export interface GoogleCredential extends GoogleIdentity {
  /** The same for every spelling of the token, and for no other. */
  readonly hash: Buffer;
}

/** What a token is judged by. */
export interface GoogleTokens {
  readonly issuer: GoogleIssuer;
  readonly clientId: string;
  readonly nowMs: () => number;
}

/** Reads an ID token and checks all of it. Throws GoogleRefused, or the 503 when the issuer cannot be asked. */
export async function readGoogleCredential(
  token: string,
  nonce: string | undefined,
  { issuer, clientId, nowMs }: GoogleTokens,
): Promise<GoogleCredential> {
  // What can be judged without a key comes first: rubbish does not make us ask the issuer.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new GoogleRefused('no signed token');
  const header = readable(() => decodeProtectedHeader(token), 'header');
  const unfit = headerFault(header);
  if (unfit !== undefined) throw new GoogleRefused(unfit);

  const signer = await issuer.findKey(header);
  if (!signer) throw new GoogleRefused('unknown key');
  const { payload } = await compactVerify(token, signer.key, { algorithms: ['RS256'] }).catch(() => {
    throw new GoogleRefused('signature');
  });
  const claims = readable(() => JSON.parse(Buffer.from(payload).toString('utf8')) as unknown, 'claims');
  const identity = readClaims(claims, {
    clientId,
    issuers: signer.issuers,
    nonce,
    nowSeconds: nowMs() / 1000,
  });
  if ('fault' in identity) throw new GoogleRefused(identity.fault);
  return { ...identity, hash: hashOfSigned(token) };
}

// The signature's last character has bits that count for nothing, so that one token can be written in several ways.
// What is signed cannot.
function hashOfSigned(token: string): Buffer {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest();
}

function readable<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch {
    throw new GoogleRefused(what);
  }
}
