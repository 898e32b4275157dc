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
