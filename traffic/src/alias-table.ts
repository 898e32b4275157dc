/**
 * Weighted random choice in constant time (Walker's alias method): draw an index evenly, then keep it with the
 * probability `chances[index]`, or else take `others[index]`.
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
  const others = weights.map((_, index) => index);
  const small = left.flatMap((share, index) => (share < 1 ? index : []));
  const large = left.flatMap((share, index) => (share < 1 ? [] : index));
  while (small.length > 0 && large.length > 0) {
    const smallIndex = small.pop() as number;
    const largeIndex = large.at(-1) as number;
    chances[smallIndex] = left[smallIndex] as number;
    others[smallIndex] = largeIndex;
    left[largeIndex] = (left[largeIndex] as number) - (1 - (left[smallIndex] as number));
    if ((left[largeIndex] as number) < 1) small.push(large.pop() as number);
  }
  // The rest have a chance of 1, except for rounding. An index of weight 0 must never be drawn.
  const heaviest = weights.indexOf(Math.max(...weights));
  for (const index of small) {
    if (weights[index] === 0) {
      chances[index] = 0;
      others[index] = heaviest;
    }
  }
  return { chances, others };
}
