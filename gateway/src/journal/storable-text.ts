/** The text with U+FFFD in place of U+0000 and lone surrogates, which no store can hold. */
export function storableText(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd');
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
