import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Surface } from '@gatehouse/contract';
import { isJsonObject } from '../wire/json.ts';
import type { SessionHash } from './choose.ts';

// What belongs together, so that it goes to one upstream account: a prompt cache lives there, and only there. Clients name
// their session in a header (Claude Code, Codex), or in the body. A name is worth nothing outside its organisation, so
// both are hashed together: nobody can aim at another's account.

// The first that a request has counts: the narrower ones come first.
const HEADERS = ['x-claude-code-session-id', 'session-id', 'thread-id'];
const MEMBERS = ['prompt_cache_key', 'safety_identifier', 'user'];

const MAX_NAME_LENGTH = 1_024;

/** The facts that tell requests apart that name no session. */
export interface Caller {
  readonly organizationId: string;
  readonly keyId: string;
  readonly endpoint: Surface;
}

/**
 * The key that tells sessions apart; undefined where the request names none. A response that its provider stores may be continued later, by
 * any process: without a session it goes where those of its key go.
 */
export function sessionOf(
  { organizationId, keyId, endpoint }: Caller,
  headers: IncomingHttpHeaders,
  members: ReadonlyMap<string, unknown>,
): SessionHash | undefined {
  const isStored = endpoint === 'responses' && members.get('store') !== false;
  const name = sessionName(headers, members) ?? (isStored ? keyId : undefined);
  if (name === undefined) return undefined;
  const bytes = hash('sha256', `${organizationId}\n${name}`, 'buffer');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

function sessionName(
  headers: IncomingHttpHeaders,
  members: ReadonlyMap<string, unknown>,
): string | undefined {
  for (const header of HEADERS) {
    const value = headers[header];
    if (isName(value)) return value;
  }
  for (const member of MEMBERS) {
    const value = members.get(member);
    if (isName(value)) return value;
  }
  // As Anthropic's clients name a user. Claude Code's has the session in it.
  const metadata = members.get('metadata');
  const userId = isJsonObject(metadata) ? metadata['user_id'] : undefined;
  return isName(userId) ? userId : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH;
}
