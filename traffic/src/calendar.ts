import { draw } from './draws.ts';

// The rate of requests depends on the hour in Pakistan, the day of the week, growth over the window and a random factor
// of each day. The calendar is the cumulative sum of that rate.

const HOUR_MICROS = 3_600_000_000;
const STEPS_PER_HOUR = 4;
const STEP_MICROS = HOUR_MICROS / STEPS_PER_HOUR;
const LOCAL_OFFSET_HOURS = 5;

const BY_HOUR = [
  0.22, 0.16, 0.12, 0.1, 0.1, 0.13, 0.2, 0.34, 0.58, 0.86, 1.08, 1.18, 1.12, 0.94, 1.06, 1.2, 1.16, 0.98, 0.8,
  0.72, 0.7, 0.62, 0.48, 0.34,
];
// Sunday first.
const BY_DAY = [0.38, 1, 1.06, 1.08, 1.02, 0.9, 0.52];
const GROWTH_FROM = 0.7;
const GROWTH_TO = 1.3;
const DAY_NOISE = 0.2;
const FRIDAY = 5;
const FRIDAY_PRAYER_HOUR = 13;
const FRIDAY_PRAYER_SHARE = 0.6;

/** Converts between times and shares of the window's requests. */
export interface Calendar {
  /** When this share of the requests (0 to 1) has been sent, in microseconds after the window's start. */
  offsetAt(share: number): number;
  /** The share of the requests sent until this many microseconds after the window's start. */
  shareAt(offsetMicros: number): number;
}

export function makeCalendar(startMicros: bigint, days: number, seed: number): Calendar {
  const lengthMicros = days * 24 * HOUR_MICROS;
  const steps = Math.max(1, Math.ceil(lengthMicros / STEP_MICROS));
  const stepMicros = lengthMicros / steps;
  const start = Number(startMicros);
  const noiseOf = noiseByDay(seed);
  // sums[n] is the sum of the first n steps.
  const sums = new Float64Array(steps + 1);
  for (let step = 0; step < steps; step += 1) {
    const middle = start + (step + 0.5) * stepMicros;
    sums[step + 1] = (sums[step] as number) + rateAt(middle, (step + 0.5) / steps, noiseOf);
  }
  const total = sums[steps] as number;
  return {
    offsetAt(share) {
      const wanted = Math.min(Math.max(share, 0), 1) * total;
      let low = 0;
      let high = steps;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if ((sums[middle] as number) <= wanted) low = middle;
        else high = middle;
      }
      const within = (wanted - (sums[low] as number)) / ((sums[high] as number) - (sums[low] as number));
      return (low + within) * stepMicros;
    },
    shareAt(offsetMicros) {
      const position = Math.min(Math.max(offsetMicros / stepMicros, 0), steps);
      const low = Math.min(Math.floor(position), steps - 1);
      const [before, after] = [sums[low] as number, sums[low + 1] as number];
      return (before + (after - before) * (position - low)) / total;
    },
  };
}

function noiseByDay(seed: number): (day: number) => number {
  let known = { day: Number.NaN, noise: 1 };
  return (day) => {
    if (known.day !== day) known = { day, noise: 1 - DAY_NOISE / 2 + DAY_NOISE * draw(seed, 'day', day) };
    return known.noise;
  };
}

function rateAt(micros: number, progress: number, noiseOf: (day: number) => number): number {
  const localHours = micros / HOUR_MICROS + LOCAL_OFFSET_HOURS;
  const day = Math.floor(localHours / 24);
  // The epoch began on a Thursday.
  const weekday = (day + 4) % 7;
  const hour = localHours - day * 24;
  const [before, after] = [BY_HOUR[Math.floor(hour)] ?? 0, BY_HOUR[(Math.floor(hour) + 1) % 24] ?? 0];
  const ofHour = before + (after - before) * (hour % 1);
  const isPrayer = weekday === FRIDAY && Math.floor(hour) === FRIDAY_PRAYER_HOUR;
  const ofDay = (BY_DAY[weekday] ?? 0) * noiseOf(day);
  return (
    ofHour *
    ofDay *
    (isPrayer ? FRIDAY_PRAYER_SHARE : 1) *
    (GROWTH_FROM + (GROWTH_TO - GROWTH_FROM) * progress)
  );
}
