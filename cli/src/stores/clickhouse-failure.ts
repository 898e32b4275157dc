import type { TelemetryTarget } from '@gatehouse/store';
import { shownAddress } from '../config/shown-value.ts';

// Why ClickHouse cannot be used, in words that say what to do. Its own messages are about its insides, and those of TLS
// about certificates that the reader cannot see.

const LONGEST = 240;

const TOO_OLD = 'the server does not know what it is asked; ClickHouse 24.3 or newer is needed';

const ADVICE: Readonly<Record<string, string>> = {
  // READONLY and SETTING_CONSTRAINT_VIOLATION.
  '164':
    'the profile of the user in CLICKHOUSE_URL does not allow settings, and each query is sent with limits; set readonly to 0 in it',
  '452':
    'the profile of the user in CLICKHOUSE_URL constrains a setting that queries are sent with; remove the constraint',
  '497':
    'the user lacks a right; docs/telemetry-store.md lists the grants, and CLICKHOUSE_OWNER_URL migrates',
  '516': 'the user or the password in CLICKHOUSE_URL is not accepted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate signs itself; set CLICKHOUSE_CA_FILE to it',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority; set CLICKHOUSE_CA_FILE',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an unknown authority; set CLICKHOUSE_CA_FILE',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority; set CLICKHOUSE_CA_FILE',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host than that of CLICKHOUSE_URL',
  ECONNREFUSED: 'nothing listens there; start ClickHouse, or correct the host and the port',
  ENOTFOUND: 'its host name is not known; correct the name, or let it resolve here',
  EAI_AGAIN: 'its host name is not known; correct the name, or let it resolve here',
  ETIMEDOUT: 'it does not answer; correct the host and the port, or let the network through to it',
  EHOSTUNREACH: 'it does not answer; correct the host and the port, or let the network through to it',
  '81': 'the database does not exist, and the login may not create it; create it, or set CLICKHOUSE_OWNER_URL',
  // UNKNOWN_FUNCTION, SYNTAX_ERROR and UNKNOWN_SETTING.
  '46': TOO_OLD,
  '62': TOO_OLD,
  '115': TOO_OLD,
  EPROTO: 'the port does not speak TLS; use http://, or the port for HTTPS (8443)',
  HPE_INVALID_CONSTANT: 'the port does not speak HTTP; use the port for HTTP (8123), or https://',
};

/** The setting with the server's address, before what is wrong with it; empty for the embedded engine. */
export function namedServer(
  { target, ownerTarget }: { readonly target: TelemetryTarget; readonly ownerTarget: TelemetryTarget },
  login: 'owner' | 'service',
): string {
  const used = login === 'owner' ? ownerTarget : target;
  if (!('url' in used)) return '';
  const isOne = 'url' in target && target.url === used.url;
  return `${isOne ? 'CLICKHOUSE_URL' : 'CLICKHOUSE_OWNER_URL'} is ${shownAddress(used.url)}: `;
}

/** One line, of the error or of its cause. */
export function clickhouseFailure(error: unknown): string {
  const { message, code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  // ClickHouse answers with its code; a page or a document without one is of another program.
  const isOther = code === undefined && /^\s*[<{]/.test(message);
  const advice = isOther
    ? 'what answers there is not ClickHouse; correct the host and the port'
    : ADVICE[String(code)];
  if (advice === undefined && cause instanceof Error) return clickhouseFailure(cause);
  // The first line: an error of the server continues with its query.
  const first = (message.trim().split('\n')[0] || code || 'no answer').slice(
    0,
    advice ? LONGEST / 2 : LONGEST,
  );
  return advice === undefined ? first : `${advice} (${first})`;
}
