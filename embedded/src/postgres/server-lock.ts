import {
  closeSync,
  constants,
  fchownSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { ProcessIdentity } from './processes.ts';
import { EmbeddedPostgresRefused, errorCode, reasonOf } from './refusal.ts';
import { run, type SystemTools } from './system-tools.ts';

/*
 * PostgreSQL guards its directory with a pid file. That is not enough for us: a pid means nothing in another
 * container, it can be a zombie or, after a crash, somebody else's process, and it says nothing of the time before the
 * server runs, when two of us could each run initdb.
 *
 * So there is a lock file beside the directory, locked with flock(2). Such a lock belongs to the open file and not to
 * a process: it is held as long as anybody has that open file, and the kernel lets go of it when the last one dies.
 * We hand the open file on to initdb and to the server as descriptor 3, and every process of the server inherits it.
 * Hence "the lock is free" means that nothing which ever touched the directory is still alive, whatever was killed.
 *
 * The file's content is a note of who owns the running server. It is a hint for others, not the lock.
 */
export interface ServerLock {
  /** To be handed to what works in the directory. */
  readonly fd: number;
  /** False where the system or the file system has no such lock: then only PostgreSQL's own pid file protects, and a
   *  start can fail because of another that happens at the same moment. */
  readonly exclusive: boolean;
  note(note: OwnerNote): void;
  release(): void;
}

export interface OwnerNote {
  readonly serverPid: number;
  readonly owner: ProcessIdentity;
  readonly socketDirectory: string;
}

// What flock(1) ends with when somebody else has the lock, whoever's make it is; other failures have other numbers.
const BUSY = 1;
// <fcntl.h> of the BSDs and macOS, which can lock in the same call that opens; Node has no names for these two.
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;

/** The lock, or undefined while somebody else has it. Does not wait. */
export async function tryServerLock(path: string, tools: SystemTools): Promise<ServerLock | undefined> {
  const fd = openLockFile(path);
  if (fd === undefined) return undefined;
  let exclusive = process.platform === 'darwin';
  if (!exclusive && tools.flock) {
    // The child shares our open file, so what it locks stays locked for us after it has ended.
    const { status } = await run([tools.flock, '-x', '-n', '3'], { fd, timeoutMs: 10_000 });
    if (status === BUSY) {
      closeSync(fd);
      return undefined;
    }
    exclusive = status === 0;
  }
  let open = true;
  return {
    fd,
    exclusive,
    note(note) {
      ftruncateSync(fd, 0);
      writeSync(fd, JSON.stringify(note), 0);
    },
    release() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

function openLockFile(path: string): number | undefined {
  const locking = process.platform === 'darwin' ? O_EXLOCK | O_NONBLOCK : 0;
  try {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | locking, 0o600);
    // Root's lock file in a user's directory would shut that user out of it.
    const folder = statSync(dirname(path));
    if (process.getuid?.() === 0) fchownSync(fd, folder.uid, folder.gid);
    return fd;
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return undefined;
    throw new EmbeddedPostgresRefused(`The lock file of the database cannot be opened: ${reasonOf(error)}`);
  }
}

/** The last owner's note; undefined when there is none, or when it is just being written. */
export function readOwnerNote(path: string): OwnerNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as OwnerNote;
  } catch {
    return undefined;
  }
}
