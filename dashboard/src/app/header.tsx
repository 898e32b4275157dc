import { HamburgerMenuIcon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { now } from '../browser/clock.ts';
import { isApple } from '../browser/interfaces.ts';
import { browserZone } from '../browser/intl.ts';
import { viewerZone, zoneLabel } from '../format/zone.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { AccountMenu } from './account-menu.tsx';
import * as styles from './header.module.css';
import { openPalette } from './palette-state.ts';
import { ThemeMenu } from './theme-menu.tsx';

const SHORTCUT = isApple() ? '⌘K' : 'Ctrl K';

export function Header({
  isNavigationOpen,
  onNavigation,
}: {
  isNavigationOpen: boolean;
  onNavigation: () => void;
}) {
  return (
    <header className={styles.header}>
      <span className={styles.hamburger}>
        <IconButton
          icon={<HamburgerMenuIcon />}
          label="Pages"
          aria-expanded={isNavigationOpen}
          aria-controls="navigation"
          onPress={onNavigation}
        />
      </span>
      <button
        type="button"
        className={styles.search}
        onClick={() => openPalette()}
        aria-keyshortcuts="Control+K Meta+K"
      >
        <MagnifyingGlassIcon aria-hidden="true" />
        <span className={styles.searchText}>Go to a page, key or model</span>
        <kbd className={styles.keys}>{SHORTCUT}</kbd>
      </button>
      <span className={styles.space} />
      <span
        className={styles.zone}
        title={
          browserZone.unknown === undefined
            ? `All times are in your zone, ${viewerZone}. UTC is shown on hover.`
            : 'All times are in UTC.'
        }
      >
        {zoneLabel(viewerZone, now())}
      </span>
      <ThemeMenu />
      <AccountMenu />
    </header>
  );
}

/** The header before the session is known: the same height, nothing else. */
export function HeaderPlaceholder() {
  return (
    <div className={styles.header} aria-hidden="true">
      <Button isDisabled variant="quiet" />
    </div>
  );
}
