import assert from 'node:assert/strict';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { type CommandEnvironment, jsonOf, runCommand, startCommand } from '../command-process.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// The operator's commands as whole processes: beside a running service, with the service stopped, and on an external
// database. The steps build on each other.

const PASSWORD = 'correct horse battery staple';
const NEW_PASSWORD = 'a quite different passphrase';
const ADA = 'ada@example.com';
const GRACE = 'grace@example.com';
const BEA = 'bea@example.com';

/** The view of the commands from outside. */
interface Looks {
  readonly afterDeposit?: () => Promise<void>;
  readonly afterProject?: (projectId: string) => Promise<void>;
  readonly afterDeactivation?: () => Promise<void>;
  readonly afterActivation?: () => Promise<void>;
  readonly afterPassword?: () => Promise<void>;
  readonly afterDeletion?: () => Promise<void>;
}

/** Every command once, on an organisation Acme that has GRACE as a member. Ends with her account deleted. */
async function everyVerb(
  environment: CommandEnvironment,
  looks: Looks = {},
  projectName = 'Mobile',
): Promise<void> {
  const ask = (words: string, input = '') => jsonOf(words.split(' '), environment, input);
  const { organizations } = await ask('org list');
  const acme = (organizations as { id: string; name: string; deposited_pkr: number }[])[0];
  assert.equal(acme?.name, 'Acme');
  const { id } = acme;
  const named = { id, name: 'Acme' };

  assert.deepEqual(await ask('org deposit acme --pkr 2500.50 --note thanks'), {
    organization: named,
    amount_pkr: 2500.5,
    note: 'thanks',
    deposited_pkr: acme.deposited_pkr + 2500.5,
  });
  await looks.afterDeposit?.();
  assert.deepEqual(await ask('org withdraw acme --pkr 0.50 --note rounding'), {
    organization: named,
    amount_pkr: -0.5,
    note: 'rounding',
    deposited_pkr: acme.deposited_pkr + 2500,
  });
  assert.deepEqual(
    (await ask('org deposit acme --pkr 1000000.50 --yes'))['deposited_pkr'],
    acme.deposited_pkr + 1_002_500.5,
  );
  await ask('org withdraw acme --pkr 1000000');
  assert.deepEqual(await ask(`org retention ${id} --days 30`), {
    organization: named,
    activity_retention_days: 30,
    activity_retention_is_default: false,
  });
  const { project } = (await ask(`project create ACME --name ${projectName}`)) as { project: { id: string } };
  await looks.afterProject?.(project.id);
  const shown = (await ask(`org show ${id}`))['organization'] as Record<string, unknown>;
  assert.deepEqual(
    [shown['id'], shown['deposited_pkr'], shown['activity_retention_days'], shown['members']],
    [id, acme.deposited_pkr + 2500.5, 30, 2],
  );
  assert.ok((shown['projects'] as { id: string }[]).some((one) => one.id === project.id));
  assert.deepEqual(
    (shown['newest_deposits'] as { amount_pkr: number; note: string }[])
      .slice(0, 4)
      .map(({ amount_pkr, note }) => [amount_pkr, note]),
    [
      [-1_000_000, null],
      [1_000_000.5, null],
      [-0.5, 'rounding'],
      [2500.5, 'thanks'],
    ],
  );

  const { users } = (await ask('user list Acme')) as { users: { email: string; role: string }[] };
  assert.deepEqual(
    users.map(({ email, role }) => [email, role]),
    [
      [ADA, 'owner'],
      [GRACE, 'member'],
    ],
  );
  for (const [verb, active, look] of [
    ['deactivate', false, looks.afterDeactivation],
    ['activate', true, looks.afterActivation],
  ] as const) {
    const done = await ask(`user ${verb} ${GRACE.toUpperCase()}`);
    assert.deepEqual(
      [done['changed'], (done['user'] as { active: boolean }).active, done['organization']],
      [true, active, named],
    );
    await look?.();
  }
  const set = await ask(`user set-password ${GRACE}`, `${NEW_PASSWORD}\nrest\n`);
  assert.equal((set['user'] as { has_password: boolean }).has_password, true);
  await looks.afterPassword?.();
  assert.equal((await ask(`user delete ${GRACE} --yes`))['deleted'], true);
  await looks.afterDeletion?.();

  const verified = (await ask('activity verify Acme'))['organizations'] as Record<string, unknown>[];
  const { entries, last_sequence: last, last_hash: hash, last_occurred_at: at, ...rest } = verified[0] ?? {};
  assert.ok(Date.parse(String(at)) > 0);
  assert.deepEqual(
    [verified.length, rest],
    [
      1,
      { ...named, verified: true, checkpoint_sequence: 0, retention_days: 30, aged_anchors: 0, broken: null },
    ],
  );
  assert.ok(typeof entries === 'number' && entries >= 1 && entries === last);
  assert.match(String(hash), /^[0-9a-f]{64}$/);
  assert.deepEqual(await ask('activity purge'), { organizations: [] });
}

