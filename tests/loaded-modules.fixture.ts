import { registerHooks } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Imports a file of this repository and prints what was loaded for it: the paths of files from the root.

const root = join(import.meta.dirname, '..');
const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.push(relative(root, fileURLToPath(url)));
    return next(url, context);
  },
});
await import(pathToFileURL(join(root, process.argv[2] ?? '')).href);
process.stdout.write(JSON.stringify(loaded));
