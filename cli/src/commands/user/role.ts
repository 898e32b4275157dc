import { ROLES, type Role } from '@gatehouse/contract';
import { invalidValue } from '../../terminal/errors.ts';

/** A role as it was typed. Throws UsageError for another word. */
export function readRole(input: string, given: string): Role {
  const role = ROLES.find((one) => one === given);
  if (role === undefined) throw invalidValue(input, given, ROLES.join(', ').replace(/, (?=\w+$)/, ' or '));
  return role;
}
