import { Alert, type AlertProps } from '@mantine/core';
import type { ReactNode } from 'react';

const COLOURS = { good: 'green', warning: 'yellow', bad: 'red', quiet: 'gray' } as const;

interface NoticeProps extends Pick<AlertProps, 'title' | 'role'> {
  tone: keyof typeof COLOURS;
  children: ReactNode;
}

/** Something that people should know on a page. Its words have the contrast of text; the frame alone is coloured. */
export function Notice({ tone, ...rest }: NoticeProps) {
  return <Alert color={COLOURS[tone]} {...rest} />;
}
