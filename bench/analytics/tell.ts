/** A line for whoever watches; the tables go to the standard output. */
export function tell(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}
