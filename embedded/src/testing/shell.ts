import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from './postgres-fixture.ts';

export interface Shell extends AsyncDisposable {
  output(): string;
  /** Runs lines of script, and waits until they are done. */
  run(...lines: string[]): Promise<void>;
}

/** A shell of a user that lives on, with what it has open. Needs root. */
export async function startShell(uid: number): Promise<Shell> {
  const child = spawn('/bin/sh', [], { uid, gid: uid, cwd: '/' });
  const closed = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  let runs = 0;
  return {
    output: () => output,
    async run(...lines) {
      runs += 1;
      child.stdin.write(`${lines.join('\n')}\necho done-${runs}\n`);
      await waitFor('the lines have run', () => output.includes(`done-${runs}`));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
