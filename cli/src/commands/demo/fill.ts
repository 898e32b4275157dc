import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { timestampWithOffset } from '@gatehouse/contract';
import {
  budgetDemoOrganization,
  createDemoOrganization,
  DemoError,
  type DemoOrganization,
} from '@gatehouse/control-plane';
import { findAccount } from '@gatehouse/control-plane/auth';
import { listRouteOverviews, type RouteOverview } from '@gatehouse/control-plane/catalogue';
import { keepLedger } from '@gatehouse/control-plane/ledger';
import { findOrganization } from '@gatehouse/control-plane/organization';
import { settle } from '@gatehouse/gateway/journal';
import type { Database } from '@gatehouse/store';
import { fillRequestLog } from '@gatehouse/traffic';
import type { Context } from '../../terminal/command.ts';
import { CommandError, invalidValue } from '../../terminal/errors.ts';
import { unlessInterrupted } from '../../terminal/interruption.ts';
import { counted, shown, warn } from '../../terminal/output.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import { SOURCE_IP } from '../operator.ts';
import { budgetOf } from './budget.ts';
import { costsOf, spendByKey } from './costs.ts';
import { timeAtMicros, trafficProfileOf, type Window } from './demo-traffic.ts';
import { type Installation, openInstallation, readEmbeddedConfig } from './installation.ts';
import { addressesOf, KEYS, PROJECTS, restrictedModels } from './plan.ts';
import { printDemo } from './print-demo.ts';

// In this order: the organisation with its keys in one transaction; the requests, which need the ids of the keys; the
// budget, which depends on their cost; and last the costs themselves, request by request, by the code that settles the
// gateway's requests. Each step uses only earlier ones, and the ledger is correct after each.

const DEFAULT_NAME = 'Demo Company';
const DEFAULT_ROWS = '200000';
const MAX_ROWS = 5_000_000;
const DEFAULT_DAYS = '30';
// The ledger folds older requests and does not accept them.
const MAX_DAYS = 90;
const DAY_MICROS = 86_400_000_000n;
// Commands run on this machine.

interface Arguments {
  readonly name: string | undefined;
  readonly rows: string | undefined;
  readonly days: string | undefined;
}

export async function fillDemo(args: Arguments, context: Context): Promise<number> {
  const name = args.name ?? DEFAULT_NAME;
  const rows = readCount('--rows', args.rows ?? DEFAULT_ROWS, MAX_ROWS);
  const days = readCount('--days', args.days ?? DEFAULT_DAYS, MAX_DAYS);
  const config = readEmbeddedConfig(context.environment());
  return unlessInterrupted(async (interrupted) => {
    using progress = createProgress(context);
    progress.step('Opening the stores');
    await using installation = await openInstallation(config);
    const stopping = new AbortController();
    const invocation = { name, rows, days, signal: stopping.signal, progress };
    const work = fill(installation, invocation, context);
    try {
      const made = await Promise.race([work, interrupted]);
      progress[Symbol.dispose]();
      printDemo(context, config, { ...made, rows, days });
      return 0;
    } finally {
      stopping.abort(new CommandError('interrupted'));
      // The work ends before the stores close.
      await work.catch(() => undefined);
    }
  });
}

function readCount(what: string, text: string, most: number): number {
  const count = /^[0-9]{1,8}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw invalidValue(what, text, `a whole number from 1 to ${most}`);
}

export interface Made {
  readonly organization: DemoOrganization;
  readonly owner: { readonly email: string; readonly password: string };
  readonly teammates: readonly string[];
  readonly spent: ReadonlyMap<string, bigint>;
  readonly depositedMicroPkr: bigint;
}

export interface Invocation {
  readonly name: string;
  readonly rows: number;
  readonly days: number;
  readonly signal: AbortSignal;
  readonly progress: Pick<Progress, 'step' | 'at'>;
  /** The end of the window, now unless given, and what the requests are drawn from: tests give both. */
  readonly endMicros?: bigint;
  readonly seed?: number;
}

