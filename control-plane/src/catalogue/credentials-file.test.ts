import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCatalogue } from './read-catalogue.ts';

const file = (members: string) => `providers:
  house:
    protocol: openai
    base_url: http://127.0.0.1:1/v1
${members}routes: []
`;
const list = (...credentials: string[]) =>
  `    credentials: [${credentials.map((credential) => `{ ${credential} }`).join(', ')}]\n`;
const read = (members: string) =>
  readCatalogue(file(members), 'f.yaml').providers['house'] ?? assert.fail('no provider');

const A = 'name: a, api_key_env: A_KEY';

describe('the credentials of a provider', () => {
  it('are none, one of api_key_env, or a pool', () => {
    assert.deepEqual(read('').credentials, []);
    assert.deepEqual(read('    api_key_env: A_KEY\n').credentials, [
      { name: 'default', api_key_env: 'A_KEY', weight: 1 },
    ]);
    assert.deepEqual(read(list('name: b, api_key_env: B_KEY, weight: 1000', A)).credentials, [
      { name: 'b', api_key_env: 'B_KEY', weight: 1_000 },
      { name: 'a', api_key_env: 'A_KEY', weight: 1 },
    ]);
  });

  const many = (count: number) =>
    list(...Array.from({ length: count }, (_, index) => `name: c${index}, api_key_env: KEY_${index}`));

  it('are 32 at most', () => assert.equal(read(many(32)).credentials.length, 32));

  const rejected: [what: string, members: string, issue: RegExp][] = [
    ['33 of them', many(33), /\(providers\.house\.credentials\): must have at most 32 credentials$/],
    ['an empty list', '    credentials: []\n', /\(providers\.house\.credentials\): must not be empty$/],
    ['what is no list', '    credentials: A_KEY\n', /credentials\): must be a list$/],
    [
      'a list beside api_key_env',
      `    api_key_env: B_KEY\n${list(A)}`,
      /line 5 column 18 \(providers\.house\.api_key_env\): cannot be stated beside credentials, each of which names its own$/,
    ],
    [
      'a name twice',
      list(A, 'name: a, api_key_env: B_KEY'),
      /credentials\.1\.name\): the credential a is named twice$/,
    ],
    [
      'a variable twice',
      list(A, 'name: b, api_key_env: A_KEY'),
      /credentials\.1\.api_key_env\): the variable A_KEY is that of the credential a already$/,
    ],
    ['no name', list('api_key_env: A_KEY'), /credentials\.0\.name\): is missing; must be text/],
    [
      'the name of keys of organisations',
      list('name: own, api_key_env: A_KEY'),
      /name\): must be 1 to 63 .* and not own$/,
    ],
    [
      'a long name',
      list(`name: ${'a'.repeat(64)}, api_key_env: A_KEY`),
      /name\): must be 1 to 63 lower-case/,
    ],
    ['no variable', list('name: a'), /credentials\.0\.api_key_env\): is missing/],
    [
      'a key in place of its variable',
      list('name: a, api_key_env: sk-123'),
      /must be the name of an environment variable/,
    ],
    ['a weight of 0', list(`${A}, weight: 0`), /weight\): must be at least 1$/],
    ['a weight of 1001', list(`${A}, weight: 1001`), /weight\): must be at most 1000$/],
    [
      'an unknown member',
      list(`${A}, key: x`),
      /credentials\.0\.key\): is not a known member; accepted are name, api_key_env, weight$/,
    ],
    [
      'keys that would not be sent',
      `    auth: none\n${list(A)}`,
      /auth\): is none, and the provider has a key/,
    ],
  ];
  for (const [what, members, issue] of rejected) {
    it(`rejects ${what}`, () => {
      assert.throws(() => read(members), { name: 'CatalogueError', message: issue });
    });
  }

  it('are enough for a provider whose auth names a header', () => {
    assert.equal(read(`    auth: api-key\n${list(A)}`).credentials.length, 1);
  });
});
