import { z } from 'zod';

/**
 * A JSON number as it was written. JavaScript reads numbers into doubles, in which 1.0000000000000001 is 1 and
 * 9007199254.740993 is something near it; where every digit counts, the text is what is judged.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The schemas of fields that want their number as it was written. */
export const readsNumberText: z.core.$ZodRegistry<{ readonly isNumberText: true }> = z.registry();

/** The fields of a body whose numbers are to be kept as they were written. */
export function numberTextFields(body: z.ZodObject): ReadonlySet<string> {
  return new Set(
    Object.entries(body.shape)
      .filter(([, field]) => readsNumberText.has(field))
      .map(([name]) => name),
  );
}

/** Parses JSON; a number under one of the names becomes a NumberText. Throws what JSON.parse throws. */
export function parseJson(text: string, names: ReadonlySet<string>): unknown {
  if (names.size === 0) return JSON.parse(text);
  const keepText = (name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && names.has(name)
      ? new NumberText(context.source)
      : value;
  return JSON.parse(text, keepText);
}
