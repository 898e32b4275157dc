// Server-sent events as bytes. Events are cut out of the stream wherever its packets happen to split, and each
// keeps its exact bytes, so that what is not touched is passed on as it came.

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The upstream sent more without an event's end than is kept. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/**
 * The largest event that is read: one that carries a picture of three megabytes. What is generated as text comes in
 * events of some hundred bytes.
 */
export const MAX_EVENT_BYTES = 4 * 1024 * 1024;

const MIN_PENDING_BYTES = 512;

/** Cuts a stream into events, each with the blank line that ends it. Lines end in \n or \r\n. */
export class EventSplitter {
  readonly #largestBytes: number;
  // What came of the event that is not complete yet, in one buffer that grows by doubling: an event that comes byte by
  // byte costs neither a buffer for each nor a copy of all that came before. It also lets go of the packets.
  #pending: Buffer = Buffer.alloc(0);
  #pendingBytes = 0;
  // Whether the current line has nothing in it so far, a carriage return aside.
  #isLineBlank = true;

  constructor(largestBytes = MAX_EVENT_BYTES) {
    this.#largestBytes = largestBytes;
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#pending.length;
  }

  /** The events that these bytes complete. Throws EventTooLarge. */
  push(chunk: Buffer): Buffer[] {
    const events: Buffer[] = [];
    let eventStart = 0;
    let lineStart = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, lineStart)) {
      const isBlank = this.#isLineBlank && isOnlyCarriageReturn(chunk, lineStart, end);
      lineStart = end + 1;
      this.#isLineBlank = true;
      if (isBlank) {
        events.push(this.#complete(chunk.subarray(eventStart, lineStart)));
        eventStart = lineStart;
      }
    }
    if (eventStart < chunk.length) this.#keep(chunk.subarray(eventStart));
    if (lineStart < chunk.length) {
      this.#isLineBlank &&= isOnlyCarriageReturn(chunk, lineStart, chunk.length);
    }
    return events;
  }

  /** The rest of an event that was never ended; empty when nothing is. */
  rest(): Buffer {
    return this.#complete(Buffer.alloc(0));
  }

  #keep(part: Buffer): void {
    if (this.#pendingBytes + part.length > this.#largestBytes) {
      throw new EventTooLarge(`an event of more than ${this.#largestBytes} bytes`);
    }
    this.#append(part);
  }

  #append(part: Buffer): void {
    const bytes = this.#pendingBytes + part.length;
    if (bytes > this.#pending.length) {
      const doubled = Math.min(2 * this.#pending.length, this.#largestBytes);
      const grown = Buffer.allocUnsafe(Math.max(bytes, doubled, MIN_PENDING_BYTES));
      this.#pending.copy(grown, 0, 0, this.#pendingBytes);
      this.#pending = grown;
    }
    part.copy(this.#pending, this.#pendingBytes);
    this.#pendingBytes = bytes;
  }

  #complete(last: Buffer): Buffer {
    if (this.#pendingBytes === 0) return last;
    this.#append(last);
    const event = this.#pending.subarray(0, this.#pendingBytes);
    this.#pending = Buffer.alloc(0);
    this.#pendingBytes = 0;
    return event;
  }
}

function isOnlyCarriageReturn(bytes: Buffer, start: number, end: number): boolean {
  return end === start || (end === start + 1 && bytes[start] === CARRIAGE_RETURN);
}

const LINE_END = /\r\n|\n|\r/;
const BYTE_ORDER_MARK = '\ufeff';

/** A stream may begin with a byte order mark, which belongs to no field. */
function linesOf(event: string): string[] {
  return (event.startsWith(BYTE_ORDER_MARK) ? event.slice(1) : event).split(LINE_END);
}

/** The event's data, its lines joined by newlines; undefined when it has none (a comment, a blank). */
export function dataOf(event: string): string | undefined {
  // Most events are one line of data, which need not be taken apart.
  const end = event.indexOf('\n');
  const isOneLine = end === event.length - 2 && event.endsWith('\n\n') && event.startsWith('data: ');
  if (isOneLine && !event.includes('\r')) return event.slice(6, end);
  const lines = linesOf(event).flatMap((line) => dataLine(line) ?? []);
  return lines.length === 0 ? undefined : lines.join('\n');
}

/** The name in the event's `event` field; undefined when it has none. */
export function nameOf(event: string): string | undefined {
  return linesOf(event)
    .findLast((line) => line.startsWith('event:'))
    ?.slice('event:'.length)
    .trim();
}

/** The same event with other data, which must be one line. */
export function withData(event: string, data: string): string {
  const ending = event.includes('\r\n') ? '\r\n' : '\n';
  const others = linesOf(event).filter((line) => line !== '' && dataLine(line) === undefined);
  return [...others, `data: ${data}`, '', ''].join(ending);
}

function dataLine(line: string): string | undefined {
  if (line === 'data') return '';
  if (!line.startsWith('data:')) return undefined;
  return line.startsWith('data: ') ? line.slice(6) : line.slice(5);
}

const FIELDS = ['data', 'event', 'id', 'retry', ''] as const;

/** True if a body that starts like this, read as latin1, is a stream of events; undefined where more of it is needed to know. */
export function areEventsAt(start: string): boolean | undefined {
  // The byte order mark is three characters.
  const text = start.replace(/^\u00ef\u00bb\u00bf/, '').trimStart();
  if (FIELDS.some((field) => text.startsWith(`${field}:`))) return true;
  return FIELDS.some((field) => `${field}:`.startsWith(text)) ? undefined : false;
}
