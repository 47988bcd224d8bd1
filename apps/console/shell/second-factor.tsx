import { Box, Button, Group, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../ui/links.js';
import { Notice } from '../ui/notice.js';
import { PageFrame } from '../ui/page.js';
import { readSessionAgain } from './session.js';

const SetUpDevice = lazy(async () => ({
  default: (await import('../user/account/totp.js')).SetUpDevice,
}));

interface SecondFactorPageProps {
  hold: () => void;
  release: () => void;
}

/** Replaces every page until staff have set up their required second factor and saved its recovery codes. */
export function SecondFactorPage({ hold, release }: SecondFactorPageProps) {
  const { t } = useTranslation('shell');
  // Whoever signs in again, such as after the session ended here, has to set up nothing.
  const onLeave = useEffectEvent(release);
  useEffect(() => () => onLeave(), []);
  return (
    <PageFrame title={t('secondFactor.title')} width={32} isCentred>
      <Text>{t('secondFactor.about')}</Text>
      <Suspense fallback={null}>
        <SetUpDevice hold={hold} done={() => void readSessionAgain().then(release)} />
      </Suspense>
    </PageFrame>
  );
}

const PUT_OFF = 'tollgate.second-factor-put-off';

/** Advises a second factor, until it is set up or the person dismisses the advice for this tab. */
export function SecondFactorAdvice({ userId }: { userId: string }) {
  const { t } = useTranslation('shell');
  const [putOffBy, setPutOffBy] = useState(() => sessionStorage.getItem(PUT_OFF));
  if (putOffBy === userId) return null;
  const putOff = () => {
    sessionStorage.setItem(PUT_OFF, userId);
    setPutOffBy(userId);
  };
  return (
    <Box mb="lg">
      <Notice tone="quiet" role="note">
        <Group justify="space-between">
          <Advice />
          <Button size="xs" variant="default" onClick={putOff}>
            {t('secondFactor.putOff')}
          </Button>
        </Group>
      </Notice>
    </Box>
  );
}

function Advice() {
  const { t } = useTranslation('shell');
  return (
    <Text size="sm">
      {t('secondFactor.advice')}{' '}
      <TextLink to="/account" underline="always">
        {t('secondFactor.link')}
      </TextLink>
    </Text>
  );
}
