import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { ApiError, DetailBody } from './errors.ts';
import { parseBody } from './parse.ts';

const schema = z.object({
  name: z.string(),
  count: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  ratio: z.number().max(1).optional(),
  flag: z.boolean().optional(),
  color: z.enum(['red', 'green']).optional(),
  tags: z.array(z.string().max(3)).min(1).max(2).nullish(),
  labels: z.record(z.string(), z.string()).optional(),
  nested: z.object({ inner: z.array(z.object({ id: z.int() })) }).optional(),
  even: z
    .int()
    .refine((value) => value % 2 === 0, { error: 'Must be even.', params: { type: 'odd' } })
    .optional(),
  plain: z
    .string()
    .refine(() => false, { error: 'Never.' })
    .optional(),
});

const good = { name: 'n', count: 1 };

describe('parseBody', () => {
  it('returns what the schema knows and leaves the rest out', () => {
    const body: unknown = JSON.parse(
      '{"name":"n","count":1,"role":"owner","__proto__":{"role":"owner"},"constructor":1,"tags":null}',
    );
    const parsed = parseBody(schema, body);
    assert.deepEqual(parsed, { name: 'n', count: 1, tags: null });
    assert.equal((parsed as { role?: string }).role, undefined);
  });

  for (const [title, body, ...expected] of [
    ['a list', [], 'body | Must be a JSON object. | wrong_type'],
    ['null', null, 'body | Must be a JSON object. | wrong_type'],
    ['a text', 'name', 'body | Must be a JSON object. | wrong_type'],
    ['a number', 5, 'body | Must be a JSON object. | wrong_type'],
    [
      'an empty object',
      {},
      'body.name | Required: a string. | missing',
      'body.count | Required: a number. | missing',
    ],
    ['null for a string', { ...good, name: null }, 'body.name | Must be a string. | wrong_type'],
    ['a number for a string', { ...good, name: 5 }, 'body.name | Must be a string. | wrong_type'],
    ['a string for a number', { ...good, ratio: '1' }, 'body.ratio | Must be a number. | wrong_type'],
    ['a string for an integer', { ...good, count: '1' }, 'body.count | Must be a number. | wrong_type'],
    ['true for an integer', { ...good, count: true }, 'body.count | Must be a number. | wrong_type'],
    ['a fraction for an integer', { ...good, count: 1.5 }, 'body.count | Must be an integer. | wrong_type'],
    ['a string for a boolean', { ...good, flag: 'true' }, 'body.flag | Must be true or false. | wrong_type'],
    ['1 for a boolean', { ...good, flag: 1 }, 'body.flag | Must be true or false. | wrong_type'],
    ['an object for a list', { ...good, tags: { 0: 'a' } }, 'body.tags | Must be a list. | wrong_type'],
    ['a list for a map', { ...good, labels: ['a'] }, 'body.labels | Must be a JSON object. | wrong_type'],
    ['a list for an object', { ...good, nested: [] }, 'body.nested | Must be a JSON object. | wrong_type'],
    ['0', { ...good, count: 0 }, 'body.count | Must be at least 1. | too_small'],
    [
      'an integer past 2^53 - 1, messages once',
      JSON.parse('{"name":"n","count":9007199254740993}'),
      'body.count | Must be at most 9007199254740991. | too_large',
    ],
    [
      'a number that no double holds',
      JSON.parse('{"name":"n","count":1e400}'),
      'body.count | Must be a number. | wrong_type',
    ],
    ['2 where 1 is the most', { ...good, ratio: 2 }, 'body.ratio | Must be at most 1. | too_large'],
    ['an empty list', { ...good, tags: [] }, 'body.tags | Must have at least 1 entry. | too_small'],
    [
      'a long list',
      { ...good, tags: ['a', 'b', 'c'] },
      'body.tags | Must have at most 2 entries. | too_large',
    ],
    [
      'wrong entries',
      { ...good, tags: ['abcd', 5] },
      'body.tags.0 | Must have at most 3 characters. | too_large',
      'body.tags.1 | Must be a string. | wrong_type',
    ],
    [
      'a word off the list',
      { ...good, color: 'blue' },
      'body.color | Must be one of red, green. | not_in_list',
    ],
    [
      'a word in capitals',
      { ...good, color: 'RED' },
      'body.color | Must be one of red, green. | not_in_list',
    ],
    ['a rule with a kind of its own', { ...good, even: 3 }, 'body.even | Must be even. | odd'],
    ['a rule without one', { ...good, plain: '' }, 'body.plain | Never. | invalid'],
    [
      'something deep',
      { ...good, nested: { inner: [{ id: 1 }, { id: 'x' }, {}] } },
      'body.nested.inner.1.id | Must be a number. | wrong_type',
      'body.nested.inner.2.id | Required: a number. | missing',
    ],
    [
      'several things at once',
      { count: 0, ratio: 'x', color: 5, even: 1 },
      'body.name | Required: a string. | missing',
      'body.count | Must be at least 1. | too_small',
      'body.ratio | Must be a number. | wrong_type',
      'body.color | Must be one of red, green. | not_in_list',
      'body.even | Must be even. | odd',
    ],
  ] as [string, unknown, ...string[]][]) {
    it(`describes ${title}`, () => assert.deepEqual(issues(body), expected));
  }

  it('calls a missing word of a list missing, not wrong', () => {
    const strict = z.object({ color: z.enum(['red', 'green']) });
    assert.deepEqual(issues({}, strict), ['body.color | Required: one of red, green. | missing']);
  });

  it('repeats nothing of the body but the names of the contract', () => {
    const secret = 'sk_svc_canary';
    const messages = issues({ name: [secret], count: secret, color: secret, [secret]: secret }).join();
    assert.ok(!messages.includes(secret), messages);
  });
});

function issues(body: unknown, by: z.ZodObject = schema): string[] {
  try {
    parseBody(by, body);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, 400);
    const { detail } = DetailBody.parse(error.body);
    return detail.map(({ loc, msg, type }) => `${loc.join('.')} | ${msg} | ${type}`);
  }
  return assert.fail('the body was accepted');
}
