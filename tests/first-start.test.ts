import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startService } from './service-process.ts';

const COMPILED = '[compile cache] saving transpilation cache for StrippedTypeScript';

describe('the first start after an installation', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-first-start-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** The files that the processes of the service compile, by what Node says of it. */
  const compiledBy = async (compileCache: string) => {
    const environment = {
      DATA_DIR: join(directory, 'data'),
      NODE_COMPILE_CACHE: compileCache,
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    };
    const service = await startService(environment);
    await service.end('SIGTERM');
    const lines = service.told().split('\n');
    assert.ok(lines.some((line) => line.startsWith('[compile cache]')));
    return lines.filter((line) => line.startsWith(COMPILED)).map((line) => line.slice(COMPILED.length));
  };

  it('compiles in a process of its own: what a process compiles would stay in its memory', async () => {
    assert.deepEqual(await compiledBy(join(directory, 'compiled')), []);
  });

  it('compiles in its own processes where it cannot keep what it compiled', async () => {
    // No directory.
    const environment = { DATA_DIR: join(directory, 'data'), NODE_COMPILE_CACHE: '/dev/null/compiled' };
    await using service = await startService(environment);
    assert.ok(service.apiPort > 0);
  });
});
