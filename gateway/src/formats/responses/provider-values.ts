/** A provider's text, or an empty one where it sent something else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
