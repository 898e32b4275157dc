import { setting } from './setting.ts';
import { shownAddress } from './shown-value.ts';

// A server that could answer in place of the issuer could sign in as any user, so http is allowed on this machine only.
const issuer = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (!url || url.username || url.password || /[?#]/.test(text)) return undefined;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback) ? text : undefined;
};

export const googleSettings = {
  googleClientId: setting(
    'GOOGLE_CLIENT_ID',
    'The OAuth client whose ID tokens sign in at `POST /auth/google`.',
    {
      expected: 'a client id, such as 1234-abcd.apps.googleusercontent.com',
      fallback: undefined as string | undefined,
      fallbackText: 'sign-in with Google is off',
      parse: (text) => (/^[\x21-\x7e]{1,255}$/.test(text) ? text : undefined),
      mayBeInFile: true,
    },
  ),
  googleIssuer: setting(
    'GOOGLE_ISSUER',
    'The issuer of those tokens, read by OpenID discovery. A non-Google issuer is trusted exactly as Google would be.',
    {
      expected: 'an address starting with https://, or with http:// on this machine, without a query',
      fallback: 'https://accounts.google.com',
      parse: issuer,
      show: shownAddress,
    },
  ),
};
