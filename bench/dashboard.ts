import { keys, organization } from '@gatehouse/contract';
import { startDashboardService } from '../tests/dashboard/dashboard-service.ts';
import { openBrowser, type Visit } from '../tests/dashboard/visits.ts';
import { startTestServers } from '../tests/servers.ts';

type Page = Visit['page'];

// How soon a page can be used in a fresh browser, and whether it keeps up while a person scrolls 200 rows or moves over a
// chart of 2,000 points. Each figure stands beside one of a page without anything, in the same browser.
//
//   node bench/dashboard.ts [rounds]

const rounds = Number(process.argv[2] ?? 5);
const KEYS = 200;
const STEPS = 60;

await using _ = await startTestServers();
await using service = await startDashboardService({ rows: 20_000, days: 30 });
const client = await service.signIn();
const { projects } = await client.call(organization.listProjects);
for (let number = service.organization.keys.length; number < KEYS; number += 1)
  await client.call(keys.createKey, { body: { project_id: projects[0]?.id, name: `Key ${number}` } });
await using browser = await openBrowser(service.origin, () => undefined);

/** Milliseconds until everything that the page shows at first is there, in a browser that has nothing of it. */
async function load(path: string): Promise<number> {
  await using visit = await browser.visit({ width: 1440, height: 900 });
  await visit.signIn(client);
  const beganAt = performance.now();
  // A text of the API has no heading, which is what `open` waits for.
  if (path === '/healthz') await visit.page.goto(path);
  else await visit.open(path);
  return performance.now() - beganAt;
}

/** The longest time between two frames, and the share of frames that came late, while something moves. */
async function frames(
  page: Page,
  move: (step: number) => Promise<void>,
): Promise<[longestMs: number, late: number]> {
  await page.evaluate(`
    window.frameTimes = [];
    (function next(before) { requestAnimationFrame((now) => { window.frameTimes.push(now - before); next(now); }); })(performance.now());
  `);
  for (let step = 0; step < STEPS; step += 1) await move(step);
  const times = (await page.evaluate('window.frameTimes')) as number[];
  // Two frames of 60 a second: a person sees a third.
  return [Math.max(...times), times.filter((ms) => ms > 34).length / times.length];
}

const least = async (run: () => Promise<number>): Promise<number> => {
  const all: number[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await run());
  return Math.min(...all);
};

const out = (text: string) => process.stdout.write(`${text}\n`);
const bare = await least(() => load('/healthz'));
out('| first load, no cache | ms | times a page of the API without anything |');
out('|---|---|---|');
for (const path of ['/', '/requests', '/sessions', '/errors', '/keys', '/models', '/activity']) {
  const ms = await least(() => load(path));
  out(`| \`${path}\` | ${ms.toFixed(0)} | ${(ms / bare).toFixed(1)} |`);
}

out('\n| while it moves | longest frame, ms | frames later than 34 ms |');
out('|---|---|---|');
const moving = async (title: string, path: string, move: (page: Page) => (step: number) => Promise<void>) => {
  await using visit = await browser.visit({ width: 1440, height: 900 });
  await visit.signIn(client);
  if (path === '/healthz') await visit.page.goto(path);
  else await visit.open(path);
  const [longestMs, late] = await frames(visit.page, move(visit.page));
  out(`| ${title} | ${longestMs.toFixed(0)} | ${(late * 100).toFixed(1)} % |`);
};
const scroll = (page: Page) => () => page.mouse.wheel(0, 120);
await moving('a page without anything, scrolled', '/healthz', scroll);
await moving(`${KEYS} keys, scrolled`, '/keys', scroll);
await moving(
  'the overview, the pointer over its charts',
  '/?range=30d',
  (page) => (step) => page.mouse.move(300 + step * 10, 600),
);
