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

/** Runs the parts of a drill, or the one that was asked for, one after the other. Throws where there is none of that name. */
export async function runParts(
  parts: Readonly<Record<string, Drill>>,
  settings: DrillSettings,
): Promise<readonly string[]> {
  const { only, log } = settings;
  const chosen = Object.entries(parts).filter(([name]) => only === undefined || only === name);
  if (chosen.length === 0)
    throw new Error(`no part is called ${only}; there are ${Object.keys(parts).join(', ')}`);
  const broken: string[] = [];
  for (const [name, run] of chosen) {
    const said = await run({ ...settings, log: (line) => log(`${name}: ${line}`) });
    broken.push(...said.map((line) => `${name}: ${line}`));
  }
  return broken;
}
