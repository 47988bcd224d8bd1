import { Card, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { mayAny, useSession } from '../../shell/session.js';
import { useLocale } from '../../ui/locale.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { countField } from '../../ui/forms/number-fields.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Labelled } from '../../ui/texts.js';

/** How many requests all keys of an account may send together. */
export function RequestLimits({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const isAdmin = mayAny(useSession(), ['admin']);
  const params = { path: { accountId } };
  const limits = useRead('/api/support/accounts/{accountId}/limits', params);
  const set = isAdmin && limits.data && <SetLimits accountId={accountId} current={limits.data} />;
  return (
    <Section title={t('limits.title')} aside={set}>
      <Loaded query={limits} lines={2}>
        {({ requestsPerMinute, maxConcurrentRequests }) => (
          <Card withBorder>
            <Stack gap="xs">
              <Limit label={t('limits.perMinute')} limit={requestsPerMinute} />
              <Limit label={t('limits.concurrent')} limit={maxConcurrentRequests} />
            </Stack>
          </Card>
        )}
      </Loaded>
    </Section>
  );
}

function Limit({ label, limit }: { label: string; limit: number | null }) {
  const { t } = useTranslation('support');
  const locale = useLocale();
  return (
    <Text size="sm">
      <Labelled label={label}>{limit?.toLocaleString(locale) ?? t('limits.asEverybody')}</Labelled>
    </Text>
  );
}

function SetLimits({ accountId, current }: { accountId: string; current: Shape<'AccountLimits'> }) {
  const { t } = useTranslation('support');
  const options = { max: 1_000_000_000, placeholder: t('limits.asEverybody'), isHalf: true };
  const limit = (label: string, initial: number | null) => countField(label, { ...options, initial });
  return (
    <ModalForm
      texts={t('limits.set')}
      button={{ size: 'xs' }}
      fields={{
        requestsPerMinute: limit(t('limits.perMinute'), current.requestsPerMinute),
        maxConcurrentRequests: limit(t('limits.concurrent'), current.maxConcurrentRequests),
      }}
      send={(body) =>
        api.PATCH('/api/admin/accounts/{accountId}/limits', { params: { path: { accountId } }, body })
      }
      reread={() => refresh('/api/support/accounts/{accountId}/limits', '/api/admin/audit-log')}
      success={() => t('limits.done')}
    />
  );
}
