import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { CommandError } from './errors.ts';

// A secret comes from standard input. Every account of the machine can see an argument.

type Input = Readable & { readonly isTTY?: boolean };
type Ask = (text: string) => void;

/** A secret on one line: asked for at a terminal, without showing it, or else the first line of the input. Empty when
 *  there is none. */
export async function readSecret(input: Input, question: string, ask: Ask): Promise<string> {
  if (!input.isTTY) return readFirstLine(input);
  return withHiddenInput(input, ask, async (answerTo) => (await answerTo(question)) ?? '');
}

/** Asks questions at a terminal without showing the answers. An answer is undefined when the person interrupts. */
export async function withHiddenInput<T>(
  input: Input,
  ask: Ask,
  work: (answerTo: (question: string) => Promise<string | undefined>) => Promise<T>,
): Promise<T> {
  // The terminal's own echo is off while this reads, and what would be shown instead goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  try {
    const typed = lines[Symbol.asyncIterator]();
    return await work(async (question) => {
      ask(question);
      const { value, done } = await typed.next();
      ask('\n');
      return done ? undefined : value;
    });
  } finally {
    lines.close();
  }
}

// More than the longest secret takes, in bytes.
const MAX_LINE_BYTES = 4_096;
const NEW_LINE = 0x0a;

/** The first line of the input, empty when there is none. Throws CommandError when it is no text, or too long. */
export async function readFirstLine(input: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(NEW_LINE);
    const part = end === -1 ? chunk : chunk.subarray(0, end);
    parts.push(part);
    length += part.length;
    if (end !== -1 || length > MAX_LINE_BYTES) break;
  }
  if (length > MAX_LINE_BYTES) throw new CommandError('the first line of standard input is too long');
  return decoded(Buffer.concat(parts)).replace(/\r$/, '');
}

function decoded(bytes: Buffer): string {
  try {
    // A byte order mark, should there be one, is none of the secret.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CommandError('the first line of standard input is not UTF-8', { cause: error });
  }
}
