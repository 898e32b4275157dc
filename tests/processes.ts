import { readdir, readFile, readlink } from 'node:fs/promises';

/** The processes that were started for this directory and still run. Linux only, as the embedded stores' tests. */
export async function processesOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process can end between the listing and the look.
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    const commandLine = await read('cmdline');
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    const isOf =
      commandLine.includes(directory) ||
      workingDirectory.startsWith(directory) ||
      // The service and its gateway process are told by their settings only.
      (await read('environ')).includes(directory);
    if (isOf && !(await read('stat')).includes(') Z '))
      found.push(`${pid} ${commandLine.replaceAll('\0', ' ')}`);
  }
  return found;
}
