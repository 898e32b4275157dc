import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { CommandError } from '../errors.ts';

/**
 * Reads a new password: asked for twice at a terminal, without showing it, or else the first line
 * of the input. Never an argument, which other users of the machine could see. Throws CommandError when there is none.
 */
export async function readNewPassword(
  input: Readable & { readonly isTTY?: boolean },
  ask: (text: string) => void,
): Promise<string> {
  return input.isTTY ? askTwice(input, ask) : firstLine(input);
}

async function askTwice(input: Readable, ask: (text: string) => void): Promise<string> {
  // The terminal's own echo is off while this reads, and what would be shown instead goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  try {
    const typed = lines[Symbol.asyncIterator]();
    const answerTo = async (question: string): Promise<string> => {
      ask(question);
      const { value, done } = await typed.next();
      ask('\n');
      if (done) throw new CommandError('no password was entered; nothing changed');
      return value;
    };
    const password = await answerTo('New password: ');
    if (password === '') throw new CommandError('no password was entered; nothing changed');
    if ((await answerTo('The same again: ')) !== password)
      throw new CommandError('the two were not the same; nothing changed');
    return password;
  } finally {
    lines.close();
  }
}

// More than the longest password takes, in bytes.
const MAX_LINE_BYTES = 4_096;
const NEW_LINE = 0x0a;

async function firstLine(input: Readable): Promise<string> {
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
  const line = decoded(Buffer.concat(parts)).replace(/\r$/, '');
  if (line === '')
    throw new CommandError('expected the new password as the first line of standard input, which is empty');
  return line;
}

function decoded(bytes: Buffer): string {
  try {
    // A byte order mark, should there be one, is none of the password.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CommandError('the first line of standard input is not UTF-8', { cause: error });
  }
}
