import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { type ConfigFormat, type Edit, merge, UnmergeableError } from './edit.ts';
import { jsonFormat } from './json-format.ts';
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

  for (const [what, text, expected] of [
    ['one line', '{"a":1,   "b" : [ 1,2 ]}', '{"a":1,   "b" : [ 1,2 ], "k": "v"}'],
    ['no final line end', '{\n    "a":1\n}', '{\n    "a":1,\n    "k": "v"\n}'],
    ['a comment behind the last', '{\n  "a": 1 // why\n}\n', '{\n  "a": 1, // why\n  "k": "v"\n}\n'],
    ['a trailing comma', '{\n\t"a": 1, /* c */\n}\n', '{\n\t"a": 1, /* c */\n\t"k": "v",\n}\n'],
    ['a comma inside a comment', '{"a": 1 /* , */}', '{"a": 1, "k": "v" /* , */}'],
    ['nothing', '{}', '{\n  "k": "v"\n}'],
    ['nothing but a comment', '{\n  // c\n}', '{\n  // c\n  "k": "v"\n}'],
    ['nothing but comments, and no braces', '// c\n/* d */', '// c\n/* d */\n{\n  "k": "v"\n}\n'],
    [
      'a comment of several lines behind the last',
      '{\n  "a": 1 /* b\n  c */ // d\n}\n',
      '{\n  "a": 1, /* b\n  c */ // d\n  "k": "v"\n}\n',
    ],
    ['a comment before the brace', '{\n  "a": 1 /* b */ }', '{\n  "a": 1,\n  "k": "v" /* b */ }'],
    ['Windows line ends', '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": "v"\r\n}\r\n'],
    ['a byte order mark', '\uFEFF{"a": 1}\n', '\uFEFF{"a": 1, "k": "v"}\n'],
    ['the same member', '{"k" :  "old" /* c */ , "a": 1}', '{"k" :  "v" /* c */ , "a": 1}'],
    ['the member with other case', '{"K": "v"}', '{"K": "v", "k": "v"}'],
  ] as const) {
    it(`sets a member and changes nothing else: ${what}`, () =>
      assert.equal(merge(jsonc, text, [set('v', 'k')]).text, expected));
  }

  for (const [what, text, expected] of [
    ['the only one', '{"k": 1}', '{}'],
    ['the first', '{"k": 1, "a":  2}', '{"a":  2}'],
    ['the last', '{"a":  2, "k": 1}', '{"a":  2 }'],
    ['the last, on its own line', '{\n  "a": 2, // c\n  "k": 1\n}', '{\n  "a": 2 // c\n}'],
    ['one before others', '{\n  "k": 1,\n  "a": 2\n}', '{\n  "a": 2\n}'],
  ] as const) {
    it(`removes a member and changes nothing else: ${what}`, () =>
      assert.equal(merge(jsonc, text, [remove('k')]).text, expected));
  }

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
    assert.equal(first.text, `${text}- name: G\n  model: m1\nschema: v1\n`);
    const second = merge(yamlFormat, first.text, [set('m2', 'models', { named: 'G' }, 'model')]);
    assert.deepEqual(second.changes, [{ path: 'models.G.model', kind: 'replace' }]);
    assert.deepEqual(parseYaml(second.text).models, [
      { name: 'Other', model: '007', secret: `\${{ secrets.X }}` },
      { name: 'G', model: 'm2' },
    ]);
  });

  const strange =
    'mode: 010\nat: !!str 2026-01-02\nyes: On   # c\nlist: [ a,b ]\ntext: >\n   folded\n   text\n\n\nbase: &b {x: 1}\nuse: *b\n';
  const added = 'models:\n  - name: G\n    model: m1\nschema: v1\n';
  for (const [what, text, expected] of [
    ['values that have several spellings', strange, strange + added],
    ['Windows line ends', strange.replaceAll('\n', '\r\n'), (strange + added).replaceAll('\n', '\r\n')],
    ['no final line end', 'a: 1', `a: 1\n${added.trimEnd()}`],
    ['a byte order mark', '\uFEFFa: 1\n', `\uFEFFa: 1\n${added}`],
    ['nothing but a comment', '# c\n', `# c\n${added}`],
    ['a marker and a comment', '---\n# c\na: 1\n', `---\n# c\na: 1\n${added}`],
    [
      'a key without a value',
      'models: # c\na: 1\n',
      'models: # c\n  - name: G\n    model: m1\na: 1\nschema: v1\n',
    ],
    [
      'an empty list',
      'models: [] # c\na: 1\n',
      'models: # c\n  - name: G\n    model: m1\na: 1\nschema: v1\n',
    ],
    [
      'a list with comments, deeper than needed',
      'schema: v0 # s\nmodels:\n    # first\n    - name: X\n      p: |\n        text\n    # last\nz: 1\n',
      'schema: v1 # s\nmodels:\n    # first\n    - name: X\n      p: |\n        text\n    - name: G\n      model: m1\n    # last\nz: 1\n',
    ],
    [
      'the entry, with other members',
      'models:\n- {name: X}\n- model: old   # m\n  name: G\n  roles: [chat]\nschema: "v0"\n',
      'models:\n- {name: X}\n- model: m1   # m\n  name: G\n  roles: [chat]\nschema: v1\n',
    ],
    [
      'the entry in braces',
      "models: [{name: G, model: 'a, b'}]\nschema: v0\n",
      'models: [{name: G, model: m1}]\nschema: v1\n',
    ],
    [
      'a list in brackets',
      'models: [{name: X}] # m\nschema: v1\n',
      'models: [{name: X}, { name: "G", model: "m1" }] # m\nschema: v1\n',
    ],
    [
      'an entry in braces of several lines',
      'models:\n  - {name: G, # n\n     p: 1 # p\n    }\nschema: v1\n',
      'models:\n  - {name: G, # n\n     p: 1, model: "m1" # p\n    }\nschema: v1\n',
    ],
    [
      'everything in braces',
      '{a: 1, models: [], } # c\n',
      '{a: 1, models: [{ name: "G", model: "m1" }], schema: "v1", } # c\n',
    ],
    [
      'an empty list with a comment in it',
      'models: [\n  # none yet\n]\nschema: v1\n',
      'models: [{ name: "G", model: "m1" }\n  # none yet\n]\nschema: v1\n',
    ],
    ['null', 'models: ~ # c\nschema: null\n', 'models: # c\n  - name: G\n    model: m1\nschema: v1\n'],
    [
      'an alias',
      'a: &a v0\nschema: *a # s\n',
      'a: &a v0\nschema: v1 # s\nmodels:\n  - name: G\n    model: m1\n',
    ],
  ] as const) {
    it(`changes nothing else: ${what}`, () => assert.equal(merge(yamlFormat, text, entry).text, expected));
  }

  it('changes nothing where there is nothing to change', () => {
    const text = 'schema: "v1"\nmodels:\n  - {model: m1, name: G}\nmode: 010';
    assert.deepEqual(merge(yamlFormat, text, entry), { text, changes: [] });
  });

  it('leaves alone what it cannot change without loss', () => {
    for (const text of [
      '{models}\n',
      'models: &m\n  - name: X\nother: *m\n',
      'schema: &s v0\nother: *s\n',
      'schema: |\n  v0\n',
      'models: x\n',
      'models: {a: 1}\n',
      'a: 1\na: 2\n',
      '- a\n',
      'a: [\n',
      'a: 1\n---\nb: 2\n',
    ])
      assertUnmergeable(yamlFormat, text, entry);
  });

  it('puts what it sets in braces in quotes where a plain text would end', () => {
    const text = '{models: [\n  {name: G,\n   model: old}]}\n';
    const { text: merged } = merge(yamlFormat, text, [set('a}, b', 'models', { named: 'G' }, 'model')]);
    assert.equal(merged, '{models: [\n  {name: G,\n   model: "a}, b"}]}\n');
  });
});
