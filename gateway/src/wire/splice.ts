/** Bytes from `start` to `end`, which is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Bytes that give way to a text. An empty range inserts. */
export interface Edit extends Span {
  readonly text: string;
}

/** A copy of the bytes with the edits made. They must not overlap, but what is inserted may stand where another begins; every byte outside them is as it was. */
export function splice(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text));
    at = end;
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}

/** The edits that take members out of an object, or elements out of a list: each run of neighbours with its commas. */
export function editsWithout(places: readonly Span[], isGone: (index: number) => boolean): Edit[] {
  const edits: Edit[] = [];
  let keptEnd: number | undefined;
  for (let at = 0; at < places.length; at += 1) {
    const first = places[at] as Span;
    if (!isGone(at)) {
      keptEnd = first.end;
      continue;
    }
    while (at + 1 < places.length && isGone(at + 1)) at += 1;
    const { end } = places[at] as Span;
    if (keptEnd !== undefined) edits.push({ start: keptEnd, end, text: '' });
    else edits.push({ start: first.start, end: places[at + 1]?.start ?? end, text: '' });
  }
  return edits;
}
