/** The texts of a prompt or an input: a text, a list of texts, the ids of tokens, or a list of lists of ids. */
export function textsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [typeof value === 'string' ? value : ''];
  const isOneListOfIds = value.every((one) => typeof one === 'number');
  return isOneListOfIds
    ? [value.join(' ')]
    : value.map((one) => (Array.isArray(one) ? one.join(' ') : String(one)));
}
