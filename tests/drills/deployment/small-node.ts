import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { analytics } from '@gatehouse/contract';
import { completion } from '@gatehouse/gateway/testing';
import { eventually } from '../../service-process.ts';
import type { DrillSettings } from '../drill.ts';
import { buildImage, type Engine, runArguments } from './podman.ts';
import { openDeploymentStand, secondsSince } from './stand.ts';

const LIMIT_MB = 512;
const MIB = 1_048_576;
const USAGE = { prompt: 5, completion: 10 };
/** Kinds of requests that are sent at the same time: how many in all, and how many at once. */
const LOADS = {
  json: { count: 5_000, atOnce: 64 },
  streams: { count: 500, atOnce: 16 },
  'prompts of a megabyte': { count: 100, atOnce: 8 },
  'sign-ins': { count: 40, atOnce: 4 },
} as const;
type Load = keyof typeof LOADS;

/** API and gateway in one container that the kernel gives 512 MB, under load: nothing is killed, nothing is lost. */
export async function runSmallNode(engine: Engine, { log }: DrillSettings): Promise<readonly string[]> {
  await buildImage(engine);
  await using stand = await openDeploymentStand(join(engine.directory, 'small-node'));
  const { api, provider, secrets } = stand;
  provider.script = (response, { body }) => {
    const answer = JSON.stringify(completion('Hello there.', USAGE));
    if (body['stream'] !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let word = 0; word < USAGE.completion; word += 1)
      response.write(`data: {"id":"c","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n`);
    response.end(
      'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":10,"total_tokens":15}}\n\ndata: [DONE]\n\n',
    );
  };
  const args = runArguments({ name: 'small', secrets, environment: stand.environment('/secrets') });
  const said: string[] = [];
  const { ended } = engine.start(['run', `--memory=${LIMIT_MB}m`, ...args, 'gatehouse'], (line) =>
    said.push(line),
  );
  const startedAt = performance.now();
  await stand.ready();
  const group = await memoryGroup(engine);
  log(`ready in ${secondsSince(startedAt)} with ${await group.nowMb()} MB`);
  const key = await stand.mint();
  const messages = (content: string) => ({
    messages: [{ role: 'user', content }],
    max_completion_tokens: 10,
  });
  const large = 'word '.repeat(MIB / 5);
  const send: Readonly<Record<Load, () => Promise<number>>> = {
    json: () => statusOf(stand.ask(key, messages('hi'))),
    streams: () => statusOf(stand.ask(key, { ...messages('hi'), stream: true })),
    'prompts of a megabyte': () => statusOf(stand.ask(key, messages(large))),
    'sign-ins': () => stand.signIn(),
  };
  const loadedAt = performance.now();
  const results = await Promise.all(
    (Object.keys(LOADS) as Load[]).map(async (load) => {
      const { count, atOnce } = LOADS[load];
      const statuses = new Map<number, number>();
      let left = count;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left-- > 0) {
            const status = await send[load]().catch(() => 0);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
          }
        }),
      );
      return { load, statuses };
    }),
  );
  const broken: string[] = [];
  let served = 0;
  for (const { load, statuses } of results) {
    const text = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    log(`${load}: ${text}`);
    if (load !== 'sign-ins') served += statuses.get(200) ?? 0;
    // Busy is an answer; a broken connection or an internal error is none.
    if ([...statuses.keys()].some((status) => ![200, 429, 503].includes(status)))
      broken.push(`${load} were answered ${text}`);
  }
  const rows = await eventually(async () => {
    const { total } = await api.call(analytics.listRequests, { query: { limit: 1 } });
    return total >= served ? total : undefined;
  });
  const killed = await group.killed();
  log(
    `load of ${secondsSince(loadedAt)}: at most ${await group.mostMb()} of ${LIMIT_MB} MB, ${killed} processes killed by the kernel; ${served} requests served, ${rows} recorded`,
  );
  if (killed > 0) broken.push(`the kernel killed ${killed} processes`);
  const exits = said.filter((line) => line.includes('"event":"gateway.process_ended"'));
  if (exits.length > 0) broken.push(`processes ended: ${exits.slice(0, 3).join(' ')}`);
  await engine.podman('stop', 'small');
  await ended;
  return broken;
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.arrayBuffer();
  return response.status;
}

/** The figures of the kernel about the container's memory, by either version of its control groups. */
async function memoryGroup(engine: Engine) {
  const pid = await engine.podman('inspect', '--format', '{{.State.Pid}}', 'small');
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8');
  const [, old] = /^\d+:(?:[^:]*,)?memory:(.*)$/m.exec(groups) ?? [];
  const [, unified] = /^0::(.*)$/m.exec(groups) ?? [];
  const folder = old === undefined ? `/sys/fs/cgroup${unified}` : `/sys/fs/cgroup/memory${old}`;
  const read = (file: string) => readFile(join(folder, file), 'utf8');
  const [now, most, events] =
    old === undefined
      ? ['memory.current', 'memory.peak', 'memory.events']
      : ['memory.usage_in_bytes', 'memory.max_usage_in_bytes', 'memory.oom_control'];
  const mb = async (file: string) => Math.round(Number(await read(file)) / MIB);
  return {
    nowMb: () => mb(now),
    mostMb: () => mb(most),
    killed: async () => Number(/^oom_kill (\d+)$/m.exec(await read(events))?.[1]),
  };
}
