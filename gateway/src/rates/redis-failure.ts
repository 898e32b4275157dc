import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { RedisAddress, RedisNode } from './redis-client.ts';

// Why Redis cannot be used, with what to do.

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^DENIED .*protected mode/,
    'it is in protected mode, which admits no other machine; give it a password and put that into REDIS_URL, or set protected-mode no',
  ],
  [
    /^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password)/,
    'it does not accept the user or the password; correct REDIS_URL',
  ],
  [/^NOPERM /, 'the user lacks a right; docs/operations.md lists them'],
  [/^ERR max number of clients/, 'it has no room for another connection; raise maxclients'],
  [/^(READONLY|MASTERDOWN)/, 'it is a replica; name the primary in REDIS_URL, or all nodes'],
  [/^ERR (DB index|invalid DB)/, 'it has no database of that number; correct the number in REDIS_URL'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name is not known; correct REDIS_URL'],
  [/ECONNREFUSED/, 'nothing listens there; start Redis, or correct REDIS_URL'],
  [
    /CERTIFICATE_REQUIRED|certificate required/i,
    'it asks for a certificate of the client; set tls-auth-clients no',
  ],
  [
    /WRONG_VERSION_NUMBER|wrong version number|packet length too long/i,
    'its port does not speak TLS; use redis://',
  ],
  [
    /DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_|self-signed certificate|unable to (get|verify)/i,
    'its certificate is of an unknown authority; set REDIS_CA_FILE',
  ],
  [/ALTNAME_INVALID|altnames/i, 'its certificate is for another host; use the name in the certificate'],
  [/CERT_HAS_EXPIRED|certificate has expired/i, 'its certificate has expired; renew it'],
  [
    /^(EPIPE|ECONNRESET) |closed the connection/,
    'it ended the connection; if it goes on, its port may speak TLS: use rediss://',
  ],
];
const MAX_REASON = 200;

/** One line: what to do, and the words of Redis or of the network. */
export function redisFailure(error: Error & { readonly code?: string }): string {
  const said = (error.message || error.name).split('\n')[0]?.slice(0, MAX_REASON) ?? '';
  const [, advice] =
    ADVICE.find(([pattern]) => pattern.test(said) || pattern.test(`${error.code} ${said}`)) ?? [];
  return advice === undefined ? said : `${advice} (${said})`;
}

const MAX_GREETING_BYTES = 2_048;

/**
 * The error that Redis says before it is asked anything, and then ends the connection: that it is in protected mode, or full. A command
 * that is on its way then fails for another reason, so this sends none. Undefined where it says nothing.
 */
export async function readGreeting(
  { host, port }: RedisNode,
  { tls }: Pick<RedisAddress, 'tls'>,
  timeoutMs: number,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = tls ? connectTls({ host, port, ...tls }) : connect({ host, port });
  let said = '';
  socket.setEncoding('utf8').setTimeout(timeoutMs, resolve);
  socket.on('data', (text: string) => {
    said += text;
    if (said.length > MAX_GREETING_BYTES) resolve();
  });
  socket.once('end', resolve).once('close', resolve).once('error', resolve);
  await promise;
  socket.destroy();
  return /^-([^\r\n]+)/.exec(said)?.[1];
}
