import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { type ConfigFormat, type Edit, merge, UnmergeableError } from './edit.ts';
import { jsonFormat } from './json-format.ts';
import { tomlFormat } from './toml-format.ts';
import { yamlFormat } from './yaml-format.ts';

const set = (value: string, ...path: Edit['path']): Edit => ({ path, value });
const remove = (...path: string[]): Edit => ({ path, value: undefined });
const json = jsonFormat({ hasComments: false });
const jsonc = jsonFormat({ hasComments: true });

const assertUnmergeable = (format: ConfigFormat, text: string, edits: readonly Edit[]) =>
  assert.throws(() => merge(format, text, edits), UnmergeableError, text);

describe('a merge', () => {
  it('reports what it sets, replaces and removes, and nothing that is there already', () => {
    const { changes, text } = merge(json, '{"a": "1", "b": "2", "d": {"e": "5"}}', [
      set('1', 'a'),
      set('x', 'b'),
      remove('c'),
      remove('d', 'e'),
      set('y', 'f', 'g'),
      { path: ['a'], value: 'other', isDefault: true },
    ]);
    assert.deepEqual(changes, [
      { path: 'b', kind: 'replace' },
      { path: 'd.e', kind: 'remove' },
      { path: 'f.g', kind: 'set' },
    ]);
    assert.deepEqual(JSON.parse(text), { a: '1', b: 'x', d: {}, f: { g: 'y' } });
  });
});

describe('JSON', () => {
  it('keeps numbers, order, indentation and line ends as they are written', () => {
    const text = '{\r\n\t"big": 12345678901234567890.10,\r\n\t"z": [1,2],\r\n\t"env": {"A": "b"}\r\n}\r\n';
    const merged = merge(json, text, [set('v', 'env', 'K')]).text;
    assert.ok(merged.startsWith('{\r\n\t"big": 12345678901234567890.10,\r\n\t"z": [1,2],\r\n\t"env": {'));
    assert.doesNotMatch(merged, /[^\r]\n/);
  });

  it('keeps comments and trailing commas where the client reads them', () => {
    const text = '{\n  // why\n  "a": "b", /* and */\n}\n';
    const merged = merge(jsonc, text, [set('v', 'k')]).text;
    assert.ok(merged.includes('// why') && merged.includes('/* and */'));
    assertUnmergeable(json, text, [set('v', 'k')]);
  });

  it('leaves alone what it cannot change without loss', () => {
    for (const text of [
      '[]',
      '"x"',
      '{"a": 1, "a": 2}',
      '{"env": "x"}',
      '{"env": []}',
      '{',
      '{} {}',
      '[['.repeat(20),
    ])
      assertUnmergeable(json, text, [set('v', 'env', 'K')]);
  });

  it('makes a file of nothing', () => {
    assert.equal(merge(json, '', [set('v', 'env', 'K')]).text, '{\n  "env": {\n    "K": "v"\n  }\n}\n');
    assert.equal(merge(json, ' \n', []).text, ' \n');
  });
});

