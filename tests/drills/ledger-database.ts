import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  DEFAULT_KEYS_PER_ORGANIZATION,
  type KeyId,
  type OrganizationId,
  type RequestId,
} from '@gatehouse/contract';
import { recordsFrom } from '@gatehouse/control-plane/activity';
import { deposit } from '@gatehouse/control-plane/organization';
import { keyStatements } from '@gatehouse/control-plane/testing';
import {
  type AdmissionDecision,
  newRequestId,
  releaseOverdueHolds,
  settle,
  settleOverdueHolds,
} from '@gatehouse/gateway/testing';
import { type Database, type Statement, sql, statement, type Transaction } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import type { Decision, History, Step, Weeks } from './ledger-model.ts';

// The database side of the simulation. Histories of a cohort take their steps together, so that one statement serves
// many of them; it is the same statements, functions and transactions that the service uses.

// Far more than a cohort has weeks.
const MAX_FOLDS = 1_000;
const WEEK_MS = 7 * 24 * 60 * 60_000;
const HOLD_MS = 600_000;

export class Contradiction extends Error {
  readonly history: History;

  constructor(history: History, message: string) {
    super(message);
    this.history = history;
  }
}

class Crashed extends Error {}

type Connection = Awaited<ReturnType<Database['connect']>>;

export type StepOf<Kind extends Step['kind']> = Step & { readonly kind: Kind };
/** A step with the history that takes it. */
export interface Move<Kind extends Step['kind'] = Step['kind']> {
  readonly history: History;
  readonly step: StepOf<Kind>;
}

interface KeyRow {
  readonly id: string;
  readonly limit: number | null;
  readonly spent: number;
  readonly held: number;
  readonly settled: number;
  readonly holding: number;
  readonly unsettled: number;
  readonly final: number;
}

interface OrganizationRow {
  readonly id: string;
  readonly deposited: number;
  readonly spent: number;
  readonly held: number;
  readonly unsettled: number;
  readonly deposits: number;
  readonly requests: number;
}

const createOrganizations = statement<
  { names: readonly string[] },
  { organizationId: OrganizationId; projectId: string; keyId: string }
>(
  'simulator-create-organizations',
  sql`WITH o AS (INSERT INTO organizations (name, name_key) SELECT n, n FROM unnest(${'names'}::text[]) AS n RETURNING id),
        b AS (INSERT INTO balances (organization_id) SELECT id FROM o),
        p AS (INSERT INTO projects (organization_id, name) SELECT id, 'Default' FROM o RETURNING id, organization_id),
        k AS (INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
              SELECT organization_id, id, 'k', 'p', uuid_send(id), 60, 'testing' FROM p RETURNING id, organization_id)
   SELECT p.organization_id, p.id AS project_id, k.id AS key_id
   FROM p JOIN k ON k.organization_id = p.organization_id`,
);
// Admission in many organisations, each by a call of its own. Lists come as the text of an array.
const admitEach = statement<
  {
    organizationIds: readonly string[];
    finished: readonly string[];
    costs: readonly string[];
    ids: readonly string[];
    keyIds: readonly string[];
    least: readonly string[];
    most: readonly string[];
    areByok: readonly string[];
    holdMs: readonly string[];
  },
  { move: bigint; decision: AdmissionDecision['kind']; granted: bigint | null }
