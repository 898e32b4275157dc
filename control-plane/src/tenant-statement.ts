import type { KeyId, ProjectId } from '@gatehouse/contract';
import { type ParameterValue, type Sql, type Statement, statement } from '@gatehouse/store';

declare const owned: unique symbol;

/**
 * An id that a look-up by organisation returned. Where such an id is asked for, a missing ownership check does not compile.
 */
export type Owned<Kind extends 'project' | 'key'> = (Kind extends 'project' ? ProjectId : KeyId) & {
  readonly [owned]: Kind;
};

type UnprovenId<Value> = Value extends KeyId | ProjectId
  ? Value extends Owned<'key'> | Owned<'project'>
    ? never
    : Value
  : never;

/** Nothing where the parameters prove whose rows a statement touches, else what is missing, as a compile error. */
type OwnershipProof<Parameters> = 'organizationId' extends keyof Parameters
  ? unknown
  : [UnprovenId<Parameters[keyof Parameters]>] extends [never]
    ? unknown
    : 'a tenant statement takes organizationId, or Owned ids only';

/** The names of the tenant statements declared so far. */
export const tenantStatements = new Set<string>();

/**
 * Declares a statement on rows of one organisation. Without `organizationId`, an id of a key or project must be `Owned`.
 * Guarded by tests/tenant-statements.test.ts.
 */
export function tenantStatement<
  Parameters extends { readonly [Name in keyof Parameters]: ParameterValue },
  Row = never,
>(
  name: string,
  text: Sql<keyof Parameters & string> & OwnershipProof<Parameters>,
): Statement<Parameters, Row> {
  tenantStatements.add(name);
  return statement<Parameters, Row>(name, text);
}
