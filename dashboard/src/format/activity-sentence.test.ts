import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ACTIVITY_KINDS, activitySentence } from './activity-sentence.ts';

const said = (event: Parameters<typeof activitySentence>[0]) => {
  const { actor, verb, object, rest } = activitySentence(event);
  return [actor, verb, object, rest].filter((part) => part !== undefined).join(' ');
};

describe('sentences of the activity log', () => {
  for (const [action, target, sentence] of [
    ['user.login', 'ada@example.com', 'ada@example.com signed in'],
    ['member.joined', 'ada@example.com', 'ada@example.com joined the organisation'],
    ['api_key.revoked', 'sk_svc_AbCdEfGh', 'ada@example.com revoked the key sk_svc_AbCdEfGh'],
    ['vault_key.set', 'openai', 'ada@example.com stored a provider key for openai'],
    ['org.renamed', 'Acme', 'ada@example.com renamed the organisation to Acme'],
  ] as const)
    it(sentence, () => {
      assert.equal(said({ actor: 'ada@example.com', action, target }), sentence);
    });

  it('events without an account are those of the operator, or of an account that was deleted', () => {
    assert.equal(
      said({ actor: null, action: 'budget.deposited', target: '28900.00 PKR' }),
      'The operator changed the budget by PKR 28,900.00',
    );
    assert.equal(
      said({ actor: null, action: 'project.byok_fallback_enabled', target: 'Mobile' }),
      'The operator let the project Mobile fall back from its own provider keys to the platform',
    );
    assert.equal(said({ actor: null, action: 'user.logout', target: 'x' }), 'A deleted account signed out');
    assert.equal(
      said({ actor: null, action: 'member.role_changed', target: 'ada@example.com: owner' }),
      'The operator changed the role of ada@example.com: owner',
    );
    assert.equal(
      said({ actor: null, action: 'api_key.revoked', target: 'sk_svc_AbCdEfGh' }),
      'The operator, or a deleted account, revoked the key sk_svc_AbCdEfGh',
    );
    assert.equal(
      said({ actor: null, action: 'member.joined', target: 'ada@example.com' }),
      'ada@example.com joined the organisation',
    );
  });

  for (const [target, amount] of [
    ['2500.50 PKR', 'PKR 2,500.50'],
    ['0.000001 PKR', 'PKR 0.000001'],
    ['1234567.654321 PKR', 'PKR 1,234,567.654321'],
    ['-1500.00 PKR', 'PKR -1,500.00'],
    // What is no amount stays as it is.
    ['28900.00 USD', '28900.00 USD'],
    ['9'.repeat(400), '9'.repeat(400)],
  ] as const)
    it(`an amount of ${target.slice(0, 20)} is written as everywhere in the page`, () => {
      const { object, isCode } = activitySentence({ actor: null, action: 'budget.deposited', target });
      assert.deepEqual([object, isCode], [amount, false]);
    });

  it('an event that is unknown here is shown as it is', () => {
    assert.equal(
      said({ actor: 'ada@example.com', action: 'member.moved' as 'user.login', target: 'bob@example.com' }),
      'ada@example.com caused member.moved of bob@example.com',
    );
  });

  it('has a sentence for every event of the contract', async () => {
    const schemas = await readFile(
      join(import.meta.dirname, '../../../sdk/src/generated/schemas.ts'),
      'utf8',
    );
    const actions = /readonly action: ([^;]+);/.exec(schemas)?.[1]?.match(/[a-z_]+\.[a-z_]+/g) ?? [];
    assert.ok(actions.length >= 12);
    assert.deepEqual(ACTIVITY_KINDS.map(({ value }) => value).sort(), actions.sort());
  });
});
