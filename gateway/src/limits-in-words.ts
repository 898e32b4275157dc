// Figures as the documents write them.
export const number = (value: number) => value.toLocaleString('en-US');
export const seconds = (milliseconds: number) => `${number(milliseconds / 1_000)} s`;
export const percent = (share: number) => `${number(share * 100)}%`;
export function bytes(value: number): string {
  if (value >= 1024 ** 2) return `${number(Math.round((value / 1024 ** 2) * 10) / 10)} MiB`;
  return value >= 1024 ? `${number(value / 1024)} KiB` : `${value} bytes`;
}
