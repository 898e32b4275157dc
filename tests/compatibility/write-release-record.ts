import { writeFile } from 'node:fs/promises';
import { startTestServers } from '../servers.ts';
import { RECORD, recordRelease } from './release-record.ts';

// Writes what this version needs of its stores into release.json. `deploy/release.mjs prepare` runs it: from then on the next version
// has to leave that in place. Never run it to silence compatibility.test.ts.
await using _ = await startTestServers();
await writeFile(RECORD, `${JSON.stringify(await recordRelease(), undefined, 1)}\n`);
process.stdout.write(`${RECORD}\n`);
