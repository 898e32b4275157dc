import { chown, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeBinaries } from './native-binaries.ts';
import { EmbeddedPostgresRefused } from './refusal.ts';
import { CHILD_ENVIRONMENT, run, type SystemTools } from './system-tools.ts';

/*
 * As whom PostgreSQL runs. It refuses to be root, and initdb refuses a user that the system has no name for, so there
 * are three ways:
 *
 * - as we are: an ordinary user with a name;
 * - as another user: root steps down to the user who owns the directory, or to `nobody`;
 * - in a user namespace: the process keeps our rights to files, but takes itself for `nobody`. For root where `nobody`
 *   cannot reach the directory or the programs (a home of mode 0700), and for a user without a name (a container that
 *   is run under any number).
 *
 * A container may forbid the second or the third, and modes, access lists and mounts all have a say in who reaches
 * what. So nothing is computed: each way is tried by running PostgreSQL with `--version` from inside the directory.
 */
export interface Launch {
  /** The command with what goes in front of it. The system sends it `signalAtOurDeath`, where it knows how to. */
  command(signalAtOurDeath: 'INT' | 'KILL', command: readonly string[]): string[];
  /** To be given to spawn; undefined leaves things as they are. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Who must own the directory and its files, as the system at large sees it. */
  readonly owner: FileOwner;
  readonly env: Readonly<Record<string, string>>;
  /** The major version of the programs, as `18`. */
  readonly major: string;
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

interface Way {
  readonly name: string;
  readonly words: readonly string[];
  readonly spawnAs: FileOwner | undefined;
  readonly owner: FileOwner;
}

export interface LaunchQuestion {
  /** Where the cluster lies or shall lie. */
  readonly folder: string;
  readonly dataDirOwner: FileOwner;
  /** Undefined when the cluster is still to be made. */
  readonly clusterOwner: FileOwner | undefined;
  readonly native: NativeBinaries;
  readonly tools: SystemTools;
}

// The overflow user of Linux, `nobody` to nearly every system; it must have a name, and owns nothing of value.
const NOBODY: FileOwner = { uid: 65534, gid: 65534 };
const PROBE_TIMEOUT_MS = 10_000;

/** The first way that works here. The owner of an existing directory goes first, so that it need not change hands. */
export async function chooseLaunch(question: LaunchQuestion): Promise<Launch> {
  const failures: string[] = [];
  for (const way of possibleWays(question)) {
    // A setpriv of another make may not know the option that is needed.
    for (const setpriv of question.tools.setpriv ? [question.tools.setpriv, undefined] : [undefined]) {
      const launch = await tryLaunch(way, setpriv, question);
      if (typeof launch !== 'string') return launch;
      failures.push(`${way.name}: ${launch}`);
    }
  }
  throw new EmbeddedPostgresRefused(
    `PostgreSQL cannot be run here. ${[...new Set(failures)].join('; ')}. ${advice()}`,
  );
}

function advice(): string {
  return amRoot()
    ? 'It refuses to run as root: use a data directory and an installation that other users can enter, or run as an ordinary user.'
    : 'Run as a user that has a name on this system and may run programs from where this is installed.';
}

function possibleWays({ dataDirOwner, clusterOwner, tools }: LaunchQuestion): Way[] {
  const self = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const namespace: Way[] = tools.unshare
    ? [
        {
          name: 'in a user namespace',
          words: [tools.unshare, '--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--'],
          spawnAs: undefined,
          owner: self,
        },
      ]
    : [];
  if (!amRoot()) {
    return [{ name: `as user ${self.uid}`, words: [], spawnAs: undefined, owner: self }, ...namespace];
  }
  const stepDown = (to: FileOwner): Way => ({ name: `as user ${to.uid}`, words: [], spawnAs: to, owner: to });
  const nobody = process.platform === 'linux' ? [stepDown(NOBODY)] : [];
  const owner = clusterOwner ?? dataDirOwner;
  if (owner.uid !== 0) return [stepDown(owner), ...(owner.uid === NOBODY.uid ? [] : nobody), ...namespace];
  return clusterOwner ? [...namespace, ...nobody] : [...nobody, ...namespace];
}

async function tryLaunch(
  way: Way,
  setpriv: string | undefined,
  question: LaunchQuestion,
): Promise<Launch | string> {
  const command: Launch['command'] = (signal, words) => {
    // Last before the program: a change of user or of namespace would clear what setpriv asks for.
    const dying = setpriv ? [setpriv, '--pdeathsig', signal, '--'] : [];
    return [...way.words, ...dying, ...words];
  };
  const env = { ...CHILD_ENVIRONMENT, ...question.native.env };
  // Only initdb asks for the user's name; the server runs without one.
  const named = question.clusterOwner ? '' : 'id -un >/dev/null && ';
  const script = `${named}cd -- "$1" && exec "$2" --version`;
  const { status, output } = await run(
    command('KILL', ['/bin/sh', '-c', script, 'sh', question.folder, question.native.postgres]),
    { env, uid: way.spawnAs?.uid, gid: way.spawnAs?.gid, timeoutMs: PROBE_TIMEOUT_MS },
  );
  const major = /\(PostgreSQL\) (\d+)/.exec(output)?.[1];
  if (status !== 0 || !major) return output.trim().replaceAll('\n', ', ') || 'no answer';
  return { command, uid: way.spawnAs?.uid, gid: way.spawnAs?.gid, owner: way.owner, env, major };
}

function amRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** Gives a path that root has just made to whom it is for; no one else can give anything away. */
export async function giveTo(path: string, owner: FileOwner): Promise<void> {
  if (amRoot()) await chown(path, owner.uid, owner.gid);
}

/** Gives a whole tree away, its top last: an interrupted change of hands is seen by the top and done again. */
export async function giveTreeTo(path: string, owner: FileOwner): Promise<void> {
  if ((await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await giveTreeTo(join(path, name), owner);
  }
  await lchown(path, owner.uid, owner.gid);
}
