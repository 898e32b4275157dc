import type { Readable } from 'node:stream';
import { CommandError } from '../../terminal/errors.ts';
import { readFirstLine, withHiddenInput } from '../../terminal/secret-input.ts';

/**
 * Reads a new password: asked for twice at a terminal, without showing it, or else the first line
 * of the input. Throws CommandError when there is none.
 */
export async function readNewPassword(
  input: Readable & { readonly isTTY?: boolean },
  ask: (text: string) => void,
): Promise<string> {
  if (input.isTTY) return askTwice(input, ask);
  const line = await readFirstLine(input);
  if (line === '')
    throw new CommandError('expected the new password as the first line of standard input, which is empty');
  return line;
}

function askTwice(input: Readable, ask: (text: string) => void): Promise<string> {
  return withHiddenInput(input, ask, async (answerTo) => {
    const required = async (question: string): Promise<string> => {
      const answer = await answerTo(question);
      if (answer === undefined) throw new CommandError('no password was entered; nothing changed');
      return answer;
    };
    const password = await required('New password: ');
    if (password === '') throw new CommandError('no password was entered; nothing changed');
    if ((await required('The same again: ')) !== password)
      throw new CommandError('the two were not the same; nothing changed');
    return password;
  });
}
