/** Something that a model produced, in the part of an answer (or the piece of one) that holds it. */
export interface GeneratedPiece {
  /** The text that it continues: pieces of one voice follow each other. */
  readonly voice: string;
  readonly text: string;
  readonly isReasoning: boolean;
  /** True if its tokens are to be counted: not where it is sealed, or stands a second time under another name. */
  readonly isCounted: boolean;
}

export type PieceKind = Partial<Pick<GeneratedPiece, 'isReasoning' | 'isCounted'>>;
