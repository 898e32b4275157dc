/**
 * The target of a request as the router and the log use it: without scheme and host, which a proxy may put in front, and
 * with a path that can be decoded. A `%` that is no escape stands for itself, so such a path is not found in place of
 * being an error of its own.
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
