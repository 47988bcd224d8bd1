import { Alert, type AlertProps } from '@mantine/core';
import type { ReactNode } from 'react';

const COLOURS = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'gray' } as const;

interface NoticeProps extends Pick<AlertProps, 'title' | 'role'> {
  tone: keyof typeof COLOURS;
  children: ReactNode;
}

/** The frame of a card: what is merely good to know must not look like an alarm. */
const QUIET_FRAME = { borderColor: 'var(--colour-line)' };

/** Something that people should know on a page. Its words have the contrast of text; the frame alone is coloured. */
export function Notice({ tone, ...rest }: NoticeProps) {
  return <Alert color={COLOURS[tone]} style={tone === 'quiet' ? QUIET_FRAME : undefined} {...rest} />;
}
