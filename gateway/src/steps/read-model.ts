import { ByteBlocks } from '../bodies/byte-blocks.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { StepRefusal } from '../context/step.ts';
import { type BodyIssue, bodyTooLarge, noRoomForBody, unusableBody } from '../errors/body-errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { createCall, type RequestReading } from '../formats/call.ts';
import { awaitRead } from '../readers/await-read.ts';
import type { ReadResult } from '../readers/reads.ts';
import { splice } from '../wire/splice.ts';

type Read = Pick<Context, 'model' | 'isStream' | 'call'>;
type Needs = Pick<Context, 'key' | 'endpoint' | 'callersBody' | 'heldBody'> & Partial<Read>;

/**
 * Reads what the body asks for, in a reader thread if it is large. 400 unless it is a call of the endpoint that names a model, 413 when
 * it has more structure than is read: the model, and whether a stream is wanted, are known then as far as they could be read.
 */
export async function readModel(
  { key, endpoint, callersBody, heldBody, call, model = '', isStream = false }: Needs,
  exchange: Exchange,
  dependencies: Pick<Dependencies, 'readers' | 'keptItems' | 'settings'>,
): Promise<Read | StepRefusal> {
  // An earlier run of the steps read it.
  if (call) return { model, isStream, call };
  exchange.throwIfStopped();
  const readOnce = (bytes: Context['callersBody']) =>
    awaitRead(exchange, dependencies.readers.read(key.organizationId, 'request', { endpoint }, bytes));
  const first = await readOnce(callersBody);
  const { result, body } = await withKeptItems(first, key, heldBody, dependencies, readOnce);
  if (result.kind === 'refused') {
    const bodyError = unusableBody(result.issue);
    return new StepRefusal(bodyError, { model: result.model, isStream: result.isStream, bodyError });
  }
  const { facts } = result;
  return { model: facts.model, isStream: facts.isStream, call: createCall(facts, body) };
}

/** The reading of the body with the items in it that it refers to, where this gateway keeps them. */
async function withKeptItems(
  read: ReadResult<RequestReading>,
  { organizationId }: Context['key'],
  heldBody: Context['heldBody'],
  { keptItems, settings }: Pick<Dependencies, 'keptItems' | 'settings'>,
  readOnce: (bytes: ByteBlocks) => Promise<ReadResult<RequestReading>>,
): Promise<ReadResult<RequestReading>> {
  const { result, body } = read;
  const references = result.kind === 'read' ? (result.facts.ownReferences ?? []) : [];
  if (result.kind === 'refused' || references.length === 0) return read;
  const ids = [...new Set(references.map(({ id }) => id))];
  const kept = await keptItems.find(ids, organizationId);
  const missing = references.find(({ id }) => !kept.has(id));
  const { model, isStream } = result.facts;
  const refused = (issue: BodyIssue) => ({
    result: { kind: 'refused', issue, model, isStream } as const,
    body,
  });
  if (missing) return refused(noSuchItem(missing.path));
  const edits = references.map(({ start, end, id }) => ({ start, end, text: kept.get(id) ?? '' }));
  const length = edits.reduce(
    (sum, { start, end, text }) => sum + Buffer.byteLength(text) + start - end,
    body.length,
  );
  if (length > settings.bodyLimitBytes) throw bodyTooLarge(settings.bodyLimitBytes);
  if (!heldBody.resize(body.length + length)) throw noRoomForBody();
  const whole = splice(body, edits);
  heldBody.resize(whole.length);
  return readOnce(ByteBlocks.of(whole));
}

function noSuchItem(path: string): BodyIssue {
  const message = `${path} refers to an item that is not kept. Items are kept for an hour, for their organization. Send the item whole: SDKs do with store: false.`;
  return { status: 400, message, param: path };
}
