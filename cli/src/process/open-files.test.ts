import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { openFilesIssues, openFilesLimit, openFilesWarning } from './open-files.ts';

describe('the limit of open files', () => {
  it('is at least 512 with the embedded ClickHouse and 128 without, and 1024 without a warning', () => {
    const external = { clickhouseUrl: 'http://ch' };
    assert.deepEqual(openFilesIssues(512, {}), []);
    assert.match(
      openFilesIssues(511, {})[0] ?? '',
      /is 511, and the embedded ClickHouse needs 512; raise it: /,
    );
    assert.deepEqual(openFilesIssues(128, external), []);
    assert.match(openFilesIssues(127, external)[0] ?? '', /is 127, and a process needs 128; raise it: /);
    assert.equal(openFilesWarning(1_024), undefined);
    assert.match(openFilesWarning(1_023) ?? '', /is 1023, and each connection takes one or two; raise it: /);
    for (const unknown of [openFilesIssues(undefined, {})[0], openFilesWarning(undefined)])
      assert.equal(unknown, undefined);
  });

  it('is that of the process, and ends a start before anything is made', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'open-files-'));
    try {
      assert.ok(((await openFilesLimit()) ?? 0) > 0);
      const executable = join(import.meta.dirname, '../../bin/gatehouse.mjs');
      const script = 'ulimit -n 128 && exec "$0" "$@"';
      const started = promisify(execFile)('/bin/sh', ['-c', script, process.execPath, executable, 'start'], {
        cwd: directory,
        env: { PATH: process.env['PATH'] ?? '', PORT: '0', GATEWAY_PORT: '0' },
      });
      await assert.rejects(started, (error: Error & { readonly stderr?: string }) => {
        assert.match(
          error.stderr ?? '',
          /^gatehouse: The limit of open files is 128, and the embedded ClickHouse/,
        );
        assert.equal(error.stderr?.split('\n').length, 2);
        return true;
      });
      assert.deepEqual(await readdir(directory), []);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
