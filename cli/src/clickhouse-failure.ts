// Why ClickHouse cannot be used, in words that say what to do. Its own messages are about its insides, and those of TLS
// about certificates that the reader cannot see.

const LONGEST = 240;

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
  EPROTO: 'the port does not speak TLS; use http://, or the port for HTTPS (8443)',
  HPE_INVALID_CONSTANT: 'the port does not speak HTTP; use the port for HTTP (8123), or https://',
};

/** One line, of the error or of its cause. */
export function clickhouseFailure(error: unknown): string {
  const { message, code, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  const advice = ADVICE[String(code)];
  if (advice === undefined && cause instanceof Error) return clickhouseFailure(cause);
  // The first line: an error of the server continues with its query.
  const first = (message.split('\n')[0] || code || 'no answer').slice(0, advice ? LONGEST / 2 : LONGEST);
  return advice === undefined ? first : `${advice} (${first})`;
}
