// The value of a setting in an error message. An address keeps what helps to find the mistake, its scheme and host, and
// loses where a password may be, also in an address that cannot be parsed. Guarded by shown-value.test.ts.

export const NOT_SHOWN = '(not shown)';
const LONGEST = 200;

// Up to the last @: a password may contain slashes.
const USER_INFO = /(:\/\/)[^\s,]*@/g;

/** The text without the user and the password of the addresses in it. */
export function withoutUserInfo(text: string): string {
  return text.replaceAll(USER_INFO, '$1…@');
}

export function shownText(whole: string): string {
  const text = withoutUserInfo(whole);
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/** The scheme and host of an address. */
export function shownAddress(text: string): string {
  const [, scheme, authority = '', query = ''] =
    /^([a-z][a-z0-9+.-]{0,30}):\/\/([^?#]*)([?#].*)?$/is.exec(text) ?? [];
  // A password may contain ? or #, and then the last @ is behind them.
  if (scheme === undefined || query.includes('@')) return NOT_SHOWN;
  const at = authority.lastIndexOf('@');
  // Without @, what follows a colon may be the password of an address whose host was forgotten.
  const host =
    at >= 0 ? `…@${authority.slice(at + 1)}` : authority.replace(/^(\[[^\]]*\]|[^:]*):.*$/s, '$1:…');
  return shownText(`${scheme}://${host}${query ? '?…' : ''}`);
}
