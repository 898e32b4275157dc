/** True if an `Accept` header names the media type itself. A wildcard does not: a program sends it, a browser adds HTML. */
export function namesMediaType(accept: string | undefined, mediaType: string): boolean {
  return qualityOf(accept ?? '', mediaType) > 0;
}

/** The first of the encodings that an `Accept-Encoding` header accepts; undefined where it accepts none of them. */
export function acceptedEncoding<Encoding extends string>(
  acceptEncoding: string | undefined,
  available: readonly Encoding[],
): Encoding | undefined {
  const header = acceptEncoding ?? '';
  const wildcard = Math.max(0, qualityOf(header, '*'));
  return available.find((encoding) => {
    const quality = qualityOf(header, encoding);
    return (quality < 0 ? wildcard : quality) > 0;
  });
}

/** The weight of a name in a list such as `br;q=0.5, gzip`; 1 where it has none, -1 where the list lacks the name. */
function qualityOf(list: string, name: string): number {
  for (const member of list.split(',')) {
    const [value = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    if (value !== name) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (weight === undefined) return 1;
    return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
  }
  return -1;
}
