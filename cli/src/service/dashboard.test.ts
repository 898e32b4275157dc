import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { ConfigError } from '../config/config.ts';
import type { DashboardMode } from '../config/dashboard-setting.ts';
import { type Dashboard, openDashboard } from './dashboard.ts';

const silent = pino({ level: 'silent' });

describe('the dashboard of a start', () => {
  let folder: string;
  let dist: string;
  const told: string[] = [];
  const open = (mode: DashboardMode) => openDashboard(mode, (text) => told.push(text), silent, dist);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-start-'));
    dist = join(folder, 'dist');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is built by the first one, which says so, and read by the others', async () => {
    using first = await open('on');
    assert.match(told.splice(0).join(), /^Built the dashboard in \d+\.\d s\.$/);
    using second = await open('on');
    assert.deepEqual(told, []);
    assert.match(String(second?.files().page.identity.bytes), /^<!doctype html>/);
    assert.deepEqual([...(second?.files().assets.keys() ?? [])], [...(first?.files().assets.keys() ?? [])]);
  });

  it('needs no right to write where it is built already', async () => {
    const list = async () => (await readdir(folder, { recursive: true })).sort();
    const before = await list();
    const folders = [folder, dist, join(dist, 'assets')];
    for (const path of folders) await chmod(path, 0o555);
    try {
      using dashboard = await open('on');
      assert.ok(dashboard);
    } finally {
      for (const path of folders) await chmod(path, 0o755);
    }
    assert.deepEqual(await list(), before);
  });

  it('is not there when it is off, and nothing is built', async () => {
    await rm(dist, { recursive: true });
    assert.equal(await open('off'), undefined);
    assert.deepEqual(await readdir(folder), []);
    assert.deepEqual(told, []);
  });

  it('is read again after a build while a developer watches it', async () => {
    using dashboard = (await open('watch')) as Dashboard;
    const record = await readFile(join(dist, 'build.json'), 'utf8');
    await writeFile(join(dist, 'index.html'), '<!doctype html>again');
    await writeFile(join(dist, 'build.json'), `${record} `);
    const end = performance.now() + 60_000;
    while (!String(dashboard.files().page.identity.bytes).endsWith('again')) {
      assert.ok(performance.now() < end, 'it was not read again');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('stops the start with the reason and the way out where it cannot be built', async () => {
    await rm(dist, { recursive: true });
    await writeFile(dist, 'a file is in the way');
    await assert.rejects(open('on'), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^The dashboard cannot be built: .*(EEXIST|ENOTDIR).*DASHBOARD=off/);
      return true;
    });
  });
});
