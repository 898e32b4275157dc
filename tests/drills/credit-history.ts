import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyId, OrganizationId } from '@gatehouse/contract';
import {
  CreditNode,
  type CreditWish,
  issueKey,
  type Reserved,
  releaseOverdueHolds,
  TestProcesses,
} from '@gatehouse/gateway/testing';
import type { Database } from '@gatehouse/store';
import { createTestDatabase, rawSql, runSql } from '@gatehouse/store/testing';
import {
  type Account,
  capsOf,
  costOf,
  describe,
  expireHolds,
  freeOf,
  INFINITE,
  listHolds,
  ROUTE,
  readAccounts,
  readSettlements,
  type Tally,
} from './credit-rules.ts';
import { seeded } from './seeded.ts';

// A history of the credit of one organisation over two gateways: concurrent requests that are granted in full,
// in part or not at all; that succeed, fail, are abandoned by their callers, or cost more than was held; settlements; crashes of the
// gateways at any point. The seed determines the events. The moment at which a gateway crashes
// also depends on the machine.
//
// A token costs one micro-PKR and amounts are small, so that limits are reached often.

const STEPS = 24;
const WORKERS = 4;
export interface Failure {
  readonly seed: number;
  readonly message: string;
  readonly trace: readonly string[];
}

class Contradiction extends Error {}

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Contradiction(what);
}

