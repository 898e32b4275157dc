/**
 * Draws from n things by weight in constant time (Walker's alias method): take one of n places evenly, then the place's
 * own thing with its chance, else the place's other one.
 */
export interface AliasTable {
  readonly chances: readonly number[];
  readonly others: readonly number[];
}

/** The table of these weights. A weight of 0 is never drawn; at least one is positive. */
export function aliasTable(weights: readonly number[]): AliasTable {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const left = weights.map((weight) => (weight * weights.length) / total);
  const chances = weights.map(() => 1);
  const others = weights.map((_, place) => place);
  const small = left.flatMap((share, place) => (share < 1 ? place : []));
  const large = left.flatMap((share, place) => (share < 1 ? [] : place));
  while (small.length > 0 && large.length > 0) {
    const poor = small.pop() as number;
    const rich = large.at(-1) as number;
    chances[poor] = left[poor] as number;
    others[poor] = rich;
    left[rich] = (left[rich] as number) - (1 - (left[poor] as number));
    if ((left[rich] as number) < 1) small.push(large.pop() as number);
  }
  // What is left over is 1 but for rounding; where it stands at 0 it was never to be drawn.
  const heaviest = weights.indexOf(Math.max(...weights));
  for (const place of small) {
    if (weights[place] === 0) {
      chances[place] = 0;
      others[place] = heaviest;
    }
  }
  return { chances, others };
}
