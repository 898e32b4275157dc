import { clock, day } from '../format/time.ts';
import { viewerZone } from '../format/zone.ts';

const DAY_SECONDS = 86_400;

/** The labels of a time axis: days, or hours with the day at midnight. Splits are in seconds, as uPlot has them. */
export function timeLabels(splits: readonly number[], now: Date, zone = viewerZone): string[] {
  const step = splits.length < 2 ? 3600 : (splits[1] ?? 0) - (splits[0] ?? 0);
  return splits.map((seconds) => {
    const at = new Date(seconds * 1000);
    if (step >= DAY_SECONDS * 0.9) return day(at, now, zone);
    const time = clock(at, zone, step < 60);
    return time === '00:00' || time === '00:00:00' ? day(at, now, zone) : time;
  });
}
