// The clock of a device may be off, by years where its battery is empty. The service says its own time in every answer. Where the two
// differ, the page counts from the service's: what is new, what has expired, where a window ends.

/** An answer takes some time, and its header has whole seconds. */
const TOLERANCE_MS = 60_000;

let aheadMs = 0;

/** The current time. */
export function now(): Date {
  return new Date(Date.now() + aheadMs);
}

/** Takes the `Date` header of an answer. */
export function noteServiceTime(header: string | null): void {
  const difference = Date.parse(header ?? '') - Date.now();
  if (Number.isNaN(difference)) return;
  aheadMs = Math.abs(difference) > TOLERANCE_MS ? difference : 0;
}
