import { editsBetween } from '@gatehouse/contract/edits-between';

// A misspelt setting has no effect and no error: the service would start with the default. Variables with the product's
// prefix or that of a store, variables whose name is almost that of a setting, and files for settings that are read from none are
// therefore reported.

export interface UnknownSetting {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly meant: string | undefined;
}

const PREFIX = /^(GATEHOUSE|DATABASE|CLICKHOUSE|REDIS)_/;
// Variables of clients, of `gatehouse connect`, of the tests, and of other protocols than those that go out from here.
const NOT_OF_THE_SERVICE = new Set([
  ...['GATEHOUSE_KEY', 'GATEHOUSE_API_KEY', 'GATEHOUSE_TEST_SERVERS', 'FTP_PROXY', 'ftp_proxy'],
]);
// Kubernetes adds these to each pod beside a Service whose name starts with "gatehouse".
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?$/;
// Short names resemble common ones: HOME differs from HOST in two letters.
const SHORT_NAME = 5;

export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): UnknownSetting[] {
  const names = new Set(known);
  return Object.keys(environment)
    .filter((name) => environment[name]?.trim() && !names.has(name) && !NOT_OF_THE_SERVICE.has(name))
    .sort()
    .flatMap((name) => {
      const meant = resembled(name, known);
      const isOurs = (PREFIX.test(name) && !SERVICE_LINK.test(name)) || names.has(name.replace(/_FILE$/, ''));
      return meant !== undefined || isOurs ? [{ name, meant }] : [];
    });
}

/** A line for a person. */
export function inWords({ name, meant }: UnknownSetting): string {
  return `${name} is set and is not a setting${meant === undefined ? '; see docs/configuration.md' : `; did you mean ${meant}?`}`;
}

function resembled(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((one) => ({ one, edits: editsBetween(name.toUpperCase(), one, one.length <= SHORT_NAME ? 1 : 2) }))
    .filter(({ edits }) => edits < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.edits - b.edits);
  return best?.one;
}
