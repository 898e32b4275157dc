import type { z } from 'zod';
import { type Fault, invalid } from './errors.ts';
import { faultsOf } from './parse.ts';
import { isStorableText } from './text.ts';

/**
 * Reads a query string by a schema of strings. A blank parameter is as good as none, a repeated one is a fault,
 * one that the endpoint does not know is ignored. Throws the 400 that lists every fault.
 */
export function parseQuery<Schema extends z.ZodObject>(schema: Schema, search: string): z.infer<Schema> {
  const given = new URLSearchParams(search);
  const faults: Fault[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const all = given.getAll(name);
    const value = all[0] ?? '';
    if (all.length > 1) {
      faults.push({ loc: ['query', name], msg: 'Must be given once.', type: 'repeated' });
    } else if (!isStorableText(value)) {
      faults.push({
        loc: ['query', name],
        msg: 'Text must be well-formed Unicode without U+0000.',
        type: 'text_not_storable',
      });
    } else if (value.trim() !== '') {
      values[name] = value;
    }
  }
  const result = schema.safeParse(values, { reportInput: true });
  if (!result.success) {
    // A parameter that is already at fault was left out above; being absent is not its second fault.
    const named = new Set(faults.map((fault) => fault.loc[1]));
    faults.push(...faultsOf('query', result.error).filter((fault) => !named.has(fault.loc[1])));
  }
  if (faults.length > 0 || !result.success) throw invalid(faults);
  return result.data;
}
