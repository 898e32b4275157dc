import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';

// Unpacks Chromium into TMPDIR, where the package puts it; so this is a process of its own, with a TMPDIR of its own.

const bin = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '../bin');
// The last one has the libraries of a system, for one that lacks some.
for (const name of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']) await inflate(join(bin, name));
