import { Alert, Code, Stack, Text } from '@mantine/core';
import type { LinkProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ApiFailure } from '../../api/failure.js';
import { ButtonLink } from '../../ui/links.js';
import { type CallFault, isFault } from '../fault-text.js';

/** What to do about a fault: a page, or only a hint. */
interface Remedy {
  words: 'topUp' | 'key' | 'support' | 'models' | 'prompt' | 'settings' | 'wait' | 'again' | 'connection';
  to?: LinkProps['to'];
}

const KEY: Remedy = { words: 'key', to: '/tokens' };
const SUPPORT: Remedy = { words: 'support', to: '/tickets/new' };

const REMEDIES = {
  insufficient_user_quota: { words: 'topUp', to: '/wallet' },
  key_limit_exceeded: KEY,
  account_limit_exceeded: SUPPORT,
  account_frozen: SUPPORT,
  ip_not_allowed: KEY,
  group_not_granted: SUPPORT,
  model_not_allowed: KEY,
  model_not_found: { words: 'models', to: '/marketplace' },
  content_policy_violation: { words: 'prompt' },
  rate_limit_exceeded: { words: 'wait' },
  upstream_rejected: { words: 'settings' },
  generation_failed: { words: 'again' },
  unreachable: { words: 'connection' },
} as const satisfies Record<CallFault, Remedy>;

/** Says why a call failed, with the code that clients see, and what to do next. */
export function PlayFault({ failure }: { failure: ApiFailure }) {
  const { t } = useTranslation('calls');
  const { code, message } = failure;
  const remedy: Remedy = isFault(code) ? REMEDIES[code] : { words: 'again' };
  return (
    <Alert color="red" title={t(isFault(code) ? `play.faults.${code}` : 'play.faults.other')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        <Text size="sm">{t(`play.next.${remedy.words}`)}</Text>
        {remedy.to !== undefined && (
          <ButtonLink to={remedy.to} size="xs" variant="default">
            {t(`play.nextLinks.${remedy.words as 'topUp' | 'key' | 'support' | 'models'}`)}
          </ButtonLink>
        )}
        <FaultCode failure={failure} />
      </Stack>
    </Alert>
  );
}

function FaultCode({ failure: { code, requestId } }: { failure: ApiFailure }) {
  const { t } = useTranslation('calls');
  return (
    <Text size="xs" c="dimmed">
      {t('play.codeOfFault')} <Code>{code}</Code>
      {requestId !== null && (
        <>
          {' · '}
          {t('failure.requestId', { ns: 'shell' })} <Code>{requestId}</Code>
        </>
      )}
    </Text>
  );
}
