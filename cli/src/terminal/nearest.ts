import { editsBetween } from '@gatehouse/contract/edits-between';

/** The most similar known word, if at most a third of its letters differ. */
export function nearest(args: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((word) => ({
      word,
      edits: editsBetween(args.toLowerCase(), word.toLowerCase(), Math.max(1, Math.floor(word.length / 3))),
    }))
    .filter(({ edits }) => edits < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.edits - b.edits);
  return best?.word;
}
