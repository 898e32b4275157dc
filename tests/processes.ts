import { readdir, readFile, readlink } from 'node:fs/promises';

/** Running processes that were started for this directory. Linux only, like the tests of the embedded stores. */
export async function processesOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process can end between the listing and the read.
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const commandLine = await read('cmdline');
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    const isOf =
      commandLine.includes(directory) ||
      workingDirectory.startsWith(directory) ||
      // The service and its gateway process are identified by their settings only.
      (await read('environ')).includes(directory);
    if (isOf && !(await read('stat')).includes(') Z '))
      found.push(`${pid} ${commandLine.replaceAll('\0', ' ')}`);
  }
  return found;
}
