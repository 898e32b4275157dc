import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import OpenAI from 'openai';
import { jsonOf, runCommand } from '../command-process.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

const CREDENTIALS = { email: 'ada@example.com', password: 'correct horse battery staple' };
const sha256 = (secret: string) => createHash('sha256').update(secret).digest('hex');

describe('keys of another gateway', () => {
  let directory: string;
  let service: ServiceProcess;
  let client: ApiClient;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-import-'));
    service = await startService({ DATA_DIR: join(directory, 'data'), KEYS_PER_ORGANIZATION: '100000' });
    client = new ApiClient(service.apiPort);
    await client.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Acme' } });
    await client.call(auth.login, { body: CREDENTIALS });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const environment = () => ({
    environment: { DATA_DIR: join(directory, 'data'), KEYS_PER_ORGANIZATION: '100000' },
  });
  const fileOf = async (name: string, content: string) => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  const importing = (path: string, ...more: string[]) => [
    ...['key', 'import', 'acme', path, '--project', 'default', ...more],
  ];
  const listed = async () => (await client.call(keys.listKeys)).keys;
  const say = async (apiKey: string) => {
    const openai = new OpenAI({
      apiKey,
      baseURL: `http://127.0.0.1:${service.gatewayPort}/v1`,
      maxRetries: 0,
    });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    return (await openai.chat.completions.create({ model: 'demo/echo', messages })).choices[0]?.message
      .content;
  };
  const limitsOf = async (secret: string) => {
    const response = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/key`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    return (await response.json()) as Record<string, unknown>;
  };

  it('of LiteLLM go on by their hashes, with what is left of their budgets', async () => {
    const [first, second, third] = [
      'sk-AAAAAAAAAAAAAAAAAAAAAA',
      'sk-BBBBBBBBBBBBBBBBBBBBBB',
      'sk-CCCCCCCCCCCCCCCCCCCCCC',
    ];
    const path = await fileOf(
      'litellm.csv',
      [
        'token,key_alias,rpm_limit,max_budget,spend,expires,models,blocked',
        `${sha256(first ?? '')},"Web, production",120,10.5,2.25,2099-12-31 23:59:59,"{demo/echo}",f`,
        `${sha256(second ?? '')},,,,0.000012,,{},`,
        `${sha256(third ?? '')},Old,,,,,{},t`,
      ].join('\n'),
    );
    const dry = await jsonOf(
      importing(path, '--from', 'litellm', '--usd-pkr', '280', '--dry-run'),
      environment(),
    );
    assert.deepEqual([dry['imported'], dry['would_import'], dry['left_out']], [0, 2, { blocked: 1 }]);
    assert.deepEqual(await listed(), []);
    await assert.rejects(say(first ?? ''), /401/);
    const done = await jsonOf(importing(path, '--from', 'litellm', '--usd-pkr', '280'), environment());
    assert.deepEqual([done['imported'], done['would_import']], [2, 0]);
    const rows = await listed();
    assert.deepEqual(
      rows
        .map(({ name, rate_limit_rpm, credit_limit_cents, allowed_models, expires_at }) => [
          name,
          rate_limit_rpm,
          credit_limit_cents,
          allowed_models,
          expires_at?.slice(0, 10) ?? null,
        ])
        .sort(([one], [other]) => String(one).localeCompare(String(other))),
      [
        [`sha256_${sha256(second ?? '').slice(0, 8)}`, 6_000, null, null, null],
        ['Web, production', 120, (10.5 - 2.25) * 280 * 1_000_000, ['demo/echo'], '2099-12-31'],
      ],
    );
    assert.equal(await say(first ?? ''), 'Hello');
    assert.equal(await say(second ?? ''), 'Hello');
    await assert.rejects(say(third ?? ''), /401/);
    const { events } = await client.call(activity.listActivity, { query: { action: 'api_key.created' } });
    assert.deepEqual(
      events.map(({ actor, target }) => [actor, target.slice(0, 7)]),
      [
        [null, 'sha256_'],
        [null, 'sha256_'],
      ],
    );
  });

  it('of new-api go on by their secrets, of which none is stored', async () => {
    const key = `${'x'.repeat(20)}Q1w2E3r4T5y6U7i8O9p0AsDfGhJk`;
    const path = await fileOf(
      'new-api.json',
      JSON.stringify(
        {
          success: true,
          data: [
            {
              id: 1,
              key,
              name: 'Bot',
              status: 1,
              remain_quota: 250_000,
              unlimited_quota: false,
              expired_time: -1,
              model_limits_enabled: false,
              model_limits: 'gpt-4o',
            },
            {
              id: 2,
              key: 'y'.repeat(48),
              name: 'Off',
              status: 2,
              remain_quota: 1,
              unlimited_quota: false,
              expired_time: -1,
            },
          ],
        },
        undefined,
        2,
      ),
    );
    const done = await jsonOf(importing(path, '--from', 'new-api', '--usd-pkr', '281.5'), environment());
    assert.deepEqual([done['imported'], done['left_out']], [1, { disabled: 1 }]);
    assert.equal(await say(`sk-${key}`), 'Hello');
    const { limit_pkr } = (await limitsOf(`sk-${key}`)) as { limit_pkr?: number };
    const [row] = (await listed()).filter(({ name }) => name === 'Bot');
    assert.equal(row?.credit_limit_cents, 140_750_000);
    assert.equal(row?.key_prefix, `sk-xxxxx`);
    assert.ok(limit_pkr === undefined || limit_pkr === 140.75);
  });

  it('are imported all or none, and each fault is named with its line and without a secret', async () => {
    const before = (await listed()).length;
    const secret = 'old-gateway-key-000000000001';
    const path = await fileOf(
      'keys.jsonl',
      [
        JSON.stringify({ secret, name: 'Fine' }),
        JSON.stringify({ secret: 'short', name: 'Short' }),
        '',
        JSON.stringify({ secret, name: 'Twice' }),
        JSON.stringify({ sha256: sha256('sk-AAAAAAAAAAAAAAAAAAAAAA') }),
        JSON.stringify({ secret: `${secret}2`, allowed_models: ['demo/echo', 'gpt-99'] }),
        JSON.stringify({ secret: `${secret}3`, rate_limit_rpm: 0 }),
        JSON.stringify({ secret: `${secret}4`, credit_limit_pkr: -1 }),
        JSON.stringify({ secret: `${secret}5`, expires_at: 'tomorrow' }),
        JSON.stringify({ name: 'None' }),
      ].join('\n'),
    );
    const { code, stderr } = await runCommand(importing(path), environment());
    assert.equal(code, 1);
    assert.deepEqual(stderr.trim().split('\n'), [
      'gatehouse: nothing was imported, because of 8 faults:',
      '- line 2: its secret has not 16 to 255 visible characters of ASCII',
      '- line 4: its secret stands on line 1 too',
      '- line 5: a key with this secret exists already',
      '- line 6: the catalogue has no active route or alias gpt-99',
      '- line 7: its rate is below 1 request a minute, and the lowest is 1',
      '- line 8: credit_limit_pkr is no amount from 0 to 9007199254.740991 with at most 6 decimals',
      '- line 9: expires_at is no time such as 2026-12-31T00:00:00Z',
      '- line 10: expected one of sha256 and secret',
    ]);
    assert.ok(!stderr.includes(secret));
    assert.equal((await listed()).length, before);
  });

  it('in dollars need a rate, and in a file that cannot be read a clear sentence', async () => {
    const path = await fileOf('dollars.json', JSON.stringify([{ token: sha256('z'), max_budget: 1 }]));
    const dollars = await runCommand(importing(path, '--from', 'litellm'), environment());
    assert.match(dollars.stderr, /line 1: max_budget is in dollars: say with --usd-pkr how many PKR one is/);
    for (const [content, sentence] of [
      ['[{"a": 1},\n {"b" 2}]', /the file is no JSON: see line 2/],
      ['{"a": 1}\nnonsense', /line 2 is no JSON/],
      ['sha256,name\n1,2,3', /the file is no CSV with a header: line 2/],
      ['sha256,name', /has no keys to import/],
      ['', /has no keys to import/],
    ] as const)
      assert.match(
        (await runCommand(importing(await fileOf('bad', content)), environment())).stderr,
        sentence,
      );
    const none = await runCommand(importing(join(directory, 'none')), environment());
    assert.match(none.stderr, /FILE is ".*none", which cannot be read: ENOENT/);
    const other = await runCommand(importing(path, '--from', 'portkey'), environment());
    assert.match(other.stderr, /--from is "portkey", expected gatehouse, litellm, new-api/);
    const project = await runCommand(
      ['key', 'import', 'acme', path, '--project', 'Nowhere', '--from', 'litellm', '--usd-pkr', '1'],
      environment(),
    );
    assert.match(project.stderr, /Acme has no project with the id or the name "Nowhere"/);
  });

  it('are 10,000 at once, each of which works', async (t) => {
    const secrets = Array.from({ length: 10_000 }, () => `sk-${randomBytes(16).toString('base64url')}`);
    const lines = secrets.map((secret, nth) => `${sha256(secret)},Key ${nth},500`);
    const path = await fileOf('many.csv', ['sha256,name,credit_limit_pkr', ...lines].join('\n'));
    const startedAt = performance.now();
    const done = await jsonOf(importing(path), environment());
    t.diagnostic(`imported in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    assert.equal(done['imported'], 10_000);
    for (const nth of [0, 4_999, 9_999]) assert.equal(await say(secrets[nth] ?? ''), 'Hello');
    const { projects } = await client.call(organization.listProjects);
    assert.equal((await listed()).filter(({ project_id }) => project_id === projects[0]?.id).length, 10_003);
  });
});
