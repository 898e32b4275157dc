import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Count, kindTimes, slowestFiles } from './run-files.ts';

const execute = promisify(execFile);

const PLAIN = `it('passes', () => {}); it('skips', { skip: true }, () => {}); it('fails', () => { throw new Error('as planned'); });`;
const FILES: Readonly<Record<string, string>> = {
  plain: PLAIN,
  another: PLAIN,
  waits: `it('passes', () => {}); it('waits for ever', () => new Promise(() => setInterval(() => {}, 1_000)));`,
  loops: `it('loops', () => { for (;;); });`,
  'keeps-open': `it('passes', () => {}); setInterval(() => {}, 1_000);`,
  'leaves-setting': `it('passes', () => { process.env.LEFT = 'behind'; });`,
  'leaves-setting-alone': `it('passes', () => { process.env.LEFT = 'behind'; });`,
  'keeps-open-alone': `it('passes', () => {}); setInterval(() => {}, 1_000);`,
  exits: `it('passes', () => {}); it('exits', () => process.exit(0));`,
  'needs-nothing': `it('finds nothing', () => { if (process.env.LEFT) throw new Error('left by another file'); });`,
};

describe('runFiles', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-run-files-'));
    for (const [name, body] of Object.entries(FILES))
      await writeFile(join(directory, `${name}.mjs`), `import { it } from 'node:test';\n${body}\n`);
  });
  after(() => rm(directory, { recursive: true }));

  const runOf = async (names: readonly string[], fileMs: number) => {
    const files = names.map((name) => join(directory, `${name}.mjs`));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await execute(
      process.execPath,
      [join(import.meta.dirname, 'run-files.fixture.ts'), String(fileMs), ...files],
      { env, timeout: 60_000 },
    );
    const count = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Count & { timed: number };
    return { count, report: stdout };
  };

  it('counts what passed, failed and was skipped, of the files that are ready', async () => {
    const { count, report } = await runOf(['plain', 'never', 'another'], 60_000);
    assert.deepEqual(count, { passed: 2, failed: 2, skipped: 2, timed: 2 });
    const [, failed = ''] = report.split('Failed:\n');
    assert.match(failed, /^\S*plain\.mjs\n.*as planned.*another\.mjs\n.*as planned/s);
    assert.doesNotMatch(failed, /✔|ℹ/);
  });

  it('names the slowest files', () => {
    const seconds = new Map([
      ['one', 1.04],
      ['two', 12],
      ['three', 3.26],
    ]);
    assert.equal(slowestFiles(seconds, 2), '  12.0 s  two\n   3.3 s  three\n');
  });

  for (const [name, why] of [
    ['leaves-setting', /leaves-setting\.mjs leaves behind: LEFT in the environment/],
    ['keeps-open', /keeps-open\.mjs leaves behind: open: .*Timeout/],
    ['keeps-open-alone', /keeps-open-alone\.mjs leaves behind: open: .*Timeout/],
    ['exits', /exits\.mjs ended its process with 0; unfinished: .*"exits"/],
  ] as const) {
    it(`counts a file that ${name} as failed, and runs the next one in another process`, async () => {
      const { count, report } = await runOf([name, 'needs-nothing'], 60_000);
      assert.equal(count.failed, 1, report);
      assert.match(report.slice(report.indexOf('Failed:\n')), why);
    });
  }

  it('lets a file that has a process of its own change its settings', async () => {
    const { count, report } = await runOf(['leaves-setting-alone', 'needs-nothing'], 60_000);
    assert.deepEqual(count, { passed: 2, failed: 0, skipped: 0, timed: 2 }, report);
  });

  it('adds up the time of each kind', () => {
    const seconds = new Map([
      ['a.http.test.ts', 1],
      ['b.http.test.ts', 2.25],
      ['c.test.ts', 4],
    ]);
    assert.equal(
      kindTimes(seconds, (file) => (file.includes('.http.') ? 'http' : 'others')),
      '    4.0 s  others, 1 files\n    3.3 s  http, 2 files\n',
    );
  });

  for (const [name, unfinished] of [
    ['waits', '"waits for ever"'],
    ['loops', ''],
  ] as const) {
    it(`kills a file that ${name}, and counts it as failed`, async () => {
      const { count, report } = await runOf([name], 1_500);
      assert.ok(count.failed >= 1, JSON.stringify(count));
      assert.match(
        report,
        new RegExp(`${name}\\.mjs did not end within 1\\.5 s and was killed.*${unfinished}`),
      );
    });
  }
});
