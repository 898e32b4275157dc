import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { auth } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { childEnvironment } from '../child-environment.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

// What docs/operations.md and docs/monitoring.md send to a running service, with bash and curl as their reader does.

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

describe('the requests of the pages for operators', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-requests-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    service = stack.use(await startService({ DATA_DIR: directory, METRICS_PORT: '0' }));
  });
  after(() => stack.disposeAsync());

  /** The block of the page that starts like this, sent to the ports of this service. */
  const shell = async (page: string, starts: string, ports: Readonly<Record<number, number>>) => {
    const text = await readFile(join(root, page), 'utf8');
    const from = text.indexOf(`\n${starts}`);
    assert.ok(from > 0, `${page} has no ${starts}`);
    let commands = text.slice(from, text.indexOf('\n```', from));
    for (const [documented, own] of Object.entries(ports))
      commands = commands.replaceAll(`:${documented}`, `:${own}`);
    const { stdout } = await run('bash', ['-euc', commands], { env: childEnvironment() });
    return stdout;
  };

  it('a session for programs that send no Secure cookie over HTTP', async () => {
    const client = new ApiClient(service.apiPort);
    const account = { email: 'you@example.com', password: 'a long passphrase' };
    await client.call(auth.register, { body: { ...account, organization_name: 'My team' } });
    const ports = { 8080: service.apiPort };
    const { user } = JSON.parse(await shell('docs/operations.md', 'TOKEN=$(curl', ports));
    assert.equal(user.email, account.email);
  });

  it('the metrics', async () => {
    const ready = service.logLines.find(({ event }) => event === 'service.ready');
    const port = ready?.['metrics_port'] as number;
    const text = await shell('docs/monitoring.md', 'curl -s http', { 9464: port });
    assert.match(text, /^# TYPE gatehouse_gateway_requests_total counter$/m);
  });
});
