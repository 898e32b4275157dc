/** Writes a line of progress to standard error. The tables go to standard output. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
