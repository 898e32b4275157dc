import { isStorableText } from '@gatehouse/contract';
import { z } from 'zod';

/** Text that is valid by a rule, which the error describes. */
export function text(isValid: (value: string) => boolean, description: string) {
  return z.string().refine((value) => isStorableText(value) && isValid(value), {
    error: `must be ${description}`,
  });
}

/** A mapping with at most so many entries. */
export function boundedRecord<Value extends z.ZodType>(
  name: z.ZodType<string, string>,
  value: Value,
  most: number,
) {
  return z.record(name, value).refine((entries) => Object.keys(entries).length <= most, {
    error: `must have at most ${most} entries`,
  });
}
