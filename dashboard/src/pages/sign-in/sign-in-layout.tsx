import { type ReactNode, useState } from 'react';
import { areCookiesBlocked } from '../../browser/interfaces.ts';
import { Logo } from '../../ui/logo.tsx';
import { CookiesNotice } from './cookies-notice.tsx';
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
  const [isBlocked] = useState(areCookiesBlocked);
  return (
    <div className={styles.layout}>
      <main className={styles.main}>
        <Logo />
        <div className={styles.form}>
          <h1 className={styles.title}>{title}</h1>
          <p className={styles.lead}>{lead}</p>
          {isSecureContext ? undefined : <PlainHttpNotice />}
          {isBlocked ? <CookiesNotice /> : undefined}
          {children}
        </div>
      </main>
      <Tiles />
    </div>
  );
}
