import { readFile } from 'node:fs/promises';
import { decodeLines, encodeLine, newRequestId, openBareWriter } from '@gatehouse/gateway/testing';

// A process of its own: writes the records of a gateway that served for this long while telemetry was away, and ends without giving its
// directory back, as a process that dies. The records are those of a real segment, over and over, with other ids and times, and
// without a cost, because no ledger has them. The segments are as large as a gateway makes them.
//
//   node tests/drills/kills/write-backlog.ts SEGMENT JOURNAL COUNT MINUTES

const AT_ONCE = 2_000;

const [segment = '', journal = '', ...numbers] = process.argv.slice(2);
const [count = 0, minutes = 0] = numbers.map(Number);
const { requests } = await decodeLines(await readFile(segment));
const served = requests.filter(({ status }) => status === 200);
if (served.length === 0) throw new Error('the segment has no request that was served');
const writer = await openBareWriter(journal, { maxSegmentRecords: 10_000, maxSegmentBytes: 8 * 1024 * 1024 });
const nowMs = Date.now();
for (let first = 0; first < count; first += AT_ONCE) {
  const lines = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => {
    const nth = first + index;
    const template = served[nth % served.length] as (typeof served)[number];
    const startedAtMs = nowMs - ((count - nth) / count) * minutes * 60_000;
    return encodeLine({
      ...template,
      requestId: newRequestId(startedAtMs),
      startedAtMicros: BigInt(Math.round(startedAtMs * 1_000)),
      metadata: new Map([['kept', 'yes']]),
      costMicroPkr: 0n,
      isHeld: false,
    });
  });
  await Promise.all(lines.map((line) => writer.append(line)));
}
await writer.close();
await writer.settled();
