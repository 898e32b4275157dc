import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

// A clone without an installation. Packages are linked instead of fetched, which saves a gigabyte.

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

describe('npx gatehouse where nothing is installed', () => {
  let clone: string;
  let home: string;
  before(async () => {
    clone = await mkdtemp(join(tmpdir(), 'gatehouse-npx-'));
    home = join(clone, 'home');
    await mkdir(join(clone, 'setup'), { recursive: true });
    await mkdir(home);
    await cp(join(root, 'package.json'), join(clone, 'package.json'));
    await cp(join(root, 'setup/gatehouse.mjs'), join(clone, 'setup/gatehouse.mjs'));
    const links = ['node_modules', 'cli'].map(
      (name) => `symlinkSync(${JSON.stringify(join(root, name))}, ${JSON.stringify(join(clone, name))});`,
    );
    await writeFile(
      join(clone, 'setup/install.mjs'),
      `import { symlinkSync } from 'node:fs';\n${links.join('\n')}\nprocess.stdout.write('Installing ...\\n');\n`,
    );
  });
  after(() => rm(clone, { recursive: true, force: true }));

  const npx = (...args: string[]) =>
    run('npx', ['gatehouse', ...args], {
      cwd: clone,
      // No registry answers at this address, so no foreign package of this name can run.
      env: {
        PATH: (process.env['PATH'] ?? '')
          .split(':')
          .filter((folder) => !folder.includes('node_modules'))
          .join(':'),
        HOME: home,
        npm_config_registry: 'http://127.0.0.1:9/',
        npm_config_fetch_retries: '0',
        npm_config_update_notifier: 'false',
      },
    });

  it('installs first, and then runs the command of this project', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'cli/package.json'), 'utf8'));
    const { stdout, stderr } = await npx('--version');
    // The installation writes to standard error, so that standard output has only the command's output.
    assert.equal(stdout, `${version}\n`);
    assert.match(stderr, /^Installing/);
  });

  it('passes on the exit code and the message of a failing command', async () => {
    await rm(join(clone, 'node_modules'));
    await rm(join(clone, 'cli'));
    await assert.rejects(npx('fly'), (error: { code: number; stderr: string }) => {
      assert.equal(error.code, 2);
      assert.match(error.stderr, /there is no command "fly"/);
      return true;
    });
  });
});
