import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readDashboard } from './dashboard-files.ts';

describe('the files of the dashboard', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-files-'));
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '<!doctype html>');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are the page and the regular files in assets/ of known kinds', async () => {
    await writeFile(join(folder, 'secret.txt'), 'secret');
    for (const name of [
      'main.js',
      'main.js.br',
      'style.css',
      'font.woff2',
      'run.sh',
      '.hidden.js',
      'no-ending',
    ])
      await writeFile(join(folder, 'assets', name), name);
    await mkdir(join(folder, 'assets', 'folder.js'));
    await writeFile(join(folder, 'assets', 'folder.js', 'inside.js'), '');
    await symlink('/etc/hostname', join(folder, 'assets', 'link.txt'));
    await symlink(join(folder, 'secret.txt'), join(folder, 'assets', 'other.txt'));
    const { page, assets } = await readDashboard(folder);
    assert.equal(page.identity.bytes.toString(), '<!doctype html>');
    assert.deepEqual([...assets.keys()].sort(), [
      '/assets/font.woff2',
      '/assets/main.js',
      '/assets/style.css',
    ]);
    const script = assets.get('/assets/main.js');
    assert.equal(script?.contentType, 'text/javascript; charset=utf-8');
    assert.deepEqual([...(script?.encoded.keys() ?? [])], ['br']);
    assert.equal(script?.encoded.get('br')?.bytes.toString(), 'main.js.br');
    assert.notEqual(script?.encoded.get('br')?.etag, script?.identity.etag);
  });

  it('are refused without a page, and above the limit of their size', async () => {
    await writeFile(join(folder, 'assets', 'a.js'), 'x'.repeat(100));
    await assert.rejects(readDashboard(folder, 100), /more than 100 bytes/);
    await readDashboard(folder, 115);
    await rm(join(folder, 'index.html'));
    await assert.rejects(readDashboard(folder), /no index\.html/);
    await rm(join(folder, 'assets'), { recursive: true });
    await assert.rejects(readDashboard(folder), /ENOENT/);
  });

  it('are refused when there are too many', async () => {
    await Promise.all(
      Array.from({ length: 2_001 }, (_, index) => writeFile(join(folder, 'assets', `${index}.js`), '')),
    );
    await assert.rejects(readDashboard(folder), /more than 2000 files/);
  });
});
