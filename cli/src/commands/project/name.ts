import { projectName } from '@gatehouse/control-plane/organization';
import { invalidValue } from '../../terminal/errors.ts';

/** A project's name as --name has it. Throws UsageError for one that cannot be used. */
export function readProjectName(given: string): string {
  const name = projectName(given);
  if (typeof name === 'string') return name;
  throw invalidValue('--name', given, `one line of 1 to 255 characters (${name.issue})`);
}
