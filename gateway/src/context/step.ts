import type { Exchange } from '../exchange/exchange.ts';
import type { Learned } from './context.ts';
import type { Dependencies } from './dependencies.ts';

/** Enforces one rule and throws one kind of error. Returns the fields that it adds to the context, or a refusal. */
export type Step<Needs, Added> = (
  context: Needs,
  exchange: Exchange,
  dependencies: Dependencies,
) => Added | Promise<Added>;

/** The error of a step that learned something first, which the record of the request then says. Returned, not thrown. */
export class StepRefusal {
  readonly error: unknown;
  readonly learned: Learned;

  constructor(error: unknown, learned: Learned) {
    this.error = error;
    this.learned = learned;
  }
}
