import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FromWorker, ToWorker } from './file-worker.ts';
import type { Count } from './run-files.ts';

const PROGRAM = join(import.meta.dirname, 'file-worker.ts');
// What files load and do not share adds up.
const MAX_FILES = 60;

export interface FileResult {
  readonly count: Count;
  readonly report: string;
}

/** Processes that run one test file after the other (file-worker.ts). */
export class TestProcesses implements AsyncDisposable {
  readonly #idle: TestProcess[] = [];

  /** Runs the file in the next free process. A process whose file left something behind, or did not end in time, takes no other. */
  async run(task: ToWorker, fileMs: number): Promise<FileResult> {
    const used = (task.isAlone ? undefined : this.#idle.pop()) ?? new TestProcess();
    const { isClean, ...result } = await used.run(task, fileMs);
    if (isClean && !task.isAlone && used.files < MAX_FILES) this.#idle.push(used);
    else await used.end();
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#idle.map((one) => one.end()));
  }
}

class TestProcess {
  files = 0;
  readonly #child: ChildProcess = fork(PROGRAM, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  readonly #ended = once(this.#child, 'exit');

  async run(task: ToWorker, fileMs: number): Promise<FileResult & { readonly isClean: boolean }> {
    const { file } = task;
    this.files += 1;
    const output: string[] = [];
    const unfinished = new Set<string>();
    const { promise, resolve } = Promise.withResolvers<FileResult & { readonly isClean: boolean }>();
    const fail = (why: string) => {
      const tests = [...unfinished].map((name) => JSON.stringify(name)).join(', ');
      const report = `${output.join('')}✖ ${file} ${why}; unfinished: ${tests || 'none'}\n`;
      resolve({
        count: { passed: 0, failed: Math.max(1, unfinished.size), skipped: 0 },
        report,
        isClean: false,
      });
    };
    const take = (chunk: Buffer) => output.push(String(chunk));
    const hear = (message: FromWorker) => {
      if ('started' in message) unfinished.add(message.started);
      else if ('ended' in message) unfinished.delete(message.ended);
      else resolve({ ...message, report: output.join('') + message.report });
    };
    const child = this.#child;
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('message', hear);
    const timer = setTimeout(() => fail(`did not end within ${fileMs / 1000} s and was killed`), fileMs);
    void this.#ended.then(([code, signal]) => fail(`ended its process with ${code ?? signal}`));
    child.send(task);
    const result = await promise;
    clearTimeout(timer);
    child.stdout?.off('data', take);
    child.stderr?.off('data', take);
    child.off('message', hear);
    return result;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
