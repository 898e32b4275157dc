import { codePoints, isStorableText, label, MAX_NAME_LENGTH } from '@gatehouse/contract';

/** A name as it is stored and shown, and the key by which two names are compared. */
export interface OrganizationName {
  readonly name: string;
  readonly key: string;
}

// White space and invisible characters: a name of only these would look empty.
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}]/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
// Controls, line and paragraph separators, and characters that change the text direction.
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Reads an organisation's name, or returns what is wrong with it as a sentence. */
export function organizationName(given: string): OrganizationName | { readonly issue: string } {
  const trimmed = given.trim();
  if (!isStorableText(trimmed))
    return { issue: 'The organisation name must be well-formed Unicode without U+0000.' };
  if (trimmed.replace(INVISIBLE, '') === '') return { issue: 'The organisation name must not be blank.' };
  if (/[<>]/.test(trimmed)) return { issue: 'The organisation name must not contain < or >.' };
  if (FORBIDDEN.test(trimmed)) {
    return { issue: 'The organisation name must not contain control or text-direction characters.' };
  }
  // What is longer stays too long: at most four characters become one. Normalising 32,000 accents on one letter takes a second.
  const isLong = codePoints(trimmed) > 4 * MAX_NAME_LENGTH;
  const name = isLong ? trimmed : normalized(trimmed).trim();
  if (codePoints(name) > MAX_NAME_LENGTH) {
    return { issue: `The organisation name must have at most ${MAX_NAME_LENGTH} characters.` };
  }
  return { name, key: nameKey(name) };
}

// NFKC would turn look-alikes of < and > (such as U+FF1C) into the forbidden characters; those few stay as they are.
function normalized(text: string): string {
  return Array.from(text.normalize('NFC').matchAll(/\P{M}\p{M}*|\p{M}+/gu), ([cluster]) => {
    const compatible = cluster.normalize('NFKC');
    return /[<>]/.test(compatible) ? cluster : compatible;
  })
    .join('')
    .normalize('NFC');
}

/** Names with the same key are one name: case, compatibility forms and invisible characters are ignored. */
export function nameKey(name: string): string {
  // Lower case maps ẞ to ß, upper case maps ß to SS and unites the two forms of sigma, and lower case ends it.
  const folded = name.normalize('NFKC').replace(IGNORABLE, '').toLowerCase().toUpperCase().toLowerCase();
  return folded.normalize('NFKC').trim();
}

/** A project's name as it is stored, or what is wrong with it as a sentence. */
export function projectName(given: string): string | { readonly issue: string } {
  const result = label(MAX_NAME_LENGTH).safeParse(given);
  return result.success ? result.data : { issue: result.error.issues[0]?.message ?? 'It cannot be used.' };
}
