import { storedText } from '../browser/storage.ts';
import './start-failure.ts';

// Runs before the first paint, as a classic script of its own, because the policy of the page allows no inline script.
// The theme module of the application writes what this reads.

const THEME = 'gatehouse.theme';

const chosen = storedText('local', THEME);
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
