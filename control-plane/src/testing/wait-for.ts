/** Asks again and again until the answer is yes. Throws after half a minute, naming what was waited for. */
export async function waitFor(what: string, ask: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
