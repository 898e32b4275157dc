import { Secret } from '@gatehouse/contract';
import type { OidcSettings } from '@gatehouse/control-plane';
import { organizationName } from '@gatehouse/control-plane/organization-name';
import { setting } from './setting.ts';
import { shownAddress } from './shown-value.ts';

// A server that could answer in place of the issuer could sign in as any user, so http is allowed on this machine only.
const issuerAddress = {
  expected: 'an address starting with https://, or with http:// on this machine, without a query',
  parse: (text: string): string | undefined => {
    const url = URL.parse(text);
    if (!url || url.username || url.password || /[?#]/.test(text)) return undefined;
    const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback) ? text : undefined;
  },
  show: shownAddress,
};

const clientId = {
  expected: 'a client id, such as 1234-abcd.apps.googleusercontent.com',
  fallback: undefined as string | undefined,
  parse: (text: string) => (/^[\x21-\x7e]{1,255}$/.test(text) ? text : undefined),
  mayBeInFile: true,
};

const MAX_LABEL_LENGTH = 60;

export const signInSettings = {
  googleClientId: setting(
    'GOOGLE_CLIENT_ID',
    'The OAuth client whose ID tokens sign in at `POST /auth/google`.',
    { ...clientId, fallbackText: 'sign-in with Google is off' },
  ),
  googleIssuer: setting(
    'GOOGLE_ISSUER',
    'The issuer of those tokens. A non-Google issuer is trusted exactly as Google would be.',
    { ...issuerAddress, fallback: 'https://accounts.google.com' },
  ),
  oidcIssuer: setting(
    'OIDC_ISSUER',
    'The OpenID issuer whose accounts sign in here. It is trusted with every account whose address it vouches for.',
    {
      ...issuerAddress,
      fallback: undefined as string | undefined,
      fallbackText: 'no sign-in by OpenID Connect',
    },
  ),
  oidcClientId: setting('OIDC_CLIENT_ID', 'The client id at that issuer.', {
    ...clientId,
    fallbackText: 'must be set with OIDC_ISSUER',
  }),
  oidcClientSecret: setting('OIDC_CLIENT_SECRET', 'The client secret at that issuer.', {
    expected: 'a secret of at most 1,024 visible characters',
    fallback: undefined as Secret | undefined,
    fallbackText: 'a public client, protected by PKCE alone',
    parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? new Secret(text) : undefined),
    isSecret: true,
    mayBeInFile: true,
  }),
  oidcLabel: setting('OIDC_LABEL', 'What the button on the sign-in page says.', {
    expected: `a text of at most ${MAX_LABEL_LENGTH} characters`,
    fallback: 'Continue with single sign-on',
    parse: (text) => (text.length <= MAX_LABEL_LENGTH && !/\p{Cc}/u.test(text) ? text : undefined),
  }),
  oidcDomains: setting(
    'OIDC_DOMAINS',
    'The domains whose addresses may sign in by OpenID Connect. A subdomain is another domain.',
    {
      expected: 'domains such as example.com, separated by commas',
      fallback: undefined as ReadonlySet<string> | undefined,
      fallbackText: 'every address that the issuer vouches for',
      parse: (text) => {
        const domains = text.split(',').map((one) => one.trim().toLowerCase());
        return domains.every((one) => /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(one)) ? new Set(domains) : undefined;
      },
    },
  ),
  oidcOrganization: setting(
    'OIDC_ORGANIZATION',
    'The organisation that new accounts of the issuer join, whatever JOIN_POLICY says. The first account creates and owns it, if there is none; change this setting together with its name.',
    {
      expected: 'the name of an organisation, of at most 255 characters',
      fallback: undefined as string | undefined,
      fallbackText: 'must be set with OIDC_ISSUER',
      parse: (text) => ('issue' in organizationName(text) ? undefined : text),
    },
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    'Where browsers reach the API and the dashboard. OpenID Connect returns to it; the API accepts its host name.',
    {
      expected: 'an address starting with http:// or https://, without a path, a user and a query',
      fallback: undefined as string | undefined,
      fallbackText:
        'as the browser asked, or as a trusted proxy says with X-Forwarded-Proto and X-Forwarded-Host',
      parse: (text) => {
        const url = URL.parse(text);
        return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
          ? url.origin
          : undefined;
      },
    },
  ),
  passwordSignIn: setting(
    'PASSWORD_SIGN_IN',
    'off: nobody registers or signs in with a password; there must be another way.',
    {
      expected: 'on or off',
      fallback: true,
      fallbackText: 'on',
      parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    },
  ),
};

type SignInValues = {
  readonly [Name in keyof typeof signInSettings]?: ReturnType<(typeof signInSettings)[Name]['read']>;
};

const OF_ISSUER = ['oidcClientId', 'oidcClientSecret', 'oidcDomains', 'oidcOrganization'] as const;
const NEEDED = ['oidcClientId', 'oidcOrganization'] as const;

/** Issues between the settings of sign-in. */
export function signInIssues(values: SignInValues): string[] {
  const named = (keys: readonly (keyof typeof signInSettings)[]) =>
    keys.map((key) => signInSettings[key].name).join(' and ');
  const missing = NEEDED.filter((key) => values[key] === undefined);
  const idle = OF_ISSUER.filter((key) => values[key] !== undefined);
  const issues: string[] = [];
  if (values.oidcIssuer !== undefined && missing.length > 0) {
    issues.push(`OIDC_ISSUER is set and ${named(missing)} not; expected all of them, or none`);
  }
  if (values.oidcIssuer === undefined && idle.length > 0) {
    issues.push(`${named(idle)} set without OIDC_ISSUER, and so without effect; expected both, or neither`);
  }
  if (
    values.passwordSignIn === false &&
    values.oidcIssuer === undefined &&
    values.googleClientId === undefined
  ) {
    issues.push(
      'PASSWORD_SIGN_IN is off and there is no other way in; expected OIDC_ISSUER or GOOGLE_CLIENT_ID to be set with it',
    );
  }
  return issues;
}

/** The issuer of these settings; undefined where none is set. They have no issues. */
export function oidcSettings(
  values: {
    readonly [Name in `oidc${'Issuer' | 'ClientId' | 'ClientSecret' | 'Domains' | 'Organization'}`]?:
      | SignInValues[Name]
      | undefined;
  } & { readonly oidcLabel: string },
): OidcSettings | undefined {
  const { oidcIssuer: issuer, oidcClientId: id, oidcOrganization: organization } = values;
  if (issuer === undefined || id === undefined || organization === undefined) return undefined;
  return {
    issuer,
    clientId: id,
    clientSecret: values.oidcClientSecret,
    label: values.oidcLabel,
    domains: values.oidcDomains,
    organization,
  };
}
