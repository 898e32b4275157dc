import { unusableBody } from '../http/body-errors.ts';
import type { Context } from '../pipeline/context.ts';

/** 400 unless the body is a call of the endpoint that names a model, 413 when it has more structure than is read. */
export function checkBody({ parsedBody }: Pick<Context, 'parsedBody'>): Pick<Context, 'call'> {
  if (parsedBody.kind === 'refused') throw unusableBody(parsedBody.issue);
  return { call: parsedBody.call };
}
