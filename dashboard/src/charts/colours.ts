/** The colours of custom properties as `rgb(…)`: a canvas does not read them by itself. */
export function resolveColours(host: HTMLElement, properties: readonly string[]): string[] {
  const probe = document.createElement('span');
  // A transition, which reduced motion makes short and not none, would still be at the colour before.
  probe.style.transition = 'none';
  host.append(probe);
  try {
    return properties.map((property) => {
      probe.style.color = `var(${property})`;
      return getComputedStyle(probe).color;
    });
  } finally {
    probe.remove();
  }
}
