/** Invalid usage: one line on standard error and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help says more; undefined for the overall help. */
  readonly about: string | undefined;

  constructor(message: string, about?: string) {
    super(message);
    this.about = about;
  }
}

/** A command failed. The message is for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** A command failed for several reasons, a line each after the first. */
export class FaultsError extends Error {
  override readonly name = 'FaultsError';

  constructor(message: string, faults: readonly string[]) {
    super([message, ...faults.map((fault) => `- ${fault.replaceAll(/\s*[\r\n]+\s*/g, ' ')}`)].join('\n'));
  }
}

/** For an option or argument whose value is not accepted. */
export function invalidValue(what: string, given: string, expected: string): UsageError {
  return new UsageError(`${what} is ${JSON.stringify(given)}, expected ${expected}`);
}

export function engineUnavailable(): CommandError {
  return new CommandError('the embedded ClickHouse engine does not answer; see the log of the service');
}
