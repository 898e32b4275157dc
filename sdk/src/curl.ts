import { readBaseUrl } from './base-url.ts';
import { type ApiRequest, targetOf } from './request.ts';

export interface CurlOptions {
  /** The whole address of the API: `https://gatehouse.example/api`. */
  readonly baseUrl: string;
  /** The file with the cookies of a session. */
  readonly cookieFile?: string;
}

/**
 * A request as a curl command for a POSIX shell. Every argument is quoted, so no text of an input is run or expanded. What
 * a terminal would hide or reorder is escaped, so that the command does what it shows.
 */
export function toCurl(request: ApiRequest, { baseUrl, cookieFile = 'cookies.txt' }: CurlOptions): string {
  const address = readBaseUrl(baseUrl);
  if (!/^https?:/.test(address)) throw new TypeError('toCurl needs a whole address, with http or https.');
  const headers = { ...request.headers, ...(request.body && { 'Content-Type': 'application/json' }) };
  return [
    'curl -sS',
    ...(request.method === (request.body ? 'POST' : 'GET') ? [] : [`-X ${request.method}`]),
    ...(request.call.setsCookies ? [`-c ${quoted(cookieFile)}`] : []),
    `-b ${quoted(cookieFile)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(request.body ? [`--data-raw ${quoted(visible(JSON.stringify(request.body)))}`] : []),
    quoted(address + targetOf(request)),
  ].join(' ');
}

/** Within single quotes a shell expands nothing. */
function quoted(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** JSON with every invisible character as an escape: controls, directional marks, separators. */
function visible(json: string): string {
  return json.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
