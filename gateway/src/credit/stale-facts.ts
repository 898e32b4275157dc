/** Thrown when the facts that the request was prepared with have changed; it is to be prepared again from what is read for it. */
export class StaleFacts extends Error {
  override readonly name = 'StaleFacts';
}
