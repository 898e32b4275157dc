import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { type Edit, merge, UnmergeableError } from './edit.ts';
import { tomlFormat } from './toml-format.ts';

const set = (value: string, ...path: Edit['path']): Edit => ({ path, value });
const remove = (...path: string[]): Edit => ({ path, value: undefined });

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
      'replaces values, of quoted keys too, and leaves the rest of the table',
      '"model_provider" = "x"\n[model_providers.g] # mine\nbase_url="old"\nextra = 2026-01-02\n[z]\n',
      '"model_provider" = "g"\n[model_providers.g] # mine\nbase_url="u"\nextra = 2026-01-02\n[z]\n',
    ],
    [
      'keeps Windows line ends',
      'a = 1\r\n',
      'a = 1\r\nmodel_provider = "g"\r\n\r\n[model_providers.g]\r\nbase_url = "u"\r\n',
    ],
    [
      'keeps the comment, the indentation and the quotes around a value',
      '  "model_provider"   =\t\'x # y\'  # why\n[ model_providers . g ] # mine\n\tbase_url = "a\\"b" #z\n',
      '  "model_provider"   =\t"g"  # why\n[ model_providers . g ] # mine\n\tbase_url = "u" #z\n',
    ],
    [
      'keeps each line end, a byte order mark and a last line without one',
      '\uFEFFa = 1\r\nb = 2\nmodel_provider = "x"\r\n[model_providers.g]\nbase_url = "y"',
      '\uFEFFa = 1\r\nb = 2\nmodel_provider = "g"\r\n[model_providers.g]\nbase_url = "u"',
    ],
    [
      'replaces what is no string',
      'model_provider = 0x1F # n\n[model_providers.g]\nbase_url = [1, 2] # l\n',
      'model_provider = "g" # n\n[model_providers.g]\nbase_url = "u" # l\n',
    ],
    ['makes a file of nothing', '', 'model_provider = "g"\n\n[model_providers.g]\nbase_url = "u"\n'],
    [
      'adds behind comments where there is nothing else',
      '# c\n\n# d',
      '# c\n\n# d\nmodel_provider = "g"\n\n[model_providers.g]\nbase_url = "u"\n',
    ],
    [
      'replaces values with dots in their keys',
      'model_providers . "g" .base_url = "x" # b\n"model\\u005fprovider" = "x" # p\n',
      'model_providers . "g" .base_url = "u" # b\n"model\\u005fprovider" = "g" # p\n',
    ],
    [
      'adds with dots where the others have them',
      'model_providers.g.name = "x" # n\n\n[t]\n',
      'model_providers.g.name = "x" # n\nmodel_provider = "g"\nmodel_providers.g.base_url = "u"\n\n[t]\n',
    ],
    [
      'replaces values in braces',
      'model_provider = "x"\n[model_providers]\ng = { name = "}", base_url = "x" } # g\n',
      'model_provider = "g"\n[model_providers]\ng = { name = "}", base_url = "u" } # g\n',
    ],
    [
      'adds into braces',
      'model_providers = { h = { base_url = "x" } } # p\n',
      'model_providers = { h = { base_url = "x" }, g.base_url = "u" } # p\nmodel_provider = "g"\n',
    ],
    [
      'adds into empty braces',
      'model_provider = "g"\nmodel_providers.g = {}\n',
      'model_provider = "g"\nmodel_providers.g = { base_url = "u" }\n',
    ],
    [
      'sees no setting in a text, a list or a comment',
      'text = """\nmodel_provider = "x"\n[model_providers.g]\n\\""" """"\nlist = [ # ]\n["a"], { model_provider = "]" }]\n#model_provider = "x"\n',
      'text = """\nmodel_provider = "x"\n[model_providers.g]\n\\""" """"\nlist = [ # ]\n["a"], { model_provider = "]" }]\nmodel_provider = "g"\n\n#model_provider = "x"\n\n[model_providers.g]\nbase_url = "u"\n',
    ],
    [
      'replaces a text of several lines',
      'model_provider = \'\'\'\nx\'\'\' # p\n[model_providers.g]\nbase_url = """\n#"""\n',
      'model_provider = "g" # p\n[model_providers.g]\nbase_url = "u"\n',
    ],
  ] as const) {
    it(what, () => assert.equal(merge(tomlFormat, text, edits).text, expected));
  }

  it('removes a line', () => {
    const text = '[model_providers.g]\nbase_url = "u"\ntoken = "t" # secret\n';
    const merged = merge(tomlFormat, text, [remove('model_providers', 'g', 'token')]);
    assert.equal(merged.text, '[model_providers.g]\nbase_url = "u"\n');
  });

  it('removes an entry of a table in braces', () => {
    const removed = (text: string) => merge(tomlFormat, text, [remove('t', 'k')]).text;
    assert.equal(removed('t = { k = 1, a = 2 } # c\n'), 't = { a = 2 } # c\n');
    assert.equal(removed('t = { a = 2, k = 1 } # c\n'), 't = { a = 2 } # c\n');
    assert.equal(removed('t = {k = [1, 2]}'), 't = {}');
    assert.equal(removed('t.a = 1\nt.k = """\n#""" # k\nu = 1\n'), 't.a = 1\nu = 1\n');
  });

  it('leaves alone what it cannot change without loss', () => {
    for (const text of [
      'model_providers = "x"\n',
      'model_provider = [\n  1, # one\n]\n',
      '[model_provider]\na = 1\n',
      '[[model_providers]]\nname = "x"\n',
      '[[model_providers.g]]\nname = "x"\n',
      'model_providers = [{ g = { base_url = "x" } }]\n',
    ])
      assert.throws(() => merge(tomlFormat, text, edits), {
        message: /^(has something else|has a list|is written)/,
      });
    assert.throws(() => merge(tomlFormat, 'a = \n', edits), { message: 'is not valid TOML' });
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
    const seeds = seedsUpTo(2_000);
    for (const seed of seeds) {
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
    assert.ok(merged > 0.15 * seeds.length, `only ${merged} of ${seeds.length}`);
  });
});
