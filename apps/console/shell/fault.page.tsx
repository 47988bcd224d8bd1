import { Button, Stack, Text } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageFrame } from '../ui/page.js';
import { ErrorState } from '../ui/states.js';
import { NotForYou } from './access.js';
import { useIsViewing } from './session.js';
import { TextLink } from '../ui/links.js';

/** Why a page cannot be shown: a missing role, code replaced by a new version, or a bug. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation('shell');
  const router = useRouter();
  if (error instanceof NotForYou) return <Forbidden />;
  if (isMissingPart(error)) return <Outdated />;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <PageFrame title={t('page.fault.title')} width={40}>
      <ErrorState error={error} retry={retry} />
    </PageFrame>
  );
}

function Forbidden() {
  const { t } = useTranslation('shell');
  const hint = useIsViewing() ? t('viewing.refused') : t('page.forbidden.hint');
  return (
    <PageFrame title={t('page.forbidden.title')} width={40}>
      <Stack gap="xs">
        <Text>{hint}</Text>
        <TextLink to="/">{t('page.home')}</TextLink>
      </Stack>
    </PageFrame>
  );
}

/** The page was loaded before a new version was installed. */
function Outdated() {
  const { t } = useTranslation('shell');
  return (
    <PageFrame title={t('page.outdated.title')} width={40}>
      <Text>{t('page.outdated.hint')}</Text>
      <Button onClick={() => window.location.reload()} w="fit-content">
        {t('page.outdated.reload')}
      </Button>
    </PageFrame>
  );
}

/** Messages of browsers for a missing script. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|preload CSS|module script failed/i.test(error.message)
  );
}
