import { chown } from 'node:fs/promises';
import { EmbeddedPostgresError } from './errors.ts';
import type { NativeBinaries } from './native-binaries.ts';
import { dedicatedIdsOf } from './server-ids.ts';
import { CHILD_ENVIRONMENT, run, type SystemTools } from './system-tools.ts';

/*
 * The user that PostgreSQL runs as. It refuses to be root, and it trusts every process that can reach its socket or write
 * its files: so it runs as a user that no other program runs as. As root, in this order:
 *
 * - as the owner of the directory, where that is an ordinary user: the operator chose it;
 * - under a user id that only this cluster uses (server-ids.ts);
 * - in a user namespace, where the directory or the programs are closed to others (a home of mode 0700): the process
 *   keeps root's access to files and none of root's other rights. Only root has the same identity.
 *
 * Never as `nobody`, because many programs run as that. The next start changes the owner of data that an earlier version
 * gave to `nobody` (owner-change.ts). An ordinary user runs the server as itself.
 *
 * Only initdb needs a user that has a name on the system. Where the server's user has none, initdb runs in a user
 * namespace, in which it is called `nobody`. Without user namespaces it does run as `nobody`, but with a group that only
 * this cluster uses: the draft is in a folder that only the group can enter, and the kernel lets no process of another
 * group look into initdb's processes (ptrace(2), which also decides about /proc). Processes of `nobody` can still send it
 * signals, and reach the header of its shared memory, which has no data. Then the owner of the new files is changed.
 *
 * A container may forbid any of these, and file modes, access lists and mounts decide what a user can reach. So each
 * method is tried, by running PostgreSQL with `--version` from inside the directory.
 */
export interface Launch {
  /** The command with its prefix. Where the system can, it sends the command `signalOnParentDeath` when this process
   *  dies. */
  command(signalOnParentDeath: 'INT' | 'KILL', command: readonly string[]): string[];
  /** For spawn; undefined keeps the user of this process. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** The owner that the directory and its files need, as seen outside any namespace. */
  readonly owner: FileOwner;
  readonly env: Readonly<Record<string, string>>;
  /** The major version of the programs, as `18`. */
  readonly major: string;
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

interface LaunchMethod {
  readonly name: string;
  readonly prefix: readonly string[];
  readonly spawnAs: FileOwner | undefined;
  readonly owner: FileOwner;
}

export interface LaunchOptions {
  /** The parent of the cluster directory. */
  readonly folder: string;
  /** Its dedicated user ids are derived from this path. */
  readonly clusterDir: string;
  readonly dataDirOwner: FileOwner;
  /** Undefined before the cluster exists. */
  readonly clusterOwner: FileOwner | undefined;
  readonly native: NativeBinaries;
  readonly tools: SystemTools;
}

// The overflow user of Linux, `nobody` on nearly every system.
export const NOBODY: FileOwner = { uid: 65534, gid: 65534 };
const PROBE_TIMEOUT_MS = 10_000;

/** How to run the server: the first method that works. The owner of an existing cluster comes first, which saves a
 *  change of owner. */
export function chooseLaunch(options: LaunchOptions): Promise<Launch> {
  return firstWorking(serverMethods(options), options, '');
}

/** How to run initdb, which needs a user with a name: as the server's user if it has one. */
export function chooseInitLaunch(options: LaunchOptions, server: Launch): Promise<Launch> {
  const asServer: LaunchMethod = {
    name: `as user ${server.owner.uid}`,
    prefix: [],
    spawnAs: server.uid === undefined ? undefined : server.owner,
    owner: server.owner,
  };
  const asNobody =
    amRoot() && process.platform === 'linux'
      ? dedicatedIdsOf(options.clusterDir).map((gid) => stepDown({ uid: NOBODY.uid, gid }))
      : [];
  const methods = [...(isNamespace(server) ? [] : [asServer]), ...namespace(options.tools), ...asNobody];
  return firstWorking(methods, options, 'id -un >/dev/null && ');
}

async function firstWorking(
  methods: readonly LaunchMethod[],
  options: LaunchOptions,
  condition: string,
): Promise<Launch> {
  const failures: string[] = [];
  for (const method of methods) {
    // Some implementations of setpriv lack the option that is needed.
    for (const setpriv of options.tools.setpriv ? [options.tools.setpriv, undefined] : [undefined]) {
      const launch = await tryLaunch(method, setpriv, options, condition);
      if (typeof launch !== 'string') return launch;
      failures.push(`${method.name}: ${launch}`);
    }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot be run here. ${[...new Set(failures)].join('; ')}. ${advice()}`,
  );
}

function advice(): string {
  return amRoot()
    ? 'It refuses to run as root: use a data directory and an installation that other users can enter, or run as an ordinary user.'
    : 'Run as a user that has a name on this system and may run programs from where this is installed.';
}

function serverMethods({ clusterDir, dataDirOwner, clusterOwner, tools }: LaunchOptions): LaunchMethod[] {
  if (!amRoot()) {
    const owner = self();
    return [{ name: `as user ${owner.uid}`, prefix: [], spawnAs: undefined, owner }];
  }
  const owner = clusterOwner ?? dataDirOwner;
  const isChosen = owner.uid !== 0 && owner.uid !== NOBODY.uid;
  const asOwner = isChosen ? [stepDown(owner)] : [];
  const asDedicated =
    process.platform === 'linux'
      ? dedicatedIdsOf(clusterDir)
          .filter((id) => !isChosen || id !== owner.uid)
          .map((id) => stepDown({ uid: id, gid: id }))
      : [];
  return clusterOwner?.uid === 0
    ? [...namespace(tools), ...asDedicated]
    : [...asOwner, ...asDedicated, ...namespace(tools)];
}

function stepDown(to: FileOwner): LaunchMethod {
  return { name: `as user ${to.uid}`, prefix: [], spawnAs: to, owner: to };
}

function namespace(tools: SystemTools): LaunchMethod[] {
  if (!tools.unshare) return [];
  return [
    {
      name: 'in a user namespace',
      prefix: [tools.unshare, '--user', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`, '--'],
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
  method: LaunchMethod,
  setpriv: string | undefined,
  options: LaunchOptions,
  condition: string,
): Promise<Launch | string> {
  const command: Launch['command'] = (signal, program) => {
    // Directly before the program: a change of user or namespace would clear what setpriv sets.
    const onParentDeath = setpriv ? [setpriv, '--pdeathsig', signal, '--'] : [];
    return [...method.prefix, ...onParentDeath, ...program];
  };
  const env = { ...CHILD_ENVIRONMENT, ...options.native.env };
  const script = `${condition}cd -- "$1" && exec "$2" --version`;
  const { status, output } = await run(
    command('KILL', ['/bin/sh', '-c', script, 'sh', options.folder, options.native.postgres]),
    { env, uid: method.spawnAs?.uid, gid: method.spawnAs?.gid, timeoutMs: PROBE_TIMEOUT_MS },
  );
  const major = /\(PostgreSQL\) (\d+)/.exec(output)?.[1];
  if (status !== 0 || !major) return output.trim().replaceAll('\n', ', ') || 'no answer';
  return { command, uid: method.spawnAs?.uid, gid: method.spawnAs?.gid, owner: method.owner, env, major };
}

export function amRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** Changes the owner of a path that root has just made. Only root can, and only root needs to. */
export async function chownAsRoot(path: string, owner: FileOwner): Promise<void> {
  if (amRoot()) await chown(path, owner.uid, owner.gid);
}
