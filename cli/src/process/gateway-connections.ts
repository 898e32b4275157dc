// What all gateway processes together take of the connections that a PostgreSQL usually has, and what one of them can
// use and needs.
const ALL = 64;
const MOST = 8;
const LEAST = 2;

/** How many database connections each of so many gateway processes opens at most. */
export function connectionsOfEach(count: number): number {
  return Math.max(LEAST, Math.min(MOST, Math.floor(ALL / count)));
}