async function live(database: Database, seed: number, tally: Tally): Promise<Failure | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-credit-'));
  const history = new CreditHistory(database, directory, seed, tally);
  try {
    await history.run();
    return undefined;
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return { seed, message: error.message, trace: history.trace };
  } finally {
    history.end();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Runs many histories, some concurrently. The first that contradicts the rules ends the run. */
export async function liveMany(options: {
  readonly histories: number;
  readonly firstSeed: number;
  readonly sabotage?: string;
}): Promise<{ readonly failure: Failure | undefined; readonly tally: Tally }> {
  const { histories, firstSeed, sabotage } = options;
  const tally = {
    ...{ granted: 0, lowered: 0, exhausted: 0, held: 0, refusalsExamined: 0, surplusesExamined: 0 },
    ...{ crashes: 0, settled: 0 },
  };
  await using test = await createTestDatabase();
  if (sabotage !== undefined) await runSql(test.owner)`${rawSql(sabotage)}`;
  let next = 0;
  let failure: Failure | undefined;
  const worker = async () => {
    while (next < histories && !failure) {
      next += 1;
      failure ??= await live(test.database, firstSeed + next - 1, tally);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return { failure, tally };
}

class CreditHistory {
  readonly trace: string[] = [];
  readonly #database: Database;
  readonly #directory: string;
  readonly #tally: Tally;
  readonly #random: () => number;
  readonly #processes = new TestProcesses();
  readonly #nodes: CreditNode[] = [];
  readonly #dead: CreditNode[] = [];
  #nodesMade = 0;
  #organizationId = '' as OrganizationId;
  readonly #keyIds: KeyId[] = [];
  readonly #inFlight: { readonly node: CreditNode; readonly reserved: Reserved }[] = [];
  /** Admitted by a gateway that died: they will never be recorded. */
  readonly #orphans: Reserved[] = [];
  /** Requests interrupted by a crash: with or without a hold, recorded or not. */
  readonly #inDoubt = new Set<string>();
  /** The cost of the recorded requests, and of those that may have been recorded. */
  readonly #recorded = new Map<string, bigint>();
  readonly #perhaps = new Map<string, bigint>();
  /** Cost beyond the hold, by key and for the organisation. */
  readonly #beyond = new Map<string, bigint>();
  /** Cost of requests on the organisation's own provider key, which the balance does not limit. */
  #byokCost = 0n;

  constructor(database: Database, directory: string, seed: number, tally: Tally) {
    this.#database = database;
    this.#directory = directory;
    this.#tally = tally;
    this.#random = seeded(seed);
  }

  async run(): Promise<void> {
    await this.#begin();
    for (let step = 0; step < STEPS; step += 1) {
      await this.#step();
      await this.#replaceTheDead();
    }
    while (this.#inFlight.length > 0) {
      await this.#finish(this.#inFlight.length);
      await this.#replaceTheDead();
    }
    for (const node of this.#nodes) node.kill();
    await this.#replaceTheDead(false);
    await this.#recover();
    await this.#audit();
  }

  end(): void {
    for (const node of this.#nodes) node.kill();
  }

  async #begin(): Promise<void> {
    const depositedMicroPkr = BigInt(100 + this.#upTo(300));
    for (let n = 0; n <= this.#upTo(2); n += 1) {
      const creditLimitMicroPkr = BigInt(20 + this.#upTo(180));
      const { id, organizationId } = await issueKey(this.#database, {
        depositedMicroPkr,
        ...(this.#chance(0.7) ? { creditLimitMicroPkr } : {}),
        ...(this.#keyIds.length === 0 ? {} : { organizationId: this.#organizationId }),
      });
      this.#organizationId = organizationId;
      this.#keyIds.push(id);
    }
    this.#nodes.push(await this.#start(), await this.#start());
  }

  async #start(mayDie = true): Promise<CreditNode> {
    this.#nodesMade += 1;
    const dieAfter = this.#chance(0.5) ? 1 + this.#upTo(300) : undefined;
    const node = new CreditNode({
      name: `node ${this.#nodesMade}`,
      directory: this.#directory,
      database: this.#database,
      processes: this.#processes,
    });
    await node.opened();
    if (mayDie && dieAfter !== undefined) node.dieAfter(dieAfter);
    return node;
  }

  async #replaceTheDead(mayDie = true): Promise<void> {
    for (const [index, node] of this.#nodes.entries()) {
      if (!node.isDead) continue;
      this.trace.push(`${node.name} is dead`);
      this.#tally.crashes += 1;
      this.#processes.dead.add(node.name);
      for (const one of this.#inFlight.filter((one) => one.node === node)) {
        this.#inFlight.splice(this.#inFlight.indexOf(one), 1);
        this.#orphans.push(one.reserved);
      }
      this.#dead.push(node);
      this.#nodes[index] = await this.#start(mayDie);
    }
  }

  async #step(): Promise<void> {
    const choice = this.#random();
    if (choice < 0.5 || this.#inFlight.length === 0) await this.#ask();
    else if (choice < 0.85) await this.#finish(1 + this.#upTo(2));
    else if (choice < 0.89) this.#one(this.#nodes).kill();
    else if (choice < 0.94 || !this.#isClear) await this.#recover();
    else for (const node of this.#nodes) await node.settle();
  }

  #wish(): CreditWish {
    return {
      keyId: this.#one(this.#keyIds),
      organizationId: this.#organizationId,
      route: ROUTE,
      promptTokens: this.#upTo(10),
      outputCap: this.#chance(0.4) ? undefined : 1 + this.#upTo(80),
      choices: this.#chance(0.2) ? 2 : 1,
      isByok: this.#chance(0.1),
    };
  }

  /** Some concurrent requests, on either gateway. */
  async #ask(): Promise<void> {
    const wishes = Array.from({ length: this.#chance(0.5) ? 1 : 2 + this.#upTo(4) }, () => this.#wish());
    const before = await this.#accounts();
    const answers = await Promise.all(
      wishes.map(async (wish) => {
        const node = this.#one(this.#nodes);
        return { node, wish, answer: await node.reserve(wish) };
      }),
    );
    const after = await this.#accounts();
    const granted: Reserved[] = [];
    for (const { node, wish, answer } of answers) {
      if (answer === 'crashed') {
        // It may have a hold or not.
        this.#inDoubt.add('an admission');
        this.trace.push(`${describe(wish)} crashed`);
      } else if ('refusal' in answer) {
        this.trace.push(`${describe(wish)} ${answer.refusal}`);
      } else {
        const { requestId, heldMicroPkr, outputCap } = answer;
        this.trace.push(`${describe(wish)} ${requestId.slice(-4)} holds ${heldMicroPkr} for ${outputCap}`);
        this.#inFlight.push({ node, reserved: answer });
        granted.push(answer);
      }
    }
    for (const reserved of granted) this.#examineGrant(reserved, after);
    for (const { wish, answer } of answers)
      if (answer !== 'crashed' && 'refusal' in answer)
        this.#examineRefusal(wish, answer.refusal, wishes.length === 1 ? before : after, after);
  }

  #examineGrant({ wish, heldMicroPkr, outputCap }: Reserved, after: ReadonlyMap<string, Account>): void {
    const { wanted, floor } = capsOf(wish);
    this.#tally.granted += 1;
    if (outputCap < wanted) this.#tally.lowered += 1;
    must(
      outputCap <= wanted && outputCap >= floor,
      `the cap ${outputCap} is not between ${floor} and ${wanted}`,
    );
    must(costOf(wish, outputCap) <= heldMicroPkr, `${heldMicroPkr} is held for ${costOf(wish, outputCap)}`);
    must(heldMicroPkr <= costOf(wish, wanted), `${heldMicroPkr} is held for ${costOf(wish, wanted)}`);
    if (outputCap < wanted)
      must(costOf(wish, outputCap + 1) > heldMicroPkr, `${heldMicroPkr} would do for more than ${outputCap}`);
    const accounts = wish.isByok ? [wish.keyId] : [wish.keyId, wish.organizationId];
    // Nothing is released meanwhile, so a lowered cap has taken the last of an account.
    if (outputCap < wanted && this.#isClear) {
      const free = accounts.map((id) => freeOf(after.get(id) as Account));
      must(
        free.some((amount) => amount <= 0n),
        `the cap is lowered to ${outputCap}, though ${free.join(' and ')} are free after it`,
      );
    }
    for (const id of accounts) {
      const { limit, spent, held } = after.get(id) as Account;
      // Later requests may exceed it: with the organisation's own provider key, or when they cost more
      // than they held.
      const isBound = id === wish.keyId || this.#byok === 0n;
      if (limit === null || !isBound || (id === wish.organizationId && !this.#isClear)) continue;
      const most = limit + (this.#beyond.get(id) ?? 0n);
      must(spent + held <= most, `${spent} spent and ${held} held of ${limit} after an admission`);
    }
  }

  /** `earliest`: the state when it was decided or, for several, when all were. */
  #examineRefusal(
    wish: CreditWish,
    code: string,
    earliest: ReadonlyMap<string, Account>,
    after: ReadonlyMap<string, Account>,
  ): void {
    must(['key_credit_exhausted', 'budget_exhausted', 'credit_held'].includes(code), `refused with ${code}`);
    this.#tally[code === 'credit_held' ? 'held' : 'exhausted'] += 1;
    // Leftovers of a crash may be settled, and change the available credit, while the request is decided.
    if (!this.#isClear) return;
    this.#tally.refusalsExamined += 1;
    const least = costOf(wish, capsOf(wish).floor);
    const figures = (accounts: ReadonlyMap<string, Account>) => {
      const ofKey = accounts.get(wish.keyId) as Account;
      const all = [ofKey, ...(wish.isByok ? [] : [accounts.get(wish.organizationId) as Account])];
      const left = all.map(({ limit, spent, unsettled }) => (limit ?? INFINITE) - spent - unsettled);
      const free = all.map(freeOf);
      return { isUsedUp: (left[0] ?? 0n) <= 0n, left, free };
    };
    const { isUsedUp, free } = figures(earliest);
    must(
      isUsedUp || free.some((amount) => amount < least),
      `refused, though ${free.join(' and ')} are free for ${least}`,
    );
    const { left, isUsedUp: isSpent } = figures(after);
    const isExhausted = isSpent || left.some((amount) => amount < least);
    must(
      isExhausted === (code !== 'credit_held'),
      `${code}, though ${left.join(' and ')} are left for ${least}`,
    );
  }

  /** Some requests in flight end: answered, failed, abandoned by their caller, or more expensive than their hold. */
  async #finish(count: number): Promise<void> {
    const ending = Array.from({ length: Math.min(count, this.#inFlight.length) }, () =>
      this.#inFlight.splice(this.#upTo(this.#inFlight.length - 1), 1),
    ).flat();
    await Promise.all(
      ending.map(async ({ node, reserved }) => {
        const { requestId, heldMicroPkr, wish } = reserved;
        const kind = this.#random();
        const more = kind < 0.07 ? BigInt(1 + this.#upTo(10)) : 0n;
        const cost =
          kind < 0.2 && more === 0n ? 0n : more > 0n ? heldMicroPkr + more : this.#share(heldMicroPkr);
        for (const id of [wish.keyId, wish.organizationId])
          this.#beyond.set(id, (this.#beyond.get(id) ?? 0n) + more);
        if (wish.isByok) this.#byokCost += cost;
        const outcome = await node.finish(reserved, cost);
        this.trace.push(`${requestId.slice(-4)} cost ${cost} of ${heldMicroPkr}: ${outcome}`);
        if (outcome === 'delivered') this.#recorded.set(requestId, cost);
        else {
          this.#perhaps.set(requestId, cost);
          this.#inDoubt.add(requestId);
        }
      }),
    );
    if (!this.#isClear) return;
    this.#tally.surplusesExamined += 1;
    const accounts = await this.#accounts();
    for (const id of this.#keyIds) {
      const { held, unsettled } = accounts.get(id) as Account;
      const inFlight = [...this.#inFlight.map(({ reserved }) => reserved), ...this.#orphans]
        .filter(({ wish }) => wish.keyId === id)
        .reduce((sum, { heldMicroPkr }) => sum + heldMicroPkr, 0n);
      must(
        held - unsettled === inFlight,
        `${held - unsettled} is held for requests in flight that hold ${inFlight}`,
      );
    }
  }

  /** Segments of crashed gateways are recovered and settled, and holds of unrecorded requests are released. */
  async #recover(): Promise<void> {
    let isRecovered = false;
    while (!isRecovered) {
      await this.#replaceTheDead();
      // Recovered first, settled after that.
      isRecovered = (await this.#journals()) <= this.#nodes.length;
      const outcomes = await Promise.all(this.#nodes.map((node) => node.settle()));
      isRecovered &&= outcomes.every((outcome) => outcome === 'settled');
    }
    for (const node of this.#dead.splice(0)) await node.statementsEnded();
    const mine = new Set(this.#inFlight.map(({ reserved }) => reserved.requestId));
    const held = await this.#database.many(listHolds, { organizationId: this.#organizationId });
    await this.#database.run(expireHolds, {
      requestIds: held.flatMap(({ id }) => (mine.has(id) ? [] : id)),
    });
    await releaseOverdueHolds(this.#database, 1_000);
    this.#orphans.length = 0;
    this.#inDoubt.clear();
    this.trace.push('recovered');
  }

  /** The number of gateway directories, including live ones, excluding those that a crash left empty. */
  async #journals(): Promise<number> {
    let count = 0;
    for (const name of await readdir(this.#directory)) {
      // The directory may be removed meanwhile.
      const files = await readdir(join(this.#directory, name)).catch(() => []);
      if (files.some((file) => file !== 'owner.new')) count += 1;
    }
    return count;
  }

  /** Everything has ended: spend equals the recorded costs, each once, and nothing is held. */
  async #audit(): Promise<void> {
    const settlements = await this.#database.many(readSettlements, { organizationId: this.#organizationId });
    this.#tally.settled += settlements.length;
    const seen = new Set<string>();
    for (const { id, cost } of settlements) {
      const expected = this.#recorded.get(id) ?? this.#perhaps.get(id);
      must(expected === cost, `${id} was settled for ${cost} and cost ${expected}`);
      seen.add(id);
    }
    for (const id of this.#recorded.keys()) must(seen.has(id), `${id} was recorded and never settled`);
    const accounts = await this.#accounts();
    for (const { id, limit, spent, held, unsettled } of accounts.values()) {
      must(held === 0n && unsettled === 0n, `${held} is held in the end, ${unsettled} of it final`);
      const sum = settlements
        .filter(({ key }) => key === id || id === this.#organizationId)
        .reduce((total, { cost }) => total + cost, 0n);
      must(spent === sum, `${spent} is spent, and the settlements come to ${sum}`);
      const most = (limit ?? spent) + (this.#beyond.get(id) ?? 0n);
      const unbound = id === this.#organizationId ? this.#byokCost : 0n;
      must(spent - unbound <= most, `${spent} is spent of ${limit}`);
    }
  }

  /** True if nothing is in flight except the requests of this history. */
  get #isClear(): boolean {
    return this.#inDoubt.size === 0 && this.#nodes.every(({ isDead }) => !isDead);
  }

  async #accounts(): Promise<ReadonlyMap<string, Account>> {
    const rows = await this.#database.many(readAccounts, { organizationId: this.#organizationId });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Cost and holds of requests on the organisation's own provider key. */
  get #byok(): bigint {
    const held = [...this.#inFlight.map(({ reserved }) => reserved), ...this.#orphans]
      .filter(({ wish }) => wish.isByok)
      .reduce((sum, { heldMicroPkr }) => sum + heldMicroPkr, 0n);
    return this.#byokCost + held;
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  #share(amount: bigint): bigint {
    return BigInt(this.#upTo(Number(amount)));
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#upTo(list.length - 1)] as T;
  }
}
