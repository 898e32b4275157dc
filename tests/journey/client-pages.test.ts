import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { childEnvironment } from '../child-environment.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// Runs what the pages of docs/clients show. A console block is a command with its answer, letter for letter; bash blocks
// and programs run against a service; other blocks are for programs that this machine may not have.

const root = join(import.meta.dirname, '../..');
const GATEHOUSE = `node ${join(root, 'cli/bin/gatehouse.mjs')}`;

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const paths = (await Array.fromAsync(glob('docs/clients/*.md', { cwd: root }))).sort();
const blocks: readonly Block[] = (
  await Promise.all(
    paths.map(async (page) =>
      [...(await readFile(join(root, page), 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
        ([, language = '', text = '']) => ({ page, language, text }),
      ),
    ),
  )
).flat();
const blocksOf = (language: string, page = '') =>
  blocks.filter((block) => block.language === language && block.page.endsWith(page));

/** The standard output of a script. */
async function outputOf(script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env: { ...childEnvironment(), HOME: '/nonexistent', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let told = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    told += chunk;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${script}\n${output}${told}`);
  return output;
}

describe('the pages of the clients', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let api: ApiClient;
  let environment: Readonly<Record<string, string>>;

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-clients-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    service = stack.use(
      await startService({ DATA_DIR: join(directory, 'data'), METADATA_HEADERS: 'x-my-agent = agent' }),
    );
    api = new ApiClient(service.apiPort);
    const credentials = { email: 'ada@example.com', password: 'correct horse battery staple' };
    await api.call(auth.register, { body: { ...credentials, organization_name: 'Acme' } });
    await api.call(auth.login, { body: credentials });
    const { projects } = await api.call(organization.listProjects);
    const { api_key } = await api.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'clients' },
    });
    environment = { GATEHOUSE_API_KEY: api_key };
  });
  after(() => stack.disposeAsync());

  /** Tests use free ports. */
  const here = (text: string) => text.replaceAll('localhost:8081', `localhost:${service.gatewayPort}`);

  it('are there for every client of the command, and each shows its configuration', async () => {
    assert.equal(paths.length, 11);
    const help = await outputOf(`${GATEHOUSE} connect --help`);
    const [, names = ''] = /CLIENT is ([\w, -]+?) or ai-sdk\./.exec(help) ?? [];
    for (const client of [...names.split(', '), 'ai-sdk'])
      assert.ok(
        blocksOf('console').some(({ text }) => text.startsWith(`$ gatehouse connect ${client}`)),
        client,
      );
  });

  for (const { page, text } of blocksOf('console')) {
    const [first = '', ...answer] = text.split('\n');
    it(`${page} shows what ${first.slice(2)} prints`, async () => {
      assert.match(first, /^\$ gatehouse connect /);
      assert.equal(await outputOf(first.replace('$ gatehouse', GATEHOUSE)), answer.join('\n'));
    });
  }

  it('have commands that are understood', async () => {
    const commands = blocksOf('sh').flatMap(({ text }) => text.match(/^gatehouse .*$/gm) ?? []);
    assert.ok(commands.length > 0);
    for (const command of commands) await outputOf(`${command.replace('gatehouse', GATEHOUSE)} --dry-run`);
  });

  it('have requests that are answered', async () => {
    const [check, ...others] = blocksOf('bash');
    assert.deepEqual([check?.page, others], ['docs/clients/README.md', []]);
    const output = await outputOf(here(check?.text ?? ''), environment);
    assert.match(output, /"id":"demo\/echo"/);
    assert.match(output, /"credit_limit_pkr":null/);
  });

  for (const [client, page, expected] of [
    ['openai', 'openai-sdk.md', [/^Hello\n$/, /^Hello again$/]],
    ['anthropic', 'anthropic-sdk.md', [/^Hello\n$/, /^demo\/echo [0-9]+$/m]],
  ] as const) {
    it(`have programs that run: ${page}`, async () => {
      const programs = blocksOf('js', page);
      assert.equal(programs.length, expected.length);
      for (const [index, { text }] of programs.entries()) {
        const script = `
          eval "$(${GATEHOUSE} connect ${client} --url http://localhost:${service.gatewayPort} 2>/dev/null)"
          node --input-type=module --eval "$PROGRAM"`;
        const output = await outputOf(script, { ...environment, PROGRAM: text });
        assert.match(output, expected[index] ?? /never/);
      }
    });
  }

  it('find a request again by the header that METADATA_HEADERS names', async () => {
    const response = await fetch(`http://localhost:${service.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${environment['GATEHOUSE_API_KEY']}`,
        'content-type': 'application/json',
        'x-my-agent': 'the-seventh',
      },
      body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(response.status, 200);
    const found = await eventually(async () => {
      const { requests } = await api.call(analytics.listRequests, { query: { search: 'the-seventh' } });
      return requests[0];
    });
    assert.deepEqual(found.metadata, { agent: 'the-seventh' });
  });
});
