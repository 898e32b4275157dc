import type { OrganizationId, RequestId } from '@gatehouse/contract';
import { isOwnItemId } from '../formats/responses/own-items.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import { parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { findItems, keepItems, MAX_KEPT_BYTES, MAX_KEPT_ITEMS } from './queries.ts';
import { hashOfId, seal, unseal } from './sealed-item.ts';

// SDKs that leave `store` to the Responses API refer to what a model said by the ids of its items (`item_reference`), from the second step of a
// tool loop on. Where the answer was translated no provider has stored them, so they are kept here, for an hour. An id that carried its
// item would not do: a stream tells the id before the text.

/** A longer answer is not looked through, and a longer item is not kept. */
const MAX_ANSWER_BYTES = 1024 * 1024;
export const MAX_ITEM_BYTES = 256 * 1024;
/** Beyond, an answer has no more than is kept. */
const MAX_ITEMS_OF_ANSWER = 256;

/** Keeps the items of an answer, before its last byte is sent. Without them the answer is as good, so nothing here fails it. */
export async function keepItemsOf(
  outcome: Outcome,
  requestId: RequestId,
  organizationId: OrganizationId,
  { database, log }: Pick<Dependencies, 'database' | 'log'>,
): Promise<void> {
  const items = itemsIn(outcome).filter(({ text }) => Buffer.byteLength(text) < MAX_ITEM_BYTES);
  if (items.length === 0) return;
  try {
    await database.run(keepItems, {
      organizationId,
      idHashes: items.map(({ id }) => hashOfId(id)),
      sealed: items.map(({ id, text }) => seal(id, text)),
      maxItems: MAX_KEPT_ITEMS,
      maxBytes: MAX_KEPT_BYTES,
    });
  } catch (error) {
    log.warn(
      { event: 'request.items_not_kept', request_id: requestId, err: error },
      'items of an answer were not kept; a later request cannot refer to them',
    );
  }
}

/** The kept items, as JSON, by their ids. */
export async function findKeptItems(
  ids: readonly string[],
  organizationId: OrganizationId,
  { database }: Pick<Dependencies, 'database'>,
): Promise<ReadonlyMap<string, string>> {
  const byHash = new Map(ids.map((id) => [hashOfId(id).toString('hex'), id]));
  const idHashes = [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex'));
  const rows = await database.many(findItems, { organizationId, idHashes });
  return new Map(
    rows.flatMap(({ idHash, sealed }) => {
      const id = byHash.get(idHash.toString('hex'));
      const text = id === undefined ? undefined : unseal(id, sealed);
      return id === undefined || text === undefined ? [] : [[id, text] as const];
    }),
  );
}

interface Item {
  readonly id: string;
  /** JSON. */
  readonly text: string;
}

function itemsIn(outcome: Outcome): readonly Item[] {
  const output = responseIn(outcome)?.['output'];
  const items: readonly unknown[] = Array.isArray(output) ? output.slice(0, MAX_ITEMS_OF_ANSWER) : [];
  return items.filter(isJsonObject).flatMap((item) => {
    const { id } = item;
    return typeof id === 'string' && isOwnItemId(id) ? [{ id, text: JSON.stringify(item) }] : [];
  });
}

/** The response that a caller gets; of a stream the one in its last event. */
function responseIn(outcome: Outcome): JsonObject | undefined {
  const bytes =
    outcome.kind === 'streamed' ? outcome.tail : outcome.kind === 'answered' ? outcome.body : undefined;
  if (!bytes || bytes.length > MAX_ANSWER_BYTES) return undefined;
  const text = bytes.toString();
  // JSON has no line breaks of its own.
  const value = parseJson(outcome.kind === 'streamed' ? text.slice(text.lastIndexOf('\ndata: ') + 7) : text);
  const response = isJsonObject(value) && isJsonObject(value['response']) ? value['response'] : value;
  return isJsonObject(response) ? response : undefined;
}
