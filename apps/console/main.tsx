import '@mantine/core/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/client.js';
import { startTexts } from './i18n/i18n.js';
import { NotForYou } from './shell/access.js';
import { NoticeList } from './shell/notice-list.js';
import { router } from './shell/router.js';
import { cssVariables, styleNonce, theme } from './shell/theme.js';

await startTexts();

createRoot(document.getElementById('root')!, {
  // A page of another role is answered in its place; it is no fault.
  onCaughtError: (error) => {
    if (!(error instanceof NotForYou)) console.error(error);
  },
}).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={cssVariables}
      getStyleNonce={styleNonce}
    >
      <NoticeList />
      <QueryClientProvider client={queryClient}>
        <Suspense>
          <RouterProvider router={router} />
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
