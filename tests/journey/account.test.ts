import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { jsonOf, runCommand, startCommand } from '../command-process.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';

describe('gatehouse account', () => {
  let directory: string;
  let service: ServiceProcess;
  let url: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-account-'));
    service = await startService({ DATA_DIR: join(directory, 'data') });
    url = `http://localhost:${service.apiPort}`;
    const client = new ApiClient(service.apiPort);
    const body = { email: EMAIL, password: PASSWORD, organization_name: 'Acme' };
    await client.call(auth.register, { body });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const own = (more: Readonly<Record<string, string>> = {}) => ({
    environment: { HOME: directory, ...more },
  });
  const run = (words: string, more = {}, input = '') =>
    runCommand(['account', ...words.split(' ')], own(more), input);
  const json = (words: string) => jsonOf(['account', ...words.split(' ')], own());
  const file = () => join(directory, '.config/gatehouse/session.json');
  const isAccepted = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/key`, { headers });
    return response.status === 200;
  };

  it('says that nobody is signed in, and why a sign-in fails', async () => {
    for (const [words, more, input, code, sentence] of [
      ['whoami', {}, '', 1, /nobody is signed in; sign in with gatehouse account login/],
      ['login', {}, '', 2, /the account is not named; give --email, or set GATEHOUSE_EMAIL/],
      [`login --url ${url} --email ${EMAIL}`, {}, '', 1, /no password was given/],
      [`login --url ${url} --email ${EMAIL} --password-stdin`, {}, 'wrong\n', 1, /Invalid/],
      [`login --url ${url}/api --email ${EMAIL}`, {}, '', 2, /--url is ".*", expected the root of a service/],
      [
        'login --url http://127.0.0.1:1 --email a@b.c',
        { GATEHOUSE_PASSWORD: 'x' },
        '',
        1,
        /127\.0\.0\.1:1 does not answer/,
      ],
    ] as const) {
      const done = await run(words, more, input);
      assert.equal(done.code, code, `${words}: ${done.stderr}`);
      assert.match(done.stderr, sentence);
    }
    assert.equal((await run('logout')).stdout, 'Nobody was signed in.\n');
  });

  it('keeps a session that nobody else can read, and renews it', async () => {
    const done = await run(`login --url ${url}`, { GATEHOUSE_EMAIL: EMAIL }, `${PASSWORD}\n`);
    assert.deepEqual([done.code, done.stdout], [0, `Signed in at ${url} as ${EMAIL}, owner of Acme.\n`]);
    assert.ok(!done.stderr.includes(PASSWORD));
    assert.equal((await stat(file())).mode & 0o777, 0o600);
    assert.equal((await stat(join(directory, '.config/gatehouse'))).mode & 0o777, 0o700);
    assert.equal((await run('whoami')).stdout, `${EMAIL}, owner of Acme, at ${url}\n`);
    // As after 15 minutes.
    const stored = JSON.parse(await readFile(file(), 'utf8'));
    const cookies = stored.session.cookies.filter(({ name }: { name: string }) => !/access/.test(name));
    assert.equal(cookies.length, 1);
    await writeFile(file(), JSON.stringify({ ...stored, session: { ...stored.session, cookies } }));
    assert.equal((await json('whoami'))['url'], url);
    assert.equal(JSON.parse(await readFile(file(), 'utf8')).session.cookies.length, 2);
  });

  it('mints, rotates and revokes a key, and prints nothing but the secret', async () => {
    const made = await run('create-key --name backend');
    assert.match(made.stdout, /^sk_svc_[0-9A-Za-z]{32}\n$/);
    const first = made.stdout.trim();
    const prefix = first.slice(0, 15);
    assert.match((await run('keys')).stdout, new RegExp(`^PREFIX .*\\n${prefix} +backend +60 `));
    const rotated = await run(`rotate-key ${prefix}`);
    const second = rotated.stdout.trim();
    assert.match(second, /^sk_svc_[0-9A-Za-z]{32}$/);
    assert.match(rotated.stderr, new RegExp(`The one before, ${prefix}, is accepted until 20`));
    assert.deepEqual([await isAccepted(first), await isAccepted(second)], [true, true]);
    const rotatedKey = await run(`keys ${second.slice(0, 15)}`);
    assert.match(
      rotatedKey.stdout,
      new RegExp(
        `\nPrevious secret +${prefix}, accepted until 20.* UTC\nIts last use +(20.* UTC|before the rotation)\n$`,
      ),
    );
    const again = await json(`rotate-key ${second.slice(0, 15)} --grace-seconds 0`);
    assert.deepEqual(
      [await isAccepted(first), await isAccepted(second), await isAccepted(String(again['api_key']))],
      [false, false, true],
    );
    const unknown = await run(`revoke-key ${first} --yes`);
    assert.match(unknown.stderr, /there is no key with this id or prefix/);
    assert.ok(!unknown.stderr.includes(first));
    assert.equal((await run(`revoke-key ${again['key_prefix']}`)).code, 0);
    assert.equal(await isAccepted(String(again['api_key'])), false);
    assert.match((await run('rotate-key x --grace-seconds -1')).stderr, /--grace-seconds is "-1"/);
    assert.match((await run('create-key --name x --project None')).stderr, /no project "None"; there are "/);
  });

  it('shows requests as they come, what they cost, limits and the log', async () => {
    const secret = (await run('create-key --name caller')).stdout.trim();
    const ask = () =>
      fetch(`http://127.0.0.1:${service.gatewayPort}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hi' }] }),
      }).then((response) => response.text());
    await ask();
    const listed = await eventually(async () => {
      const { stdout } = await run('requests --limit 5');
      return stdout === '' ? undefined : stdout;
    });
    assert.match(
      listed,
      /^20\d\d-\S+ \S+ {2}200 {2}demo\/echo {2}\d+ tokens {2}[\d.]+ s {2}[\d.]+ PKR {2}caller\n$/,
    );
    const following = startCommand(['account', 'requests', '--follow', '--json'], own());
    let out = '';
    following.child.stdout?.on('data', (piece: Buffer) => {
      out += piece;
    });
    await eventually(async () => (out === '' ? undefined : true));
    await ask();
    await eventually(async () => (out.trim().split('\n').length === 2 ? true : undefined));
    following.child.kill('SIGINT');
    assert.equal((await following.outcome).code, 'SIGINT');
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).req_id);
    assert.equal(new Set(ids).size, 2);
    assert.match((await run('spend --by key')).stdout, /^KEY +PKR\n(?:caller +[\d.]+\n)?All +[\d.]+\n$/);
    assert.match(
      (await run('spend --by team')).stderr,
      /--by is "team", expected model, key, project, member/,
    );
    assert.match((await run('limits')).stdout, /^SCOPE +WINDOW +LIMIT PKR/);
    const activity = (await run('activity --limit 3')).stdout.split('\n');
    assert.match(activity[0] ?? '', new RegExp(`${EMAIL} +api_key\\.created +sk_svc_`));
    assert.match(
      (await run('activity --limit 0')).stderr,
      /--limit is "0", expected a whole number from 1 to 200/,
    );
  });

  it('ends the session here and at the service', async () => {
    const before = await readFile(file(), 'utf8');
    assert.equal((await run('logout')).stdout, `Signed out of ${url}.\n`);
    await assert.rejects(stat(file()), { code: 'ENOENT' });
    await writeFile(file(), before);
    assert.match(
      (await run('keys')).stderr,
      /the session at .* has ended; sign in with gatehouse account login/,
    );
    await writeFile(file(), 'x');
    assert.match((await run('keys')).stderr, /is damaged; sign in again/);
  });
});
