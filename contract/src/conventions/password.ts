// What a keyboard sends for one and the same password differs by system: a letter with an accent is one character or two, a
// space one of several.

/** Longer texts are no password, in whichever form, and normalising 32,000 accents on one letter takes a second. */
const MAX_NORMALIZED_LENGTH = 2_048;

/** A password in the form that is hashed, by RFC 8265 (OpaqueString): spaces are U+0020, in NFC. Nothing else is changed. */
export function preparedPassword(password: string): string {
  return password.length > MAX_NORMALIZED_LENGTH
    ? password
    : password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');
}

/** The forms in which it can have been hashed before passwords were prepared, beside the prepared one; mostly none. */
export function earlierPasswordForms(password: string): string[] {
  if (password.length > MAX_NORMALIZED_LENGTH) return [];
  const forms = new Set([password, password.normalize('NFD')]);
  forms.delete(preparedPassword(password));
  return [...forms];
}
