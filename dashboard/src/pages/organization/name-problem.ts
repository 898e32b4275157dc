const MAX_CHARACTERS = 255;

/**
 * The reason why the API would refuse a name of an organisation, as a sentence. Undefined if nothing; whether it is taken only the API
 * knows.
 */
export function nameProblem(name: string): string | undefined {
  const trimmed = name.trim();
  if (trimmed === '') return 'Enter a name.';
  if (/[<>]/.test(trimmed)) return 'The characters < and > are not accepted.';
  const { length } = [...trimmed];
  return length > MAX_CHARACTERS
    ? `${length} characters are too many; ${MAX_CHARACTERS} are accepted.`
    : undefined;
}
