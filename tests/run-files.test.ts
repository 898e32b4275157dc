import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { LONG_FILES } from './long-files.ts';
import { type Count, slowestFiles } from './run-files.ts';

const execute = promisify(execFile);

const FILES: Readonly<Record<string, string>> = {
  plain: `it('passes', () => {}); it('skips', { skip: true }, () => {}); it('fails', () => { throw new Error('as planned'); });`,
  waits: `it('passes', () => {}); it('waits for ever', () => new Promise(() => setInterval(() => {}, 1_000)));`,
  loops: `it('loops', () => { for (;;); });`,
  'keeps-open': `it('passes', () => {}); setInterval(() => {}, 1_000);`,
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
    const { count, report } = await runOf(['plain', 'never', 'plain'], 60_000);
    assert.deepEqual(count, { passed: 2, failed: 2, skipped: 2, timed: 1 });
    assert.match(report, /as planned/);
  });

  it('starts the files that exist and take longest first', () => {
    for (const file of LONG_FILES) assert.ok(existsSync(join(import.meta.dirname, '..', file)), file);
  });

  it('names the slowest files', () => {
    const seconds = new Map([
      ['one', 1.04],
      ['two', 12],
      ['three', 3.26],
    ]);
    assert.equal(slowestFiles(seconds, 2), '  12.0 s  two\n   3.3 s  three\n');
  });

  for (const [name, unfinished] of [
    ['waits', '"waits for ever"'],
    ['loops', ''],
    ['keeps-open', ''],
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
