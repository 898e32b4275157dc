import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { soak } from './soak.ts';
import { reportOf } from './soak-report.ts';
import type { SoakRun } from './soak-run.ts';

// The drill with options of its own: what it may use of the processors, a rate, and the samples as a file.
//
//   node tests/drills/capacity/soak-main.ts [--minutes 60] [--cores 0.7] [--rate N] [--seed 1] [--samples FILE]
//   node tests/drills/capacity/soak-main.ts --report FILE     writes the report of such samples

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    cores: { type: 'string', default: '0.7' },
    rate: { type: 'string' },
    seed: { type: 'string', default: '1' },
    samples: { type: 'string' },
    report: { type: 'string' },
  },
});
const { samples } = values;
const run =
  values.report === undefined
    ? await soak({
        minutes: Number(values.minutes),
        cores: Number(values.cores),
        rate: values.rate === undefined ? undefined : Number(values.rate),
        seed: Number(values.seed),
        log: (line) => void process.stderr.write(`${line}\n`),
        // The samples of a run that is ended early.
        ...(samples !== undefined && {
          onSamples: (soFar) => writeFileSync(`${samples}.part`, JSON.stringify(soFar)),
        }),
      })
    : (JSON.parse(await readFile(values.report, 'utf8')) as SoakRun);
if (samples !== undefined) await writeFile(samples, JSON.stringify(run));
const { text, findings } = reportOf(run);
process.stdout.write(text);
if (findings.length > 0) process.exitCode = 1;
