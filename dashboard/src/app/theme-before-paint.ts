// Runs before the first paint, as a classic script of its own, because the policy of the page allows no inline script.
// The theme module of the application writes what this reads.

const THEME = 'gatehouse.theme';

try {
  const chosen = localStorage.getItem(THEME);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // Storage may be forbidden. The theme of the system applies then.
}
