const SHARED = ['PATH', 'NODE_COMPILE_CACHE', 'TMPDIR'] as const;

/**
 * The environment of the programs that tests start: nothing of a developer's settings; the compiled code that is shared
 * (compile-cache.ts) and the temporary directory (memory-directory.ts).
 */
export function childEnvironment(): Record<string, string> {
  const found = SHARED.map((name) => [name, process.env[name]] as const);
  return { PATH: '', ...Object.fromEntries(found.filter(([, value]) => value !== undefined)) };
}
