import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from './commands/command.ts';
import { run } from './commands/run.ts';
import { ConfigError } from './config.ts';

/** Runs the command line of this process and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // What cannot be said on standard error can be said nowhere, and is no reason to end.
  process.stderr.on('error', () => undefined);
  const { out, written } = answerTo(process.stdout);
  return run(args, {
    environment,
    input: () => process.stdin,
    out,
    written,
    err: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
  });
}

function answerTo(stream: NodeJS.WriteStream) {
  let fault: Error | undefined;
  const note = (error?: NodeJS.ErrnoException | null) => {
    // Whoever reads our output may have read enough (`| head`); what is left then goes nowhere.
    if (error && error.code !== 'EPIPE') fault ??= error;
  };
  stream.on('error', note);
  return {
    out: (text: string) => void stream.write(text, note),
    written: async () => {
      // Comes back after all that was written before.
      await new Promise<void>((resolve) => stream.write('', () => resolve()));
      return fault;
    },
  };
}

/** The one place where the environment is read. What it says itself goes before what the file says. */
function environment(): Environment {
  // Into the process itself: the drivers look there for settings of their own.
  for (const [name, value] of Object.entries(parseEnv(settingsFile()))) process.env[name] ??= value;
  return process.env;
}

// Node's own loadEnvFile takes a file that it may not read for none.
function settingsFile(): string {
  try {
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new ConfigError(`.env in the working directory cannot be read: ${message}`);
  }
}