/** The commands that need no look from outside: once is enough. Acme has no account but its owner before and after them. */
async function otherVerbs(environment: CommandEnvironment): Promise<void> {
  const ask = (words: string, input = '') => jsonOf(words.split(' '), environment, input);
  const { project } = (await ask('project create acme --name Desk')) as { project: { id: string } };
  const renamed = await ask(`project rename acme ${project.id} --name Apps`);
  assert.deepEqual(renamed['project'], { id: project.id, name: 'Apps' });
  assert.deepEqual(
    ((await ask('project list acme'))['projects'] as { name: string }[]).map(({ name }) => name).at(-1),
    'Apps',
  );
  assert.equal((await ask('org rename acme --name Zenith'))['previous_name'], 'Acme');
  await ask('org rename zenith --name Acme');
  assert.deepEqual((await ask('key list acme'))['keys'], []);

  const other = (await ask('org create Other'))['organization'] as { id: string };
  const owner = await ask(`user create ${BEA} --org Other --role owner`, `${PASSWORD}\n`);
  assert.deepEqual(
    [owner['organization'], (owner['user'] as { role: string; has_password: boolean }).role],
    [{ id: other.id, name: 'Other' }, 'owner'],
  );
  const second = await ask(`user create dan@example.com --org Other --no-password`);
  assert.equal((second['user'] as { has_password: boolean }).has_password, false);
  assert.deepEqual(await ask('org delete other --yes'), {
    ...{ organization: { id: other.id, name: 'Other' }, deleted: true },
    ...{ revoked_keys: 0, deleted_accounts: 2, withdrawn_pkr: 0, held_pkr: 0 },
  });
  await ask('user create eve@example.com --org Acme --no-password');
  for (const [role, changed] of [
    ['admin', true],
    ['admin', false],
    ['member', true],
  ] as const)
    assert.equal((await ask(`user set-role eve@example.com ${role}`))['changed'], changed);
  await ask('user delete eve@example.com --yes');
}

