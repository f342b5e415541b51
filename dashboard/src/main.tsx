import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './app/client.ts';
import { router } from './app/router.tsx';
import { keepFocus } from './parts/focus.ts';
import './style/all.css';

const theme = createTheme({
  defaultRadius: 'sm',
  components: {
    // What would put styles into the page, the lock of the scrollbar, is off.
    Modal: { defaultProps: { transitionProps: { duration: 0 }, lockScroll: false } },
    // Its place for the first focus is no child that a menu may have.
    Menu: { defaultProps: { transitionProps: { duration: 0 }, withInitialFocusPlaceholder: false } },
    Tooltip: { defaultProps: { transitionProps: { duration: 0 }, openDelay: 300 } },
  },
});

keepFocus();

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      {/* Mantine's variables and classes are in style files: the server's policy allows no style that a script makes. */}
      <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
