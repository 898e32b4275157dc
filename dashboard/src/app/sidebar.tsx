import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Logo } from '../ui/logo.tsx';
import { navigation } from './navigation.ts';
import { rangeOf } from './search.ts';
import { useAccount } from './session.ts';
import * as styles from './sidebar.module.css';

export function Sidebar({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { organization } = useAccount();
  const range = rangeOf(useSearch({ strict: false }));
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isOpen) panel.current?.querySelector('a')?.focus();
  }, [isOpen]);
  return (
    <>
      {isOpen ? (
        <button type="button" aria-label="Close the navigation" className={styles.scrim} onClick={onClose} />
      ) : undefined}
      <nav
        ref={panel}
        id="navigation"
        aria-label="Pages"
        className={styles.sidebar}
        data-open={isOpen || undefined}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
        }}
      >
        <Link to="/" className={styles.brand} aria-label="Gatehouse, to the overview">
          <Logo />
        </Link>
        <p className={styles.organization} title={organization.name}>
          <bdi>{organization.name}</bdi>
        </p>
        {navigation.map(({ title, items }) => (
          <section key={title} className={styles.group} aria-label={title}>
            <h2 className={styles.title}>{title}</h2>
            <ul>
              {items.map(({ to, label, icon: Icon, hasRange }) => (
                <li key={to}>
                  <Link
                    to={to}
                    search={hasRange === true ? range : {}}
                    className={styles.link}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                    activeProps={{ 'aria-current': 'page' }}
                  >
                    <Icon />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  );
}
