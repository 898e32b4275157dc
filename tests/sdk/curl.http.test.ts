import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { duringTests, startTestApi } from '@gatehouse/control-plane/testing';
import { type ApiRequest, requestFor, toCurl } from '@gatehouse/sdk';

// The commands that the SDK writes, run by the shell. Like the README's, they need bash and curl.

const run = promisify(execFile);

/** Texts that a shell, a terminal or curl could read as something else. */
const HOSTILE = [
  "it's",
  "'; touch owned; '",
  '$(touch owned)',
  '`touch owned`',
  '"$HOME" \\" \\\\ \\',
  'two\nlines\r\n\ttab',
  '!! !history ~ * ? [a-b] {a,b} #x &y |z <in >out',
  '-o owned --output owned',
  '@/etc/passwd',
  'سلام \u{1f511} e\u0301',
  'abc\u202edcba\u2066\u200b\u2028\u0085\u001b[2J\u007f',
  '%00%0a +',
  '{[(1-3)]}',
];

describe('a curl command of the SDK', () => {
  const api = duringTests(() => startTestApi());
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-curl-'));
    // Prints its arguments, each with a zero byte after it.
    await writeFile(join(directory, 'curl'), `#!/bin/sh\nprintf '%s\\0' "$@"\n`);
    await chmod(join(directory, 'curl'), 0o755);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** The arguments that bash hands to curl. */
  async function argumentsOf(command: string): Promise<string[]> {
    const { stdout, stderr } = await run('bash', ['-c', command], {
      cwd: directory,
      env: { PATH: `${directory}:${process.env['PATH']}`, HOME: '/nowhere' },
    });
    assert.equal(stderr, '');
    return stdout.split('\0').slice(0, -1);
  }

  const BASE = { baseUrl: 'https://gatehouse.example/api/' };

  for (const text of HOSTILE) {
    it(`hands over ${JSON.stringify(text)} as it is, and runs nothing`, async () => {
      const requests: ApiRequest[] = [
        requestFor('listRequests', { search: text, model: text }),
        requestFor('showRequest', { req_id: text }),
        requestFor('createKey', { project_id: text, name: text, allowed_models: [text] }),
      ];
      for (const request of requests) {
        const command = toCurl(request, { ...BASE, cookieFile: text });
        const given = await argumentsOf(command);
        const url = new URL(given.at(-1) ?? '');
        assert.equal(url.origin + url.pathname, `https://gatehouse.example/api${request.path}`);
        assert.deepEqual(Object.fromEntries(url.searchParams), request.query);
        assert.equal(given[given.indexOf('-b') + 1], text);
        const body = given.includes('--data-raw') ? given[given.indexOf('--data-raw') + 1] : undefined;
        assert.deepEqual(body && JSON.parse(body), request.body);
        assert.equal(given.length, request.body ? 8 : 4);
      }
      await assert.rejects(readFile(join(directory, 'owned')), { code: 'ENOENT' });
    });
  }

  it('shows what a terminal would hide or reorder', () => {
    const command = toCurl(
      requestFor('createKey', { project_id: 'p', name: 'a\u202eb\u200bc\u0085d\u2028e\u{e0041}f\u001b' }),
      BASE,
    );
    assert.match(command, /a\\u202eb\\u200bc\\u0085d\\u2028e\\udb40\\udc41f\\u001b/);
    assert.doesNotMatch(command, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it('is short where nothing needs a quote', () => {
    assert.equal(
      toCurl(requestFor('listKeys', {}), BASE),
      'curl -sS -b cookies.txt https://gatehouse.example/api/keys',
    );
    assert.equal(
      toCurl(requestFor('listRequests', { limit: 5, time_range: '7d' }, { accept: 'text/csv' }), BASE),
      "curl -sS -b cookies.txt -H 'Accept: text/csv' 'https://gatehouse.example/api/analytics/requests?limit=5&time_range=7d'",
    );
    assert.equal(
      toCurl(requestFor('revokeKey', { key_id: 'k' }), BASE),
      'curl -sS -X DELETE -b cookies.txt https://gatehouse.example/api/keys/k',
    );
    assert.throws(() => toCurl(requestFor('listKeys', {}), { baseUrl: '/api' }), TypeError);
  });

  it('200 from the API for each, with the cookies of the first', async () => {
    const password = "it's a $(long) password";
    const email = `${randomUUID()}@example.com`;
    const options = {
      baseUrl: `http://localhost:${api.port}/api`,
      cookieFile: join(directory, 'the cookies'),
    };
    const ask = async (request: ApiRequest) => {
      const { stdout } = await run('bash', ['-c', toCurl(request, options)]);
      return JSON.parse(stdout);
    };
    await ask(requestFor('register', { email, password, organization_name: `It's ${randomUUID()}` }));
    assert.equal((await ask(requestFor('login', { email, password }))).user.email, email);
    const [project] = (await ask(requestFor('listProjects', {}))).projects;
    const name = '$(id) \'quoted\' "twice" \u{1f511}';
    const key = await ask(requestFor('createKey', { project_id: project.id, name }));
    assert.equal(key.name, name);
    await ask(requestFor('updateKey', { key_id: key.id, rate_limit_rpm: 7, credit_limit_pkr: 0.000001 }));
    const { keys } = await ask(requestFor('listKeys', {}));
    assert.deepEqual([keys[0].rate_limit_rpm, keys[0].credit_limit_cents], [7, 1]);
    assert.match((await ask(requestFor('revokeKey', { key_id: key.id }))).message, /is revoked/);
    assert.equal((await ask(requestFor('listActivity', { limit: 1 }))).events[0].action, 'api_key.revoked');
  });
});
