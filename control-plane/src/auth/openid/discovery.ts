const GOOGLE = 'https://accounts.google.com';

/** The names that the issuer has in its tokens. Google uses two spellings. */
export function issuerNames(issuer: string): readonly string[] {
  return issuer === GOOGLE ? [GOOGLE, 'accounts.google.com'] : [issuer];
}

/** The facts of a discovery document that can be trusted. */
export interface Discovered {
  /** The issuer in its own spelling. */
  readonly issuer: string;
  readonly keysUrl: string;
  /** The address where a browser signs in. */
  readonly authorizationUrl?: string;
  /** The whole document, without the addresses that cannot be trusted. */
  readonly metadata: Readonly<Record<string, unknown>> & { readonly issuer: string };
}

/** The address of an issuer's discovery document. */
export function discoveryUrl(issuer: string): string {
  return `${withoutSlash(issuer)}/.well-known/openid-configuration`;
}

/** Reads a discovery document, or returns why it cannot be trusted. */
export function readDiscovery(document: unknown, issuer: string): Discovered | { readonly issue: string } {
  const given = (document ?? {}) as Record<string, unknown>;
  const { issuer: named } = given;
  if (typeof named !== 'string' || withoutSlash(named) !== withoutSlash(issuer)) {
    return { issue: `it calls itself ${JSON.stringify(named)?.slice(0, 200)}` };
  }
  // An attacker who can change the keys in transit can sign in as any account.
  const keysUrl = trustedUrl(given['jwks_uri'], issuer);
  if (keysUrl === undefined) {
    return { issue: 'its keys are not where they can be relied on: at an https address, or its own' };
  }
  const authorizationUrl = trustedUrl(given['authorization_endpoint'], issuer);
  const metadata = Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => !name.endsWith('_endpoint') || trustedUrl(value, issuer) !== undefined,
    ),
  );
  return {
    issuer: named,
    keysUrl,
    metadata: { ...metadata, issuer: named },
    ...(authorizationUrl === undefined ? {} : { authorizationUrl }),
  };
}

/** An https address, or one of the issuer's own origin. */
function trustedUrl(text: unknown, issuer: string): string | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url && (url.protocol === 'https:' || url.origin === new URL(issuer).origin) ? url.href : undefined;
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
