import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { runCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

// docs/runbook.md is executed: every command in its order, against a service that has what the page begins with. What a
// command prints is what the page shows, with the ids, the prefixes and the times of this run in place of the page's.

const PAGE = join(import.meta.dirname, '../../docs/runbook.md');
const PASSWORD = 'correct horse battery staple';

interface Step {
  readonly command: string;
  readonly shown: readonly string[];
}

function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...shown] = text.trimEnd().split('\n');
        return { command, shown };
      }),
  );
}

/** Without what differs from run to run, and without the width of columns. */
function comparable(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replaceAll(/sk_svc_\w{8}/g, 'PREFIX')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
      .replaceAll(/ {2,}/g, '  '),
  );
}

/** The words of a command line, and the file that is its input. */
function partsOf(command: string): { readonly words: string[]; readonly input: string | undefined } {
  const [, line = '', input] = /^gatehouse (.*?)(?: < (\S+))?$/.exec(command) ?? assert.fail(command);
  return { words: (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1')), input };
}

describe('docs/runbook.md', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  const prefixes = new Map<string, string>();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-runbook-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await writeFile(join(directory, '.env'), 'DATA_DIR=data\n');
    await writeFile(join(directory, 'password.txt'), `${PASSWORD}\n`);
    const service = stack.use(await startService({ DATA_DIR: join(directory, 'data'), JOIN_POLICY: 'open' }));
    const signUp = async (email: string) => {
      const client = new ApiClient(service.apiPort);
      await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: 'Acme' } });
      await client.call(auth.login, { body: { email, password: PASSWORD } });
      return client;
    };
    await signUp('ada@example.com');
    const grace = await signUp('grace@example.com');
    const [project] = (await grace.call(organization.listProjects)).projects;
    const page = await readFile(PAGE, 'utf8');
    const named = [...new Set(page.match(/sk_svc_\w{8}/g))];
    for (const [index, name] of ['checkout', 'reporting'].entries()) {
      const body = { name, project_id: project?.id, environment: 'production' };
      const minted = await grace.call(keys.createKey, { body });
      prefixes.set(named[index] ?? assert.fail(), minted.key_prefix);
    }
  });
  after(() => stack.disposeAsync());

  it('shows what its commands print, in its order', async () => {
    const steps = stepsOf(await readFile(PAGE, 'utf8'));
    assert.ok(steps.length >= 11);
    for (const { command, shown } of steps) {
      const { words, input } = partsOf(command);
      const { code, stdout, stderr } = await runCommand(
        words.map((word) => prefixes.get(word) ?? word),
        { directory },
        input === undefined ? '' : await readFile(join(directory, input), 'utf8'),
      );
      assert.equal(code, shown[0]?.startsWith('gatehouse: ') ? 1 : 0, `${command}: ${stderr}`);
      assert.deepEqual(comparable(`${stdout}${stderr}`.trimEnd().split('\n')), comparable(shown), command);
    }
  });
});
