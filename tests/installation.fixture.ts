import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');

// Copies the packages that its arguments ask for from a folder, and records the arguments. NPM_FAILS ends it with this status, and
// NPM_WAITS, the path of a file, keeps it waiting after half of the packages until the file is gone.
const NPM = `#!/bin/sh
echo "$*" >> "$NPM_CALLS"
[ -z "$NPM_FAILS" ] || exit "$NPM_FAILS"
mkdir "$NPM_CALLS.runs" 2>/dev/null || echo overlap >> "$NPM_CALLS"
[ "$1" = ci ] && rm -rf node_modules
mkdir -p node_modules/.bin
for name in "$NPM_PACKAGES"/*; do
  case "$*" in *--omit=dev*) [ -e "$name/dev" ] && continue ;; esac
  cp -R "$name" node_modules/
  if [ -n "$NPM_WAITS" ] && [ -e "$NPM_WAITS" ]; then
    echo $$ > "$NPM_WAITS.pid.new" && mv "$NPM_WAITS.pid.new" "$NPM_WAITS.pid"
    while [ -e "$NPM_WAITS" ]; do sleep 0.02; done
  fi
done
for program in node_modules/node-linux-*/node; do
  [ -e "$program" ] && ln -sf "../../$program" node_modules/.bin/node
done
echo '{}' > node_modules/.package-lock.json
rmdir "$NPM_CALLS.runs"
`;

interface Package {
  readonly version: string;
  readonly dev?: true;
}

/** The packages that the lockfile names and npm installs, unless a test says otherwise. */
const PACKAGES: Readonly<Record<string, Package>> = {
  one: { version: '1.0.0' },
  two: { version: '2.0.0' },
  tool: { version: '3.0.0', dev: true },
};

/** The real set-up in a folder of its own, with an npm that needs no registry. */
export class Clone {
  readonly directory: string;
  readonly #children: ChildProcess[] = [];

  constructor(directory: string) {
    this.directory = directory;
  }

  static async open(): Promise<Clone> {
    const clone = new Clone(await mkdtemp(join(tmpdir(), 'gatehouse-install-')));
    // For tests as another user.
    await chmod(clone.directory, 0o755);
    await cp(join(root, 'setup'), clone.at('setup'), { recursive: true });
    await mkdir(clone.at('cli/src'), { recursive: true });
    await cp(join(root, 'cli/bin'), clone.at('cli/bin'), { recursive: true });
    await writeFile(clone.at('package.json'), '{"type":"module"}');
    await mkdir(clone.at('bin'));
    await writeFile(clone.at('bin/npm'), NPM);
    await chmod(clone.at('bin/npm'), 0o755);
    await clone.lock();
    return clone;
  }

  at(...path: readonly string[]): string {
    return join(this.directory, ...path);
  }

  /** Writes the lockfile, and what npm installs for it. */
  async lock(packages: Readonly<Record<string, Package>> = PACKAGES, version = '1.0.0'): Promise<void> {
    const entries = Object.entries(packages).map(([name, one]) => [`node_modules/${name}`, one]);
    await writeFile(
      this.at('package-lock.json'),
      JSON.stringify({
        packages: { cli: { version, dependencies: packages }, ...Object.fromEntries(entries) },
      }),
    );
    await rm(this.at('packages'), { recursive: true, force: true });
    for (const [name, { version, dev }] of Object.entries(packages)) {
      await mkdir(this.at('packages', name), { recursive: true });
      await writeFile(this.at('packages', name, 'package.json'), JSON.stringify({ name, version }));
      if (dev) await writeFile(this.at('packages', name, 'dev'), '');
    }
  }

  /** Removes what is installed, and names the usual packages. */
  async clear(): Promise<void> {
    for (const name of ['node_modules', '.previous', 'calls.runs'])
      await rm(this.at(name), { recursive: true, force: true });
    await this.lock();
  }

  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: `${this.at('bin')}${delimiter}${process.env['PATH']}`,
      NPM_CALLS: this.at('calls'),
      NPM_PACKAGES: this.at('packages'),
      // Set in production environments; tests need development dependencies all the same.
      NODE_ENV: 'production',
      ...more,
    };
  }

  /** Runs the installation to its end. */
  async install(
    args: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
  ) {
    await writeFile(this.at('calls'), '');
    const [program = '', ...words] = [...wrapper, process.execPath, this.at('setup/install.mjs'), ...args];
    const child = execFile(program, words, { cwd: this.directory, env: this.environment(more) });
    const { status, out, err } = await ended(child);
    return { status, out, err, calls: await this.calls() };
  }

  async calls(): Promise<readonly string[]> {
    return (await readFile(this.at('calls'), 'utf8')).split('\n').filter(Boolean);
  }

  /** Starts an installation whose npm stops in the middle. Returns it with the pid of npm. */
  async installHalf(wrapper: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
    await rm(this.at('wait.pid'), { force: true });
    await writeFile(this.at('wait'), '');
    await writeFile(this.at('calls'), '');
    const child = this.start([...wrapper, process.execPath, this.at('setup/install.mjs')], {
      NPM_WAITS: this.at('wait'),
      ...more,
    });
    const npm = Number(await readWhenThere(this.at('wait.pid')));
    return { child, npm, ended: ended(child) };
  }

  /** Lets npm go on. */
  release(): Promise<void> {
    return rm(this.at('wait'), { force: true });
  }

  /** After npm was killed. */
  async forget(): Promise<void> {
    await this.release();
    await rm(this.at('calls.runs'), { recursive: true, force: true });
  }

  /** Runs a program in the folder, in a process group of its own. */
  start(
    [program = '', ...args]: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): ChildProcess {
    const child = spawn(program, args, {
      cwd: this.directory,
      env: this.environment(more),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#children.push(child);
    return child;
  }

  /** Ends what was started. Each process leads a group; npm leads one of its own, and ends by the release. */
  async endAll(): Promise<void> {
    await this.release();
    for (const { pid = 0, exitCode, signalCode } of this.#children)
      if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    this.#children.length = 0;
  }

  async close(): Promise<void> {
    await this.endAll();
    await rm(this.directory, { recursive: true, force: true });
  }
}

export async function ended(child: ChildProcess) {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, err };
}

/** Waits for the text on standard output. */
export function said(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += chunk;
      if (out.includes(text)) resolve();
    });
    child.once('close', () => reject(new Error(`ended without "${text}": ${out}`)));
  });
}

export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function readWhenThere(path: string): Promise<string> {
  let text = '';
  await until(path, async () => {
    text = await readFile(path, 'utf8').catch(() => '');
    return text !== '';
  });
  return text;
}
