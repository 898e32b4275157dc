import type { Losses } from './losses.ts';

const EMAIL = /[^\s@]@[^\s@]+\.[^\s@]/;
/** Digits with the marks of a telephone number between them; without any mark, as many as one has with its country. */
const TELEPHONE = /^(?=(?:\D*\d){7,15}\D*$)\+?[\d\s().-]*[+\s().-][\d\s().-]*$|^\+?\d{10,15}$/;

export interface UserRule {
  readonly maxLength: number;
  /** True if the provider refuses an address or a telephone number. */
  readonly isOpaque: boolean;
}

/** The end user's id as a provider takes it. One that it refuses is left out, and disclosed. */
export function writtenUser(
  userId: string | undefined,
  { maxLength, isOpaque }: UserRule,
  losses: Losses,
): string | undefined {
  if (userId === undefined) return undefined;
  const isPersonal = isOpaque && (EMAIL.test(userId) || TELEPHONE.test(userId.trim()));
  if (userId.length <= maxLength && !isPersonal) return userId;
  losses.lose('user');
  return undefined;
}

/** OpenAI's rule, in both of its formats. */
export const OPENAI_USER: UserRule = { maxLength: 64, isOpaque: false };
export const ANTHROPIC_USER: UserRule = { maxLength: 256, isOpaque: true };
