/** The path of a spark line in a box; unknown values leave gaps. Undefined where no value is known. */
export function sparkPath(
  values: readonly (number | null)[],
  width: number,
  height: number,
): { line: string; area: string } | undefined {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return undefined;
  const top = Math.max(...known, 0);
  const x = (index: number) => round((index / (values.length - 1)) * width);
  const y = (value: number) => round(height - (top === 0 ? 0 : value / top) * height);
  let line = '';
  let area = '';
  let startedAt: number | undefined;
  values.forEach((value, index) => {
    if (value !== null) {
      line += `${startedAt === undefined ? 'M' : 'L'}${x(index)} ${y(value)}`;
      area +=
        startedAt === undefined
          ? `M${x(index)} ${height}L${x(index)} ${y(value)}`
          : `L${x(index)} ${y(value)}`;
      startedAt ??= index;
    }
    if (startedAt !== undefined && (value === null || index === values.length - 1)) {
      area += `L${x(value === null ? index - 1 : index)} ${height}Z`;
      startedAt = undefined;
    }
  });
  return { line, area };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
