import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openSocketPlace } from './socket-place.ts';

describe('a place for a socket', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-place-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('is in the data directory, in a folder for this user alone, and is removed', async () => {
    {
      await using place = await openSocketPlace(directory, 'rates');
      assert.equal(dirname(place.path), join(directory, 'rates'));
      assert.equal((await stat(dirname(place.path))).mode & 0o777, 0o700);
      await once(createServer().unref().listen(place.path), 'listening');
    }
    assert.deepEqual(await readdir(join(directory, 'rates')), []);
  });

  it('removes the sockets of dead processes, and none that a process serves', async () => {
    const folder = join(directory, 'swept');
    await mkdir(folder);
    const [served, left] = [join(folder, 'served.sock'), join(folder, 'left.sock')];
    const server = createServer().listen(served);
    await once(server, 'listening');
    // A file answers as the socket of a dead process does.
    await writeFile(left, '');
    await using place = await openSocketPlace(directory, 'swept');
    assert.notEqual(place.path, served);
    assert.deepEqual(await readdir(folder), ['served.sock']);
    server.close();
  });

  it('is in a new temporary directory where the path is too long or the folder cannot be made', async () => {
    await writeFile(join(directory, 'file'), '');
    const long = join(directory, 'x'.repeat(120));
    for (const [dataDir, folder] of [
      [long, 'rates'],
      [directory, 'file'],
    ] as const) {
      const place = await openSocketPlace(dataDir, folder);
      const home = dirname(place.path);
      assert.ok(!place.path.startsWith(directory));
      assert.equal((await stat(home)).mode & 0o777, 0o700);
      await once(createServer().unref().listen(place.path), 'listening');
      await place[Symbol.asyncDispose]();
      await assert.rejects(stat(home), { code: 'ENOENT' });
    }
  });
});
