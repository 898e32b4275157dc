import type { ReactNode } from 'react';
import { Logo } from '../../ui/logo.tsx';
import { PlainHttpNotice } from './plain-http-notice.tsx';
import * as styles from './sign-in-layout.module.css';
import { Tiles } from './tiles.tsx';

export function SignInLayout({
  title,
  lead,
  children,
}: {
  title: string;
  lead: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={styles.layout}>
      <main className={styles.main}>
        <Logo />
        <div className={styles.form}>
          <h1 className={styles.title}>{title}</h1>
          <p className={styles.lead}>{lead}</p>
          {isSecureContext ? undefined : <PlainHttpNotice />}
          {children}
        </div>
      </main>
      <Tiles />
    </div>
  );
}
