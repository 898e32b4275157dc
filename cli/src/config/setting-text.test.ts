import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { inspectSettings, settings } from './config.ts';
import { hasPlatformKey, platformKeys } from './platform-keys.ts';
import type { Setting } from './setting.ts';
import { variableIn } from './setting-text.ts';

describe('the text of a setting', () => {
  let directory: string;
  const file = (name: string) => join(directory, name);
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-secrets-'));
    await writeFile(file('url'), '  postgres://user:hunter2@db.example.com/x\n\n');
    await writeFile(file('redis'), '\uFEFFrediss://user:hunter2@redis.example.com:6380/1\n');
    await writeFile(file('wrong'), 'mysql://user:hunter2@db.example.com/x\n');
    await writeFile(file('empty'), '\n');
    await writeFile(file('key'), 'sk-from-a-file\n');
  });
  after(() => rm(directory, { recursive: true }));
  const issues = (environment: Record<string, string>) =>
    inspectSettings({
      JOIN_POLICY: 'closed',
      GATEHOUSE_MASTER_KEY_FILE: '/key',
      ...environment,
    }).issues;

  it('may be in a file, for every setting that may hold a password', () => {
    const inFiles = Object.values<Setting<unknown>>(settings).flatMap(
      ({ fileVariable }) => fileVariable ?? [],
    );
    assert.deepEqual(inFiles, [
      'DATABASE_URL_FILE',
      'DATABASE_OWNER_URL_FILE',
      'CLICKHOUSE_URL_FILE',
      'CLICKHOUSE_OWNER_URL_FILE',
      'GOOGLE_CLIENT_ID_FILE',
      'OIDC_CLIENT_ID_FILE',
      'OIDC_CLIENT_SECRET_FILE',
      'SMTP_URL_FILE',
      'REDIS_URL_FILE',
      'HTTPS_PROXY_FILE',
      'HTTP_PROXY_FILE',
    ]);
    const { values } = inspectSettings({ DATABASE_URL_FILE: file('url'), REDIS_URL_FILE: file('redis') });
    assert.equal(values.databaseUrl, 'postgres://user:hunter2@db.example.com/x');
    assert.equal(values.redis?.host, 'redis.example.com');
  });

  it('is in the variable or in the file, not in both', () => {
    assert.deepEqual(issues({ DATABASE_URL: 'postgres://db/x', DATABASE_URL_FILE: file('url') }), [
      'DATABASE_URL and DATABASE_URL_FILE are set; expected one of them',
    ]);
    // An empty value counts as unset.
    assert.deepEqual(issues({ DATABASE_URL: ' ', DATABASE_URL_FILE: file('url') }), []);
  });

  it('has an issue that names the file, and never its content', () => {
    const remedy = 'set it to a file that holds the value of DATABASE_URL, or remove it';
    const [missing, ...others] = issues({ DATABASE_URL_FILE: file('none') });
    assert.deepEqual(others, []);
    assert.match(
      missing ?? '',
      /^DATABASE_URL_FILE is "[^"]+none", which cannot be read: ENOENT[^;]+; set it/,
    );
    assert.deepEqual(issues({ DATABASE_URL_FILE: file('empty') }), [
      `DATABASE_URL_FILE is "${file('empty')}", which is empty; ${remedy}`,
    ]);
    assert.match(
      issues({ DATABASE_URL_FILE: file('wrong') })[0] ?? '',
      /^the file of DATABASE_URL_FILE holds "mysql:\/\/…@db\.example\.com\/x", expected a well-formed address /,
    );
    assert.match(issues({ DATABASE_URL_FILE: directory })[0] ?? '', /which cannot be read: EISDIR/);
  });

  it('has no quotes around it, as --env-file leaves them', () => {
    for (const [name, value] of [
      ['DATABASE_URL', '"postgres://user:hunter2@db/x"'],
      ['PORT', "'8080'"],
      ['DATA_DIR', '"/var/lib/gatehouse"'],
      ['GATEHOUSE_MASTER_KEY', `"${Buffer.alloc(32, 7).toString('base64')}"`],
    ] as const) {
      const { issues } = inspectSettings({ [name]: value });
      assert.deepEqual(issues, [
        `${name} has quotes around its value, which are part of it where --env-file reads it; remove the quotes`,
      ]);
    }
  });

  it("of a provider's key is found in the same way, and read once", async () => {
    const errors: { issue: string }[] = [];
    const log = { error: (line: { issue: string }) => errors.push(line) } as never;
    const environment = {
      A_KEY_FILE: file('key'),
      B_KEY: 'sk-b',
      C_KEY: '"sk-c"',
      D_KEY: 'sk-d',
      D_KEY_FILE: file('key'),
    };
    const keys = platformKeys(environment, log);
    assert.deepEqual(['A_KEY', 'B_KEY', 'C_KEY', 'D_KEY', 'E_KEY'].map(keys), [
      'sk-from-a-file',
      'sk-b',
      undefined,
      undefined,
      undefined,
    ]);
    await rm(file('key'));
    assert.deepEqual(['A_KEY', 'C_KEY'].map(keys), ['sk-from-a-file', undefined]);
    assert.deepEqual(
      errors.map(({ issue }) => issue),
      [
        'C_KEY has quotes around its value, which are part of it where --env-file reads it; remove the quotes',
        'D_KEY and D_KEY_FILE are set; expected one of them',
      ],
    );
    assert.deepEqual(
      ['A_KEY', 'B_KEY', 'C_KEY', 'D_KEY', 'E_KEY'].map((name) => hasPlatformKey(name, environment)),
      [false, true, false, false, false],
    );
  });

  it('is looked up among those that are set, also where every object has a member of its name', () => {
    const environment = { A: ' a ', EMPTY: ' ', constructor: 'own' } as Record<string, string | undefined>;
    for (const [name, expected] of [
      ['A', 'a'],
      ['EMPTY', undefined],
      ['constructor', 'own'],
      ['toString', undefined],
      ['__proto__', undefined],
      ['hasOwnProperty', undefined],
    ] as const)
      assert.equal(variableIn(environment, name), expected, name);
  });
});