describe('the operator beside the embedded database', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let environment: CommandEnvironment;
  let service: ServiceProcess;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-operator-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    // Found by the file in the working directory, as the service's own settings are.
    await writeFile(join(directory, '.env'), 'DATA_DIR=data\nJOIN_POLICY=open\nPORT=not a port\n');
    environment = { directory };
  });
  after(() => stack.disposeAsync());

  const tell = (words: string) => runCommand(words.split(' '), environment);
  const signUp = async (email: string) => {
    const client = new ApiClient(service.apiPort);
    await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: 'Acme' } });
    await client.call(auth.login, { body: { email, password: PASSWORD } });
    return client;
  };

  it('finds no database before the service has made one, and makes none', async () => {
    const { code, stdout, stderr } = await tell('org list');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /^gatehouse: there is no database in .*data\/postgres; gatehouse start makes one.*\n$/,
    );
    await assert.rejects(access(join(directory, 'data')), { code: 'ENOENT' });
  });

  it('does all of it beside the running service, which shows it from the next request on', async () => {
    service = stack.use(await startService({ DATA_DIR: join(directory, 'data') }));
    const ada = await signUp(ADA);
    const grace = await signUp(GRACE);
    const signInGrace = (password: string) => ({ body: { email: GRACE, password } });
    await everyVerb(environment, {
      async afterDeposit() {
        const [entry] = (await ada.call(activity.listActivity)).events;
        assert.deepEqual(
          [entry?.actor, entry?.action, entry?.target, entry?.source_ip],
          [null, 'budget.deposited', '2500.50 PKR', '127.0.0.1'],
        );
        await grace.call(auth.me);
      },
      async afterProject(id) {
        const { projects } = await ada.call(organization.listProjects);
        assert.deepEqual(
          projects.map((one) => [one.name, one.id === id]),
          [
            ['Default', false],
            ['Mobile', true],
          ],
        );
      },
      async afterDeactivation() {
        await grace.refused(auth.me, 401);
        await grace.refused(auth.login, 401, signInGrace(PASSWORD));
      },
      async afterActivation() {
        await grace.refused(auth.me, 401);
        await grace.call(auth.login, signInGrace(PASSWORD));
      },
      async afterPassword() {
        await grace.refused(auth.me, 401);
        await grace.refused(auth.login, 401, signInGrace(PASSWORD));
        await grace.call(auth.login, signInGrace(NEW_PASSWORD));
      },
      async afterDeletion() {
        await grace.refused(auth.me, 401);
        const { events } = await ada.call(activity.listActivity);
        assert.deepEqual(
          events.filter(({ target }) => target === GRACE).map(({ actor, action }) => [actor, action]),
          [
            [null, 'member.removed'],
            [null, 'user.login'],
            [null, 'user.login'],
            [null, 'member.activated'],
            [null, 'member.deactivated'],
            [null, 'user.login'],
            [null, 'member.joined'],
          ],
        );
      },
    });
    await otherVerbs(environment);
  });

  it('says it in text for people', async () => {
    for (const [words, expected] of [
      ['org deposit acme --pkr 1', /^Deposited 1\.00 PKR for Acme: 3501\.50 PKR in all\.\n$/],
      [
        'org list',
        /^ID +NAME +MEMBERS +AVAILABLE +CREATED \(UTC\)\n[0-9a-f-]{36} {2}Acme +1 +3501\.50 PKR +20.*\n$/,
      ],
      [`user activate ${ADA}`, /^ada@example\.com was active already; nothing changed\.\n$/],
      ['project create acme --name Web', /^[0-9a-f-]{36}\n$/],
      [
        'project byok-fallback acme web on',
        /^Requests of Web may use the platform's keys after an organisation's own key failed\.\n$/,
      ],
      [
        'project byok-fallback acme WEB on',
        /^Nothing was changed\. As before, requests of Web may use the platform's keys .*\.\n$/,
      ],
      ['org show acme', /\n +[0-9a-f-]{36} {2}Web +own keys, then the platform's\n/],
    ] as const) {
      const { code, stdout, stderr } = await tell(words);
      assert.deepEqual([code, stderr], [0, ''], words);
      assert.match(stdout, expected);
    }
  });

  it('names what it cannot find, in one line', async () => {
    for (const [words, expected] of [
      ['org show Nobody', /^gatehouse: no organisation has the id or the name "Nobody"; gatehouse org list/],
      [`user delete ${GRACE} --yes`, /^gatehouse: no account has the e-mail address "grace@example.com"/],
      [
        'project create acme --name WEB',
        /^gatehouse: Acme has a project named "Web" already: [0-9a-f-]{36}\n$/,
      ],
      [
        'project byok-fallback acme Nothing on',
        /^gatehouse: Acme has no project with the id or the name "Nothing"; gatehouse project list shows them\n$/,
      ],
      [
        'org withdraw acme --pkr 999999',
        /^gatehouse: at most 3501\.50 PKR can be withdrawn: 3501\.50 PKR are deposited, 0\.00 PKR spent/,
      ],
      [
        'activity verify --anchors none.json',
        /^gatehouse: --anchors is "none.json", which cannot be read: ENOENT/,
      ],
      ['activity verify --anchors .env', /^gatehouse: the anchors are not JSON/],
      [
        `user set-password ${ADA}`,
        /^gatehouse: expected the new password as the first line of standard input/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await tell(words);
      assert.deepEqual([code, stdout], [1, ''], words);
      assert.match(stderr, expected);
      assert.match(stderr, /^[^\n]+\n$/);
    }
  });

  it('succeeds, or says in one line that the database went away, when the service stops under a command', async () => {
    await signUp(GRACE);
    const { child, outcome } = startCommand(['user', 'set-password', GRACE], environment);
    // It has joined the server by now or joins it while that stops.
    assert.equal(await service.end('SIGTERM'), 0);
    child.stdin?.end(`${NEW_PASSWORD}\n`);
    const { code, stderr } = await outcome;
    if (code !== 0) {
      assert.equal(code, 1);
      assert.match(stderr, /^gatehouse: PostgreSQL [^\n]+\n$/);
    }
  });

  it('does all of it with the service stopped, and leaves no server behind', async () => {
    await everyVerb(environment, {}, 'Tablet');
    await assert.rejects(access(join(directory, 'data/postgres/postmaster.pid')), { code: 'ENOENT' });
  });

  it('stops the server that it runs before a signal ends it', async () => {
    const { child, outcome } = startCommand(['user', 'set-password', ADA], environment);
    await eventually(async () => {
      const text = await readFile(join(directory, 'data/postgres/postmaster.pid'), 'utf8').catch(() => '');
      return text.includes('ready') ? true : undefined;
    });
    child.kill('SIGTERM');
    assert.equal((await outcome).code, 'SIGTERM');
    await assert.rejects(access(join(directory, 'data/postgres/postmaster.pid')), { code: 'ENOENT' });
  });

  it('tells that an organisation lost its last owner, and deletes it whole', async () => {
    // Nobody is asked where there is no terminal.
    const deleted = await tell(`user delete ${ADA}`);
    assert.deepEqual([deleted.code, deleted.stderr], [0, '']);
    assert.match(
      deleted.stdout,
      /^ada@example.com is deleted; .*\nAcme has no active owner now; gatehouse user set-role makes one\.\n$/,
    );
    const gone = await tell('org delete acme --yes');
    assert.deepEqual([gone.code, gone.stderr], [0, '']);
    assert.match(
      gone.stdout,
      /^Acme \([0-9a-f-]{36}\) is deleted: 0 keys revoked, 0 accounts deleted, .* PKR of credit taken back\.\n$/,
    );
    assert.match((await tell('org list')).stdout, /^There is no organisation yet/);
  });
});

describe('the operator on an external database', () => {
  let test: TestDatabase;
  let directory: string;
  let environment: Record<string, string>;
  let id: string;

  const urlFor = (user: string) => {
    const { host, port, database } = test.address;
    return `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  };
  const tell = (words: string, more: Record<string, string> = {}) =>
    runCommand(words.split(' '), { environment: { ...environment, ...more } });

  before(async () => {
    test = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-operator-'));
    // No JOIN_POLICY: only the service needs one.
    environment = { DATABASE_URL: urlFor(test.address.user), DATA_DIR: join(directory, 'none') };
    const [row] = await runSql<{ id: string }>(test.owner)`
      WITH acme AS (INSERT INTO organizations (name, name_key) VALUES ('Acme', 'acme') RETURNING id),
           balance AS (INSERT INTO balances (organization_id) SELECT id FROM acme),
           people AS (INSERT INTO users (organization_id, email, role)
                      SELECT id, email, role FROM acme, (VALUES (${ADA}, 'owner'), (${GRACE}, 'member')) AS p (email, role))
      SELECT id FROM acme`;
    id = row?.id ?? assert.fail();
  });
  after(async () => {
    await test[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const owner = (text: string) => runSql(test.owner)`${rawSql(text)}`;

  it('does all of it, and puts nothing on the disk', async () => {
    await everyVerb({ environment });
    await assert.rejects(access(join(directory, 'none')), { code: 'ENOENT' });
  });

  it('needs the login that owns the schema, and says so', async () => {
    const asService = { DATABASE_URL: urlFor('gatehouse_service') };
    const { code, stderr } = await tell('org retention Acme --days 5', asService);
    assert.equal(code, 1);
    assert.match(stderr, /^gatehouse: the database's login may not do this [^\n]*DATABASE_OWNER_URL\)\n$/);
    const both = { ...asService, DATABASE_OWNER_URL: environment['DATABASE_URL'] ?? '' };
    assert.equal((await tell('org retention Acme --days default', both)).code, 0);
  });

  it('finds a log that was changed, by its chain and by anchors, and removes nothing of it', async () => {
    const anchors = join(directory, 'anchors.json');
    await writeFile(anchors, (await tell('activity verify --json')).stdout);
    assert.equal((await tell(`activity verify Acme --anchors ${anchors}`)).code, 0);

    await owner('ALTER TABLE activity_events DISABLE TRIGGER USER');
    await owner(
      `UPDATE activity_events SET occurred_at = '2020-01-01' WHERE sequence = 1 AND organization_id = '${id}'`,
    );
    const broken = await tell('activity verify --json');
    assert.equal(broken.code, 1);
    assert.equal(
      broken.stderr,
      `gatehouse: the activity log of Acme (${id}) is broken: entry 1 is not as it was written\n`,
    );
    const document = JSON.parse(broken.stdout) as { organizations: Record<string, unknown>[] };
    assert.equal(document.organizations[0]?.['verified'], false);
    assert.deepEqual(document.organizations[0]?.['broken'], {
      sequence: 1,
      reason: 'is not as it was written',
    });
    assert.equal((await tell('activity verify Acme')).stdout, `Acme (${id}): broken at entry 1\n`);
    const purged = await tell('activity purge');
    assert.deepEqual([purged.code, purged.stdout], [1, `Acme (${id}): removed 0 entries\n`]);
    assert.match(
      purged.stderr,
      /^gatehouse: the activity log of Acme \(.*\) is broken at entry 1: [^\n]+\n$/,
    );

    await owner('DELETE FROM activity_events');
    await owner(`UPDATE activity_heads SET last_sequence = 0, last_hash = decode(repeat('00', 32), 'hex')`);
    const { code, stderr } = await tell(`activity verify ${id} --anchors ${anchors}`);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gatehouse: the activity log of Acme \(.*\) is broken: entry 1 is missing[^\n]*\n$/,
    );
  });

  it('works on this version’s schema only, and says in one line when there is no server', async () => {
    await owner('DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)');
    for (const [more, expected] of [
      [{}, /^gatehouse: the database's schema is at step \d+ and this version needs step \d+[^\n]*\n$/],
      [
        { DATABASE_URL: 'postgres://127.0.0.1:1/none' },
        /^gatehouse: PostgreSQL cannot be used [^\n]*ECONNREFUSED[^\n]*\n$/,
      ],
      [
        { DATABASE_URL: 'mysql://u:hunter2@db' },
        /^gatehouse: DATABASE_URL is "mysql:\/\/…@db", expected [^\n]*\n$/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await tell('org list', more);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, expected);
    }
  });
});
