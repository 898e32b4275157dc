import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { newSeed } from '@gatehouse/concurrency/testing';
import type { KeyId, OrganizationId, RequestId, SpendWindow } from '@gatehouse/contract';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { releaseOverdueHolds, settle } from '../journal/settle.ts';
import { randomFrom } from '../journal/testing/random.ts';
import { admit } from '../testing/admit.ts';
import { addLimit, type TestLimit } from '../testing/spend-limits.ts';
import { type IssuedKey, issueKey } from '../testing/test-gateway.ts';
import { type AdmissionFields, granted, request } from './admission.fixture.ts';
import { createAdmissions } from './admissions.ts';
import type { AdmissionDecision } from './queries.ts';

const test = await useTestDatabase();
const { database, owner } = test;

interface WindowRow {
  readonly limitId: string;
  readonly value: string;
  readonly spent: bigint;
  readonly held: bigint;
  readonly isOpen: boolean;
}

const windowsOf = (organizationId: OrganizationId) =>
  runSql<WindowRow>(database)`
    SELECT limit_id, value, spent_micro_pkr AS spent, held_micro_pkr AS held, ends_at > clock_timestamp() AS is_open
    FROM spend_windows WHERE limit_id IN (SELECT id FROM spend_limits WHERE organization_id = ${organizationId})
    ORDER BY limit_id, value, started_at`;

/** Moves the windows of a limit back, as if their end had passed. */
const endWindows = (limitId: string) =>
  runSql(database)`
    UPDATE spend_windows SET started_at = started_at - ends_at + clock_timestamp() - interval '1 minute',
                             ends_at = clock_timestamp() - interval '1 microsecond'
    WHERE limit_id = ${limitId} AND ends_at > clock_timestamp()`;

const mintedBy = async (key: IssuedKey, email: string) => {
  const [member] = await runSql<{ id: string }>(owner)`
    INSERT INTO users (organization_id, email, role) VALUES (${key.organizationId}, ${email}, 'member')
    ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id`;
  assert.ok(member);
  await runSql(owner)`UPDATE api_keys SET created_by = ${member.id} WHERE id = ${key.id}`;
  return member.id;
};

const labels = (entries: Readonly<Record<string, string>>) => new Map(Object.entries(entries));

