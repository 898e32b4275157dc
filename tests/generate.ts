import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SDK_FOLDER } from '@gatehouse/contract';
import { generatedFiles } from './generated-files.ts';
import { writeSchema } from './write-schema.ts';

// Writes the files that are generated from code; tests/generated-files.test.ts fails while they are stale.
// An endpoint that is gone leaves no file.
await rm(join(import.meta.dirname, '..', SDK_FOLDER), { recursive: true, force: true });
for (const [path, content] of Object.entries(generatedFiles())) {
  const file = join(import.meta.dirname, '..', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  process.stdout.write(`${path}\n`);
}
process.stdout.write(`${await writeSchema()}\n`);
