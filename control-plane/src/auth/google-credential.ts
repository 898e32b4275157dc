import { createHash } from 'node:crypto';
import type { Secret } from '@gatehouse/contract';
import type { GoogleIssuer } from './google-issuer.ts';
import { type GoogleIdentity, headerIssue, readClaims } from './google-rules.ts';

/** A Google credential that is not accepted. The reason goes to the log; the caller does not learn it. */
export class GoogleCredentialError extends Error {
  override readonly name = 'GoogleCredentialError';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

export interface GoogleCredential extends GoogleIdentity {
  /** The same for every encoding of the token, and different for every other token. */
  readonly hash: Buffer;
}

/** The means of verifying a token. */
export interface GoogleTokens {
  readonly issuer: GoogleIssuer;
  readonly clientId: string;
  readonly nowMs: () => number;
}

/**
 * Verifies an ID token.
 * @throws GoogleCredentialError, or ApiError 503 while the issuer is unavailable
 */
export async function readGoogleCredential(
  credential: Secret,
  nonce: string | undefined,
  { issuer, clientId, nowMs }: GoogleTokens,
): Promise<GoogleCredential> {
  const token = credential.reveal();
  // Checks that need no key come first, so that a malformed token causes no request to the issuer.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) throw new GoogleCredentialError('no signed token');
  // Loaded with the first token: most installations have none.
  const { compactVerify, decodeProtectedHeader } = await import('jose');
  const header = readable(() => decodeProtectedHeader(token), 'header');
  const issue = headerIssue(header);
  if (issue !== undefined) throw new GoogleCredentialError(issue);

  const signer = await issuer.findKey(header);
  if (!signer) throw new GoogleCredentialError('unknown key');
  const { payload } = await compactVerify(token, signer.key, { algorithms: ['RS256'] }).catch(() => {
    throw new GoogleCredentialError('signature');
  });
  const claims = readable(() => JSON.parse(Buffer.from(payload).toString('utf8')) as unknown, 'claims');
  const identity = readClaims(claims, {
    clientId,
    issuers: signer.issuers,
    nonce,
    nowSeconds: nowMs() / 1000,
  });
  if ('issue' in identity) throw new GoogleCredentialError(identity.issue);
  return { ...identity, hash: hashOfSigned(token) };
}

// The last character of the signature has unused bits, so one token has several encodings. The signed part has one.
function hashOfSigned(token: string): Buffer {
  return createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest();
}

function readable<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch {
    throw new GoogleCredentialError(what);
  }
}
