import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { auth, keys } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { startService } from '../service-process.ts';

// The two scripts of docs/scripting.md, run as they stand there.

const ROOT = join(import.meta.dirname, '../..');
const PASSWORD = 'correct horse battery staple';
const run = promisify(execFile);

describe('docs/scripting.md', () => {
  const stack = new AsyncDisposableStack();
  let folder: string;
  let page: string;
  let port: number;

  const block = (language: string) =>
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? assert.fail(language);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-scripting-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    page = await readFile(join(ROOT, 'docs/scripting.md'), 'utf8');
    ({ apiPort: port } = stack.use(
      await startService({ DATA_DIR: join(folder, 'data'), JOIN_POLICY: 'open' }),
    ));
    await mkdir(join(folder, 'bin'));
    const command = join(folder, 'bin/gatehouse');
    await writeFile(
      command,
      `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'cli/bin/gatehouse.mjs')}' "$@"\n`,
    );
    await chmod(command, 0o755);
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'teams.csv'), block('csv'));
    await writeFile(join(folder, 'mint.sh'), block('bash'));
    await writeFile(join(folder, 'mint.ts'), block('ts'));
  });
  after(() => stack.disposeAsync());

  for (const [title, file, args] of [
    ['in a shell', 'bash', ['mint.sh']],
    ['in TypeScript', process.execPath, ['mint.ts']],
  ] as const) {
    it(`mints a key for each line ${title}`, async () => {
      const email = `ci-${args[0]}@example.com`;
      const client = new ApiClient(port);
      await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: args[0] } });
      await client.call(auth.login, { body: { email, password: PASSWORD } });
      const environment = {
        ...{
          PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
          HOME: folder,
          XDG_CONFIG_HOME: join(folder, 'config'),
        },
        ...{
          GATEHOUSE_URL: `http://localhost:${port}`,
          GATEHOUSE_EMAIL: email,
          GATEHOUSE_PASSWORD: PASSWORD,
        },
      };
      const { stdout } = await run(file, [...args], { cwd: folder, env: environment });
      const printed = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(','));
      assert.deepEqual(
        printed.map(([name]) => name),
        ['checkout', 'search'],
      );
      const minted = (await client.call(keys.listKeys)).keys.toReversed();
      assert.deepEqual(
        minted.map((key) => [key.name, key.key_prefix, key.credit_limit_cents]),
        [
          ['checkout', printed[0]?.[1]?.slice(0, 15), 250_000_000],
          ['search', printed[1]?.[1]?.slice(0, 15), 1_000_500_000],
        ],
      );
    });
  }
});
