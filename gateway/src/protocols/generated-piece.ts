import type { JsonObject } from './json.ts';
import type { SpokenPiece } from './stream-redactor.ts';

/** Something that a model produced, in the part of an answer (or the piece of one) that holds it. */
export interface GeneratedPiece extends SpokenPiece {
  readonly isReasoning: boolean;
  /** True if its tokens are to be counted: not where it is sealed, or stands a second time under another name. */
  readonly isCounted: boolean;
  readonly holder: JsonObject;
  readonly member: string;
}

export type PieceKind = Partial<Pick<GeneratedPiece, 'isReasoning' | 'isCounted'>>;

/** Puts these texts where the pieces have theirs. */
export function replaceTexts(texts: ReadonlyMap<GeneratedPiece, string>): void {
  for (const [{ holder, member }, text] of texts) Object.assign(holder, { [member]: text });
}
