import { Alert, type AlertProps } from '@mantine/core';
import type { ReactNode } from 'react';

const NOTICE_COLOURS = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'gray' } as const;

interface NoticeProps extends Pick<AlertProps, 'title' | 'role'> {
  tone: keyof typeof NOTICE_COLOURS;
  children: ReactNode;
}

/** Quiet notices have the frame of a card, so that they do not look like an alarm. */
const QUIET_FRAME = { borderColor: 'var(--colour-line)' };

/** A notice on a page. Only its frame is coloured, so that its text has enough contrast. */
export function Notice({ tone, ...rest }: NoticeProps) {
  return <Alert color={NOTICE_COLOURS[tone]} style={tone === 'quiet' ? QUIET_FRAME : undefined} {...rest} />;
}
