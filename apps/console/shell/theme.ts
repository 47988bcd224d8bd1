import { createTheme, type CSSVariablesResolver } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { setNonce } from 'get-nonce';

/** Colours that people choose from. */
export const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon } as const;
export type Scheme = keyof typeof schemes;

/** The library's sizes by their names in ui/tokens.css. */
function named<Size extends string>(sizes: readonly Size[], kind: string) {
  return Object.fromEntries(sizes.map((size) => [size, `var(--${kind}-${size})`])) as Record<Size, string>;
}

/** Shades with which white text has the contrast that people need (4.5 : 1). */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  radius: { sm: 'var(--radius-sm)', md: 'var(--radius-md)' },
  spacing: named(['hair', 'tiny', 'row', 'xs', 'sm', 'md', 'lg', 'xl'], 'space'),
  fontFamily: 'var(--face)',
  fontFamilyMonospace: 'var(--face-exact)',
  fontSizes: named(['xs', 'sm', 'md', 'lg', 'xl'], 'text'),
  lineHeights: { md: 'var(--line-text)' },
  headings: {
    sizes: {
      h2: { fontSize: 'var(--title-page)', lineHeight: 'var(--line-title)' },
      h3: { fontSize: 'var(--title-section)', lineHeight: 'var(--line-title)' },
      h4: { fontSize: 'var(--title-part)', lineHeight: 'var(--line-title)' },
    },
  },
  respectReducedMotion: true,
  components: {
    // Closing is a button like others: it has a name.
    Tooltip: { defaultProps: { withArrow: true } },
    // Its titles have the colour of text: most others are too pale to read.
    Alert: { defaultProps: { variant: 'outline' }, classNames: { title: 'notice-title' } },
  },
});

const shades = {
  '--mantine-color-dimmed': 'var(--colour-quiet)',
  '--mantine-color-placeholder': 'var(--colour-quiet)',
  '--mantine-color-error': 'var(--colour-fault)',
  '--mantine-color-anchor': 'var(--colour-link)',
};

/** The colours that ui/tokens.css has for what the library calls otherwise. */
export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: shades, dark: shades });

/** The nonce of this answer: style elements without it are refused. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  setNonce(nonce);
  return nonce;
}
