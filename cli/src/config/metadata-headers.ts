import { setting } from './setting.ts';

// Headers in which agents and chat programs name their session, agent and user. Stored, they make the cost of each searchable without
// a change to the client.
const DEFAULT =
  'x-claude-code-session-id=session-id, x-claude-code-agent-id=agent-id, x-claude-code-parent-agent-id=parent-agent-id, session-id=session-id, thread-id=thread-id, x-openwebui-user-email=user-email';
const MAX_HEADERS = 32;
const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const NAME = /^[a-z0-9_.-]{1,64}$/;
// Credentials must never be recorded.
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'cookie']);

export const metadataHeadersSetting = setting(
  'METADATA_HEADERS',
  'Headers of gateway requests that are stored as metadata besides `X-SVC-Meta-*`, and their names there. Members can search them; the provider gets none by this setting.',
  {
    expected: `up to ${MAX_HEADERS} of header=name, such as x-session=session-id, separated by commas, or none; no header that carries a credential`,
    fallback: parse(DEFAULT) as ReadonlyMap<string, string>,
    fallbackText: DEFAULT,
    parse,
  },
);

function parse(text: string): ReadonlyMap<string, string> | undefined {
  if (text === 'none') return new Map();
  const pairs = text.split(',').map((pair) => pair.trim().toLowerCase().split(/ *= */, 3));
  const headers = new Map<string, string>();
  for (const [header = '', name = '', surplus] of pairs) {
    const isAccepted = HEADER.test(header) && NAME.test(name) && surplus === undefined;
    if (!isAccepted || CREDENTIALS.has(header) || headers.has(header)) return undefined;
    headers.set(header, name);
  }
  return headers.size <= MAX_HEADERS ? headers : undefined;
}
