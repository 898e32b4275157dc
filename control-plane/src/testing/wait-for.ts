/** Polls until `isTrue` returns true. Throws after 30 s, naming what it waited for. */
export async function waitFor(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`no ${what} within 30 s`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
