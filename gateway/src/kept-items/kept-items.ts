import type { OrganizationId, RequestId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import { OwnerMinutes } from '../exchange/owner-minutes.ts';
import { isOwnItemId } from '../formats/responses/own-items.ts';
import { parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { findItems, keepItems } from './queries.ts';
import { hashOfId, seal, unseal } from './sealed-item.ts';

// SDKs that leave `store` to the Responses API refer to what a model said by the ids of its items (`item_reference`), from the second step of a
// tool loop on. Where the answer was translated no provider has stored them, so they are kept here, for an hour. An id that carried its
// item would not do: a stream tells the id before the text.

/** A longer answer is not looked through, and a longer item is not kept. */
const MAX_ANSWER_BYTES = 1024 * 1024;
export const MAX_ITEM_BYTES = 255 * 1024;
/** The items of one organisation in a minute, in a gateway process: so many steps of agents, and their bytes. */
export const MINUTE_ITEMS = 1_200;
export const MINUTE_BYTES = 4 * 1024 * 1024;
/** Beyond, an answer has no more than is kept. */
const MAX_ITEMS_OF_ANSWER = 256;

/** Keeps the items of translated answers. */
export class KeptItems {
  readonly #database: Queryable;
  readonly #log: Logger;
  readonly #minutes: OwnerMinutes<{ items: number; bytes: number }>;

  /** `monotonicMs` is a clock that never goes back. */
  constructor(database: Queryable, log: Logger, monotonicMs: () => number) {
    this.#database = database;
    this.#log = log;
    this.#minutes = new OwnerMinutes(() => ({ items: 0, bytes: 0 }), monotonicMs);
  }

  /** Keeps the items of an answer, before its last byte is sent. Without them the answer is as good, so nothing here fails it. */
  async keep(shown: Shown, requestId: RequestId, organizationId: OrganizationId): Promise<void> {
    const items = itemsIn(shown).filter((item) => this.#takes(organizationId, item));
    if (items.length === 0) return;
    try {
      await this.#database.run(keepItems, {
        organizationId,
        idHashes: items.map(({ id }) => hashOfId(id)),
        sealed: items.map(({ id, text }) => seal(id, text)),
      });
    } catch (error) {
      this.#log.warn(
        { event: 'request.items_not_kept', request_id: requestId, err: error },
        'items of an answer were not kept; a later request cannot refer to them',
      );
    }
  }

  /** The kept items, as JSON, by their ids. */
  async find(ids: readonly string[], organizationId: OrganizationId): Promise<ReadonlyMap<string, string>> {
    const byHash = new Map(ids.map((id) => [hashOfId(id).toString('hex'), id]));
    const idHashes = [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex'));
    const rows = await this.#database.many(findItems, { organizationId, idHashes });
    return new Map(
      rows.flatMap(({ idHash, sealed }) => {
        const id = byHash.get(idHash.toString('hex'));
        const text = id === undefined ? undefined : unseal(id, sealed);
        return id === undefined || text === undefined ? [] : [[id, text] as const];
      }),
    );
  }

  /** True if one more may be kept of the organisation in its minute. */
  #takes(organizationId: OrganizationId, { text }: Item): boolean {
    const minute = this.#minutes.of(organizationId);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_ITEM_BYTES || minute.items >= MINUTE_ITEMS || minute.bytes + bytes > MINUTE_BYTES)
      return false;
    minute.items += 1;
    minute.bytes += bytes;
    return true;
  }
}

/** The last bytes that a caller gets: a whole answer, or the last events of a stream. */
export interface Shown {
  readonly bytes: Buffer;
  readonly isStream: boolean;
}

interface Item {
  readonly id: string;
  /** JSON. */
  readonly text: string;
}

function itemsIn(shown: Shown): readonly Item[] {
  const output = responseIn(shown)?.['output'];
  const items: readonly unknown[] = Array.isArray(output) ? output.slice(0, MAX_ITEMS_OF_ANSWER) : [];
  return items.filter(isJsonObject).flatMap((item) => {
    const { id } = item;
    return typeof id === 'string' && isOwnItemId(id) ? [{ id, text: JSON.stringify(item) }] : [];
  });
}

/** The response that a caller gets; of a stream the one in its last event. */
function responseIn({ bytes, isStream }: Shown): JsonObject | undefined {
  if (bytes.length > MAX_ANSWER_BYTES) return undefined;
  const text = bytes.toString();
  // JSON has no line breaks of its own.
  const value = parseJson(isStream ? text.slice(text.lastIndexOf('\ndata: ') + 7) : text);
  const response = isJsonObject(value) && isJsonObject(value['response']) ? value['response'] : value;
  return isJsonObject(response) ? response : undefined;
}
