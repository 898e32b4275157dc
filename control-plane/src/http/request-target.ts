/**
 * The request's target in the form that the router, the headers and the log go by: without the scheme and host
 * that a proxy may put in front, and with a path that can be decoded. A `%` that decodes to nothing stands for
 * itself, so such a path names something that is not there, instead of being an error of its own.
 */
export function requestTarget(url: string): string {
  const relative = url.replace(/^https?:\/\/[^/?]*/i, '');
  const target = relative === url || relative.startsWith('/') ? relative : `/${relative}`;
  const path = pathOf(target);
  return isDecodable(path) ? target : path.replaceAll('%', '%25') + target.slice(path.length);
}

export function pathOf(target: string): string {
  return target.split('?', 1)[0] as string;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
