import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Notice } from '../notice.js';
import { useKeptDialog } from './dialog.js';
import { LeaveGuard } from './leave-guard.js';

interface ShownOnceProps {
  /** Says that it is shown only now, and what it can do. */
  hint: string;
  /** The secret. */
  children: ReactNode;
  /** Where to go once it is saved. */
  next?: ReactNode;
  done: () => void;
}

/** A secret that is shown only now. It goes away only when people say that they saved it. */
export function ShownOnce({ hint, children, next, done }: ShownOnceProps) {
  const { t } = useTranslation('shell');
  const [isSaved, setSaved] = useState(false);
  useKeptDialog();
  return (
    <Stack>
      <LeaveGuard isDirty={() => !isSaved} about={t('once.leave')} />
      <Notice tone="warning">{hint}</Notice>
      {children}
      <Checkbox
        label={t('once.saved')}
        checked={isSaved}
        onChange={({ currentTarget }) => setSaved(currentTarget.checked)}
      />
      <Group justify="flex-end">
        {isSaved && next}
        <Button onClick={done} disabled={!isSaved}>
          {t('once.done')}
        </Button>
      </Group>
    </Stack>
  );
}
