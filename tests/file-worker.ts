import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import type { Count } from './run-files.ts';

// Runs one test file after the other in this process, as its parent asks for them (test-process.ts). Files so share what they load: most
// of the time of a small file is the start of Node and its modules. A file that leaves something behind for the next one fails.

export interface ToWorker {
  readonly file: string;
  /** True for the only file of its process. It may leave settings behind, and nothing open. */
  readonly isAlone: boolean;
}

export type FromWorker =
  | { readonly started: string }
  | { readonly ended: string }
  | { readonly count: Count; readonly report: string; readonly isClean: boolean };

/** A file may take so long to close what it opened. */
const CLOSING_MS = 5_000;
const LOOK_AGAIN_MS = 100;
// Modules set these once for all files.
const GLOBALS_OF_MODULES = '__';
const LISTENERS_OF_MODULES = new Set(['exit', 'beforeExit', 'message', 'internalMessage', 'disconnect']);

// The runner sets it for each file.
process.env['NODE_TEST_WORKER_ID'] = '1';
process.on('message', (task: ToWorker) => void runFile(task));
process.on('disconnect', () => process.exit());

async function runFile({ file, isAlone }: ToWorker): Promise<void> {
  // The runner ends a file when nothing is left to wait for, so the channel to the parent must not count.
  process.channel?.unref();
  const before = stateOf();
  const run = runTests(file);
  const stopWatching = watchOpen(run, (open) => {
    const report = `${run.report.join('')}✖ ${file} leaves behind: open: ${open}\n`;
    send({ count: { passed: 0, failed: 1, skipped: 0 }, report, isClean: false });
  });
  await run.isOver;
  stopWatching();
  process.channel?.ref();
  const left = isAlone ? [] : changes(before, stateOf());
  for (const what of left) run.report.push(`✖ ${file} leaves behind: ${what}\n`);
  run.count.failed += left.length;
  send({ count: run.count, report: run.report.join(''), isClean: left.length === 0 });
}

function send(message: FromWorker): void {
  process.send?.(message);
}

interface Run {
  readonly count: Count;
  readonly report: string[];
  readonly unfinished: Set<string>;
  readonly isOver: Promise<void>;
}

function runTests(file: string): Run {
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  const report: string[] = [];
  const unfinished = new Set<string>([file]);
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const events = run({ files: [file], isolation: 'none' });
  events.on('test:summary', ({ counts: { tests, passed, skipped, todo } }) =>
    Object.assign(count, { passed, skipped, failed: tests - passed - skipped - todo }),
  );
  events.on('test:dequeue', ({ name }) => {
    unfinished.delete(file);
    unfinished.add(name);
    send({ started: name });
  });
  events.on('test:complete', ({ name }) => {
    unfinished.delete(name);
    send({ ended: name });
  });
  events
    .compose(new spec())
    .on('data', (text: unknown) => report.push(String(text)))
    .on('end', resolve);
  return { count, report, unfinished, isOver };
}

/** Calls back when all tests have ended and something stays open. */
function watchOpen({ unfinished }: Run, onOpen: (open: string) => void): () => void {
  let idleMs = 0;
  const timer = setInterval(() => {
    idleMs = unfinished.size === 0 ? idleMs + LOOK_AGAIN_MS : 0;
    if (idleMs < CLOSING_MS) return;
    clearInterval(timer);
    onOpen(process.getActiveResourcesInfo().join(', '));
  }, LOOK_AGAIN_MS).unref();
  return () => clearInterval(timer);
}

type State = ReadonlyMap<string, string>;

/** The state that a file could leave behind for the next one. */
function stateOf(): State {
  const listeners = process.eventNames().filter((name) => !LISTENERS_OF_MODULES.has(String(name)));
  return new Map([
    ...Object.entries(process.env).map(
      ([name, value]) => [`${name} in the environment`, `${value}`] as const,
    ),
    ...listeners.map((name) => [`listeners of ${String(name)}`, `${process.listenerCount(name)}`] as const),
    ...Object.getOwnPropertyNames(globalThis)
      .filter((name) => !name.startsWith(GLOBALS_OF_MODULES))
      .map((name) => [`the global ${name}`, 'there'] as const),
    ['the working directory', process.cwd()],
    ['the mask of new files', `${process.umask()}`],
  ]);
}

function changes(before: State, now: State): string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name));
}
