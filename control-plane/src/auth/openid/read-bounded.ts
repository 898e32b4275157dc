const MAX_ANSWER_BYTES = 512 * 1024;

/** The body of an issuer's answer. Throws where it is larger than any that an issuer needs to send. */
export async function readBounded(response: Response, url: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES)
      throw new Error(`${url} answered with more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
