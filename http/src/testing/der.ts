// The part of DER that a certificate needs.

export const sequence = (...items: Buffer[]): Buffer => tagged(0x30, ...items);
export const set = (...items: Buffer[]): Buffer => tagged(0x31, ...items);
export const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
export const bitString = (bytes: Buffer): Buffer => tagged(0x03, Buffer.of(0), bytes);
export const octetString = (bytes: Buffer): Buffer => tagged(0x04, bytes);
export const utf8String = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
/** To the second, with a year of four digits. */
export const time = (at: Date): Buffer =>
  tagged(0x18, Buffer.from(`${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`));

export function tagged(tag: number, ...items: Buffer[]): Buffer {
  const content = Buffer.concat(items);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}

/** An object identifier, such as 2.5.4.3. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number);
  const groups = (value: number): number[] =>
    value < 0x80 ? [value] : [...groups(Math.floor(value / 0x80)).map((one) => one | 0x80), value & 0x7f];
  return tagged(0x06, Buffer.of(first * 40 + second, ...others.flatMap(groups)));
}
