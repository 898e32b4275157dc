import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  generateGatewayKey,
  hashGatewayKey,
  type KeyId,
  type OrganizationId,
  type ProjectId,
} from '@gatehouse/contract';
import type { Exchange } from '../exchange/exchange.ts';
import { authenticate } from '../steps/authenticate.ts';
import { Facts } from './facts.ts';
import type { ReadKey } from './queries.ts';

const read = (given: Partial<ReadKey> = {}, organizationId = 'o'): ReadKey => ({
  key: {
    id: 'k' as KeyId,
    organizationId: organizationId as OrganizationId,
    projectId: 'p' as ProjectId,
    prefix: 'x',
    rateLimitRpm: 1,
    allowedModels: null,
    isExpired: false,
    byokFallback: false,
  },
  factsRevision: 1n,
  vaultRevision: 0n,
  catalogueVersion: 1n,
  isPrevious: false,
  ...given,
});
const randomHash = () => hashGatewayKey(generateGatewayKey(randomBytes));

describe('Facts', () => {
  it('does not grow by keys that do not exist', async () => {
    const facts = new Facts();
    const keyReads = { read: () => ({ answer: Promise.resolve(undefined), cancel() {} }), waiting: () => 0 };
    for (let count = 0; count < 1_000; count += 1) {
      const headers = { authorization: `Bearer ${generateGatewayKey(randomBytes)}` };
      const exchange = { request: { headers }, throwIfStopped() {} } as unknown as Exchange;
      await assert.rejects(authenticate({ mayPresume: true }, exchange, { facts, keyReads }));
    }
    assert.equal(facts.size, 0);
  });

  it('keeps no key that was read by its previous secret, and forgets it where it was the newest', () => {
    const facts = new Facts();
    const hash = randomHash();
    facts.keepKey(hash, read());
    assert.ok(facts.presumedKey(hash));
    facts.keepKey(hash, read({ isPrevious: true }));
    assert.equal(facts.presumedKey(hash), undefined);
  });

  it('keeps no more than so many keys and organisations', () => {
    const facts = new Facts();
    const hashes = Array.from({ length: 25_000 }, randomHash);
    for (const [index, hash] of hashes.entries()) facts.keepKey(hash, read({}, `o${index}`));
    assert.equal(facts.size, 2 * 20_971);
    assert.equal(
      hashes.findIndex((hash) => facts.presumedKey(hash)),
      25_000 - 20_971,
    );
  });

  it('keeps fewer keys that have long lists of models', () => {
    const facts = new Facts();
    const { key } = read();
    const allowedModels = Array.from({ length: 1_000 }, (_, n) => `provider/model-${n}` as never);
    for (let count = 0; count < 200; count += 1)
      facts.keepKey(randomHash(), read({ key: { ...key, allowedModels } }));
    assert.equal(facts.size, 1 + 70);
  });

  it('presumes a key at the newest version of the catalogue that is known, and forgets one that is gone', () => {
    const facts = new Facts();
    const [hash, other] = [randomHash(), randomHash()];
    facts.keepKey(hash, read());
    facts.keepKey(other, read({ catalogueVersion: 5n }));
    assert.equal(facts.presumedKey(hash)?.catalogueVersion, 5n);
    facts.keepKey(hash, read({ catalogueVersion: 3n }));
    assert.equal(facts.presumedKey(hash)?.catalogueVersion, 5n);
    facts.keepKey(hash, undefined);
    assert.equal(facts.presumedKey(hash), undefined);
    assert.ok(facts.presumedKey(other));
  });

  it('presumes no key that was read with an earlier revision of the vault than is known', () => {
    const facts = new Facts();
    const [hash, other] = [randomHash(), randomHash()];
    facts.keepKey(hash, read());
    assert.deepEqual(facts.vault('o' as OrganizationId, 0n)?.records.size, 0);
    facts.keepKey(other, read({ vaultRevision: 2n }));
    assert.equal(facts.presumedKey(hash), undefined);
    assert.ok(facts.presumedKey(other));
    assert.equal(facts.vault('o' as OrganizationId, 2n), undefined, 'its records were not read');
    facts.keepVault('o' as OrganizationId, { vaultRevision: 2n, records: new Map() });
    assert.ok(facts.vault('o' as OrganizationId, 2n));
    assert.equal(facts.vault('o' as OrganizationId, 0n), undefined);
  });
});
