import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { MasterKey } from '@gatehouse/store';
import { createTestDatabase } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { ConfigError } from '../config/config.ts';
import { readVaultConfig } from '../config/vault-config.ts';
import { openMasterKeys } from './master-key.ts';
import { masterKeyPaths, placeMasterKey } from './master-key-file.ts';
import { readMasterKeys } from './master-key-sources.ts';

const log = pino({ level: 'silent' });

describe('the master key', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-master-key-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const key = MasterKey.generate();
  const read = async (environment: Record<string, string>) => {
    const { current } = await readMasterKeys(
      readVaultConfig({ DATABASE_URL: 'postgres://db/x', ...environment }),
      { PATH: '/usr/bin:/bin', ...environment },
    );
    return current?.id;
  };
  const faultOf = async (environment: Record<string, string>) => {
    try {
      await read(environment);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      assert.ok(!error.message.includes('\n'));
      return error.message;
    }
    return assert.fail('accepted');
  };

  it('comes from the environment, a file or a command', async () => {
    const path = join(directory, 'key');
    await writeFile(path, `${key.reveal()}\n`);
    assert.equal(await read({ GATEHOUSE_MASTER_KEY: key.reveal() }), key.id);
    assert.equal(await read({ GATEHOUSE_MASTER_KEY_FILE: path }), key.id);
    assert.equal(await read({ GATEHOUSE_MASTER_KEY_COMMAND: `cat ${path}` }), key.id);
    const script = join(directory, 'script.sh');
    await writeFile(script, '#!/bin/sh\necho "$SECRET_STORE"\n');
    await chmod(script, 0o755);
    assert.equal(
      await read({ GATEHOUSE_MASTER_KEY_COMMAND: script, SECRET_STORE: key.reveal() }),
      key.id,
      'the command has the environment of the service',
    );
  });

  it('is refused in one line that does not show it', async () => {
    const path = join(directory, 'no key');
    await writeFile(path, 'hunter2');
    const none = join(directory, 'none');
    assert.match(
      await faultOf({ GATEHOUSE_MASTER_KEY_FILE: path }),
      /^GATEHOUSE_MASTER_KEY_FILE is .* holds something else; expected 32 bytes/,
    );
    assert.match(await faultOf({ GATEHOUSE_MASTER_KEY_FILE: none }), /, which is not there$/);
    assert.match(await faultOf({ GATEHOUSE_MASTER_KEY_FILE: directory }), /which cannot be read: EISDIR/);
    for (const [command, expected] of [
      ['false', /^the command in GATEHOUSE_MASTER_KEY_COMMAND ended with the exit code 1$/],
      [none, /could not be run \(ENOENT\)$/],
      ['echo hunter2', /printed something else; expected 32 bytes in base64/],
    ] as const) {
      const message = await faultOf({ GATEHOUSE_MASTER_KEY_COMMAND: command });
      assert.match(message, expected);
      assert.ok(!message.includes('hunter2'));
    }
  });

  it('is made once where none was given, closed to others, and agreed on by all who start at once', async () => {
    await using test = await createTestDatabase();
    const dataDir = await mkdtemp(join(directory, 'data-'));
    const config = readVaultConfig({ DATA_DIR: dataDir });
    await Promise.all(Array.from({ length: 8 }, () => openMasterKeys(config, {}, test.database, log)));
    assert.deepEqual(await readdir(dataDir), ['master.key']);
    const path = masterKeyPaths(dataDir).current;
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const text = await readFile(path, 'utf8');
    assert.ok(MasterKey.fromText(text));
    await openMasterKeys(config, {}, test.database, log);
    assert.equal(await readFile(path, 'utf8'), text);

    // A lost key is required, not replaced by a new one.
    await rm(path);
    await assert.rejects(openMasterKeys(config, {}, test.database, log), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /master\.key is missing, and the vault is encrypted under/);
      return true;
    });
    assert.deepEqual(await readdir(dataDir), []);
    // Another one in its place is no better, and stays as it is.
    await writeFile(path, key.reveal());
    await assert.rejects(openMasterKeys(config, {}, test.database, log), { name: 'VaultError' });
    assert.equal(await readFile(path, 'utf8'), key.reveal());
  });

  it('is never put in the place of one that is there', async () => {
    const path = join(directory, 'placed');
    const placed = await Promise.all(
      Array.from({ length: 20 }, () => placeMasterKey(path, MasterKey.generate(), 'a test')),
    );
    assert.equal(new Set(placed.map(({ id }) => id)).size, 1);
    const late = await placeMasterKey(path, MasterKey.generate(), 'a test');
    assert.equal(late.id, placed[0]?.id);
    assert.deepEqual(
      (await readdir(directory)).filter((name) => name.startsWith('placed')),
      ['placed'],
    );
  });
});
