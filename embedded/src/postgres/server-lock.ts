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
import type { ProcessIdentity } from '@gatehouse/concurrency';
import { EmbeddedPostgresError, errorCode, messageOf } from './errors.ts';
import { run, type SystemTools } from './system-tools.ts';

/*
 * PostgreSQL protects its directory with a pid file. That is not enough here: a pid means nothing in another container,
 * it can belong to a zombie or, after a crash, to an unrelated process, and it says nothing about the time before the
 * server runs, when two processes could both run initdb.
 *
 * So there is a lock file beside the directory, locked with flock(2). Such a lock belongs to the open file, not to a
 * process: it is held as long as any process has that open file, and the kernel releases it when the last one dies.
 * initdb and the server get the open file as descriptor 3, and every process of the server inherits it. So "the lock is
 * free" means that no process that ever used the directory is still alive, whatever was killed.
 *
 * The file's content records the leader of the running server. It is a hint for other processes, not the lock.
 */
export interface ServerLock {
  /** For the programs that work in the directory. */
  readonly fd: number;
  /** False where the system or the file system has no such lock. Then only PostgreSQL's pid file protects the
   *  directory, and two starts at the same time can make each other fail. */
  readonly exclusive: boolean;
  note(note: LeaderNote): void;
  release(): void;
}

export interface LeaderNote {
  readonly serverPid: number;
  readonly leader: ProcessIdentity;
  readonly socketDirectory: string;
}

// The exit status of every flock(1) when the lock is taken; other failures have other numbers.
const BUSY = 1;
// <fcntl.h> of the BSDs and macOS, which can lock in the call that opens; Node has no names for these two.
const O_EXLOCK = 0x20;
const O_NONBLOCK = 0x4;

/** The lock, or undefined while another process has it. Does not wait. */
export async function tryServerLock(path: string, tools: SystemTools): Promise<ServerLock | undefined> {
  const fd = openLockFile(path);
  if (fd === undefined) return undefined;
  let exclusive = process.platform === 'darwin';
  if (!exclusive && tools.flock) {
    // The child shares this open file, so its lock stays after it has ended.
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
    // A lock file of root in a user's directory would keep that user from opening it.
    const folder = statSync(dirname(path));
    if (process.getuid?.() === 0) fchownSync(fd, folder.uid, folder.gid);
    return fd;
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return undefined;
    throw new EmbeddedPostgresError(`The lock file of the database cannot be opened: ${messageOf(error)}`);
  }
}

/** The last leader's note; undefined when there is nothing, or while it is being written. */
export function readLeaderNote(path: string): LeaderNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LeaderNote;
  } catch {
    return undefined;
  }
}
