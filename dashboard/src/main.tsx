import { PAGE_LANGUAGE } from './browser/intl.ts';
import './main.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { router } from './routes/router.ts';
import { watchSession } from './routes/watch-session.ts';
import { Toasts } from './ui/toast.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element.');
watchSession();
createRoot(root).render(
  <StrictMode>
    {/* Words, days and directions are those of the page, whatever language the browser prefers. */}
    <I18nProvider locale={PAGE_LANGUAGE}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
