/**
 * Ids and tokens that the compiler tells apart. At run time they are the strings, or bytes, that they look like. The edge
 * brands what it has validated, and the rows of statements declare them; nothing else makes one.
 */
declare const idKind: unique symbol;
declare const secretKind: unique symbol;
declare const hashKind: unique symbol;

type Id<Kind extends string> = string & { readonly [idKind]: Kind };

export type OrganizationId = Id<'organization'>;
export type UserId = Id<'user'>;
export type ProjectId = Id<'project'>;
export type KeyId = Id<'key'>;
export type SpendLimitId = Id<'spend limit'>;
export type AlertChannelId = Id<'alert channel'>;
export type AlertDeliveryId = Id<'alert delivery'>;
export type RequestId = Id<'request'>;

/** A token as its holder presents it. It is a text, yet no statement takes it: only its hash is stored. */
export type PlainToken = string & { readonly [secretKind]: 'token' };

/** The SHA-256 of a token, by which it is found. */
export type TokenHash = Buffer & { readonly [hashKind]: 'token' };

/** The type of a text that is no `PlainToken`. Every other text has it. */
export type PlainText = { readonly [secretKind]?: never };
