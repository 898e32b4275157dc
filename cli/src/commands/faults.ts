/** Wrong usage: one line on standard error and exit code 2. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault';
  /** The command whose help says more; undefined where only the whole help does. */
  readonly about: string | undefined;

  constructor(message: string, about?: string) {
    super(message);
    this.about = about;
  }
}

/** A command cannot do what it was asked. The message is for whoever asked. */
export class CommandFault extends Error {
  override readonly name = 'CommandFault';
}

/** For an option or argument whose text is not what is accepted. */
export function notAccepted(what: string, given: string, expected: string): UsageFault {
  return new UsageFault(`${what} is ${JSON.stringify(given)}, expected ${expected}`);
}
