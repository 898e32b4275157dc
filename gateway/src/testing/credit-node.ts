import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { GatewayKey } from '../catalogue/queries.ts';
import type { Route } from '../catalogue/route.ts';
import { StepRefusal } from '../context/step.ts';
import { type Admissions, createAdmissions } from '../credit/admissions.ts';
import { releaseSurplus } from '../endpoints/release-surplus.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { MetadataBudget } from '../exchange/metadata-budget.ts';
import { newRequestId } from '../exchange/request-id.ts';
import type { Call } from '../formats/call.ts';
import type { OpenJournal } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import { SimulatedProcess } from '../journal/testing/crash-simulator.ts';
import { finished, memoryLog, quick, type TestProcesses } from '../journal/testing/fixtures.ts';
import type { PermittedCandidate, PricedCandidate } from '../routing/candidate.ts';
import { reserveCredit } from '../steps/reserve-credit.ts';

/** The credit that a request asks for. */
export interface CreditWish {
  readonly keyId: KeyId;
  readonly organizationId: OrganizationId;
  readonly route: Route;
  readonly promptTokens: number;
  readonly outputCap: number | undefined;
  readonly choices: number;
  readonly isByok: boolean;
}

export interface Reserved {
  readonly requestId: RequestId;
  readonly wish: CreditWish;
  readonly outputCap: number;
  readonly heldMicroPkr: bigint;
}

export type Reservation = Reserved | { readonly requestId: RequestId; readonly refusal: string } | 'crashed';

/**
 * The credit part of a gateway: the steps that reserve and release it, and the journal that settles it. It can be killed at any point, by
 * the test or at a point of its own.
 */
export class CreditNode {
  readonly name: string;
  readonly #process = new SimulatedProcess();
  readonly #admissions: Admissions;
  readonly #journal: Promise<OpenJournal>;
  readonly #log = memoryLog().log;
  readonly #statements = new Set<Promise<unknown>>();

  constructor(options: {
    readonly name: string;
    readonly directory: string;
    readonly database: Database;
    readonly processes: TestProcesses;
  }) {
    this.name = options.name;
    const database = this.#process.database(this.#watched(options.database));
    this.#admissions = createAdmissions(database, 60_000);
    this.#journal = this.#process.run(() =>
      openJournal({
        ...quick,
        directory: options.directory,
        database,
        shipTelemetry: async () => {},
        processes: options.processes.as(options.name),
        clock: this.#process.clock,
        log: this.#log,
        maxSegmentRecords: 5,
        recoveryIntervalMs: 3,
        heartbeatMs: 1_000,
        // Holds are released when the history says so.
        reapIntervalMs: 1_000_000,
        leaseMs: 1_000_000,
      }),
    );
  }

  /** Resolves when the statements that were sent have ended: they go on in the database, whether or not the sender lives. */
  statementsEnded(): Promise<unknown> {
    return Promise.allSettled(this.#statements);
  }

  #watched(database: Database): Database {
    const watch = <T>(work: Promise<T>): Promise<T> => {
      this.#statements.add(work);
      const forget = () => this.#statements.delete(work);
      work.then(forget, forget);
      return work;
    };
    return {
      ...database,
      many: (...args) => watch(database.many(...args)),
      transaction: (work) => watch(database.transaction(work)),
    };
  }

  /** Resolves when its journal is open: a directory without an owner file is not recovered. */
  async opened(): Promise<void> {
    await this.#journal;
  }

  /** Dies at this point of its work from now on. */
  dieAfter(points: number): void {
    this.#process.crashAfter(points);
  }

  get isDead(): boolean {
    return this.#process.isCrashed;
  }

  kill(): void {
    this.#process.crash();
  }

  async reserve(wish: CreditWish): Promise<Reservation> {
    const requestId = newRequestId(Date.now());
    const { keyId, organizationId, route, isByok } = wish;
    const call = { ...wish, uncountableParts: [] } as unknown as Call;
    const key = { id: keyId, organizationId } as GatewayKey;
    return this.#live(async () => {
      try {
        const parts = { admissions: this.#admissions, metadata: new MetadataBudget(new Map(), () => 0) };
        const droppedTools = new Set<string>();
        const [target] = route.targets;
        const candidate = { target, providerCall: call, isByok, droppedTools } as Partial<PermittedCandidate>;
        const permitted = [candidate as PermittedCandidate];
        const context = { key, route, call, permitted, presumed: undefined };
        const reserved = await reserveCredit(context, exchangeOf(requestId), parts);
        if (reserved instanceof StepRefusal) throw reserved.error;
        const { admitted, heldMicroPkr } = reserved;
        const [{ largestCap, wantedOutput }] = admitted as [PricedCandidate];
        return { requestId, wish, outputCap: largestCap(heldMicroPkr, wantedOutput), heldMicroPkr };
      } catch (error) {
        if (error instanceof GatewayError) return { requestId, refusal: error.code };
        throw error;
      }
    });
  }

  /** Records it and releases what it held beyond its cost. Whether its answer was delivered, or the node crashed. */
  finish(
    { requestId, heldMicroPkr, wish: { keyId, organizationId } }: Reserved,
    costMicroPkr: bigint,
  ): Promise<'delivered' | 'crashed'> {
    const account = { organizationId, projectId: organizationId, keyIds: [keyId] };
    const request = finished(account, { requestId, costMicroPkr, isHeld: true });
    const parts = { admissions: this.#admissions, log: this.#log };
    return this.#live(async () => {
      await (await this.#journal).append(request);
      await releaseSurplus({ organizationId, heldMicroPkr }, exchangeOf(requestId), costMicroPkr, parts);
      return 'delivered' as const;
    });
  }

  /** Resolves once everything that it has recorded is settled. */
  settle(): Promise<'settled' | 'crashed'> {
    return this.#live(async () => {
      await (await this.#journal).flush();
      return 'settled' as const;
    });
  }

  #live<T>(work: () => Promise<T>): Promise<T | 'crashed'> {
    if (this.isDead) return Promise.resolve('crashed');
    const done = this.#process.run(work).catch((error: unknown) => {
      if (this.isDead) return 'crashed' as const;
      throw error;
    });
    // Messages of a dead node are ignored.
    return Promise.race([this.#process.crashed.then(() => 'crashed' as const), done]);
  }
}

function exchangeOf(id: RequestId): Pick<Exchange, 'id' | 'request' | 'stopReason' | 'throwIfStopped'> {
  const request = { rawHeaders: [] as string[] } as Exchange['request'];
  return { id, request, stopReason: undefined, throwIfStopped() {} };
}
