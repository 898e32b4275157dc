import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type KeyId,
  type OrganizationId,
  type PlainToken,
  Secret,
  type TokenHash,
} from '@gatehouse/contract';
import { useTestDatabase } from '../testing/index.ts';
import { sql } from './sql.ts';
import { declaredStatements, memberName, type NoParameters, statement } from './statement.ts';

const organizationId = '00000000-0000-4000-8000-000000000001' as OrganizationId;
const keyId = '00000000-0000-4000-8000-000000000002' as KeyId;

const echo = statement<
  { keyId: KeyId; organizationId: OrganizationId },
  { keyId: KeyId; organizationId: OrganizationId; again: KeyId }
>(
  'test-echo',
  sql`SELECT ${'keyId'}::uuid AS key_id, ${'organizationId'}::uuid AS organization_id, ${'keyId'}::uuid AS again`,
);

const test = await useTestDatabase();

describe('statement', () => {
  it('numbers parameters by first use, includes fragments as text and writes constants out', () => {
    const columns = sql`id, ${'b'}::text AS b`;
    const made = statement<{ a: string; b: string }>(
      'test-compiled',
      sql`SELECT ${columns} WHERE x = ${'a'} AND y = ${'b'} LIMIT ${10} OFFSET ${5n}`,
    );
    assert.equal(made.text, 'SELECT id, $1::text AS b WHERE x = $2 AND y = $1 LIMIT 10 OFFSET 5');
    assert.deepEqual(made.parameterNames, ['b', 'a']);
  });

  it('binds values by name, whatever the order of the members, and names the members of rows in camelCase', async () => {
    const expected = { keyId, organizationId, again: keyId };
    assert.deepEqual(await test.database.one(echo, { organizationId, keyId }), expected);
    assert.deepEqual(await test.database.many(echo, { keyId, organizationId }), [expected]);
    assert.equal(await test.database.run(echo, { keyId, organizationId }), 1);
    const inTransaction = await test.database.transaction((tx) => tx.one(echo, { keyId, organizationId }));
    assert.deepEqual(inTransaction, expected);
  });

  it('names a row member by its column', () => {
    for (const [column, member] of [
      ['id', 'id'],
      ['key_prefix', 'keyPrefix'],
      ['p99_latency_ms', 'p99LatencyMs'],
      ['window_2_hours', 'window2Hours'],
      ['alreadyCamel', 'alreadyCamel'],
    ])
      assert.equal(memberName(column as string), member);
  });

  it('refuses a call that lacks a parameter, and two texts of one name', async () => {
    await assert.rejects(
      test.database.one(echo, { keyId } as { keyId: KeyId; organizationId: OrganizationId }),
      {
        name: 'TypeError',
        message: 'test-echo needs organizationId',
      },
    );
    statement<NoParameters>('test-name', sql`SELECT 1`);
    statement<NoParameters>('test-name', sql`SELECT 1`);
    assert.throws(
      () => statement<NoParameters>('test-name', sql`SELECT 2`),
      /two statements are named test-name/,
    );
    assert.ok(declaredStatements().has('test-name'));
  });

  it('is checked by the compiler: the parameters of the text and of the call, and no secret among them', () => {
    const { database } = test;
    const text: string = 'name';
    const plain = 'secret' as PlainToken;
    const named = statement<{ name: string; names: readonly string[] }>(
      'test-named',
      sql`SELECT ${'name'}::text, ${'names'}::text[]`,
    );
    const byHash = statement<{ hash: TokenHash }>('test-hash', sql`SELECT ${'hash'}::bytea`);
    const none = statement<NoParameters, { one: number }>('test-none', sql`SELECT 1 AS one`);
    // Compiled and never run: each line has to be an error.
    void (async () => {
      // @ts-expect-error the text has a parameter that is not declared
      statement<{ a: string }>('test-1', sql`SELECT ${'a'}, ${'b'}`);
      // @ts-expect-error a declared parameter is missing from the text
      statement<{ a: string; b: string }>('test-2', sql`SELECT ${'a'}`);
      // @ts-expect-error the same, where there is no parameter at all
      statement<{ a: string }>('test-3', sql`SELECT 1`);
      // @ts-expect-error a nested fragment has one that is not declared
      statement<{ a: string }>('test-4', sql`SELECT ${'a'} ${sql`LIMIT ${'limit'}`}`);
      // @ts-expect-error a text that is no literal
      statement<{ name: string }>('test-5', sql`SELECT ${text}`);
      // @ts-expect-error a token as such is not stored
      statement<{ token: PlainToken }>('test-6', sql`SELECT ${'token'}`);
      // @ts-expect-error nor is a secret
      statement<{ secret: Secret }>('test-7', sql`SELECT ${'secret'}`);
      // @ts-expect-error nor is either in a list
      statement<{ tokens: PlainToken[] }>('test-8', sql`SELECT ${'tokens'}`);
      // @ts-expect-error a token where a text is declared
      await database.one(named, { name: plain, names: [] });
      // @ts-expect-error a token in a list of texts
      await database.one(named, { name: '', names: [plain] });
      // @ts-expect-error a secret where a text is declared
      await database.one(named, { name: new Secret(''), names: [] });
      // @ts-expect-error a token where its hash is declared
      await database.one(byHash, { hash: plain });
      // @ts-expect-error any bytes where a token's hash is declared
      await database.one(byHash, { hash: Buffer.alloc(32) });
      // @ts-expect-error two ids in each other's place
      await database.one(echo, { keyId: organizationId, organizationId: keyId });
      // @ts-expect-error a parameter is missing
      await database.one(echo, { keyId });
      // @ts-expect-error one too many
      await database.one(echo, { keyId, organizationId, name: '' });
      // @ts-expect-error none at all
      await database.run(echo);
      // @ts-expect-error values by position
      await database.many(echo, [keyId, organizationId]);
      // @ts-expect-error there is nothing to pass
      await database.one(none, { one: 1 });
      const row = await database.one(none);
      // @ts-expect-error a column that is not declared
      return row?.two;
    });
    assert.equal(named.parameterNames.length, 2);
  });
});