>(
  'simulator-admit-each',
  sql`SELECT m.n AS move, a.decision, a.granted_micro_pkr AS granted
   FROM unnest(${'organizationIds'}::uuid[], ${'finished'}::text[], ${'costs'}::text[], ${'ids'}::text[],
               ${'keyIds'}::text[], ${'least'}::text[], ${'most'}::text[], ${'areByok'}::text[], ${'holdMs'}::text[])
          WITH ORDINALITY AS m (organization_id, finished, costs, ids, key_ids, least, most, are_byok, hold_ms, n),
        LATERAL admit(
          m.finished::uuid[], array_fill(m.organization_id, ARRAY[cardinality(m.finished::uuid[])]), m.costs::bigint[],
          m.ids::uuid[], array_fill(m.organization_id, ARRAY[cardinality(m.ids::uuid[])]), m.key_ids::uuid[],
          m.least::bigint[], m.most::bigint[], m.are_byok::boolean[], m.hold_ms::bigint[], '{}', '{}', '{}', '{}', NULL)
          WITH ORDINALITY AS a (decision, granted_micro_pkr, account, limit_micro_pkr, spent_micro_pkr, held_micro_pkr, window_ids,
                                spend_limit, place)
   ORDER BY m.n, a.place`,
);
const expireKeys = statement<{ keyIds: readonly string[] }>(
  'simulator-expire-keys',
  sql`UPDATE api_keys SET expires_at = clock_timestamp() WHERE id = ANY (${'keyIds'}::uuid[])`,
);
const listKeyRows = statement<{ organizationIds: readonly string[] }, KeyRow>(
  'simulator-list-keys',
  sql`WITH settled AS (
     SELECT key_id, sum(amount) AS amount FROM (
       SELECT key_id, cost_micro_pkr AS amount FROM settlements WHERE organization_id = ANY (${'organizationIds'}::uuid[])
       UNION ALL
       SELECT key_id, spent_micro_pkr FROM settlement_totals WHERE organization_id = ANY (${'organizationIds'}::uuid[])
     ) AS parts GROUP BY key_id
   ), holding AS (
     SELECT key_id, sum(amount_micro_pkr) AS amount, sum(amount_micro_pkr) FILTER (WHERE is_final) AS final
     FROM holds WHERE organization_id = ANY (${'organizationIds'}::uuid[]) GROUP BY key_id
   )
   SELECT k.id, k.credit_limit_micro_pkr::integer AS limit, k.spent_micro_pkr::integer AS spent,
          k.held_micro_pkr::integer AS held, coalesce(s.amount, 0)::integer AS settled,
          coalesce(h.amount, 0)::integer AS holding, k.unsettled_micro_pkr::integer AS unsettled,
          coalesce(h.final, 0)::integer AS final
   FROM api_keys k LEFT JOIN settled s ON s.key_id = k.id LEFT JOIN holding h ON h.key_id = k.id
   WHERE k.organization_id = ANY (${'organizationIds'}::uuid[])`,
);
const listOrganizationRows = statement<{ organizationIds: readonly string[] }, OrganizationRow>(
  'simulator-list-organizations',
  sql`WITH counted AS (
     SELECT organization_id, sum(requests) AS requests FROM (
       SELECT organization_id, 1 AS requests FROM settlements WHERE organization_id = ANY (${'organizationIds'}::uuid[])
       UNION ALL
       SELECT organization_id, requests FROM settlement_totals WHERE organization_id = ANY (${'organizationIds'}::uuid[])
     ) AS parts GROUP BY organization_id
   ), paid AS (
     SELECT organization_id, sum(amount_micro_pkr) AS amount FROM deposits
     WHERE organization_id = ANY (${'organizationIds'}::uuid[]) GROUP BY organization_id
   )
   SELECT b.organization_id AS id, b.deposited_micro_pkr::integer AS deposited, b.spent_micro_pkr::integer AS spent,
          b.held_micro_pkr::integer AS held, b.unsettled_micro_pkr::integer AS unsettled,
          coalesce(p.amount, 0)::integer AS deposits,
          coalesce(c.requests, 0)::integer AS requests
   FROM balances b LEFT JOIN counted c USING (organization_id) LEFT JOIN paid p USING (organization_id)
   WHERE b.organization_id = ANY (${'organizationIds'}::uuid[])`,
);

// Runs a statement that was prepared on this connection once for each row of arguments.
const DRIVE = `CREATE FUNCTION drive(in_statement text, in_calls text[]) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
  call text[];
  answer record;
BEGIN
  FOREACH call SLICE 1 IN ARRAY in_calls LOOP
    EXECUTE format('EXECUTE %I (%s)', in_statement,
                   (SELECT string_agg(quote_nullable(a), ',' ORDER BY n) FROM unnest(call) WITH ORDINALITY AS u (a, n)))
      INTO answer;
    RETURN NEXT CASE WHEN answer IS NULL THEN NULL ELSE to_jsonb(answer) END;
  END LOOP;
END $$`;