describe('a spend limit', () => {
  const ask = async (key: IssuedKey, fields: AdmissionFields): Promise<AdmissionDecision> => {
    const [decision] = await admit(database, key.organizationId, [request(key.id, fields)]);
    assert.ok(decision);
    return decision;
  };
  const kindOf = async (key: IssuedKey, fields: AdmissionFields) => {
    const decision = await ask(key, fields);
    return decision.kind === 'credit_held' && typeof decision.account === 'object'
      ? 'limit_held'
      : decision.kind;
  };
  /** Admits and finishes a request of this cost. */
  const spend = async (key: IssuedKey, microPkr: bigint, fields: AdmissionFields = {}) => {
    const wanted = request(key.id, { least: microPkr, ...fields });
    const [decision] = await admit(database, key.organizationId, [wanted]);
    assert.equal(decision?.kind, 'admitted');
    await admit(database, key.organizationId, [], [{ requestId: wanted.requestId, costMicroPkr: microPkr }]);
    return wanted;
  };

  it('refuses what would pass it, by figures that name it, and grants what is free of it', async () => {
    const key = await issueKey(database);
    const id = await addLimit(database, key.organizationId, { microPkr: 100n, window: 'day' });
    await spend(key, 40n);
    const first = await ask(key, { least: 30n });
    assert.equal(first.kind, 'admitted');
    const held = await ask(key, { least: 31n });
    assert.ok(held.kind === 'credit_held' && typeof held.account === 'object');
    const { endsAt, ...named } = held.account;
    assert.deepEqual(named, {
      ...{ id, scope: 'organization', name: null, value: null, window: 'day', timeZone: 'UTC' },
    });
    assert.equal(endsAt, (today() + 1) * DAY_MICROS);
    assert.deepEqual([held.limitMicroPkr, held.spentMicroPkr, held.heldMicroPkr], [100n, 40n, 30n]);
    const reached = await ask(key, { least: 61n });
    assert.ok(reached.kind === 'spend_limit_reached');
    assert.deepEqual(reached, {
      kind: 'spend_limit_reached',
      spendLimit: held.account,
      ...{ limitMicroPkr: 100n, spentMicroPkr: 40n, heldMicroPkr: 30n },
    });
    const lowered = await ask(key, { least: 1n, most: 500n });
    assert.ok(lowered.kind === 'admitted');
    assert.equal(lowered.grantedMicroPkr, 30n);
    assert.match(lowered.windowIds ?? '', /^\{[0-9a-f-]{36}\}$/);
  });

  it('of 0 stops at once, even what costs nothing, and so does one below what is spent', async () => {
    const key = await issueKey(database);
    await addLimit(database, key.organizationId, { microPkr: 0n });
    assert.equal(await kindOf(key, {}), 'spend_limit_reached');
    const other = await issueKey(database);
    const id = await addLimit(database, other.organizationId, { microPkr: 10n });
    await spend(other, 10n);
    assert.equal(await kindOf(other, {}), 'spend_limit_reached');
    await runSql(database)`UPDATE spend_limits SET limit_micro_pkr = 5 WHERE id = ${id}`;
    assert.equal(await kindOf(other, {}), 'spend_limit_reached');
    await runSql(database)`UPDATE spend_limits SET limit_micro_pkr = 11 WHERE id = ${id}`;
    assert.equal(await kindOf(other, { least: 1n }), 'admitted');
  });

  it('binds what a gateway of the version before admits, too', async () => {
    const key = await issueKey(database);
    await addLimit(database, key.organizationId, { microPkr: 10n });
    const earlier = (least: bigint) => runSql(database)`
      SELECT decision, granted_micro_pkr AS granted, account, limit_micro_pkr AS limit FROM admit_batch(
        '{}', '{}', '{}', ARRAY[gen_random_uuid()], ARRAY[${key.organizationId}::uuid], ARRAY[${key.id}::uuid],
        ARRAY[${least}::bigint], ARRAY[${least}::bigint], '{false}', '{60000}', '{}', '{}', '{}', NULL)`;
    assert.deepEqual(await earlier(11n), [
      { decision: 'key_credit_exhausted', granted: null, account: 'key', limit: 10n },
    ]);
    assert.deepEqual(await earlier(6n), [{ decision: 'admitted', granted: 6n, account: null, limit: null }]);
    assert.deepEqual(await earlier(6n), [
      { decision: 'credit_held', granted: null, account: 'key', limit: 10n },
    ]);
  });

  it('that alerts refuses nothing, and counts', async () => {
    const key = await issueKey(database);
    await addLimit(database, key.organizationId, { microPkr: 1n, mode: 'alert' });
    await spend(key, 50n);
    assert.equal(await kindOf(key, { least: 7n }), 'admitted');
    const [{ spent, held } = { spent: 0n, held: 0n }] = await windowsOf(key.organizationId);
    assert.deepEqual([spent, held], [50n, 7n]);
  });

  it('binds what its scope is of, and nothing else', async () => {
    const one = await issueKey(database);
    const { organizationId } = one;
    const two = await issueKey(database, { organizationId });
    const foreign = await issueKey(database);
    const member = await mintedBy(one, `${randomUUID()}@example.com`);
    const label = { labels: labels({ team: 'red', other: 'x' }) };
    for (const [limit, fields, bound, free] of [
      [{ kind: 'organization' }, {}, [one, two], [foreign]],
      [{ kind: 'project', scopeId: one.projectId }, {}, [one], [two, foreign]],
      [{ kind: 'key', scopeId: two.id }, {}, [two], [one, foreign]],
      [{ kind: 'member', scopeId: member }, {}, [one], [two, foreign]],
      [{ kind: 'metadata', name: 'team', value: 'red' }, label, [one, two], [foreign]],
      [{ kind: 'metadata', name: 'team', value: 'blue' }, label, [], [one, two]],
      [{ kind: 'metadata', name: 'team', value: null }, label, [one, two], [foreign]],
      [{ kind: 'metadata', name: 'region', value: null }, label, [], [one, two]],
      [{ kind: 'metadata', name: 'team', value: null }, {}, [], [one, two]],
    ] as const satisfies readonly (readonly [
      Omit<TestLimit, 'microPkr'>,
      AdmissionFields,
      IssuedKey[],
      IssuedKey[],
    ])[]) {
      const id = await addLimit(database, organizationId, { ...limit, microPkr: 0n });
      for (const key of bound) assert.equal(await kindOf(key, fields), 'spend_limit_reached', limit.kind);
      for (const key of free) assert.equal(await kindOf(key, fields), 'admitted', limit.kind);
      await runSql(database)`WITH l AS (DELETE FROM spend_limits WHERE id = ${id} RETURNING organization_id)
        UPDATE balances SET spend_limits = spend_limits - 1 WHERE organization_id IN (SELECT organization_id FROM l)`;
    }
  });

  it('of any value tells 10,000 values apart, and has one window for the others', async () => {
    const key = await issueKey(database);
    const { organizationId } = key;
    const limitId = await addLimit(database, organizationId, {
      ...{ kind: 'metadata', name: 'user', value: null, window: 'month', microPkr: 10n },
    });
    const asUser = (user: string) => ({ labels: labels({ user }) });
    await spend(key, 10n, asUser('first'));
    assert.equal(await kindOf(key, { least: 1n, ...asUser('first') }), 'spend_limit_reached');
    await spend(key, 9n, asUser(''));
    await runSql(
      database,
    )`UPDATE spend_windows SET values_apart = 9999 WHERE limit_id = ${limitId} AND value = ''`;
    await spend(key, 8n, asUser('last'));
    for (const user of ['further', 'another']) await spend(key, 5n, asUser(user));
    const shared = await ask(key, { least: 1n, ...asUser('third') });
    assert.ok(shared.kind === 'spend_limit_reached');
    assert.deepEqual([shared.spendLimit.value, shared.spentMicroPkr], [null, 10n]);
    assert.equal(await kindOf(key, { least: 2n, ...asUser('last') }), 'admitted');
    assert.deepEqual(
      (await windowsOf(organizationId)).map(({ value, spent }) => [value, spent]),
      [
        ['', 10n],
        ['=', 9n],
        ['=first', 10n],
        ['=last', 8n],
      ],
    );
  });

  it('counts a request in the windows of its admission, however it ends, and begins again at their end', async () => {
    const key = await issueKey(database);
    const limitId = await addLimit(database, key.organizationId, { microPkr: 10n, window: 'hour' });
    const wants = Array.from({ length: 5 }, () => request(key.id, { least: 2n }));
    const decisions = await admit(database, key.organizationId, wants);
    const windowIds = decisions.map((one) => (one.kind === 'admitted' ? one.windowIds : undefined));
    assert.equal(await kindOf(key, { least: 1n }), 'limit_held');
    await endWindows(limitId);
    assert.equal(await kindOf(key, { least: 10n }), 'admitted');
    assert.equal(await kindOf(key, { least: 1n }), 'limit_held');
    const { organizationId } = key;
    const [lowered, settled, again, lost, freed] = wants;
    assert.ok(lowered && settled && again && lost && freed);
    const of = ({ requestId }: { readonly requestId: RequestId }, costMicroPkr: bigint) => ({
      ...{ requestId, organizationId, keyId: key.id, costMicroPkr },
    });
    const ids = windowIds[0] ?? assert.fail('the request is in no window');
    const windowId = ids.slice(1, -1);
    await admit(database, organizationId, [], [{ ...of(lowered, 1n) }]);
    // With the windows of the record, and with those of the hold; a repetition changes nothing.
    await settle(database, [{ ...of(settled, 3n), windowIds: ids }]);
    await settle(database, [of(again, 4n), of(lowered, 1n)]);
    await settle(database, [of(again, 4n), { ...of(settled, 3n), windowIds: ids }]);
    // Its hold was lost with the end of the database's last changes.
    await runSql(owner)`WITH h AS (DELETE FROM holds WHERE request_id = ${lost.requestId})
      UPDATE spend_windows SET held_micro_pkr = held_micro_pkr - 2 WHERE id = ${windowId}`;
    await runSql(owner)`UPDATE api_keys SET held_micro_pkr = held_micro_pkr - 2 WHERE id = ${key.id}`;
    await runSql(
      owner,
    )`UPDATE balances SET held_micro_pkr = held_micro_pkr - 2 WHERE organization_id = ${organizationId}`;
    await settle(database, [{ ...of(lost, 7n), windowIds: ids }]);
    await runSql(owner)`UPDATE holds SET deadline = '-infinity' WHERE request_id = ${freed.requestId}`;
    assert.deepEqual(await releaseOverdueHolds(database, 10), { holds: 1, amountMicroPkr: 2n });
    assert.deepEqual(
      (await windowsOf(organizationId)).map(({ spent, held, isOpen }) => [spent, held, isOpen]),
      [
        [15n, 0n, false],
        [0n, 10n, true],
      ],
    );
  });

  it('admits exactly as many of 10,000 from two processes as fit, with six limits', async () => {
    const key = await issueKey(database, { depositedMicroPkr: 10n ** 12n });
    const { organizationId } = key;
    const member = await mintedBy(key, `${randomUUID()}@example.com`);
    const limits: TestLimit[] = [
      { microPkr: 5_000n, window: 'month' },
      { kind: 'project', scopeId: key.projectId, microPkr: 6_000n, window: 'week' },
      { kind: 'key', scopeId: key.id, microPkr: 5_001n, window: 'lifetime' },
      { kind: 'member', scopeId: member, microPkr: 7_000n, window: 'month', timeZone: 'Asia/Karachi' },
      { kind: 'metadata', name: 'team', value: 'red', microPkr: 8_000n },
      { kind: 'metadata', name: 'run', value: null, microPkr: 5_500n },
    ];
    for (const limit of limits) await addLimit(database, organizationId, limit);
    const label = labels({ team: 'red', run: '7' });
    const processes = [createAdmissions(database, 60_000), createAdmissions(database, 60_000)];
    let asked = 0;
    let admitted = 0;
    // As many as each process lets wait.
    const worker = async (process: ReturnType<typeof createAdmissions>) => {
      while (asked < 10_000) {
        asked += 1;
        const wanted = request(key.id, { least: 1n, labels: label });
        const decision = await process.admit(organizationId, wanted);
        if (decision.kind !== 'admitted') continue;
        admitted += 1;
        // Some end at once, some never do.
        if (admitted % 3 === 0)
          await process.finish(organizationId, { requestId: wanted.requestId, costMicroPkr: 1n });
      }
    };
    await Promise.all(processes.flatMap((process) => Array.from({ length: 400 }, () => worker(process))));
    assert.equal(admitted, 5_000);
    for (const { spent, held } of await windowsOf(organizationId))
      if (spent + held > 0n) assert.equal(spent + held, 5_000n);
  });
});