describe('TOML', () => {
  const edits = [set('g', 'model_provider'), set('u', 'model_providers', 'g', 'base_url')];

  for (const [what, text, expected] of [
    [
      'adds to the root before the first table and its comment',
      'a = 1\n\n# about t\n[t]\nb = 2\n',
      'a = 1\nmodel_provider = "g"\n\n# about t\n[t]\nb = 2\n\n[model_providers.g]\nbase_url = "u"\n',
    ],
    [
      'adds to a file that begins with a table',
      '[t]\nb = 2\n',
      'model_provider = "g"\n\n[t]\nb = 2\n\n[model_providers.g]\nbase_url = "u"\n',
    ],
    [
      'replaces lines, quoted keys too, and leaves others of the table',
      '"model_provider" = "x"\n[model_providers.g] # mine\nbase_url="old"\nextra = 2026-01-02\n[z]\n',
      'model_provider = "g"\n[model_providers.g] # mine\nbase_url = "u"\nextra = 2026-01-02\n[z]\n',
    ],
    [
      'keeps Windows line ends',
      'a = 1\r\n',
      'a = 1\r\nmodel_provider = "g"\r\n\r\n[model_providers.g]\r\nbase_url = "u"\r\n',
    ],
    ['makes a file of nothing', '', 'model_provider = "g"\n\n[model_providers.g]\nbase_url = "u"\n'],
  ] as const) {
    it(what, () => assert.equal(merge(tomlFormat, text, edits).text, expected));
  }

  it('removes a line', () => {
    const text = '[model_providers.g]\nbase_url = "u"\ntoken = "t" # secret\n';
    const merged = merge(tomlFormat, text, [remove('model_providers', 'g', 'token')]);
    assert.equal(merged.text, '[model_providers.g]\nbase_url = "u"\n');
  });

  it('leaves alone what lines do not show', () => {
    for (const text of [
      'model_providers = { g = { base_url = "x" } }\n',
      'model_providers.g.base_url = "x"\n',
      'text = """\nmodel_provider = "not a setting"\n"""\n',
      'model_provider = """\nx"""\n',
      'list = [\n[1],\n]\n',
      'model_providers = "x"\n',
      '[[model_providers]]\nname = "x"\n',
      'a = \n',
    ])
      assertUnmergeable(tomlFormat, text, edits);
  });
});

describe('TOML of any kind', () => {
  // A fixed sequence: a failure can be repeated.
  const random = (seed: number) => {
    let state = seed;
    return (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  };
  const LINES = [
    'model_provider = "x"',
    'model_provider="x" # why',
    '"model_provider" = "x"',
    'base_url = "y"',
    'a = 1',
    'b = [1, 2]',
    'c = [',
    '  [1], # one',
    ']',
    'text = """',
    '"""',
    '[model_providers.g]',
    '[ model_providers . g ]',
    '[model_providers]',
    '[model_providers.h]',
    '[[list]]',
    '[t.u]',
    '# a comment',
    '',
  ];

  it('loses no line but those that it sets, or leaves the file alone', () => {
    const edits = [set('g', 'model_provider'), set('u', 'model_providers', 'g', 'base_url')];
    let merged = 0;
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const next = random(seed);
      const lines = Array.from({ length: next(9) }, () => LINES[next(LINES.length)] ?? '');
      try {
        const { text } = merge(tomlFormat, lines.join('\n'), edits);
        const left = text.split('\n');
        for (const line of lines.filter((one) => !/model_provider"? ?=|base_url/.test(one))) {
          const at = left.indexOf(line);
          assert.ok(at >= 0, `${lines.join('\n')}\n---\n${text}`);
          left.splice(0, at + 1);
        }
        merged += 1;
      } catch (error) {
        assert.ok(error instanceof UnmergeableError, `${seed}: ${error}`);
      }
    }
    assert.ok(merged > 300, `only ${merged}`);
  });
});

describe('YAML', () => {
  const entry = [set('m1', 'models', { named: 'G' }, 'model'), set('v1', 'schema')];

  it('adds an entry to a list, changes it the next time, and keeps comments, order and other entries', () => {
    const text = `# mine
name: x # the name
models:
- name: Other
  model: "007"   # quoted
  secret: \${{ secrets.X }}
`;
    const first = merge(yamlFormat, text, entry);
    assert.ok(first.text.startsWith(text.replace('"007"   #', '"007" #')), first.text);
    const second = merge(yamlFormat, first.text, [set('m2', 'models', { named: 'G' }, 'model')]);
    assert.deepEqual(second.changes, [{ path: 'models.G.model', kind: 'replace' }]);
    assert.deepEqual(parseYaml(second.text).models, [
      { name: 'Other', model: '007', secret: `\${{ secrets.X }}` },
      { name: 'G', model: 'm2' },
    ]);
  });

  it('leaves alone what it cannot change without loss', () => {
    for (const text of [
      'models: x\n',
      'models: {a: 1}\n',
      'a: 1\na: 2\n',
      '- a\n',
      'a: [\n',
      'a: 1\n---\nb: 2\n',
    ])
      assertUnmergeable(yamlFormat, text, entry);
  });
});
