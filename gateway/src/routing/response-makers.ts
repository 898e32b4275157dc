import { hash } from 'node:crypto';

// A response that its provider stores can be continued only in the account that made it.

/** Who made a response. */
export interface ResponseMaker {
  readonly provider: string;
  /** The credential's name. */
  readonly credential: string;
}

const MOST_RESPONSES = 20_000;
const LONGEST_ID = 256;

/** Remembers which account made a response, for the last 20,000 of them. Each organisation finds only its own. */
export class ResponseMakers {
  readonly #makers = new Map<string, ResponseMaker>();
  readonly #most: number;

  constructor(most = MOST_RESPONSES) {
    this.#most = most;
  }

  get size(): number {
    return this.#makers.size;
  }

  /** Ids come from providers and from callers: those that no provider would use are ignored. */
  add(organizationId: string, responseId: string, maker: ResponseMaker): void {
    if (!isId(responseId)) return;
    const name = nameOf(organizationId, responseId);
    this.#makers.delete(name);
    this.#makers.set(name, maker);
    if (this.#makers.size <= this.#most) return;
    for (const oldest of this.#makers.keys()) {
      this.#makers.delete(oldest);
      break;
    }
  }

  /** Undefined where it is not known, or not any more. */
  find(organizationId: string, responseId: unknown): ResponseMaker | undefined {
    return isId(responseId) ? this.#makers.get(nameOf(organizationId, responseId)) : undefined;
  }
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID;
}

// Of one length, whatever the id is.
function nameOf(organizationId: string, responseId: string): string {
  return hash('sha256', `${organizationId}\n${responseId}`, 'base64');
}
