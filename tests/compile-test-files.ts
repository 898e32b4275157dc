import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

// Compiles test files without running them: their imports lead nowhere, which Node finds after it has compiled a file and before
// it evaluates it. It keeps the compiled code when this process ends (compile-cache.ts).

const urls = new Set(process.argv.slice(2).map((file) => pathToFileURL(file).href));
registerHooks({
  resolve(specifier, context, next) {
    if (urls.has(context.parentURL ?? '')) throw new Error(`${specifier} is not loaded`);
    return next(specifier, context);
  },
});
for (const url of urls) await import(url).catch(() => undefined);
