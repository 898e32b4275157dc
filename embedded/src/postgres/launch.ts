import { chown, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NativeBinaries } from './native-binaries.ts';
import { EmbeddedPostgresRefused } from './refusal.ts';
import { ownIdsOf } from './server-ids.ts';
import { CHILD_ENVIRONMENT, run, type SystemTools } from './system-tools.ts';

/*
 * As whom PostgreSQL runs. It refuses to be root, and it trusts every process that can reach its socket or write its
 * files: so it runs as an identity that no other program has. In this order, as root:
 *
 * - as the user who owns the directory, where that is an ordinary one: somebody chose it;
 * - under an id that belongs to this cluster alone (server-ids.ts);
 * - in a user namespace, where the directory or the programs are closed to others (a home of mode 0700): the process
 *   keeps root's right to files and nothing else of root's. Only root has the same identity.
 *
 * `nobody` is not among them: many programs run as that. Data that an earlier version gave to `nobody` changes hands at
 * the next start. An ordinary user runs the server as itself.
 *
 * initdb alone wants a user that the system has a name for. Where the server's has none, initdb runs in a user namespace,
 * in which it is called `nobody`; where the system allows none, as `nobody` itself, in a draft directory, before there
 * is anything to protect. What it made then changes hands.
 *
 * A container may forbid any of these, and modes, access lists and mounts all have a say in who reaches what. So nothing
 * is computed: each way is tried by running PostgreSQL with `--version` from inside the directory.
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
  /** The path of the cluster itself, from which its own ids follow. */
  readonly clusterDir: string;
  readonly dataDirOwner: FileOwner;
  /** Undefined when the cluster is still to be made. */
  readonly clusterOwner: FileOwner | undefined;
  readonly native: NativeBinaries;
  readonly tools: SystemTools;
}

// The overflow user of Linux, `nobody` to nearly every system. Many programs run as it, so the server never does.
const NOBODY: FileOwner = { uid: 65534, gid: 65534 };
const PROBE_TIMEOUT_MS = 10_000;

/** How the server is run: the first way that works here. The owner of an existing cluster goes first, so that it need
 *  not change hands. */
export function chooseLaunch(question: LaunchQuestion): Promise<Launch> {
  return firstThatWorks(serverWays(question), question, '');
}

/** How initdb is run, which needs a user with a name: as the server where it has one. */
export function chooseInitLaunch(question: LaunchQuestion, server: Launch): Promise<Launch> {
  const asServer: Way = {
    name: `as user ${server.owner.uid}`,
    words: [],
    spawnAs: server.uid === undefined ? undefined : server.owner,
    owner: server.owner,
  };
  const asNobody = amRoot() && process.platform === 'linux' ? [stepDown(NOBODY)] : [];
  const ways = [...(isNamespace(server) ? [] : [asServer]), ...namespace(question.tools), ...asNobody];
  return firstThatWorks(ways, question, 'id -un >/dev/null && ');
}

async function firstThatWorks(
  ways: readonly Way[],
  question: LaunchQuestion,
  condition: string,
): Promise<Launch> {
  const failures: string[] = [];
  for (const way of ways) {
    // A setpriv of another make may not know the option that is needed.
    for (const setpriv of question.tools.setpriv ? [question.tools.setpriv, undefined] : [undefined]) {
      const launch = await tryLaunch(way, setpriv, question, condition);
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

function serverWays({ clusterDir, dataDirOwner, clusterOwner, tools }: LaunchQuestion): Way[] {
  if (!amRoot()) {
    const owner = self();
    return [{ name: `as user ${owner.uid}`, words: [], spawnAs: undefined, owner }];
  }
  const owner = clusterOwner ?? dataDirOwner;
  const isChosen = owner.uid !== 0 && owner.uid !== NOBODY.uid;
  const asOwner = isChosen ? [stepDown(owner)] : [];
  const asItself =
    process.platform === 'linux'
      ? ownIdsOf(clusterDir)
          .filter((id) => !isChosen || id !== owner.uid)
          .map((id) => stepDown({ uid: id, gid: id }))
      : [];
  return clusterOwner?.uid === 0
    ? [...namespace(tools), ...asItself]
    : [...asOwner, ...asItself, ...namespace(tools)];
}

function stepDown(to: FileOwner): Way {
  return { name: `as user ${to.uid}`, words: [], spawnAs: to, owner: to };
}

function namespace(tools: SystemTools): Way[] {
  if (!tools.unshare) return [];
  return [
    {
      name: 'in a user namespace',
      words: [tools.unshare, '--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--'],
      spawnAs: undefined,
      owner: self(),
    },
  ];
}

function self(): FileOwner {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}

function isNamespace(launch: Launch): boolean {
  return amRoot() && launch.uid === undefined;
}

async function tryLaunch(
  way: Way,
  setpriv: string | undefined,
  question: LaunchQuestion,
  condition: string,
): Promise<Launch | string> {
  const command: Launch['command'] = (signal, words) => {
    // Last before the program: a change of user or of namespace would clear what setpriv asks for.
    const dying = setpriv ? [setpriv, '--pdeathsig', signal, '--'] : [];
    return [...way.words, ...dying, ...words];
  };
  const env = { ...CHILD_ENVIRONMENT, ...question.native.env };
  const script = `${condition}cd -- "$1" && exec "$2" --version`;
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

/** Gives what `from` owns of a tree to `to`, the top last: an interrupted change of hands is seen by the top and done
 *  again. What belongs to somebody else is left alone: a link to it may have been put there. */
export async function giveTreeTo(path: string, from: FileOwner, to: FileOwner): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await giveTreeTo(join(path, name), from, to);
  }
  if (found.uid === from.uid) await lchown(path, to.uid, to.gid);
}