const DRIVEN = {
  lock: 'SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE',
  find: keyStatements.findChangeable.text,
  update: keyStatements.updateKey.text,
  revoke: keyStatements.revokeKey.text,
};

/** The arguments of an update, in the order in which its text names them. */
function updateArguments(change: Parameters<NonNullable<typeof keyStatements.updateKey.parametersOf>>[0]) {
  return keyStatements.updateKey.parameterNames.map((name) => change[name as keyof typeof change]);
}

function describe(decision: Decision | undefined): string {
  return decision?.granted === undefined
    ? String(decision?.kind)
    : `${decision.kind} with ${decision.granted}`;
}

export class LedgerDatabase implements AsyncDisposable {
  readonly weeks: Weeks = { now: 0, closed: 0 };
  readonly #test: TestDatabase;
  readonly #service: Connection;
  readonly #owner: Connection;
  #firstWeekMs: number;

  private constructor(test: TestDatabase, service: Connection, owner: Connection, firstWeekMs: number) {
    this.#test = test;
    this.#service = service;
    this.#owner = owner;
    this.#firstWeekMs = firstWeekMs;
  }

  /** A database of its own; `sabotage` breaks a rule of it. */
  static async create(sabotage = ''): Promise<LedgerDatabase> {
    const test = await createTestDatabase();
    const [service, owner] = await Promise.all([test.database.connect(), test.owner.connect()]);
    await owner.query(DRIVE);
    if (sabotage !== '') await owner.query(sabotage);
    for (const [name, text] of Object.entries(DRIVEN)) await service.query(`PREPARE "${name}" AS ${text}`);
    const { rows } = await owner.query(
      `SELECT extract(epoch FROM settlement_week(clock_timestamp()))::float8 * 1000 AS ms`,
    );
    return new LedgerDatabase(test, service, owner, rows[0].ms + 8 * WEEK_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#service.end(), this.#owner.end()]);
    await this.#test[Symbol.asyncDispose]();
  }

  /** Gives each history its organisation and first key, and the cohort its weeks. */
  async begin(histories: readonly History[], weeks: number): Promise<void> {
    const names = histories.map(() => randomUUID());
    const rows = await this.#test.owner.many(createOrganizations, { names });
    rows.forEach(({ organizationId, projectId, keyId }, index) => {
      const history = histories[index];
      assert.ok(history);
      Object.assign(history, { organizationId, projectId });
      history.keys.push({ id: keyId, limit: null, isRevoked: false, isExpired: false, spent: 0, held: 0 });
    });
    Object.assign(this.weeks, { now: 0, closed: 0 });
    for (let week = 0; week < weeks; week += 1)
      await this.#owner.query('SELECT make_settlement_partition(to_timestamp($1))', [
        this.#weekMs(week) / 1000,
      ]);
  }

  /** The cohort's weeks are over and folded; the next cohort has later ones. */
  end(weeks: number): void {
    this.#firstWeekMs += weeks * WEEK_MS;
  }

  #weekMs(week: number): number {
    return this.#firstWeekMs + week * WEEK_MS;
  }

  async close(weeks: number): Promise<void> {
    await this.#owner.query('SELECT close_settlements(to_timestamp($1))', [this.#weekMs(weeks) / 1000]);
    this.weeks.closed = weeks;
  }

  async fold(): Promise<void> {
    await this.#service.query('BEGIN');
    await this.#service.query('SELECT fold_settlements()');
    await this.#service.query('ROLLBACK');
    for (let folds = 0; folds <= MAX_FOLDS; folds += 1) {
      const { rows } = await this.#service.query('SELECT folded FROM fold_settlements()');
      if (!rows[0]?.folded) return;
    }
    throw new Error(`fold_settlements still finds a week after ${MAX_FOLDS} folds`);
  }

  async reap(histories: readonly History[]): Promise<void> {
    await this.#crash(1, (database) => database.transaction((tx) => releaseOverdueHolds(tx, 1_000_000)));
    await releaseOverdueHolds(this.#test.database, 1_000_000);
    await settleOverdueHolds(this.#test.database, 1_000_000);
    for (const history of histories) history.reap(this.weeks);
  }

  /** Runs work whose transaction ends after so many statements, as if the process or the server had. */
  async #crash(after: number, work: (database: Database) => Promise<unknown>): Promise<void> {
    const { database } = this.#test;
    const transaction = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> =>
      database.transaction(async (tx) => {
        let left = after;
        const counted =
          <A extends readonly unknown[], R>(send: (...given: A) => Promise<R>) =>
          (...given: A): Promise<R> => {
            if (left === 0) throw new Crashed();
            left -= 1;
            return send(...given);
          };
        await body({
          ...tx,
          one: counted(tx.one),
          many: counted(tx.many),
          run: counted(tx.run),
        } as Transaction);
        throw new Crashed();
      });
    await assert.rejects(work({ ...database, transaction }), Crashed);
  }

  async #drive(
    name: keyof typeof DRIVEN,
    calls: readonly (readonly unknown[])[],
  ): Promise<Record<string, number>[]> {
    const { rows } = await this.#service.query('SELECT drive AS answer FROM drive($1, $2::text[])', [
      name,
      calls,
    ]);
    return rows.map((row) => row.answer);
  }

  async deposit(moves: readonly Move<'deposit'>[], after: number | undefined): Promise<void> {
    const work = (database: Database) =>
      database.transaction(async (tx) => {
        for (const { history, step } of moves) {
          const { organizationId } = history;
          await deposit(
            tx,
            { organizationId, amountMicroPkr: BigInt(step.amount), note: null },
            recordsFrom('::1'),
          );
        }
      });
    if (after !== undefined) return this.#crash(after, work);
    await work(this.#test.database);
    for (const { history, step } of moves) history.deposited += step.amount;
  }

  async mint(moves: readonly Move<'mint'>[], after: number | undefined): Promise<void> {
    const minted: string[] = [];
    const work = (database: Database) =>
      database.transaction(async (tx) => {
        minted.length = 0;
        for (const { history, step } of moves) {
          await keyStatements.lockOrganization(tx, history.organizationId);
          const row = await keyStatements.insertKey(tx, {
            organizationId: history.organizationId,
            // The project is the organisation's own: `begin` made it.
            projectId: history.projectId as Parameters<typeof keyStatements.insertKey>[1]['projectId'],
            name: 'k',
            keyPrefix: 'p',
            secretHash: Buffer.from(randomUUID()),
            rateLimitRpm: 60,
            expiresAt: null,
            creditLimitMicroPkr: step.limit === null ? null : BigInt(step.limit),
            allowedModels: null,
            environment: 'testing',
            createdBy: null,
            maxKeys: DEFAULT_KEYS_PER_ORGANIZATION,
          });
          minted.push(row.id);
        }
      });
    if (after !== undefined) return this.#crash(after, work);
    await work(this.#test.database);
    moves.forEach(({ history, step }, index) => {
      const id = minted[index] ?? '';
      history.keys.push({ id, limit: step.limit, isRevoked: false, isExpired: false, spent: 0, held: 0 });
    });
  }

  /** As PATCH does it: the organisation locked, the figures read, the rule applied, the row changed. */
  async patch(moves: readonly Move<'patch'>[], after: number | undefined): Promise<void> {
    await this.#inTransaction(after, async () => {
      await this.#drive(
        'lock',
        moves.map(({ history }) => [history.organizationId]),
      );
      const found = await this.#drive(
        'find',
        moves.map(({ history, step }) => [step.key.id, history.organizationId]),
      );
      const allowed = moves.filter(({ step: { limit } }, index) => {
        const row = found[index];
        if (!row) return false;
        const {
          settled_micro_pkr: settled = 0,
          unsettled_micro_pkr: unsettled = 0,
          other_limits_micro_pkr: others = 0,
          budget_micro_pkr: deposited = 0,
        } = row;
        return limit === null || (limit >= settled + unsettled && limit + others <= deposited);
      });
      const calls = allowed.map(({ history, step }) =>
        updateArguments({
          keyId: step.key.id as KeyId,
          organizationId: history.organizationId,
          rateLimitRpm: 60,
          creditLimitMicroPkr: step.limit === null ? null : BigInt(step.limit),
          expiresAt: null,
        }),
      );
      const changed = calls.length > 0 ? await this.#drive('update', calls) : [];
      const isChanged = new Set(allowed.filter((_, index) => changed[index]));
      for (const move of moves) {
        const { history, step } = move;
        const may = history.mayLimit(step.key, step.limit);
        if (may !== isChanged.has(move))
          throw new Contradiction(history, `a limit of ${step.limit} was ${may ? 'refused' : 'accepted'}`);
      }
      return () => {
        for (const { step } of isChanged) Object.assign(step.key, { limit: step.limit, isExpired: false });
      };
    });
  }

  async revoke(moves: readonly Move<'revoke'>[], after: number | undefined): Promise<void> {
    await this.#inTransaction(after, async () => {
      await this.#drive(
        'lock',
        moves.map(({ history }) => [history.organizationId]),
      );
      const answers = await this.#drive(
        'revoke',
        moves.map(({ history, step }) => [step.key.id, history.organizationId]),
      );
      moves.forEach(({ history, step }, index) => {
        if (Boolean(answers[index]) === step.key.isRevoked)
          throw new Contradiction(history, 'a key was revoked twice, or not at all');
      });
      return () => {
        for (const { step } of moves) step.key.isRevoked = true;
      };
    });
  }

  async expire(moves: readonly Move<'expire'>[]): Promise<void> {
    await this.#test.owner.run(expireKeys, { keyIds: moves.map(({ step }) => step.key.id) });
    for (const { step } of moves) step.key.isExpired = true;
  }

  async #inTransaction(after: number | undefined, work: () => Promise<() => void>): Promise<void> {
    await this.#service.query('BEGIN');
    const commit = await work();
    await this.#service.query(after === undefined ? 'COMMIT' : 'ROLLBACK');
    if (after === undefined) commit();
  }

  async admit(moves: readonly Move<'admit'>[], after: number | undefined): Promise<void> {
    const ids = moves.map(({ step }) =>
      step.wanted.map(({ week }) => newRequestId(this.#weekMs(week) + 1_000)),
    );
    const lists = (listOf: (step: StepOf<'admit'>) => readonly unknown[]) =>
      moves.map(({ step }) => `{${listOf(step).join()}}`);
    const parameters = {
      organizationIds: moves.map(({ history }) => history.organizationId),
      finished: lists(({ finished }) => finished.map(({ id }) => id)),
      costs: lists(({ finished }) => finished.map(({ cost }) => cost)),
      ids: ids.map((some) => `{${some.join()}}`),
      keyIds: lists(({ wanted }) => wanted.map(({ key }) => key.id)),
      least: lists(({ wanted }) => wanted.map(({ least }) => least)),
      most: lists(({ wanted }) => wanted.map(({ most }) => most)),
      areByok: lists(({ wanted }) => wanted.map(({ isByok }) => isByok)),
      holdMs: lists(({ wanted }) => wanted.map(({ isOverdue }) => (isOverdue ? -1 : HOLD_MS))),
    };
    const decisions: Decision[][] = moves.map(() => []);
    const send = (database: Database) =>
      database.transaction(async (tx) => {
        for (const list of decisions) list.length = 0;
        for (const { move, decision, granted } of await tx.many(admitEach, parameters))
          decisions[Number(move) - 1]?.push({
            kind: decision,
            granted: granted === null ? undefined : Number(granted),
          });
      });
    if (after === undefined) await send(this.#test.database);
    else await this.#crash(Number.POSITIVE_INFINITY, send);
    moves.forEach((move, index) => {
      this.#compare(move, decisions[index] ?? [], ids[index] ?? [], after === undefined);
    });
  }

  /** The decisions of one history's step with those of the model, which takes the step along. */
  #compare(
    { history, step }: Move<'admit'>,
    decisions: readonly Decision[],
    ids: readonly string[],
    isCommitted: boolean,
  ): void {
    const rehearsal = isCommitted ? undefined : history.save();
    history.finish(step.finished);
    for (const [index, wish] of step.wanted.entries()) {
      const { kind, granted } = history.decide(wish, this.weeks);
      const was = describe(decisions[index]);
      const expected = describe({ kind, granted });
      history.trace.push(`  ${was}`);
      if (was !== expected)
        throw new Contradiction(history, `an admission was ${was} and should have been ${expected}`);
      if (granted !== undefined) history.admit(wish, ids[index] ?? '', granted, true);
    }
    // All of it was lost with the server, but those gateways go on that had their answer by then.
    rehearsal?.(step.goesOn);
  }

  async settle(moves: readonly Move<'settle'>[], after: number | undefined): Promise<void> {
    const requests = moves.flatMap(({ history, step }) =>
      step.requests.map((request) => ({ history, request })),
    );
    const settlements = requests.map(({ history, request }) => ({
      requestId: request.id as RequestId,
      organizationId: history.organizationId as OrganizationId,
      keyId: request.key.id as KeyId,
      costMicroPkr: BigInt(request.cost ?? 0),
    }));
    if (after !== undefined)
      return this.#crash(after, (database) => database.transaction((tx) => settle(tx, settlements)));
    const late = new Set(await settle(this.#test.database, settlements));
    requests.forEach(({ history, request }, index) => {
      const settlement = settlements[index];
      const isLate = settlement !== undefined && late.has(settlement);
      if (isLate !== (request.week < this.weeks.closed && (request.cost ?? 0) > 0))
        throw new Contradiction(history, `a settlement was ${isLate ? '' : 'not '}said to be late`);
    });
    for (const { history, step } of moves) history.settle(step.requests, this.weeks);
  }

  /** Compares what the database says with the model and with itself, history by history. */
  async check(histories: readonly History[]): Promise<void> {
    const ids = histories.map(({ organizationId }) => organizationId);
    const rowsById = async <Row extends { readonly id: string }>({
      text,
    }: Statement<{ organizationIds: readonly string[] }, Row>) => {
      // Without a name: a plan made for any list of ids is many times slower than one for this.
      const { rows } = await this.#service.query<Row>(text, [ids]);
      return new Map(rows.map((row) => [row.id, row]));
    };
    const keys = await rowsById(listKeyRows);
    const organizations = await rowsById(listOrganizationRows);
    for (const history of histories) {
      const must = (isSo: boolean, what: string) => {
        if (!isSo) throw new Contradiction(history, what);
      };
      for (const key of history.keys) {
        const row = keys.get(key.id);
        if (!row) throw new Contradiction(history, 'a key is gone');
        const { spent, held, settled, holding, unsettled, final, limit } = row;
        must(spent === settled, `a key has spent ${spent}, and its settlements come to ${settled}`);
        must(held === holding, `a key holds ${held}, and its holds come to ${holding}`);
        must(spent === key.spent, `a key has spent ${spent} and should have spent ${key.spent}`);
        must(held === key.held, `a key holds ${held} and should hold ${key.held}`);
        must(unsettled === final, `a key has ${unsettled} unsettled, and its final holds come to ${final}`);
        must(
          unsettled === history.final(key),
          `a key has ${unsettled} unsettled and should have ${history.final(key)}`,
        );
        must(limit === key.limit, `a key's limit is ${limit} and should be ${key.limit}`);
      }
      const row = organizations.get(history.organizationId);
      if (!row) throw new Contradiction(history, 'a balance is gone');
      const { deposited, deposits, spent, held, unsettled, requests } = row;
      must(deposited === deposits, `deposited is ${deposited}, and the deposits come to ${deposits}`);
      must(deposited === history.deposited, `deposited is ${deposited} and should be ${history.deposited}`);
      must(
        spent === history.spent,
        `the organisation has spent ${spent} and should have spent ${history.spent}`,
      );
      must(held === history.held, `the organisation holds ${held} and should hold ${history.held}`);
      must(unsettled === history.final(), `unsettled is ${unsettled} and should be ${history.final()}`);
      must(requests === history.settled, `${requests} requests are counted and ${history.settled} should be`);
    }
  }
}