/** Makes the organisation with its requests. */
export async function fill(
  installation: Pick<Installation, 'database' | 'telemetry' | 'telemetryDatabase'>,
  invocation: Invocation,
  context: Pick<Context, 'isJson' | 'isTerminal' | 'err'>,
): Promise<Made> {
  const { database } = installation;
  const { name, rows, days } = invocation;
  const [email, ...teammates] = addressesOf(name);
  await requireFree(database, name, [email, ...teammates]);
  const owner = { email, password: randomPassword() };
  const routes = await listRouteOverviews(database);
  const { endMicros = BigInt(Date.now()) * 1000n } = invocation;
  const window = { startMicros: endMicros - BigInt(days) * DAY_MICROS, endMicros };
  const organization = await createDemoOrganization(
    database,
    { name, owner, teammates, projects: PROJECTS, keys: keysOf(window, routes), sourceIp: SOURCE_IP },
    randomBytes,
  );
  const making = `Making ${counted(rows, 'request')} of ${counted(days, 'day')}`;
  invocation.progress.step(making);
  if (!context.isJson && !context.isTerminal) context.err(`${making} ...\n`);
  try {
    return {
      organization,
      owner,
      teammates,
      ...(await fillAndCharge(installation, organization, routes, window, invocation)),
    };
  } catch (error) {
    warn(
      context,
      `${shown(organization.name)} was made, but not all of its requests; the command does not go on with it, so give another --name or DATA_DIR next time`,
    );
    throw error;
  }
}

async function fillAndCharge(
  {
    database,
    telemetry,
    telemetryDatabase,
  }: Pick<Installation, 'database' | 'telemetry' | 'telemetryDatabase'>,
  organization: DemoOrganization,
  routes: readonly RouteOverview[],
  window: Window,
  { rows, days, seed = randomInt(2 ** 40), signal, progress }: Invocation,
): Promise<Pick<Made, 'spent' | 'depositedMicroPkr'>> {
  await fillRequestLog(telemetry, telemetryDatabase, trafficProfileOf(organization, routes, window), {
    rows,
    days,
    endMicros: window.endMicros,
    seed,
    signal,
    onProgress: (done) => progress.at(done.rows, done.of),
  });
  const spent = await spendByKey(telemetry, telemetryDatabase, organization.id);
  const budget = budgetOf(organization, spent);
  await budgetDemoOrganization(database, organization, budget, SOURCE_IP);
  // Creates the weeks of the ledger, if no service has done so lately.
  for await (const _ of keepLedger(database, signal));
  progress.step('Charging what they cost');
  const origin = randomUUID();
  let batch = 0;
  let charged = 0;
  for await (const costs of costsOf(telemetry, telemetryDatabase, organization.id)) {
    signal.throwIfAborted();
    // As if a journal had them: requests of past weeks may have been folded, and then only a position says what was counted.
    const sequence = batch++;
    const uncounted = await settle(database, costs, {
      places: costs.map((_, index) => ({ origin, sequence, end: index + 1 })),
      settled: [{ origin, sequence, settledBytes: costs.length }],
    });
    charged += costs.length;
    // Some requests cost nothing, so it ends a little early.
    progress.at(charged, rows);
    if (uncounted.length > 0) throw new CommandError('the ledger has closed a week of the window meanwhile');
  }
  const depositedMicroPkr = budget.deposits.reduce((sum, { amountMicroPkr }) => sum + amountMicroPkr, 0n);
  return { spent, depositedMicroPkr };
}

/** Checked before anything is created, for a clear message. The creation itself is one transaction in any case. */
async function requireFree(database: Database, name: string, emails: readonly string[]): Promise<void> {
  const taken = await findOrganization(database, name);
  if (taken) {
    throw new DemoError(
      `there is an organisation named ${shown(taken.name)} already; give another --name, or a DATA_DIR of its own`,
    );
  }
  for (const email of emails) {
    if (await findAccount(database, email)) {
      throw new DemoError(`there is an account with the address ${email} already; give another --name`);
    }
  }
}

function keysOf(window: Window, routes: readonly RouteOverview[]) {
  const at = (share: number) => timestampWithOffset(timeAtMicros(window, share));
  return KEYS.map(({ name, project, environment, rateLimitRpm, madeAt, expiredAt, isRestricted }) => ({
    name,
    project,
    environment,
    rateLimitRpm,
    createdAt: at(madeAt),
    expiresAt: expiredAt === undefined ? null : at(expiredAt),
    allowedModels: isRestricted ? restrictedModels(routes) : null,
  }));
}

// Letters and digits that do not look alike.
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Four groups of five characters: 100 bits that can be typed by hand. */
function randomPassword(): string {
  const group = () => Array.from({ length: 5 }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
  return Array.from({ length: 4 }, group).join('-');
}
