/** Text that is as expensive to count as text can be: few neighbours of it are one token. Another for each number. */
export function ideographs(count: number, number = 0): string {
  const character = (_: unknown, n: number) =>
    String.fromCharCode(0x4e00 + ((n * n * 31 + n * (7 + number)) % 20_000));
  return Array.from({ length: count }, character).join('');
}
