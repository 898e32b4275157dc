import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { type ServiceProcess, startService } from '../service-process.ts';

// What the README tells a newcomer to type is typed here. It needs bash and curl, as the newcomer does.

const root = join(import.meta.dirname, '../..');

describe('the README', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let directory: string;
  let readme: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-readme-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    readme = await readFile(join(root, 'README.md'), 'utf8');
    service = stack.use(await startService({ DATA_DIR: join(directory, 'data') }));
  });
  after(() => stack.disposeAsync());

  const block = (language: string) => {
    const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
    assert.ok(found, `the README has no ${language} block`);
    // The ports of a test are free ones.
    return found.replaceAll(':8080', `:${service.apiPort}`).replaceAll(':8081', `:${service.gatewayPort}`);
  };

  const run = async (command: string, args: string[], environment: Record<string, string> = {}) => {
    const child = spawn(command, args, {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', ...environment },
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

  it('leads to a first metered request, a revoked key and a log of it', async () => {
    const output = await run('bash', ['-euo', 'pipefail', '-c', block('bash')]);
    assert.match(output, /"role":"owner"/);
    assert.match(output, /"content":"Hello, Gatehouse!"/);
    assert.match(output, /"total":1,.*"model":"demo\/echo","status":200/);
    assert.match(output, /is revoked/);
    assert.match(output, /"code":"invalid_api_key"/);
    assert.match(output, /"action":"api_key.revoked".*"action":"member.joined"/);
  });

  it('has an SDK example that works', async () => {
    const api = new ApiClient(service.apiPort);
    const credentials = { email: 'grace@example.com', password: 'correct horse battery staple' };
    await api.call(auth.register, { body: { ...credentials, organization_name: 'Navy' } });
    await api.call(auth.login, { body: credentials });
    const project = (await api.call(organization.listProjects)).projects[0];
    const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'sdk' } });
    // It has to be where the package is found.
    const file = join(root, 'tests', `readme-example-${process.pid}.mjs`);
    await writeFile(file, block('js'));
    stack.defer(() => rm(file, { force: true }));
    assert.equal(await run(process.execPath, [file], { GATEHOUSE_KEY: api_key }), 'Hello, Gatehouse!');
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

  it('ends with events that name what was done', async () => {
    const api = new ApiClient(service.apiPort);
    await api.call(auth.login, {
      body: { email: 'ada@example.com', password: 'correct horse battery staple' },
    });
    const { events } = await api.call(activity.listActivity);
    assert.equal(events.filter(({ action }) => action === 'api_key.created').length, 1);
  });
});
