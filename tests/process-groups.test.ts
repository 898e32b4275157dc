import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { groupFiles, mayShareProcess } from './process-groups.ts';

const PLAIN = `import { it } from 'node:test';\nit('adds', () => {});\n`;

describe('groupFiles', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'gatehouse-groups-'));
  });
  after(() => rm(root, { recursive: true }));

  const groupsOf = async (sources: Readonly<Record<string, string>>, alone: readonly string[] = []) => {
    const at = (name: string) => join(root, name);
    for (const [name, source] of Object.entries(sources)) {
      await mkdir(dirname(at(name)), { recursive: true });
      await writeFile(at(name), source);
    }
    const options = { root, isAlone: (file: string) => alone.some((name) => at(name) === file) };
    const groups = await groupFiles(Object.keys(sources).map(at), options);
    return groups.map((group) => group.map((file) => file.slice(root.length + 1)));
  };

  it('puts neighbours of one workspace together, each file once, in the place of the first', async () => {
    const sources = { 'a/1': PLAIN, 'b/1': PLAIN, 'a/2': PLAIN, 'a/x/3': PLAIN, 'b/2': PLAIN, 'c/1': PLAIN };
    assert.deepEqual(await groupsOf(sources, ['a/2']), [['a/1', 'a/x/3'], ['b/1', 'b/2'], ['a/2'], ['c/1']]);
  });

  it('has at most six in a process', async () => {
    const names = Array.from({ length: 14 }, (_, index) => `d/${String(index).padStart(2, '0')}`);
    const groups = await groupsOf(Object.fromEntries(names.map((name) => [name, PLAIN])));
    assert.deepEqual(
      groups.map(({ length }) => length),
      [6, 6, 2],
    );
    assert.deepEqual(groups.flat(), names);
  });

  it('gives a file its own process whose fixture makes hooks for every test', async () => {
    const fixture = `import { beforeEach } from 'node:test';\nexport const useThing = () => beforeEach(() => {});\n`;
    await groupsOf({ 'e/thing.fixture.ts': fixture, 'e/data.fixture.ts': 'export const data = 1;\n' });
    const using = (name: string) => `import { x } from './${name}.fixture.ts';\n${PLAIN}`;
    const sources = { 'e/1': using('thing'), 'e/2': using('data'), 'e/3': PLAIN };
    assert.deepEqual(await groupsOf(sources), [['e/1'], ['e/2', 'e/3']]);
  });
});

describe('mayShareProcess', () => {
  const none = async () => '';
  for (const [what, source] of [
    ['a plain file', PLAIN],
    ['hooks within a describe', `describe('x', () => {\n  before(() => {});\n  afterEach(() => {});\n});`],
    ['a model whose name has the word', `const MODEL = 'mock/model';\nstartMockProvider();`],
    ['facts of the process', 'it.skip(process.platform, process.versions.node, process.pid)'],
  ] as const)
    it(`allows ${what}`, async () => assert.equal(await mayShareProcess(source, none), true));

  for (const [what, source] of [
    ['hooks outside every describe', 'beforeEach(() => {});'],
    ['a clock that is replaced', `it('waits', (test) => test.mock.timers.enable());`],
    ['replaced methods', `import { it, mock } from 'node:test';`],
    ['a changed environment', `process.env['A'] = '1';`],
    ['signals', `process.kill(pid, 'SIGKILL');`],
    ['child processes', `import { spawn } from 'node:child_process';`],
    ['measured memory', 'process.memoryUsage();'],
    ['a changed global', `globalThis.fetch = () => {};`],
    ['an engine of its own', 'const telemetry = await useTestEngine();'],
    ['a service', 'await startService({});'],
  ] as const)
    it(`forbids ${what}`, async () => assert.equal(await mayShareProcess(source, none), false));
});
