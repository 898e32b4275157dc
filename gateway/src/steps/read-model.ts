import { createCall } from '../formats/call.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { awaitRead } from './await-read.ts';

type Read = Pick<Context, 'model' | 'isStream' | 'parsedBody'>;
type Needs = Pick<Context, 'key' | 'endpoint' | 'callersBody'> & Partial<Read>;

/**
 * Reads what the body asks for, in a reader thread if it is large. The model and whether a stream is wanted are returned
 * also for a body that `checkBody` refuses.
 */
export async function readModel(
  { key, endpoint, callersBody, parsedBody, model = '', isStream = false }: Needs,
  exchange: Exchange,
  { readers }: Pick<Dependencies, 'readers'>,
): Promise<Read> {
  // An earlier run of the steps read it.
  if (parsedBody) return { model, isStream, parsedBody };
  exchange.throwIfStopped();
  const owner = key.organizationId;
  const read = readers.read(owner, 'request', { endpoint }, callersBody);
  const { result, body } = await awaitRead(exchange, read);
  const said = result.kind === 'refused' ? result : result.facts;
  return {
    model: said.model,
    isStream: said.isStream,
    parsedBody:
      result.kind === 'refused'
        ? { kind: 'refused', issue: result.issue }
        : { kind: 'call', call: createCall(result.facts, body) },
  };
}
