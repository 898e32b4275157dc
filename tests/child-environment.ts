/** The environment of the programs that tests start: nothing of a developer's settings, and the compiled code that is shared (compile-cache.ts). */
export function childEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE: cache } = process.env;
  return cache === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE: cache };
}
