import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { jsonOf, runCommand } from '../command-process.ts';
import { type ServiceProcess, startService } from '../service-process.ts';

// Commands change the catalogue while two gateways serve. A completed change applies to the very next
// request on either gateway: nothing here waits.

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const USAGE = { prompt: 5, completion: 5 };

function file(baseUrl: string, ids: readonly string[], more = '', apiKeyEnv = 'FIRST_KEY'): string {
  const routes = ids.map(
    (id) => `  - id: ${id}
    provider: house
    upstream_model: ${id.split('/')[1]}
    price_pkr_per_million: { input: 1, output: 2.5 }
    max_output_tokens: 100
${more}`,
  );
  return `providers:
  house:
    protocol: openai
    base_url: ${baseUrl}
    api_key_env: ${apiKeyEnv}
routes:
${routes.join('')}`;
}

describe('the catalogue under two gateways', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let environment: Record<string, string>;
  let gateways: readonly ServiceProcess[];
  let first: MockProvider;
  let second: MockProvider;
  let secret: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-catalogue-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    first = stack.use(await startMockProvider(json(completion('one', USAGE))));
    second = stack.use(await startMockProvider(json(completion('two', USAGE))));
    environment = { DATA_DIR: join(directory, 'data'), FIRST_KEY: 'sk-first', SECOND_KEY: 'sk-second' };
    const everything = stack.use(await startService(environment));
    const gateway = stack.use(await startService(environment, ['--role', 'gateway']));
    gateways = [everything, gateway];
    const client = new ApiClient(everything.apiPort);
    await client.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
    await client.call(auth.login, { body: ACCOUNT });
    const project = (await client.call(organization.listProjects)).projects[0]?.id;
    const minted = await client.call(keys.createKey, { body: { project_id: project, name: 'k' } });
    secret = minted.api_key;
  });
  after(() => stack.disposeAsync());

  const ask = (gateway: ServiceProcess | undefined, model: string) =>
    fetch(`http://127.0.0.1:${gateway?.gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
  /** The answers of the two gateways: the text, or the status of an error. */
  const answers = async (model: string) => {
    const both = [];
    for (const gateway of gateways) {
      const answer = await ask(gateway, model);
      const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
      both.push(answer.status === 200 ? body.choices?.[0]?.message.content : answer.status);
    }
    return both;
  };
  const apply = async (text: string) => {
    const path = join(directory, 'routes.yaml');
    await writeFile(path, text);
    return jsonOf(['route', 'apply', path], { environment });
  };

  it('a new provider and its routes are served from the next request on, and removed routes are not', async () => {
    assert.deepEqual(await answers('house/a'), [404, 404]);
    const { routes, providers } = (await apply(file(first.baseUrl, ['house/a', 'house/b']))) as {
      routes: Record<string, unknown[]>;
      providers: Record<string, unknown[]>;
    };
    assert.deepEqual([providers['added'], routes['added']], [['house'], ['house/a', 'house/b']]);
    assert.ok(routes['deactivated']?.includes('openai/gpt-5-mini'));
    assert.deepEqual(await answers('house/a'), ['one', 'one']);
    assert.deepEqual(await answers('openai/gpt-5-mini'), [404, 404]);
    assert.deepEqual(await answers('demo/echo'), ['Hello', 'Hello']);
    assert.equal(first.asked.at(-1)?.headers['authorization'], 'Bearer sk-first');
  });

  it('a new address and key of a provider apply from the next request on', async () => {
    const changed = (await apply(file(second.baseUrl, ['house/a', 'house/b'], '', 'SECOND_KEY'))) as {
      providers: { changed: unknown };
    };
    assert.deepEqual(changed.providers.changed, [{ name: 'house', members: ['base_url', 'api_key_env'] }]);
    assert.deepEqual(await answers('house/a'), ['two', 'two']);
    assert.equal(second.asked.at(-1)?.headers['authorization'], 'Bearer sk-second');
  });

  it('a dry run prints what a file would change, and changes nothing', async () => {
    const path = join(directory, 'next.yaml');
    await writeFile(
      path,
      file(first.baseUrl, ['house/a', 'house/c'], '    default_output_tokens: 50\n', 'SECOND_KEY'),
    );
    const expected = {
      dry_run: true,
      providers: { added: [], changed: [{ name: 'house', members: ['base_url'] }], unchanged: [] },
      routes: {
        added: ['house/c'],
        changed: [{ name: 'house/a', members: ['default_output_tokens'] }],
        unchanged: [],
        deactivated: ['house/b'],
      },
    };
    for (let time = 0; time < 2; time += 1) {
      assert.deepEqual(await jsonOf(['route', 'apply', path, '--dry-run'], { environment }), expected);
    }
    const { stdout } = await runCommand(['route', 'apply', '--dry-run', path], { environment });
    assert.equal(
      stdout,
      `changed      provider house: base_url
added        route house/c
changed      route house/a: default_output_tokens
deactivated  route house/b
1 route added, 1 changed, 0 unchanged, 1 deactivated. Nothing was changed: this was a dry run.
`,
    );
    assert.deepEqual(await answers('house/a'), ['two', 'two']);
    assert.deepEqual(await answers('house/b'), ['two', 'two']);
    assert.deepEqual(await answers('house/c'), [404, 404]);
  });

  it('the same file again changes nothing', async () => {
    const again = (await apply(file(second.baseUrl, ['house/a', 'house/b'], '', 'SECOND_KEY'))) as Record<
      string,
      Record<string, unknown>
    >;
    assert.deepEqual(again['routes'], {
      added: [],
      changed: [],
      unchanged: ['house/a', 'house/b'],
      deactivated: [],
    });
  });

  it('a disabled route finishes its requests in flight and serves no new ones', async () => {
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    second.script = async (response, asked) => {
      await isAnswered;
      return json(completion('two', USAGE))(response, asked);
    };
    const inFlight = [];
    // One after the other: both would take the first request for their own.
    for (const gateway of gateways) {
      const asked = second.next();
      const answering = ask(gateway, 'house/a');
      inFlight.push(answering);
      await Promise.race([asked, answering]);
    }
    assert.deepEqual(await jsonOf(['route', 'disable', 'house/a'], { environment }), {
      route: { id: 'house/a', active: false },
      changed: true,
      until_restart: false,
    });
    assert.deepEqual(await answers('house/a'), [404, 404]);
    answer();
    assert.deepEqual(
      (await Promise.all(inFlight)).map(({ status }) => status),
      [200, 200],
    );
    second.script = json(completion('two', USAGE));
    await jsonOf(['route', 'enable', 'house/a'], { environment });
    assert.deepEqual(await answers('house/a'), ['two', 'two']);
  });

  it('a file with errors changes nothing, and every error is named', async () => {
    const path = join(directory, 'bad.yaml');
    await writeFile(path, file('ftp://x', ['house/c'], '    timeout: 5\n'));
    const text = await runCommand(['route', 'apply', path], { environment });
    assert.equal(text.code, 1);
    assert.match(
      text.stdout,
      /^line 4 column 15 \(providers\.house\.base_url\): [^\n]+\nline 12 column 5 \(routes\.0\.timeout\): [^\n]+\n$/,
    );
    assert.match(
      text.stderr,
      /^gatehouse: .*bad\.yaml line 4 column 15 \(providers\.house\.base_url\): [^\n]+ \(and 1 more\)\n$/,
    );
    const { code, stdout } = await runCommand(['route', 'apply', path, '--json'], { environment });
    const { mistakes } = JSON.parse(stdout) as { mistakes: { line: number; column: number; path: string }[] };
    assert.equal(code, 1);
    assert.deepEqual(
      mistakes.map((one) => [one.line, one.column, one.path]),
      [
        [4, 15, 'providers.house.base_url'],
        [12, 5, 'routes.0.timeout'],
      ],
    );
    assert.deepEqual(await answers('house/a'), ['two', 'two']);
  });

  it('an unknown route or file is named', async () => {
    for (const [args, message] of [
      [
        ['route', 'disable', 'house/z'],
        /^gatehouse: no route has the id "house\/z"; gatehouse route list shows/,
      ],
      [['route', 'enable', 'HOUSE/a'], /^gatehouse: no route has the id "HOUSE\/a"/],
      [
        ['route', 'apply', join(directory, 'none.yaml')],
        /^gatehouse: FILE is "[^"]+none\.yaml", which cannot be read: ENOENT/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(args, { environment });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    }
  });

  it('an alias is served from the next request on, listed, and moved to another route in one step', async () => {
    const aliased = (id: string) =>
      file(first.baseUrl, ['house/a', 'house/b']).replace(
        `upstream_model: ${id.split('/')[1]}`,
        `upstream_model: ${id.split('/')[1]}\n    aliases: [small]`,
      );
    first.script = json(completion('one', USAGE));
    await apply(aliased('house/a'));
    assert.deepEqual(await answers('small'), ['one', 'one']);
    assert.equal(first.asked.at(-1)?.body['model'], 'a');
    const { stdout } = await runCommand(['route', 'list'], { environment });
    assert.match(
      stdout,
      /^house\/a +small +house +a +1 +1 +default +yes +chat,responses,messages +1 +2\.5$/m,
    );
    assert.match(stdout, /^house\/b +- +house +b +1 +1 +default +yes +/m);
    const path = join(directory, 'routes.yaml');
    await writeFile(path, aliased('house/b'));
    const applied = await runCommand(['route', 'apply', path], { environment });
    assert.match(
      applied.stdout,
      /^changed +route house\/a: aliases\nchanged +route house\/b: aliases\n0 routes added, 2 changed/,
    );
    await answers('small');
    assert.equal(first.asked.at(-1)?.body['model'], 'b');
    assert.deepEqual(await answers('house/a'), ['one', 'one']);
  });

  it('a provider is asked for what the catalogue claims, and what differs is named', async () => {
    await apply(file(first.baseUrl, ['house/a']));
    first.script = (response, asked) => {
      const isStream = asked.body['stream'] === true;
      // It has no streams, and hides the usage of the one answer that it has.
      const { usage, ...unmetered } = completion('ready', USAGE) as Record<string, unknown>;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isStream ? unmetered : { ...unmetered, usage }));
    };
    const args = ['provider', 'check', 'house', '--route', 'house/a'];
    const { code, stdout } = await runCommand([...args, '--json'], { environment });
    const { checks } = JSON.parse(stdout) as { checks: Record<string, unknown>[] };
    const chat = checks.filter(({ surface }) => surface === 'chat');
    assert.equal(code, 1);
    assert.deepEqual(
      chat.map(({ total_ms, ...others }) => [typeof total_ms, others]),
      [
        [false, []],
        [true, ['stream_missing', 'usage_missing']],
      ].map(([stream, differences]) => [
        'number',
        {
          ...{ provider: 'house', route: 'house/a', surface: 'chat', stream, differences },
          ...{ ok: !stream, finish: 'stop', tool_call: false, error: null, first_token_ms: null },
          usage: stream
            ? null
            : { prompt_tokens: 5, completion_tokens: 5, cache_read_tokens: null, reasoning_tokens: null },
          cost_pkr: chat[Number(stream)]?.['cost_pkr'],
        },
      ]),
    );
    assert.equal(chat[0]?.['cost_pkr'], 0.000018);
    const text = (await runCommand(args, { environment })).stdout;
    assert.match(text, /^house +house\/a +chat +yes +NO +- +- +stop +no +- +\d+ ms /m);
    assert.match(
      text,
      /^house, chat, stream: stream_missing: one document, although a stream was asked for$/m,
    );
    first.script = json(completion('one', USAGE));

    for (const [more, message] of [
      [['nowhere'], /^gatehouse: the provider nowhere has no such route; those that have are /],
      [['demo'], /^gatehouse: the provider demo is part of Gatehouse; there is nothing to check/],
      [['--route', 'house/z'], /^gatehouse: no route is named house\/z; gatehouse route list shows all/],
    ] as const) {
      const refused = await runCommand(['provider', 'check', ...more], { environment });
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, message);
    }
  });

  it('a route with several targets is listed with the credentials of each, and named as changed', async () => {
    const several = file(first.baseUrl, ['house/a'])
      .replace(
        '    api_key_env: FIRST_KEY\n',
        '    credentials:\n      - { name: first, api_key_env: FIRST_KEY }\n      - { name: absent, api_key_env: ABSENT_KEY, weight: 5 }\n',
      )
      .replace(
        '    provider: house\n    upstream_model: a\n',
        '    targets:\n      - { provider: house, upstream_model: a }\n      - { provider: demo, upstream_model: echo, priority: 2, weight: 7, price_pkr_per_million: { input: 3, output: 4 } }\n',
      );
    await apply(file(first.baseUrl, ['house/a']));
    const path = join(directory, 'routes.yaml');
    await writeFile(path, several);
    const applied = await runCommand(['route', 'apply', path], { environment });
    assert.match(
      applied.stdout,
      /^changed +provider house: api_key_env, credentials\nchanged +route house\/a: targets\n/,
    );
    first.script = json(completion('one', USAGE));
    assert.deepEqual(await answers('house/a'), ['one', 'one']);
    const { stdout } = await runCommand(['route', 'list'], { environment });
    assert.match(
      stdout,
      /^house\/a +- +house +a +1 +1 +first, absent \(not set\) +yes +chat,responses,messages +1 +2\.5\n +demo +echo +2 +7 +- +3 +4$/m,
    );
    assert.match(stdout, /\n\nNot set: the variable is not in the environment of this command\./);
  });

  it('a route cannot be enabled while its id is an alias of another', async () => {
    await apply(
      file(first.baseUrl, ['house/a']).replace(
        'upstream_model: a',
        'upstream_model: a\n    aliases: [house/b]',
      ),
    );
    const { code, stderr } = await runCommand(['route', 'enable', 'house/b'], { environment });
    assert.equal(code, 1);
    assert.match(stderr, /"house\/b" is an alias of the route "house\/a"/);
  });

  it('the list has every route with its prices, limits and the flags of its provider', async () => {
    await apply(
      file(first.baseUrl, ['house/a'])
        .replace('routes:', '    auth: x-api-key\nroutes:')
        .replace('output: 2.5 }', 'output: 2.5, tiers: [{ above_prompt_tokens: 5, input: 2 }] }'),
    );
    const { routes } = (await jsonOf(['route', 'list'], { environment })) as {
      routes: Record<string, unknown>[];
    };
    const listed = routes.find(({ id }) => id === 'house/a') ?? assert.fail('not listed');
    assert.deepEqual(
      [listed['default_output_tokens'], listed['min_output_tokens'], listed['max_input_tokens']],
      [100, 100, null],
    );
    assert.ok(JSON.stringify(listed['deny']).includes('{"speed":["standard"]}'));
    const base = { output: 2.5, cache_write: 1, cache_read: 1, cache_write_1h: 1 };
    assert.deepEqual(listed['price_pkr_per_million'], {
      ...{ ...base, input: 1 },
      tiers: [{ ...base, above_prompt_tokens: 5, input: 2 }],
    });
    assert.deepEqual(listed['provider'], {
      ...{ name: 'house', protocol: 'openai', base_url: first.baseUrl, api_key_env: 'FIRST_KEY' },
      ...{
        output_limit: 'max_completion_tokens',
        auth: 'x-api-key',
        headers: {},
        query: {},
        drop: [],
        keep: [],
      },
      surfaces: { chat: '/chat/completions', completions: '/completions', embeddings: '/embeddings' },
      ...{ stream_usage: 'ask', strict_fields: false, beta_headers: 'strip' },
    });
    const one = (id: string) => {
      const found = routes.find((route) => route['id'] === id);
      return [found?.['active'], found?.['built_in']];
    };
    assert.deepEqual(one('house/b'), [false, false]);
    assert.deepEqual(one('demo/echo'), [true, true]);
  });
});
