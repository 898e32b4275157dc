import type { GatewayKey } from '../catalogue/queries.ts';
import { unusableBody } from '../http/body-refusals.ts';
import { type Exchange, stopped } from '../pipeline/exchange.ts';
import type { Parts } from '../pipeline/parts.ts';
import type { Call, Protocol } from '../protocols/protocol.ts';

/**
 * 400 unless the body is a call of the endpoint that names a model, 413 when it has more structure than is read.
 * Notes the model and whether a stream is wanted, also of a call that is refused.
 */
export async function readModel(
  exchange: Exchange,
  { organizationId }: Pick<GatewayKey, 'organizationId'>,
  protocol: Protocol,
  callersBody: Buffer,
  { readers }: Pick<Parts, 'readers'>,
): Promise<Call> {
  exchange.throwIfStopped();
  const read = readers.read(organizationId, 'request', protocol.endpoint, callersBody);
  exchange.onStop = (reason) => read.cancel(stopped(reason));
  const { result, body } = await read.done.finally(() => {
    exchange.onStop = undefined;
  });
  const { model, isStream } = result.kind === 'read' ? result.facts : result;
  exchange.model = model;
  exchange.isStream = isStream;
  if (result.kind === 'refused') throw unusableBody(result.issue);
  return protocol.callOf(result.facts, body);
}
