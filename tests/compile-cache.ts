import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Hundreds of processes load the same modules, and each would strip their types and compile them: half a second of processor
 * time. From here on, every process that this one starts shares what Node has compiled, through a directory of this run.
 */
export async function shareCompiledCode(): Promise<AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = directory;
  return {
    async [Symbol.asyncDispose]() {
      delete process.env['NODE_COMPILE_CACHE'];
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Compiles these test files into the shared directory. Each is run once only, by a process of its own, so without this each process
 * would load the compiler of types for one file: 50 ms of processor time. A file that cannot be compiled says so when it is run.
 */
export async function compileTestFiles(files: readonly string[]): Promise<void> {
  const program = join(import.meta.dirname, 'compile-test-files.ts');
  const child = spawn(process.execPath, [program, ...files], { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'exit');
}
