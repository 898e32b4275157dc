import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { childEnvironment } from '../child-environment.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

// Runs the commands of the README and of the guide that follows it. It needs bash and curl, like the reader.

const root = join(import.meta.dirname, '../..');

/** The text as a pattern that matches only itself. */
const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('the README', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let directory: string;
  let readme: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-readme-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    readme = await readFile(join(root, 'README.md'), 'utf8');
    service = stack.use(await startService({ DATA_DIR: join(directory, 'data') }, [], { makesStores: true }));
  });
  after(() => stack.disposeAsync());

  const block = (language: string, text = readme) => {
    const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
    assert.ok(found, `there is no ${language} block`);
    // Tests use free ports.
    return found.replaceAll(':8080', `:${service.apiPort}`).replaceAll(':8081', `:${service.gatewayPort}`);
  };

  const run = async (command: string, args: string[], environment: Record<string, string> = {}) => {
    const child = spawn(command, args, {
      cwd: directory,
      env: { ...childEnvironment(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, output);
    return output;
  };

  it('leads to a first metered request, a revoked key and the activity log of both', async () => {
    const guide = await readFile(join(root, 'docs/analytics.md'), 'utf8');
    const commands = [block('bash'), 'echo; echo THE GUIDE', block('bash', guide)];
    const [output = '', guided = ''] = (
      await run('bash', ['-euo', 'pipefail', '-c', commands.join('\n')])
    ).split('THE GUIDE\n');
    assert.match(output, /"role":"owner"/);
    assert.match(output, /"content":"Hello, Gatehouse!"/);
    assert.match(output, /"total":1,.*"model":"demo\/echo","status":200/);
    assert.match(output, /is revoked/);
    assert.match(output, /"code":"invalid_api_key"/);
    assert.match(output, /"action":"api_key.revoked".*"action":"member.joined"/);
    // The expected output, with any text in place of an ellipsis.
    for (const expected of block('json').trim().split('\n')) {
      const form = new RegExp(`^${expected.split('…').map(literal).join('.*')}$`, 'm');
      assert.match(output, form);
    }

    // The row of the refused second request may or may not be there yet.
    assert.match(guided, /^\{"time_range":"24h","total_requests":[12],"avg_e2e_latency_ms":[^}]*[0-9]\}\{/);
    assert.match(guided, /"total_cost_pkr":0\.\d+\}/);
    assert.match(guided, /"group":"demo\/echo","value":1\}/);
    assert.match(
      guided,
      /\{"metric":"token_usage","interval":"1d","group_by":"project","time_range":"30d","data":\[\{/,
    );
    assert.match(guided, /"total":[01],"limit":20,/);
    assert.match(guided, /"total":0,"limit":50,"offset":0,"requests":\[\]/);
    assert.match(guided, /"keys":\[\{"key":\{"id":"[^"]+","name":null\}/);
    const csv = await readFile(join(directory, 'requests-30d.csv'), 'utf8');
    assert.match(csv, /^req_id,timestamp,.*\r\n(?:.*,demo\/echo,401,.*\r\n)?.*,demo\/echo,200,.*\r\n$/);
    const ndjson = await readFile(join(directory, 'requests.ndjson'), 'utf8');
    const last = ndjson
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .at(-1);
    assert.deepEqual([last.model, last.status], ['demo/echo', 200]);
  });

  it('has a working SDK example', async () => {
    const api = new ApiClient(service.apiPort);
    const credentials = { email: 'grace@example.com', password: 'correct horse battery staple' };
    await api.call(auth.register, { body: { ...credentials, organization_name: 'Navy' } });
    await api.call(auth.login, { body: credentials });
    const project = (await api.call(organization.listProjects)).projects[0];
    const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'sdk' } });
    // It must be where the package resolves, and not among the files that other tests read.
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
    const file = join(directory, 'example.mjs');
    await writeFile(file, block('js'));
    assert.equal(await run(process.execPath, [file], { GATEHOUSE_KEY: api_key }), 'Hello, Gatehouse!');
  });

  it('has a page of the SDK that says the same in Python', async () => {
    const said = (text: string) => text.match(/'[^'\n]*'|"[^"\n]*"/g)?.map((word) => word.slice(1, -1)) ?? [];
    const page = await readFile(join(root, 'docs/clients/openai-sdk.md'), 'utf8');
    const stream = [...page.matchAll(/```js\n([\s\S]*?)```/g)].at(-1)?.[1] ?? '';
    assert.match(stream, /stream: true/);
    const python = new Set([...said(block('python', page)), 'openai']);
    for (const word of said(stream)) assert.ok(python.has(word) || word === '', word);
  });

  it('links to files that exist', async () => {
    for (const [, target = ''] of readme.matchAll(/\]\(([^)#]+)\)/g)) {
      if (!/^https?:/.test(target))
        await assert.doesNotReject(
          readFile(join(root, target)).catch((error) => {
            if (error.code !== 'EISDIR') throw error;
          }),
          target,
        );
    }
  });

  it('ends with activity events that name each change', async () => {
    const api = new ApiClient(service.apiPort);
    await api.call(auth.login, {
      body: { email: 'ada@example.com', password: 'correct horse battery staple' },
    });
    const { events } = await api.call(activity.listActivity);
    assert.equal(events.filter(({ action }) => action === 'api_key.created').length, 1);
  });
});
