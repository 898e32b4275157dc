import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKey, rotateKey, updateKey } from '../endpoints/keys.ts';
import { ApiError } from './errors.ts';
import { memberRules, NumberText, parseJson } from './number-text.ts';
import { parseBody } from './parse.ts';

const rules = memberRules(updateKey.body);

function read(credit: string): unknown {
  const text = `{"rate_limit_rpm": 60, "credit_limit_pkr": ${credit}}`;
  return parseBody(updateKey.body, parseJson(text, rules)).credit_limit_pkr;
}

describe('an amount of PKR in a body', () => {
  it('is the one field whose number is kept as it was written', () => {
    assert.deepEqual([...rules.asWritten], ['credit_limit_pkr']);
  });

  for (const [credit, expected] of [
    ['null', null],
    ['0', null],
    ['-0', null],
    ['-0.0e5', null],
    ['0.000000', null],
    ['5', 5_000_000n],
    ['1.005', 1_005_000n],
    ['8.2', 8_200_000n],
    ['0.000001', 1n],
    ['1e-6', 1n],
    ['1.50000000000000000000000', 1_500_000n],
    // Two amounts that are one double.
    ['9007199254.740990', 9_007_199_254_740_990n],
    ['9007199254.740991', 9_007_199_254_740_991n],
  ] as const) {
    it(`${credit} is ${expected}`, () => assert.equal(read(credit), expected));
  }

  for (const [credit, type] of [
    ['1e-7', 'too_precise'],
    ['0.0000004', 'too_precise'],
    ['1.00000000000000000001', 'too_precise'],
    ['9007199254.740992', 'too_large'],
    ['1e21', 'too_large'],
    ['1e400', 'too_large'],
    ['1e99999', 'too_precise'],
    ['-1', 'too_small'],
    ['-1e-400', 'too_small'],
    ['"5"', 'wrong_type'],
    ['""', 'wrong_type'],
    ['true', 'wrong_type'],
    ['[5]', 'wrong_type'],
    ['{"text": "5"}', 'wrong_type'],
  ] as const) {
    it(`${credit} is refused as ${type}`, () => {
      assert.throws(
        () => read(credit),
        (error) => {
          assert.ok(error instanceof ApiError && error.status === 400);
          const [issue, ...more] = error.body['detail'] as { loc: string[]; type: string }[];
          assert.deepEqual([issue?.loc, issue?.type], [['body', 'credit_limit_pkr'], type]);
          return more.length === 0;
        },
      );
    });
  }

  it('is left out as null, and a number that no text came with is taken as JavaScript writes it', () => {
    assert.equal(parseBody(updateKey.body, { rate_limit_rpm: 1 }).credit_limit_pkr, null);
    const given = { rate_limit_rpm: 1, credit_limit_pkr: 1.005 };
    assert.equal(parseBody(updateKey.body, given).credit_limit_pkr, 1_005_000n);
  });

  it('is the last of several, of the outermost object alone, and in any spelling of its name', () => {
    const amounts = { asWritten: rules.asWritten, once: new Set<string>() };
    for (const [text, expected] of [
      ['{"credit_limit_pkr": "x", "credit_limit_pkr" :\n1.50 }', new NumberText('1.50')],
      ['{"credit_limit_pkr": 1, "credit_limit_pkr": "x"}', 'x'],
      ['{"credit_limit\\u005fpkr":1e400}', new NumberText('1e400')],
      ['{"x": {"credit_limit_pkr": 1.50}, "y": [{"credit_limit_pkr": 1}]}', undefined],
    ] as const) {
      const parsed = parseJson(text, amounts) as Record<string, unknown>;
      assert.deepEqual(parsed['credit_limit_pkr'], expected, text);
    }
    const nested = { credit_limit_pkr: 1.5 };
    assert.deepEqual(parseJson('{"x": {"credit_limit_pkr": 1.50}}', amounts), { x: nested });
  });

  it('is read without a reviver, which a body full of numbers makes dear', (t) => {
    const parse = t.mock.method(JSON, 'parse');
    parseJson(`{"credit_limit_pkr": 1, "x": [${'1,'.repeat(1_000)}1]}`, rules);
    // The text, and each of its names.
    assert.deepEqual(
      parse.mock.calls.map(({ arguments: given }) => given.length),
      [1, 1, 1],
    );
  });

  it('is read beside what is nested as deep as a body can be', () => {
    const deep = '['.repeat(32_000) + ']'.repeat(32_000);
    const parsed = parseJson(`{"x": ${deep}, "credit_limit_pkr": 1.50}`, rules) as Record<string, unknown>;
    assert.deepEqual(parsed['credit_limit_pkr'], new NumberText('1.50'));
  });

  it('does not touch other numbers, and names of the prototype are plain fields', () => {
    assert.deepEqual(parseJson('{"a": 1, "b": [2.5]}', rules), { a: 1, b: [2.5] });
    const parsed = parseJson('{"__proto__": {"rate_limit_rpm": 1}}', rules) as Record<string, unknown>;
    assert.ok(Object.hasOwn(parsed, '__proto__'));
    assert.equal(parsed['rate_limit_rpm'], undefined);
  });
});

describe('an integer in a body', () => {
  const fields = [
    [createKey.body, 'credit_limit_cents', { project_id: 'p', name: 'n' }],
    [updateKey.body, 'rate_limit_rpm', {}],
    [updateKey.body, 'expires_at', { rate_limit_rpm: 1 }],
    [rotateKey.body, 'grace_seconds', {}],
  ] as const;
  const errorOf = (body: (typeof fields)[number][0], others: object, name: string, written: string) => {
    const text = JSON.stringify({ ...others, [name]: 0 }).replace(/0}$/, `${written}}`);
    const result = body.safeParse(parseJson(text, memberRules(body)));
    return result.error?.issues.map(({ path }) => path.join('.'));
  };
  for (const [body, name, others] of fields) {
    for (const written of ['60', '60.0', '6e1', '0.6e2', '600e-1']) {
      it(`${name} may be ${written}`, () => assert.equal(errorOf(body, others, name, written), undefined));
    }
    for (const written of ['60.00000000000000000001', '59.99999999999999999999', '1e-400', '60.5']) {
      it(`${name} cannot be ${written}`, () =>
        assert.deepEqual(errorOf(body, others, name, written), [name]));
    }
  }
  it('credit_limit_cents has no half that a double drops', () => {
    const [body, name, others] = fields[0];
    assert.deepEqual(errorOf(body, others, name, '9007199254740990.5'), [name]);
  });
});
