import type { Exchange } from '../exchange.ts';
import type { Call, Protocol } from '../protocols/protocol.ts';
import { readRequest } from '../protocols/read-request.ts';
import { unusableBody } from '../refusal.ts';

/**
 * 400 unless the body is a call of the endpoint that names a model, 413 when it has more structure than is read.
 * Notes the model and whether a stream is wanted, also of a call that is refused.
 */
export async function readModel(exchange: Exchange, protocol: Protocol, body: Buffer): Promise<Call> {
  const reading = await readRequest(protocol.endpoint, body);
  const { model, isStream } = reading.kind === 'read' ? reading.facts : reading;
  exchange.model = model;
  exchange.isStream = isStream;
  if (reading.kind === 'refused') throw unusableBody(reading.issue);
  return protocol.callOf(reading.facts, body);
}
