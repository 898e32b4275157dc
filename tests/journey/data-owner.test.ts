import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { analytics, auth } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { findClosedDirectory } from '@gatehouse/embedded';
import { runCommand } from '../command-process.ts';
import { processesOf } from '../processes.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

const USER = 60_103;
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const isRoot = process.geteuid?.() === 0;
const closed = isRoot && findClosedDirectory(import.meta.filename, { uid: USER, gid: USER });

const skip = (!isRoot && 'needs root') || (closed && 'this folder is closed to other users');

it('root does not start in the directory of a user who cannot read the installation', {
  skip: !closed && 'needs root in a closed folder',
}, async () => {
  const parent = await mkdtemp(join(tmpdir(), 'gatehouse-owner-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }) };
  await chmod(parent, 0o755);
  const dataDir = join(parent, 'data');
  await mkdir(dataDir);
  await chown(dataDir, USER, USER);
  const startAndEnd = async () => {
    await using _ = await startService({ DATA_DIR: dataDir }, [], { makesStores: true });
  };
  await assert.rejects(startAndEnd(), /root writes there as that user, who cannot read this installation; /);
});

describe('a data directory of an ordinary user', { skip }, () => {
  let directory: string;
  let dataDir: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-owner-'));
    await chmod(directory, 0o755);
    dataDir = join(directory, 'data');
    await mkdir(dataDir);
    await chown(dataDir, USER, USER);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const asUser = ['/usr/bin/setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--'];
  const start = (within: readonly string[], path = dataDir) =>
    startService({ DATA_DIR: path, LOG_LEVEL: 'info', METRICS_PORT: '0' }, [], {
      makesStores: true,
      within,
    });
  const kill = async (service: ServiceProcess) => {
    await service.end('SIGKILL');
    await eventually(async () => ((await processesOf(directory)).length === 0 ? true : undefined));
  };
  const foreign = async () => {
    const names = await readdir(dataDir, { recursive: true });
    const owners = await Promise.all(
      names.map(async (name) => ({ name, uid: (await lstat(join(dataDir, name))).uid })),
    );
    return owners.filter(({ uid }) => uid !== USER);
  };

  it('is used by root as that user, so that the user can go on after a crash of it', async () => {
    {
      await using service = await start([]);
      assert.match(service.told(), new RegExp(`^Running as uid ${USER}, to whom DATA_DIR belongs\\.\n`));
      await new ApiClient(service.apiPort).call(auth.register, {
        body: { ...ACCOUNT, organization_name: 'Acme' },
      });
      await kill(service);
    }
    assert.deepEqual(await foreign(), []);
    await using service = await start(asUser);
    const api = new ApiClient(service.apiPort);
    await api.call(auth.login, { body: ACCOUNT });
    await eventually(async () => (await api.call(analytics.listRequests)).requests);
    await kill(service);
  });

  it('is not started with a file of root in it, and the sentence names file, owner and command', async () => {
    const tables = join(dataDir, 'clickhouse/data/store');
    const master = join(dataDir, 'master.key');
    const link = join(directory, 'link');
    await symlink(dataDir, link);
    const startAndEnd = async (given: string) => {
      await using _ = await start(asUser, given);
    };
    for (const [path, given] of [
      [tables, dataDir],
      [master, dataDir],
      [dataDir, link],
    ] as const) {
      await chown(path, 0, 0);
      await assert.rejects(startAndEnd(given), (error: Error) => {
        const told = error.message.replace(/^[^:]*: /, '').replace('Starting Gatehouse ...\n', '');
        assert.match(told, new RegExp(`${path} belongs to root, and this runs as uid ${USER}\\. `));
        assert.match(told, new RegExp(`sudo chown -R ${USER}:${USER} ${dataDir}\n$`));
        assert.equal(told.split('\n').length, 2);
        return true;
      });
      await chown(path, USER, USER);
    }
  });

  it('reports a journal of root in the log, a metric and the doctor until it can be read', async () => {
    const journal = join(dataDir, 'journal');
    // Of the gateway that was killed.
    const [left = ''] = await readdir(journal);
    await chown(join(journal, left), 0, 0);
    await using service = await start(asUser);
    const failed = await eventually(async () =>
      service.logLines.find(({ event }) => event === 'journal.recovery_failed'),
    );
    assert.deepEqual([failed['level'], failed['path']], [50, join(journal, left)]);
    const port = service.logLines.find(({ event }) => event === 'service.ready')?.['metrics_port'];
    const unreadable = async () =>
      /^gatehouse_journal_unreadable\S* (\d+)$/m.exec(
        await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
      )?.[1];
    assert.equal(await eventually(unreadable), '1');
    const { code, stderr } = await runCommand(['doctor'], { environment: { DATA_DIR: dataDir } });
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `gatehouse: the journal ${join(journal, left)} cannot be read, so its requests are not settled: it belongs to uid 0, and the journal to uid ${USER}\n`,
      ],
    );
    await chown(join(journal, left), USER, USER);
    await eventually(async () => ((await unreadable()) === '0' ? true : undefined));
    assert.ok(!(await readdir(journal)).includes(left));
  });
});
