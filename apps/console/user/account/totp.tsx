import { Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type GetAnswer, refresh, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { readSessionAgain, useOwnState } from '../../shell/session.js';
import { CodeLines, CopyLine } from '../../ui/copy.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { Form } from '../../ui/forms/declared.js';
import { ShownOnce } from '../../ui/forms/shown-once.js';
import { textField } from '../../ui/forms/text-fields.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { useCurrentPassword } from './current-password.js';
import { Section } from '../../ui/page.js';

const QrCode = lazy(() => import('./qr-code.js'));
const QR_PIXELS = 192;

export function Totp() {
  const { t } = useTranslation('account');
  return (
    <Section title={t('totp.title')}>
      <Loaded query={useRead('/api/totp')} lines={3}>
        {(found) => <State totp={found} />}
      </Loaded>
    </Section>
  );
}

/** Each of the first three needs the password. */
type Step =
  | { kind: 'enrol' | 'renew' | 'disable' }
  | { kind: 'confirm'; secret: string; uri: string }
  | { kind: 'codes'; codes: string[] };

interface SetUpDeviceProps {
  /** The recovery codes are shown, and would be lost if this went away. */
  hold: () => void;
  /** They are saved. */
  done: () => void;
}

/** From the password to the recovery codes. */
export function SetUpDevice({ hold, done }: SetUpDeviceProps) {
  const [step, setStep] = useOwnState<Step>();
  const go = (next: Step | null) => {
    if (next === null) return done();
    if (next.kind === 'codes') hold();
    setStep(next);
  };
  return <StepForm step={step ?? { kind: 'enrol' }} go={go} />;
}

function State({ totp }: { totp: GetAnswer<'/api/totp'> }) {
  const { t } = useTranslation('account');
  const [step, setStep] = useOwnState<Step>();
  const { enabled, recoveryCodesLeft } = totp;
  const go = (next: Step | null) => {
    setStep(next);
    // Staff are asked to set up a device; reread whether one is still missing.
    if (next === null) void readSessionAgain();
  };
  return (
    <Stack gap="sm">
      <Group>
        <StatusBadge tone={enabled ? 'good' : 'quiet'}>{t(enabled ? 'totp.on' : 'totp.off')}</StatusBadge>
        <Text size="sm">{enabled ? t('totp.codesLeft', { count: recoveryCodesLeft }) : t('totp.about')}</Text>
      </Group>
      <Steps enabled={enabled} begin={(kind) => setStep({ kind })} />
      <StepDialog step={step} go={go} />
    </Stack>
  );
}

interface StepDialogProps {
  step: Step | null;
  go: (next: Step | null) => void;
}

function StepDialog({ step, go }: StepDialogProps) {
  const { t } = useTranslation('account');
  const title = step && t(`totp.steps.${step.kind}`);
  return (
    <Dialog opened={step !== null} onClose={() => go(null)} title={title}>
      {step && <StepForm step={step} go={go} />}
    </Dialog>
  );
}

interface StepsProps {
  enabled: boolean;
  begin: (kind: 'enrol' | 'renew' | 'disable') => void;
}

function Steps({ enabled, begin }: StepsProps) {
  const { t } = useTranslation('account');
  if (!enabled)
    return (
      <Group>
        <Button onClick={() => begin('enrol')}>{t('totp.enrol')}</Button>
      </Group>
    );
  return (
    <Group>
      <Button variant="default" onClick={() => begin('renew')}>
        {t('totp.renew')}
      </Button>
      <Button variant="default" onClick={() => begin('disable')}>
        {t('totp.disable')}
      </Button>
    </Group>
  );
}

interface StepProps<Kind extends Step> {
  step: Kind;
  go: (next: Step | null) => void;
}

function StepForm({ step, go }: StepProps<Step>) {
  if (step.kind === 'confirm') return <ConfirmDevice step={step} go={go} />;
  if (step.kind === 'codes') return <RecoveryCodes codes={step.codes} done={() => go(null)} />;
  return <AskPassword kind={step.kind} go={go} />;
}

type Asked = 'enrol' | 'renew' | 'disable';

async function begin(kind: Asked, body: { password: string }): Promise<Step | null> {
  if (kind === 'enrol')
    return { kind: 'confirm', ...(await api.POST('/api/totp/enrolment', { body })).data! };
  if (kind === 'renew') {
    const { data } = await api.POST('/api/totp/recovery-codes', { body });
    return { kind: 'codes', codes: data!.recoveryCodes };
  }
  await api.POST('/api/totp/disable', { body });
  return null;
}

function AskPassword({ kind, go }: { kind: Asked; go: (next: Step | null) => void }) {
  const { t } = useTranslation('account');
  return (
    <Form
      fields={{ password: useCurrentPassword({ isFirst: true }) }}
      submit={t(`totp.submit.${kind}`)}
      isWide
      isShort
      button={kind === 'disable' ? { color: 'red' } : {}}
      send={(body) => begin(kind, body)}
      done={async (next) => {
        if (kind === 'disable') notify(t('totp.disabled'));
        await refresh('/api/totp');
        go(next);
      }}
    >
      <Text size="sm">{t(`totp.hints.${kind}`)}</Text>
    </Form>
  );
}

function ConfirmDevice({ step, go }: StepProps<Extract<Step, { kind: 'confirm' }>>) {
  const { t } = useTranslation('account');
  const code = textField(t('totp.code'), {
    rule: [/^\d{6}$/, t('totp.codeInvalid')],
    inputMode: 'numeric',
    autoComplete: 'one-time-code',
  });
  return (
    <Form
      fields={{ code }}
      submit={t('totp.confirm')}
      isWide
      isShort
      send={async (body) => (await api.POST('/api/totp/confirm', { body })).data!}
      done={async ({ recoveryCodes }) => {
        await refresh('/api/totp');
        go({ kind: 'codes', codes: recoveryCodes });
      }}
    >
      <Device secret={step.secret} uri={step.uri} />
    </Form>
  );
}

function Device({ secret, uri }: { secret: string; uri: string }) {
  const { t } = useTranslation('account');
  return (
    <>
      <List type="ordered" size="sm" spacing="xs">
        <List.Item>{t('totp.scan')}</List.Item>
        <List.Item>{t('totp.enterCode')}</List.Item>
      </List>
      <Group justify="center">
        <Suspense fallback={<Skeleton width={QR_PIXELS} height={QR_PIXELS} />}>
          <QrCode value={uri} size={QR_PIXELS} label={t('totp.qr')} />
        </Suspense>
      </Group>
      <Text size="sm">{t('totp.byHand')}</Text>
      <CopyLine value={secret} label={t('totp.secret')} />
    </>
  );
}

function RecoveryCodes({ codes, done }: { codes: string[]; done: () => void }) {
  const { t } = useTranslation('account');
  return (
    <ShownOnce hint={t('totp.codesOnce')} done={done}>
      <CodeLines code={codes.join('\n')} label={t('totp.codes')} />
    </ShownOnce>
  );
}
