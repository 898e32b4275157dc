import type { ProviderAuth, ProviderFlags } from '@gatehouse/contract';
import type { Dialect } from '../errors/dialect.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';

// Anthropic's API asks every caller for it; this is its only version in years.
const ANTHROPIC_VERSION = '2023-06-01';

export interface HeadOptions {
  /** The dialect of the surface that the provider is asked for. */
  readonly dialect: Dialect;
  readonly isStream: boolean;
  readonly apiKey: string | undefined;
  readonly flags: Pick<ProviderFlags, 'auth' | 'headers'>;
  /** The headers of the caller that pass (passed-headers.ts). */
  readonly passed: Readonly<Record<string, string>>;
}

/** Everything a provider sees in the head of a request. What the catalogue states comes before what the caller sent. */
export function headersFor({
  dialect,
  isStream,
  apiKey,
  flags,
  passed,
}: HeadOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: isStream ? 'text/event-stream' : 'application/json',
    // Without it any coding may be sent.
    'accept-encoding': 'identity',
    'user-agent': 'gatehouse',
    ...(dialect === 'anthropic' && { 'anthropic-version': ANTHROPIC_VERSION }),
    ...passed,
    ...flags.headers,
    ...(apiKey !== undefined && credential(flags.auth, apiKey)),
  };
}

function credential(auth: ProviderAuth, apiKey: string): Record<string, string> {
  if (auth === 'none') return {};
  if (auth === 'bearer') return { authorization: `Bearer ${apiKey}` };
  return { [typeof auth === 'string' ? auth : auth.header.toLowerCase()]: apiKey };
}

/** Why a head cannot lead to an answer that is passed on; undefined when it can. */
export function unusableHead(status: number, headers: UpstreamHeaders): string | undefined {
  if (status >= 300 && status < 400) return `answered with status ${status}, which is not followed`;
  if (status < 200 || status >= 600) return `answered with status ${status}, which means nothing`;
  const encoding = headers['content-encoding']?.toString().trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    return 'answered in an encoding that was not asked for';
  }
  return undefined;
}
