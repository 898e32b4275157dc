import { z } from 'zod';

/** True if PostgreSQL can store the text as it is: no lone surrogates, no U+0000. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** Any text that can be stored. */
export function text(): z.ZodString {
  return z.string().refine(isStorableText, {
    error: 'Text must be well-formed Unicode without U+0000.',
    params: { type: 'text_not_storable' },
  });
}

// C0 and C1 controls with DEL.
const CONTROL = /\p{Cc}/u;

/** A line of text: trimmed, from 1 to `maxLength` code points, no control characters. */
export function label(maxLength: number): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return text()
    .refine((value) => !CONTROL.test(value.trim()), {
      error: 'Control characters are not accepted.',
      params: { type: 'control_characters' },
    })
    .refine((value) => value.trim() !== '', { error: 'Must not be blank.', params: { type: 'blank' } })
    .refine((value) => codePoints(value.trim()) <= maxLength, {
      error: `Must have at most ${maxLength} characters.`,
      params: { type: 'too_long' },
    })
    .transform((value) => value.trim())
    .meta({ minLength: 1, maxLength, description: 'One line; trimmed.' });
}

export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}
