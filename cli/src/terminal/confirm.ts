import { createInterface } from 'node:readline';
import type { Context } from './command.ts';
import { CommandError, UsageError } from './errors.ts';

/**
 * Confirmation of a dangerous change: a function that asks at the terminal and throws CommandError unless the answer is
 * yes. With `--yes` it does not ask, and neither where nobody can be asked: a script means what it says. Of what takes more with
 * it than it names, `strict` is the command, and without `--yes` and a terminal it throws UsageError at once.
 */
export function confirmation(
  context: Pick<Context, 'input' | 'err'>,
  yes: string | undefined,
  strict?: string,
): (question: string) => Promise<void> {
  if (yes !== undefined) return async () => undefined;
  const input = context.input();
  if (!input.isTTY) {
    if (strict === undefined) return async () => undefined;
    throw new UsageError(`${strict} needs --yes where nobody can be asked`);
  }
  return async (question) => {
    context.err(`${question} [y/N] `);
    const lines = createInterface({ input });
    try {
      const { value, done } = await lines[Symbol.asyncIterator]().next();
      if (done) context.err('\n');
      if (done || !/^\s*y(es)?\s*$/i.test(value))
        throw new CommandError('not confirmed; nothing was changed');
    } finally {
      lines.close();
    }
  };
}
