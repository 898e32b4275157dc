import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { run } from './commands/run.ts';
import { ConfigError } from './config/config-error.ts';
import type { Environment } from './terminal/command.ts';

/** Runs the command line of this process and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // An error of standard error cannot be reported and must not end the process.
  process.stderr.on('error', () => undefined);
  const { out, written } = answerTo(process.stdout);
  return run(args, {
    environment,
    input: () => process.stdin,
    out,
    written,
    err: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    width: process.stdout.columns,
  });
}

function answerTo(stream: NodeJS.WriteStream) {
  let firstError: Error | undefined;
  const onError = (error?: NodeJS.ErrnoException | null) => {
    // A reader may close the pipe early (`| head`); the rest is dropped.
    if (error && error.code !== 'EPIPE') firstError ??= error;
  };
  stream.on('error', onError);
  return {
    out: (text: string) => void stream.write(text, onError),
    written: async () => {
      // Called after all earlier writes.
      await new Promise<void>((resolve) => stream.write('', () => resolve()));
      return firstError;
    },
  };
}

/** The only place where the environment is read. It takes precedence over the .env file; an empty value counts as unset. */
function environment(): Environment {
  // Set in the process itself, because the drivers read their own settings there.
  for (const [name, value] of Object.entries(parseEnv(settingsFile())))
    if (!process.env[name]?.trim()) process.env[name] = value;
  return process.env;
}

// Node's loadEnvFile ignores a file that cannot be read.
function settingsFile(): string {
  try {
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new ConfigError(`.env in the working directory cannot be read: ${message}`);
  }
}
