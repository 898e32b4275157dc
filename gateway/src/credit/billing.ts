// A caller that leaves pays for the provider's work as far as the provider reported it, and never less than by staying.

/** How the provider's work on a request ended. */
export type WorkEnd =
  /** There was none: it never saw the request, or answered it with an error. */
  | 'no_work'
  /** The answer reached its end. */
  | 'complete'
  /** The caller left, and the end of the answer was not seen. */
  | 'left'
  /** The provider broke off, the time was up, or the gateway had to stop. */
  | 'broken';

export interface Work {
  readonly end: WorkEnd;
  /** True if the answer came as a stream. */
  readonly isStream: boolean;
  /** True if anything that was generated was seen. */
  readonly hasContent: boolean;
  /** True if the model was seen to reason. */
  readonly hasReasoning: boolean;
  /** True if the rest of an answer whose caller left was read for its usage. */
  readonly isReadOn: boolean;
  readonly reported: 'nothing' | 'provisional' | 'final';
}

/** The basis that a request is billed by. */
export type Basis =
  | 'nothing'
  /** The provider's usage. */
  | 'reported'
  /** The larger of the provider's usage and the count made here. */
  | 'larger'
  /** The amount that its hold set aside: what was generated cannot be known. */
  | 'held';

export function basisOf(work: Work): Basis {
  const { end, isStream, hasContent, hasReasoning, isReadOn, reported } = work;
  switch (end) {
    case 'no_work':
      return 'nothing';
    case 'complete':
      return reported === 'final' ? 'reported' : 'larger';
    case 'left':
      if (reported === 'final') return 'reported';
      // Some providers tell of reasoning in the usage only. A caller that leaves many answers at once does not get it for free.
      return isStream && hasContent && !hasReasoning && isReadOn ? 'larger' : 'held';
    case 'broken':
      return hasContent || reported !== 'nothing' ? 'larger' : 'nothing';
  }
}
