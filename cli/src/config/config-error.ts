/** A setting cannot be used, or several. Each issue names the setting, its value, what is expected and what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each. */
  readonly issues: readonly string[];

  constructor(issues: string | readonly string[]) {
    const lines = (typeof issues === 'string' ? [issues] : issues).map((issue) =>
      issue.replaceAll(/\s*[\r\n]+\s*/g, ' '),
    );
    super(
      lines.length === 1
        ? lines[0]
        : [
            `${lines.length} things about the settings need a change:`,
            ...lines.map((line) => `- ${line}`),
          ].join('\n'),
    );
    this.issues = lines;
  }
}

/** Throws ConfigError if there is an issue. */
export function requireNone(issues: readonly string[]): void {
  if (issues.length > 0) throw new ConfigError(issues);
}
