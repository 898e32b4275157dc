/** The settings of a run of a drill. */
export interface DrillSettings {
  /** The amount of work; the table says what a cycle is. */
  readonly cycles: number;
  /** The beginning of its random choices: the same seed makes the same ones. */
  readonly seed: number;
  /** The part of it to run, where the table names parts. */
  readonly only?: string | undefined;
  /** Says a line of progress or of figures. */
  log(line: string): void;
}

/** Runs, cleans up, and resolves with the promises that were broken, a sentence each. It may also throw at the first. */
export type Drill = (settings: DrillSettings) => Promise<readonly string[]>;
