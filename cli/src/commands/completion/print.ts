import type { Context } from '../../terminal/command.ts';
import { completionScript, SHELLS } from '../../terminal/completion.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { print } from '../../terminal/output.ts';
import { table } from '../table.ts';

export async function printCompletion(given: string, context: Context): Promise<number> {
  const shell = SHELLS.find((one) => one === given);
  if (shell === undefined) throw invalidValue('bash|zsh|fish', given, 'bash, zsh or fish');
  const script = completionScript(shell, table);
  print(context, { shell, script }, [script.trimEnd()]);
  return 0;
}
