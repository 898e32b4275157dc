/** What the request was prepared with has changed; it is to be prepared again from what is read for it. */
export class StaleFacts extends Error {
  override readonly name = 'StaleFacts';
}
