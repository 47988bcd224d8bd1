import { Card, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { mayAny, useSession } from '../../shell/session.js';
import { longTextColumn, numberColumn, personColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { MOST_REASON_CHARS } from '../../ui/forms/reason-action.js';
import { momentField, textField } from '../../ui/forms/text-fields.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { RateInForce } from './rate-in-force.js';
import { Volume } from './volume.js';

/** What credits cost the account, and the volume that qualifies it as a reseller. */
export function AccountRate({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const isAdmin = mayAny(useSession(), ['admin']);
  const params = { path: { accountId } };
  const rate = useRead('/api/support/accounts/{accountId}/rate', params);
  const set = isAdmin && rate.data && <SetRate accountId={accountId} current={rate.data.rate} />;
  return (
    <Section title={t('rate.title')} aside={set}>
      <Loaded query={rate} lines={4}>
        {(found) => (
          <Stack>
            <Card withBorder>
              <Stack gap="xs">
                <RateInForce rate={found.rate} />
                <Volume verified={found.verifiedTokens} threshold={found.thresholdTokens} />
              </Stack>
            </Card>
            {found.versions.length > 0 && <Versions versions={found.versions} />}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Versions({ versions }: { versions: Shape<'AccountRate'>['versions'] }) {
  const { t } = useTranslation('support');
  const columns: ListColumn<Shape<'AccountRate'>['versions'][number]>[] = [
    numberColumn('rate', t('rate.rate')),
    timeColumn('effectiveFrom', t('rate.from')),
    longTextColumn('reason', t('rate.reason')),
    personColumn('actor', t('rate.by')),
  ];
  return (
    <DataList
      label={t('rate.versions')}
      query={knownRows(versions)}
      columns={columns}
      rowKey={({ effectiveFrom, recordedAt }) => effectiveFrom + recordedAt}
      empty={{ title: t('rate.versions'), hint: t('rate.hint') }}
    />
  );
}

function useRateFields(current: Shape<'AccountRate'>['rate']) {
  const { t } = useTranslation('support');
  return {
    rate: choiceField(t('rate.rate'), {
      initial: current === '1.3' ? '1.2' : '1.3',
      of: ['1.3', '1.2'],
      name: (rate) => t(rate === '1.3' ? 'rate.standard' : 'rate.reseller'),
    }),
    effectiveFrom: momentField(t('rate.from'), { hint: t('rate.fromHint') }),
    reason: textField(t('rate.reason'), {
      missing: t('actions.reasonMissing'),
      maxLength: MOST_REASON_CHARS,
    }),
  };
}

function SetRate({ accountId, current }: { accountId: string; current: Shape<'AccountRate'>['rate'] }) {
  const { t } = useTranslation('support');
  return (
    <ModalForm
      texts={{ do: t('rate.set'), submit: t('rate.submit'), hint: t('rate.hint') }}
      button={{ size: 'xs' }}
      fields={useRateFields(current)}
      send={({ effectiveFrom, ...values }, requestId) =>
        api.POST('/api/admin/accounts/{accountId}/rate', {
          params: { path: { accountId } },
          body: { ...values, ...(effectiveFrom === null ? {} : { effectiveFrom }), requestId },
        })
      }
      reread={() => refresh('/api/support/accounts/{accountId}/rate', '/api/admin/audit-log')}
      success={() => t('rate.done')}
    />
  );
}
