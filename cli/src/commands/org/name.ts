import { type OrganizationName, organizationName } from '@gatehouse/control-plane/organization';
import { invalidValue } from '../../terminal/errors.ts';

/** An organisation's name as it was typed. Throws UsageError for one that cannot be used. */
export function readName(input: string, given: string): OrganizationName {
  const name = organizationName(given);
  if ('issue' in name) throw invalidValue(input, given, `a name of 1 to 255 characters (${name.issue})`);
  return name;
}
