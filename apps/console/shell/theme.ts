import { createTheme, type CSSVariablesResolver } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { setNonce } from 'get-nonce';

/** Colours that people choose from. */
export const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;
export type Scheme = keyof typeof schemes;

/** Shades with which white text has the contrast that people need (4.5 : 1). */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    // Closing is a button like others: it has a name.
    Tooltip: { defaultProps: { withArrow: true } },
    // Its titles have the colour of text: most others are too pale to read.
    Alert: { defaultProps: { variant: 'outline' }, classNames: { title: 'notice-title' } },
  },
});

/** The library's quiet shades are too pale to read on some of our grounds. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-9)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-anchor': 'var(--mantine-color-blue-3)',
  },
});

/** The nonce of this answer: style elements without it are refused. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  setNonce(nonce);
  return nonce;
}