const DAY_MICROS = 86_400_000_000;

/** The number of the day since 1970, by the clock of this machine, which is the database's. */
function today(): number {
  return Math.floor((Date.now() * 1_000) / DAY_MICROS);
}

describe('any history of limits and requests', () => {
  it('never passes a limit, refuses nothing that had room, and counts what the log counts', async (t) => {
    const seed = newSeed();
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    for (let history = 0; history < 6; history += 1) await runHistory(random);
  });
});

const ZONES = ['UTC', 'Asia/Karachi', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Chatham'];
const KINDS = ['hour', 'day', 'week', 'month', 'lifetime'] as const satisfies readonly SpendWindow[];

interface ModelLimit extends TestLimit {
  readonly id: string;
  microPkr: bigint;
  /** The amounts of the windows by value; the last is open. */
  windows: Map<string, { spent: bigint; held: bigint }>[];
}

async function runHistory(random: () => number): Promise<void> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const first = await issueKey(database);
  const { organizationId } = first;
  const keys = [
    first,
    await issueKey(database, { organizationId }),
    await issueKey(database, { organizationId }),
  ];
  const members = new Map<KeyId, string>();
  for (const key of keys.slice(0, 2)) members.set(key.id, await mintedBy(key, `${randomUUID()}@example.com`));
  const scopes = (): Omit<TestLimit, 'microPkr'>[] => [
    { kind: 'organization' },
    { kind: 'project', scopeId: pick(keys).projectId },
    { kind: 'key', scopeId: pick(keys).id },
    { kind: 'member', scopeId: pick([...members.values()]) },
    { kind: 'metadata', name: 'team', value: pick(['red', 'blue']) },
    { kind: 'metadata', name: 'team', value: null },
  ];
  const limits: ModelLimit[] = [];
  const open = new Map<
    string,
    {
      key: IssuedKey;
      held: bigint;
      windows: { spent: bigint; held: bigint }[];
      ids?: string | undefined;
      isFinal: boolean;
    }
  >();

  const matching = (key: IssuedKey, given: ReadonlyMap<string, string>) =>
    limits.flatMap((limit) => {
      const team = given.get('team');
      const value = limit.kind === 'metadata' && limit.value === null ? `=${team}` : '';
      const binds = {
        organization: true,
        project: limit.scopeId === key.projectId,
        key: limit.scopeId === key.id,
        member: limit.scopeId === members.get(key.id),
        metadata: team !== undefined && (limit.value === null || limit.value === team),
      }[limit.kind ?? 'organization'];
      return binds ? [{ limit, value }] : [];
    });
  const windowOf = ({ limit, value }: { limit: ModelLimit; value: string }) => {
    const now = limit.windows.at(-1) ?? assert.fail('a limit has an open window');
    const window = now.get(value) ?? { spent: 0n, held: 0n };
    now.set(value, window);
    return window;
  };

  for (let step = 0; step < 150; step += 1) {
    const choice = random();
    if (limits.length < 3 || (choice < 0.06 && limits.length < 12)) {
      const limit: Omit<ModelLimit, 'id' | 'windows'> = {
        ...pick(scopes()),
        ...{
          window: pick(KINDS),
          timeZone: pick(ZONES),
          mode: pick(['refuse', 'refuse', 'refuse', 'alert'] as const),
        },
        microPkr: BigInt(Math.floor(random() * 200)),
      };
      limits.push({ ...limit, id: await addLimit(database, organizationId, limit), windows: [new Map()] });
    } else if (choice < 0.1) {
      const limit = pick(limits);
      limit.microPkr = BigInt(Math.floor(random() * 400));
      await runSql(
        database,
      )`UPDATE spend_limits SET limit_micro_pkr = ${limit.microPkr} WHERE id = ${limit.id}`;
    } else if (choice < 0.16) {
      const limit = pick(limits);
      if (limit.window === 'lifetime') continue;
      await endWindows(limit.id);
      limit.windows.push(new Map());
    } else if (choice < 0.6) {
      const wants = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
        const least = BigInt(Math.floor(random() * 40));
        const given =
          random() < 0.6 ? labels({ team: pick(['red', 'blue', 'green']) }) : new Map<string, string>();
        const key = pick(keys);
        return {
          key,
          given,
          wanted: request(key.id, { least, most: least + BigInt(Math.floor(random() * 30)), labels: given }),
        };
      });
      const decisions = await admit(
        database,
        organizationId,
        wants.map(({ wanted }) => wanted),
      );
      for (const [index, { key, given, wanted }] of wants.entries()) {
        const matches = matching(key, given);
        const refusing = matches.filter(({ limit }) => limit.mode === 'refuse');
        const unspent = refusing.map((match) => match.limit.microPkr - windowOf(match).spent);
        const free = refusing.map(
          (match) => match.limit.microPkr - windowOf(match).spent - windowOf(match).held,
        );
        const { leastMicroPkr: least, mostMicroPkr: most } = wanted;
        const decision = decisions[index] ?? assert.fail('a request has a decision');
        if (unspent.some((amount) => amount <= 0n || amount < least)) {
          assert.equal(decision.kind, 'spend_limit_reached');
        } else if (free.some((amount) => amount < least)) {
          assert.ok(decision.kind === 'credit_held' && typeof decision.account === 'object');
        } else {
          const amount = free.reduce((lowest, one) => (one < lowest ? one : lowest), most);
          assert.ok(decision.kind === 'admitted');
          const { windowIds, ...rest } = decision;
          assert.deepEqual(rest, granted(amount));
          assert.equal(windowIds?.split(',').length ?? 0, matches.length);
          const windows = matches.map(windowOf);
          for (const window of windows) window.held += amount;
          open.set(wanted.requestId, { key, held: amount, windows, ids: windowIds, isFinal: false });
        }
      }
    } else {
      const [requestId, one] = pick([...open]) ?? [];
      if (requestId === undefined || !one) continue;
      const { key, windows, ids } = one;
      // A provider may bill more than was held.
      const cost = one.isFinal ? one.held : BigInt(Math.floor(random() * (Number(one.held) + 3)));
      const id = requestId as RequestId;
      const end = random();
      if (end < 0.4 && !one.isFinal) {
        await admit(database, organizationId, [], [{ requestId: id, costMicroPkr: cost }]);
        for (const window of windows) {
          window.held -= one.held;
          window.spent += cost;
        }
        one.held = cost;
        one.isFinal = true;
      } else if (end < 0.9) {
        const settlement = { requestId: id, organizationId, keyId: key.id, costMicroPkr: cost };
        await settle(database, [random() < 0.5 && ids ? { ...settlement, windowIds: ids } : settlement]);
        for (const window of one.isFinal ? [] : windows) {
          window.held -= one.held;
          window.spent += cost;
        }
        open.delete(requestId);
      } else if (!one.isFinal) {
        await runSql(owner)`UPDATE holds SET deadline = '-infinity' WHERE request_id = ${requestId}`;
        await releaseOverdueHolds(database, 100);
        for (const window of windows) window.held -= one.held;
        open.delete(requestId);
      }
    }
  }
  const found = (await windowsOf(organizationId)).filter(({ spent, held }) => spent !== 0n || held !== 0n);
  const expected = limits.flatMap(({ id, windows }) =>
    windows.flatMap((byValue) =>
      Array.from(byValue, ([value, { spent, held }]) => ({ id, value, spent, held })),
    ),
  );
  const sorted = (rows: readonly { spent: bigint; held: bigint; value: string; id: string }[]) =>
    rows
      .filter(({ spent, held }) => spent !== 0n || held !== 0n)
      .map(({ id, value, spent, held }) => `${id} ${value} ${spent} ${held}`)
      .sort();
  assert.deepEqual(sorted(found.map(({ limitId, ...row }) => ({ id: limitId, ...row }))), sorted(expected));
}
