const PREFIXES = /^(?:chatcmpl-|cmpl-|gen-|msg_|resp_|req_)/;
const LONGEST = 64;

/** The provider's id of an answer (or the gateway's of the request, where it gave none) as an id of another format. */
export function answerId(prefix: string, id: string, requestId: string): string {
  const own = (id === '' ? requestId : id)
    .replace(PREFIXES, '')
    .replaceAll(/[^a-zA-Z0-9_-]/g, '')
    .slice(0, LONGEST);
  return prefix + own;
}
