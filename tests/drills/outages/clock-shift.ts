import { readFileSync } from 'node:fs';

// Loaded into a process of the service before anything else (NODE_OPTIONS=--import). Moves its time of day by as many milliseconds as
// the file CLOCK_SHIFT_FILE says, also while it runs, as a wrong clock would. Timers and the monotonic clock go on, as they
// do when a real clock is set. What reads the kernel's clock itself is not moved: the stores, files' times, and TLS.

const READ_INTERVAL_MS = 50;

const file = process.env['CLOCK_SHIFT_FILE'];
const RealDate = Date;
const realNow = Date.now;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(realNow() + shiftMs);
    else super(...(given as [number]));
  }
  static override now(): number {
    return realNow() + shiftMs;
  }
}

if (file !== undefined) {
  globalThis.Date = ShiftedDate as DateConstructor;
  const read = () => {
    try {
      shiftMs = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      shiftMs = 0;
    }
  };
  read();
  setInterval(read, READ_INTERVAL_MS).unref();
}
