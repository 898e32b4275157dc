import { cookieOf } from './accounts.ts';
import { startApi } from './api-process.ts';
import { databaseOf, END_MICROS } from './fill.ts';
import { type Ask, askIn, fastest } from './floor.ts';
import { createHttpClient } from './http-client.ts';
import type { AskPeer } from './peer-queries.ts';
import type { PeerServer } from './peer-server.ts';
import type { At, Facts, Question, Window } from './question.ts';
import { QUESTIONS, WINDOWS } from './questions.ts';
import type { Line, Results } from './results.ts';
import type { BenchStores } from './stores.ts';
import { findSubjects, type Subject } from './subjects.ts';
import { tell } from './tell.ts';

const WARM_UP = 2;
const FLOOR_TRIES = 5;
/** What a slow answerer may take of a line, in ms; it is then asked less often than the others, but so often at least. */
const PEER_BUDGET_MS = 8_000;
const PEER_ROUNDS = 5;

interface Answerers {
  readonly api: (path: string) => Promise<{ ms: number; body: unknown; bytes: number }>;
  readonly floor: Ask;
  /** With indexes that hold what is summed, and with them used for finding rows only. */
  readonly peer: AskPeer | undefined;
  readonly peerPlain: AskPeer | undefined;
}

export interface Measuring {
  readonly rows: number;
  readonly rounds: number;
  readonly only: RegExp;
  readonly again: boolean;
}

/** Asks every question of a filled store, in every way, and keeps what each took. */
export async function measure(
  stores: BenchStores,
  peer: PeerServer | undefined,
  results: Results,
  { rows, rounds, only, again }: Measuring,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const database = databaseOf(rows);
  const client = stack.adopt(stores.connect(database), (open) => open.close());
  const windows = Object.entries(WINDOWS).map(([text, days]): Window => {
    const fromMicros = END_MICROS - BigInt(days) * 86_400_000_000n;
    return { text, days, fromMicros, toMicros: END_MICROS };
  });
  const subjects = await findSubjects(client, database, windows);
  const api = stack.use(
    await startApi({
      control: stores.control,
      telemetry: stores.telemetry,
      telemetryDatabase: database,
      nowMicros: String(END_MICROS),
    }),
  );
  const askPeer = peer && (await openPeer(stack, peer, database));
  const askPlain = peer && (await openPeer(stack, peer, database, 'SET enable_indexonlyscan = off'));
  for (const subject of subjects) {
    const http = stack.use(createHttpClient(api.port, cookieOf(subject.organizationId)));
    const answerers: Answerers = {
      async api(path) {
        const { status, ms, body } = await http.get(path);
        if (status !== 200) throw new Error(`${path} answered ${status} ${body.toString().slice(0, 300)}`);
        return { ms, bytes: body.length, body: JSON.parse(body.toString()) as unknown };
      },
      floor: askIn(client),
      peer: askPeer,
      peerPlain: askPlain,
    };
    for (const question of QUESTIONS.filter(({ name }) => only.test(name))) {
      for (const window of windows.filter(({ text }) => question.windows.includes(text))) {
        const line = { rows, question: question.name, subject: subject.label, window: window.text };
        if (!again && results.has(line)) continue;
        const figures = await measureLine(question, subject, window, rounds, answerers);
        await results.add({ ...line, kind: question.kind, ...figures });
        tell(`${rows} ${subject.label} ${question.name} ${window.text}: ${inShort(figures)}`);
      }
    }
  }
}

async function openPeer(
  stack: AsyncDisposableStack,
  peer: PeerServer,
  database: string,
  setting = 'SELECT',
): Promise<AskPeer> {
  const opened = stack.use(peer.open(database));
  // A connection of its own has none of the pool's time limits.
  const connection = stack.adopt(await opened.connect(), (open) => open.end());
  await connection.query(setting);
  return async <Row>(name: string, text: string, values: readonly unknown[]) =>
    (await connection.query({ name, text, values: [...values] })).rows as Row[];
}

type Figures = Pick<Line, 'ours' | 'floor' | 'peer' | 'peerPlain' | 'floorName' | 'bytes'>;

async function measureLine(
  question: Question,
  subject: Subject,
  window: Window,
  rounds: number,
  { api, floor, ...peers }: Answerers,
): Promise<Figures> {
  const at = (round: number): At => ({ subject, window, round });
  const plansAt = (round: number) => question.floor(at(round));
  const best = await fastest(plansAt, floor, FLOOR_TRIES);
  const planAt = (round: number) => {
    const plan = plansAt(round)[best];
    if (!plan) throw new Error(`${question.name} has no floor`);
    return plan;
  };

  const figures = {
    ours: [] as number[],
    floor: [] as number[],
    peer: [] as number[],
    peerPlain: [] as number[],
  };
  let bytes = 0;
  const spentMs = { peer: 0, peerPlain: 0 };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    // What was searched for while warming up is not searched for again.
    const now = at(round + WARM_UP + FLOOR_TRIES);
    const facts: [who: string, facts: Facts][] = [];
    const timed = async (who: keyof typeof figures, run: () => Promise<Facts>) => {
      const startedAt = performance.now();
      facts.push([who, await run()]);
      const ms = performance.now() - startedAt;
      if (round >= 0) figures[who].push(ms);
      return ms;
    };
    const ways = [
      async () => {
        const answer = await api(question.path(now));
        facts.push(['ours', question.facts(answer.body)]);
        bytes = answer.bytes;
        if (round >= 0) figures.ours.push(answer.ms);
      },
      () => timed('floor', () => planAt(now.round).run(floor)),
      ...(['peer', 'peerPlain'] as const).map((who) => async () => {
        const ask = peers[who];
        if (!ask || (spentMs[who] > PEER_BUDGET_MS && figures[who].length >= PEER_ROUNDS)) return;
        const ms = await timed(who, () => question.peer(now).run(ask));
        if (round >= 0) spentMs[who] += ms;
      }),
    ];
    // Another one goes first each time.
    for (let n = 0; n < ways.length; n += 1) await ways[(round + WARM_UP + n) % ways.length]?.();
    requireAgreement(`${question.name} of the ${subject.label}, ${window.text}`, facts);
  }
  return {
    ...figures,
    floorName: planAt(0).name,
    bytes,
  };
}

/** Who answers faster because the answer is another one is no reference. */
function requireAgreement(what: string, answers: readonly [who: string, facts: Facts][]): void {
  const [[first, facts] = ['', []], ...others] = answers;
  for (const [who, same] of others) {
    const agrees =
      facts.length === same.length && facts.every((value, place) => isClose(value, same[place] ?? null));
    if (!agrees)
      throw new Error(`${what}: ${first} says ${JSON.stringify(facts)}, ${who} ${JSON.stringify(same)}`);
  }
}

function isClose(a: string | number | null, b: string | number | null): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

const inShort = ({ ours, floor, peer, peerPlain, floorName }: Figures) =>
  `${middle(ours)} ms, floor ${middle(floor)} (${floorName}), peer ${middle(peer)}, plain ${middle(peerPlain)}`;
const middle = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]?.toFixed(1) ?? '-';
