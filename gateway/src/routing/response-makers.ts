import { hash } from 'node:crypto';
import { ByOrganization } from './by-organization.ts';

// A response that its provider stores can be continued only in the account that made it.

/** The credential that made a response. */
export interface ResponseMaker {
  readonly provider: string;
  /** The credential's name. */
  readonly credential: string;
}

const MAX_RESPONSES = 20_000;
const MAX_ID_CHARACTERS = 256;

/** Remembers which account made a response, for the last 20,000 of them. Each organisation finds and forgets only its own. */
export class ResponseMakers {
  readonly #makers: ByOrganization<ResponseMaker>;

  constructor(max = MAX_RESPONSES) {
    this.#makers = new ByOrganization({ max });
  }

  get size(): number {
    return this.#makers.size;
  }

  /** Ids come from providers and from callers: those that no provider would use are ignored. */
  add(organizationId: string, responseId: string, maker: ResponseMaker): void {
    if (isId(responseId)) this.#makers.add(organizationId, nameOf(responseId), maker);
  }

  /** Undefined where it is not known, or not any more. */
  find(organizationId: string, responseId: unknown): ResponseMaker | undefined {
    if (!isId(responseId) || !this.#makers.has(organizationId)) return undefined;
    return this.#makers.find(organizationId, nameOf(responseId));
  }
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARACTERS;
}

// Of one length, whatever the id is.
function nameOf(responseId: string): string {
  return hash('sha256', responseId, 'base64');
}
