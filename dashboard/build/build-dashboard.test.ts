import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildDashboard, bundle } from './build-dashboard.ts';
import { firstLoad } from './bundle.ts';
import { readRecord } from './dist.ts';
import { DashboardBuildError } from './ensure-built.ts';

describe('the build of the dashboard', () => {
  let folder: string;
  let dist: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-dashboard-'));
    dist = join(folder, 'dist');
    // Two starts of a fresh clone at the same time.
    const both = await Promise.all([buildDashboard(dist), buildDashboard(dist)]);
    assert.ok(both.every((ms) => ms !== undefined));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('writes a page that names files which are there, and leaves nothing else', async () => {
    const index = await readFile(join(dist, 'index.html'), 'utf8');
    const named = [...index.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1] as string);
    assert.ok(named.some((path) => /^assets\/main-\w+\.js$/.test(path)));
    const written = (await readdir(dist, { recursive: true })).filter((path) => path !== 'assets').sort();
    const record = await readRecord(dist);
    assert.deepEqual(written, [...(record?.files ?? []), 'build.json'].sort());
    for (const path of named) assert.ok(written.includes(path), `${path} is missing`);
  });

  // Processes are listed in /proc, which only Linux has.
  it('leaves no process behind', { skip: process.platform !== 'linux' }, async () => {
    const services = async () => {
      const commandLines: string[] = [];
      for (const thread of await readdir('/proc/self/task')) {
        const listed = await readFile(`/proc/self/task/${thread}/children`, 'utf8').catch(() => '');
        for (const pid of listed.split(' ').filter(Boolean))
          commandLines.push(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
      }
      return commandLines.filter((commandLine) => commandLine.includes('--service'));
    };
    // It ends when its input does, which nothing tells.
    const end = performance.now() + 30_000;
    while ((await services()).length > 0 && performance.now() < end) await nextTurn();
    assert.deepEqual(await services(), []);
  });

  it('puts no script and no style into the page itself', async () => {
    const index = await readFile(join(dist, 'index.html'), 'utf8');
    assert.doesNotMatch(index, /<style|\bstyle=|\bon\w+=|javascript:/i);
    assert.doesNotMatch(index, /<script[^>]*>[^<]/);
    assert.doesNotMatch(index, /\/\//);
  });

  it('compresses every text file ahead of time', async () => {
    const record = await readRecord(dist);
    const texts = (record?.files ?? []).filter((path) => /\.(html|js|css|txt)$/.test(path));
    assert.ok(texts.length >= 3);
    for (const path of texts) {
      const content = await readFile(join(dist, path));
      assert.deepEqual(brotliDecompressSync(await readFile(join(dist, `${path}.br`))), content);
      assert.deepEqual(gunzipSync(await readFile(join(dist, `${path}.gz`))), content);
    }
  });

  it('builds again when a file is missing, and otherwise only when something has changed', async () => {
    assert.equal(await buildDashboard(dist), undefined);
    await rm(join(dist, 'index.html'));
    assert.ok(await buildDashboard(dist));
    assert.equal(await buildDashboard(dist), undefined);
  });

  it('keeps the assets of the build before, for pages that are open, and no older ones', async () => {
    const record = await readRecord(dist);
    const [last, older] = ['assets/keys-LAST.js', 'assets/keys-OLDER.js'];
    for (const path of [last, older, 'index.html.zst', 'assets/.being-written'])
      await writeFile(join(dist, path), 'export {};');
    await writeFile(
      join(dist, 'build.json'),
      JSON.stringify({ stamp: 'of other sources', files: [last, 'index.html'], earlierFiles: [older] }),
    );
    assert.ok(await buildDashboard(dist));
    const assets = await readdir(join(dist, 'assets'));
    assert.ok(assets.includes('keys-LAST.js'));
    assert.ok(!assets.includes('keys-OLDER.js'));
    assert.ok(assets.includes('.being-written'), 'another build may be writing it');
    assert.ok(!(await readdir(dist)).includes('index.html.zst'), 'it would be a variant of another page');
    assert.deepEqual((await readRecord(dist))?.files, record?.files);
  });

  it('says why it cannot be built', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await assert.rejects(buildDashboard(join(file, 'dist')), (error) => {
      assert.ok(error instanceof DashboardBuildError);
      assert.match(error.message, /ENOTDIR/);
      return true;
    });
  });
});

describe('the first load of the dashboard', () => {
  it('is less than 250 KB of compressed JavaScript', async () => {
    const [page, first] = await bundle();
    const { entry, imports } = firstLoad(page.metafile);
    const scripts = [entry, ...imports].map((path) => page.files.get(path) as Uint8Array);
    const bytes = [...scripts, ...first.files.values()]
      .map((content) => brotliCompressSync(content).length)
      .reduce((sum, length) => sum + length, 0);
    assert.ok(bytes > 10_000, 'the scripts were not found');
    assert.ok(bytes < 250_000, `${bytes} bytes`);
  });
});
