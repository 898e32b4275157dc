import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { broken } from './broken.ts';
import { LedgerDatabase } from './ledger-database.ts';
import { simulate, simulateMany } from './ledger-simulation.ts';

const { seed, count: histories } = casesOf(1, 1_000);

describe('the simulator of the ledger', () => {
  it('finds no history that contradicts the model', async () => {
    assert.equal(await simulateMany({ histories, firstSeed: seed * histories, workers: 1 }), undefined);
  });

  for (const [rule, sabotage, message] of [
    [
      'what is held counts against the limit',
      broken('judge_admission', 'key_unspent - in_key_held_micro_pkr', 'key_unspent'),
      /^an admission was admitted with \d+ and should have been (credit_held|admitted with \d+)$/,
    ],
    [
      'what a finished request cost counts as spent',
      broken('admit', 'r.spent_micro_pkr + r.unsettled_micro_pkr', 'r.spent_micro_pkr'),
      /^an admission was (admitted \d+|credit_held) {1,2}and should have been /,
    ],
    [
      'the surplus of a finished request is free for those that are judged with it',
      broken('admit', 'key_held[k] := key_held[k] + finished_held[i] - finished_final[i];', ''),
      /^an admission was .+ and should have been /,
    ],
    [
      'a revoked key is refused',
      broken('judge_admission', 'in_key_revoked_at IS NOT NULL', 'false'),
      /^an admission was .+ and should have been revoked$/,
    ],
    [
      'a closed week takes no request',
      broken('admit', 'in_request_ids[i] < common.closed_before', 'false'),
      /should have been id_is_closed$/,
    ],
    [
      'folding adds to what was folded before',
      broken('fold_settlements', 't.spent_micro_pkr + excluded.spent_micro_pkr', 'excluded.spent_micro_pkr'),
      /^a key has spent \d+, and its settlements come to \d+$/,
    ],
    [
      'a hold is released once its request is settled',
      `CREATE FUNCTION keep_sevens() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN IF OLD.amount_micro_pkr = 7 THEN RETURN NULL; END IF; RETURN OLD; END $$;
       CREATE TRIGGER keep_sevens BEFORE DELETE ON holds FOR EACH ROW EXECUTE FUNCTION keep_sevens()`,
      /holds? \d+ and should hold \d+$|and its holds come to/,
    ],
    [
      'a settlement is counted once',
      // As if the id were no key: a repeat gets a row of its own.
      `CREATE FUNCTION forget_the_id() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.request_id := overlay(NEW.request_id::text PLACING left(md5(random()::text), 12) FROM 25)::uuid;
                  RETURN NEW; END $$;
       CREATE TRIGGER forget_the_id BEFORE INSERT ON settlements FOR EACH ROW EXECUTE FUNCTION forget_the_id()`,
      /^(a key has spent \d+ and should have spent \d+|\d+ requests are counted and \d+ should be)$/,
    ],
  ] as const) {
    it(`fails where this does not hold: ${rule}; and its seed alone fails in the same way`, async () => {
      await using ledger = await LedgerDatabase.create(sabotage);
      const failure = await simulate(ledger, 1, 1_500);
      assert.match(failure?.message ?? '', message);
      assert.ok(failure);
      await using another = await LedgerDatabase.create(sabotage);
      const again = await simulate(another, failure.seed, 1);
      assert.equal(again?.step, failure.step);
      assert.match(again?.message ?? '', message);
      assert.equal(again?.trace.length, failure.trace.length);
    });
  }
});
