// In which order the candidates of a request are tried. Within one priority each comes first as often as its weight says,
// by rendezvous hashing: a candidate's place depends on the session and on the candidate alone. So a session stays with
// one upstream account, where its prompt cache is, and when that account fails only its own sessions move.

export interface Choice {
  /** The name that tells it from the other candidates. */
  readonly name: string;
  /** The lowest number is tried first. */
  readonly priority: number;
  /** Greater than 0. */
  readonly weight: number;
}

/** The preference within a priority: the session, where the request has one, else chance. */
export interface Preference {
  readonly session: SessionHash | undefined;
  /** From 0 up to but not including 1. */
  readonly random: () => number;
}

/** Two unsigned 32-bit numbers. */
export type SessionHash = readonly [number, number];

/** The candidates in the order in which they are tried. */
export function inOrder<C extends Choice>(candidates: readonly C[], { session, random }: Preference): C[] {
  if (candidates.length < 2) return [...candidates];
  return candidates
    .map((candidate) => {
      const chance = session ? hashToUnit(session, candidate.name) : 1 - random();
      // Of exponential variables with these rates the smallest is each one's in proportion to its rate.
      return { candidate, place: -Math.log(chance) / candidate.weight };
    })
    .sort((a, b) => a.candidate.priority - b.candidate.priority || a.place - b.place)
    .map(({ candidate }) => candidate);
}

/** A number above 0, up to 1, evenly distributed. */
function hashToUnit([first, second]: SessionHash, name: string): number {
  let high = first;
  let low = second;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5bd1e995);
  }
  high = mixed(high ^ mixed(low));
  low = mixed(low ^ high);
  // 53 bits, as many as a number holds.
  return ((high >>> 11) * 2 ** 32 + (low >>> 0) + 1) / 2 ** 53;
}

/** Every bit of the result depends on every bit of the number. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
