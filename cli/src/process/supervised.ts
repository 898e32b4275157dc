/**
 * True if another program runs the service, and not a person in a terminal: systemd, or the engine of a container, where it is the first
 * process or the engine says so. There is no Ctrl-C then, and neither npm nor the folder of a person.
 */
export function isSupervised(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): boolean {
  const isUnit = Boolean(environment['INVOCATION_ID'] && environment['JOURNAL_STREAM']);
  return isUnit || pid === 1 || Boolean(environment['container'] || environment['KUBERNETES_SERVICE_HOST']);
}
