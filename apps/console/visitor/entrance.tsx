import { Paper, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { enter } from '../shell/session.js';
import type { Field } from '../ui/forms/field.js';
import { passwordField, textField } from '../ui/forms/text-fields.js';
import { PageFrame } from '../ui/page.js';

/** The server's limits for new passwords. */
export const PASSWORD_LENGTH = { min: 10, max: 200 };

/** The server accepts more, and has the last word. */
export const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export function EntrancePage({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children: ReactNode;
}) {
  return (
    <PageFrame title={title} {...(about ? { about } : {})} width={26} isCentred>
      <Paper withBorder p="lg">
        <Stack>{children}</Stack>
      </Paper>
    </PageFrame>
  );
}

export function useEmail(autoComplete: 'email' | 'username'): Field<string> {
  const { t } = useTranslation('visitor');
  return textField(t('fields.email'), {
    rule: [EMAIL, t('fields.emailInvalid')],
    type: 'email',
    autoComplete,
  });
}

export function useNewPassword(): Field<string> {
  const { t } = useTranslation('visitor');
  const said = t('fields.passwordLength', PASSWORD_LENGTH);
  return passwordField(t('fields.newPassword'), {
    hint: said,
    rule: [isPassword, said],
    autoComplete: 'new-password',
  });
}

export function isPassword({ length }: string): boolean {
  return length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max;
}

const SHORTEST_CODE = 6;

/** The one-time code, shown once the server asks for it. */
export function useCode(): Field<string> {
  const { t } = useTranslation('visitor');
  return textField(t('fields.code'), {
    hint: t('fields.codeHint'),
    rule: [({ length }) => length >= SHORTEST_CODE, t('fields.codeInvalid')],
    autoComplete: 'one-time-code',
    autoFocus: true,
  });
}

/** Starts the session and opens the requested page, or else the person's home. */
export function useEntrance(next = '/'): (session: Shape<'Session'>) => Promise<void> {
  const navigate = useNavigate();
  return async (session) => {
    enter(session);
    await navigate({ href: next, replace: true });
  };
}
