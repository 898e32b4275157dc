import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from '../../command-process.ts';
import { eventually } from '../../service-process.ts';
import type { Drill } from '../drill.ts';
import { seeded } from '../seeded.ts';
import { checkCalls, checkLedger } from './account.ts';
import { costOf } from './bill.ts';
import { type Books, holdsIn, readBooks } from './books.ts';
import { type Sent, startCallers } from './callers.ts';
import type { Node } from './node.ts';
import { createOwner } from './owner.ts';
import { openStand } from './stand.ts';

// A machine with a gateway dies for good, again and again: its gateway is killed under load and its data directory, with the journal,
// is deleted. A gateway on another machine lives. Compared are the answers that callers had by then with what PostgreSQL and the
// request log know: how much is lost, and how long before the end it was answered.

const CALLERS = 8;
const MIN_LOAD_MS = 1_500;
const MAX_LOAD_MS = 4_000;
const RELEASED_WITHIN_MS = 5 * 60_000;
/** No answer that is older than this when its machine dies may be lost. Far more than the bound of a machine that is not busy. */
const LOSES_AT_MOST_MS = 15_000;
const LIVING = 0;
const DYING = 1;

export const drill: Drill = async ({ cycles, seed, log }) => {
  const random = seeded(seed);
  await using stand = await openStand(seeded(seed + 1), 30);
  const api = await stand.startNode('api', 'living');
  const living = await stand.startNode('gateway', 'living');
  const dying = await stand.startNode('gateway', 'dying-0');
  const owner = await createOwner(api.port, 4);
  const gateways: readonly Node[] = [living, dying];
  const callers = startCallers({
    ports: gateways.map(({ port }) => port),
    secrets: owner.keys.map(({ secret }) => secret),
    callers: CALLERS,
    random: seeded(seed + 2),
    pauseMs: 20,
    isUp: (gateway) => gateways[gateway]?.isUp === true,
  });
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const seen = callers.sent.length;
    // It has answered requests, or the start of the process would be all that is measured.
    await eventually(
      async () =>
        callers.sent.slice(seen).some(({ gateway, isWhole }) => gateway === DYING && isWhole) || undefined,
    );
    await delay(MIN_LOAD_MS + random() * (MAX_LOAD_MS - MIN_LOAD_MS));
    await dying.kill();
    await rm(join(stand.directory, `dying-${cycle - 1}`), { recursive: true, force: true });
    await dying.restart({ DATA_DIR: join(stand.directory, `dying-${cycle}`) });
    if (cycle % 5 === 0) log(`${cycle} machines lost, ${callers.sent.length} requests`);
  }
  await callers.stop();
  log('waiting until every hold of the lost machines is settled or released');
  const waitsFrom = performance.now();
  await eventually(async () => (await holdsIn(stand.database)) === 0 || undefined, RELEASED_WITHIN_MS);
  const waitedMs = performance.now() - waitsFrom;
  const books = await readBooks(stand.database, stand.telemetry);
  const { environment, directory } = stand;
  const doctor = await runCommand(['doctor'], { environment: { ...environment, DATA_DIR: directory } });

  const of = (gateway: number) => callers.sent.filter((one) => one.gateway === gateway);
  const { bill } = stand.provider;
  const broken = [
    ...checkCalls({ sent: of(LIVING), bill, books, killedAtMs: [[], []] }).broken,
    ...checkLedger(books),
    ...(doctor.code === 0 ? [] : [`gatehouse doctor: ${doctor.stdout}${doctor.stderr}`]),
  ];
  const lost = losses(of(DYING), dying.killedAtMs, books, broken);
  const settledWithoutRow = books.settlements.filter(({ costMicroPkr }) => costMicroPkr > 0n).length;
  const perMachine = (count: number) => (count / cycles).toFixed(1);
  const ages = (all: readonly Lost[]) =>
    all.length === 0
      ? 'none'
      : `${all.length} (${perMachine(all.length)} a machine), answered at most ${Math.max(...all.map(({ ageMs }) => ageMs)).toFixed(0)} ms before its end`;
  const unpaid = lost.filter(({ isSettled }) => !isSettled);
  const sum = unpaid.reduce((total, { request }) => total + costOf(request), 0n);
  log(
    `${cycles} machines lost; ${of(DYING).filter(({ isWhole }) => isWhole).length} answers of these, ${of(LIVING).filter(({ isWhole }) => isWhole).length} of the machine that lived, none of which is lost; ${settledWithoutRow} settled`,
  );
  log(`answers that the request log lacks: ${ages(lost.filter(({ hasRow }) => !hasRow))}`);
  log(`answers that nobody is charged for: ${ages(unpaid)}, ${sum} micro-PKR in all`);
  log(
    `answers that PostgreSQL charges although their record is gone: ${lost.filter(({ isSettled, hasRow }) => isSettled && !hasRow).length}`,
  );
  log(`the last hold ended ${(waitedMs / 1_000).toFixed(0)} s after the last machine was lost`);
  return broken;
};

interface Lost {
  readonly request: number;
  /** How long before the end of its machine the caller had its answer. */
  readonly ageMs: number;
  readonly hasRow: boolean;
  readonly isSettled: boolean;
}

/** Answers of lost machines that a store lacks. What is charged wrongly, and what is lost although it is old, is a broken promise. */
function losses(
  sent: readonly Sent[],
  killedAtMs: readonly number[],
  books: Books,
  broken: string[],
): readonly Lost[] {
  const rows = new Map(books.rows.map((row) => [row.id, row]));
  const settled = new Map(books.settlements.map((one) => [one.id, one.costMicroPkr]));
  const lost: Lost[] = [];
  for (const { request, id = '', isWhole, status, endedAtMs } of sent) {
    const cost = settled.get(id);
    const isFree = cost === 0n && !(isWhole && status === 200);
    if (cost !== undefined && cost !== costOf(request) && !isFree)
      broken.push(
        `request ${request} is settled with ${cost}, and the provider's bill is ${costOf(request)}`,
      );
    if (!isWhole || status !== 200) continue;
    const one = { request, hasRow: rows.has(id), isSettled: cost !== undefined };
    if (one.hasRow && one.isSettled) continue;
    const endMs = killedAtMs.find((atMs) => atMs >= endedAtMs - 1_000) ?? Number.POSITIVE_INFINITY;
    const ageMs = endMs - endedAtMs;
    lost.push({ ...one, ageMs });
    if (ageMs > LOSES_AT_MOST_MS) broken.push(`request ${request} is lost, answered ${ageMs} ms before`);
  }
  return lost;
}
