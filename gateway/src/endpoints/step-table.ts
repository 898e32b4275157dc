import type { Dependencies } from '../context/dependencies.ts';
import { type Step, StepRefusal } from '../context/step.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** How the steps of a request ended. `learned` holds what was known when a step failed. */
export type Run<Context> =
  | { readonly kind: 'done'; readonly learned: Context }
  | { readonly kind: 'failed'; readonly learned: Partial<Context>; readonly error: unknown };

interface Row {
  readonly step: Step<never, unknown>;
  readonly columns: readonly PropertyKey[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: a step that only checks returns nothing.
type Added = object | void;
type With<Context, New> =
  Exclude<New, StepRefusal> extends object ? Context & Exclude<New, StepRefusal> : Context;

/** Steps down, endpoints across. `Columns` has for each endpoint the context that its steps build up. */
export class StepTable<Columns extends object> {
  readonly rows: readonly Row[];
  readonly #steps = new Map<PropertyKey, Row['step'][]>();

  private constructor(rows: readonly Row[]) {
    this.rows = rows;
    for (const { step, columns } of rows) {
      for (const column of columns) this.#steps.set(column, [...(this.#steps.get(column) ?? []), step]);
    }
  }

  /** A table without steps. `Columns` has the fields that each endpoint begins with. */
  static begin<Columns extends object>(): StepTable<Columns> {
    return new StepTable<Columns>([]);
  }

  /** Adds a step. It compiles where the earlier steps of each of these columns provide what the step needs. */
  row<Column extends keyof Columns, New extends Added>(
    step: Step<Columns[Column], New>,
    ...columns: readonly Column[]
  ): StepTable<{ [C in keyof Columns]: C extends Column ? With<Columns[C], New> : Columns[C] }> {
    return new StepTable([...this.rows, { step, columns }]);
  }

  /** Runs the steps of one endpoint, in the order of the rows, until one fails. */
  async run<Column extends keyof Columns, Start extends object>(
    column: Column,
    start: Start,
    exchange: Exchange,
    dependencies: Dependencies,
  ): Promise<Run<Columns[Column]>> {
    // One object that grows, instead of a copy for each step.
    const learned: object = { ...start };
    try {
      for (const step of this.#steps.get(column) ?? []) {
        const returned = step(learned as never, exchange, dependencies);
        // Most steps are synchronous: awaiting each would cost a turn of the microtask queue.
        const added = returned instanceof Promise ? await returned : returned;
        if (added instanceof StepRefusal) {
          Object.assign(learned, added.learned);
          return { kind: 'failed', learned: learned as Partial<Columns[Column]>, error: added.error };
        }
        Object.assign(learned, added);
      }
      return { kind: 'done', learned: learned as Columns[Column] };
    } catch (error) {
      return { kind: 'failed', learned: learned as Partial<Columns[Column]>, error };
    }
  }
}
