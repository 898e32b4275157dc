import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { duringTests, startAnalyticsApi } from '@gatehouse/control-plane/testing';
import { buildSdk } from '@gatehouse/sdk/build';

// The package as it is published: packed, installed elsewhere without a network, run and type-checked there.

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const TSC = join(root, 'node_modules/typescript/bin/tsc');

/** Every Node in the PATH that the package supports, by version, besides the one that runs this test. */
async function nodes(): Promise<Map<string, string>> {
  const found = new Map([[process.versions.node, process.execPath]]);
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const node = join(folder, 'node');
    const { stdout } = await run(node, ['-p', 'process.versions.node']).catch(() => ({ stdout: '' }));
    const version = stdout.trim();
    if (Number.parseInt(version, 10) >= 20 && !found.has(version)) found.set(version, node);
  }
  return found;
}

const NODES = await nodes();

describe('the package of the SDK', () => {
  const started = duringTests(() => startAnalyticsApi());
  let directory: string;
  let readme: string;
  const at = (path: string) => join(directory, path);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-sdk-'));
    await buildSdk(at('built'));
    await mkdir(at('consumer'));
    await writeFile(at('consumer/package.json'), '{ "name": "consumer", "type": "module", "private": true }');
    const npm = (args: string[], cwd: string) =>
      run(
        'npm',
        [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'],
        { cwd },
      );
    await npm(['pack', at('built'), '--pack-destination', directory], directory);
    await npm(['install', at('gatehouse-sdk-0.1.0.tgz')], at('consumer'));
    readme = await readFile(at('consumer/node_modules/@gatehouse/sdk/README.md'), 'utf8');
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('has JavaScript with its types, no sources, no tests and no dependencies', async () => {
    const folder = at('consumer/node_modules/@gatehouse/sdk');
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = files.filter((file) => file.isFile()).map(({ name }) => name);
    assert.deepEqual(names.filter((name) => !/^[a-z-]+(?:\.js|\.d\.ts)$/.test(name)).sort(), [
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    assert.ok(
      names.includes('index.js') && names.includes('index.d.ts') && names.includes('create-key.d.ts'),
    );
    assert.ok(!names.some((name) => /\.test\.|testing|scripted/.test(name)));
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    for (const field of ['dependencies', 'peerDependencies', 'scripts', 'private'])
      assert.ok(!(field in manifest), field);
    assert.deepEqual(await readdir(at('consumer/node_modules/@gatehouse')), ['sdk']);
  });

  for (const [version, node] of NODES) {
    it(`does under Node ${version} what its README says`, async () => {
      const email = `ada-${version}@example.com`;
      const { api } = started;
      await api.signUp({ email, organization: `Acme ${version}` });
      const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map((match) => match[1] ?? '');
      assert.ok(blocks.length >= 6, `${blocks.length} examples`);
      const program = blocks
        .join('\n')
        .replaceAll('localhost:8080', `localhost:${api.port}`)
        .replaceAll('ada@example.com', email);
      await writeFile(at('consumer/examples.js'), program);
      const { stdout, stderr } = await run(node, [at('consumer/examples.js')], { cwd: at('consumer') });
      assert.equal(stderr, '');
      const lines = stdout.trimEnd().split('\n');
      assert.equal(lines[0], `${email}, owner of Acme ${version}`);
      assert.match(lines[1] ?? '', /^The secret of sk_svc_\w{8} is in this reply only\.$/);
      assert.deepEqual(lines.slice(2, 7), [
        '0 requests',
        '0 of them failed',
        '0 tokens',
        /^The secret of (sk_svc_\w{8})/.exec(lines[1] ?? '')?.[1],
        '400 name: Must not be blank.',
      ]);
      assert.ok(readme.includes(`\`\`\`\n${lines[7]}\n\`\`\``), lines[7]);
      assert.equal(lines.length, 8);
    });
  }

  if (![...NODES.keys()].some((version) => version.startsWith('20.')))
    it('does under Node 20 what its README says', { skip: 'there is no Node 20 here' });

  const TYPED = `
    import { createClient, type Client, GatehouseError, type Key, type ListKeysReply, requestFor, Session } from '@gatehouse/sdk';
    const client: Client = createClient({ baseUrl: 'https://gatehouse.example/api', session: new Session() });
    const signal: AbortSignal = new AbortController().signal;
    export async function names(): Promise<string[]> {
      const reply: ListKeysReply = await client.keys.listKeys({}, { signal });
      const keys: readonly Key[] = reply.keys;
      return keys.map((key) => key.credit_limit_cents === null ? key.name : key.credit_limit_cents.toFixed());
    }
    export async function wrong(error: GatehouseError): Promise<void> {
      const status: number = error.status;
      const { body } = await client.downloadRequests({ search: 'x' }, { type: 'text/csv' });
      await body.cancel(status);
      // @ts-expect-error: the id is missing
      await client.keys.revokeKey({});
      // @ts-expect-error: the name is another
      await client.keys.revokeKey({ keyId: 'a' });
      // @ts-expect-error: the cap has another name here
      await client.keys.updateKey({ key_id: 'a', rate_limit_rpm: 60, credit_limit_cents: 1 });
      // @ts-expect-error: the value is none of the list
      await client.keys.createKey({ project_id: 'a', name: 'b', environment: 'staging' });
      // @ts-expect-error: the reply has no such field
      (await client.auth.me()).account;
      // @ts-expect-error: it takes no input
      requestFor('listKeys', { limit: 1 });
      for await (const row of client.iterateRequests()) row.financials.cost_pkr.toFixed(6);
    }
  `;
  for (const [where, options] of [
    [
      'a page',
      { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM', 'DOM.Iterable'], types: [] },
    ],
    ['a Node program', { module: 'NodeNext', lib: ['ES2023'], types: ['node'] }],
  ] as const) {
    it(`has types for ${where}, under the strictest rules`, async () => {
      const folder = at(`consumer/${where.replaceAll(' ', '-')}`);
      await mkdir(folder);
      await writeFile(join(folder, 'typed.ts'), TYPED);
      await symlink(join(root, 'node_modules/@types'), join(folder, 'types'));
      const compilerOptions = {
        ...options,
        strict: true,
        noEmit: true,
        target: 'ES2022',
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: where === 'a Node program',
        typeRoots: ['./types'],
      };
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['typed.ts'] }),
      );
      const { stdout } = await run(process.execPath, [TSC, '-p', folder]).catch((error) => error);
      assert.equal(stdout, '');
    });
  }
});
