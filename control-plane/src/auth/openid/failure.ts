import type { SignInErrorCode } from '@gatehouse/contract';

/** A sign-in at the issuer that failed: the code that the page explains, and the reason for the operator's log. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure';
  readonly code: SignInErrorCode;
  readonly reason: string;

  constructor(code: SignInErrorCode, reason: string = code) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }
}
