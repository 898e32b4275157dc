import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { CommandPalette } from './command-palette.tsx';
import { Header } from './header.tsx';
import { ReturnDialog } from './return-dialog.tsx';
import * as styles from './shell.module.css';
import { Sidebar } from './sidebar.tsx';
import { ZoneNotice } from './zone-notice.tsx';

/** Around every page of a signed-in person: navigation, header, palette. */
export function Shell() {
  const [isNavigationOpen, setNavigationOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that was chosen closes the navigation of a phone
  useEffect(() => setNavigationOpen(false), [pathname]);
  return (
    <div className={styles.shell} data-navigation-open={isNavigationOpen || undefined}>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <Sidebar isOpen={isNavigationOpen} onClose={() => setNavigationOpen(false)} />
      <div className={styles.main}>
        <Header isNavigationOpen={isNavigationOpen} onNavigation={() => setNavigationOpen(true)} />
        <main id="page" className={styles.page} tabIndex={-1}>
          <ZoneNotice />
          <Outlet />
        </main>
      </div>
      <CommandPalette />
      <ReturnDialog />
    </div>
  );
}
