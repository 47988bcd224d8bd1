import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import type { Language } from '../i18n/i18n.js';
import { Form } from '../ui/forms/declared.js';
import { textField } from '../ui/forms/text-fields.js';
import { TextLink } from '../ui/links.js';
import { ErrorState } from '../ui/states.js';
import { EntrancePage, useEmail } from './entrance.js';

/** The answer does not reveal whether the address has an account. */
export default function SignUpPage() {
  const { t } = useTranslation('visitor');
  const [sent, setSent] = useState<SignUp | null>(null);
  if (sent !== null) return <MailSent signUp={sent} other={() => setSent(null)} />;
  return (
    <EntrancePage title={t('signUp.title')} about={t('signUp.about')}>
      <SignUpForm done={setSent} />
      <TextLink to="/sign-in" size="sm">
        {t('signUp.signIn')}
      </TextLink>
      <TextLink to="/retention" size="sm">
        {t('signUp.retention')}
      </TextLink>
    </EntrancePage>
  );
}

function MailSent({ signUp, other }: { signUp: SignUp; other: () => void }) {
  const { t } = useTranslation('visitor');
  return (
    <EntrancePage title={t('mailSent.title')}>
      <Text>{t('mailSent.signUp', { email: signUp.email })}</Text>
      <Resend signUp={signUp} />
      <Button variant="subtle" onClick={other}>
        {t('mailSent.other')}
      </Button>
    </EntrancePage>
  );
}

interface SignUp {
  email: string;
  language: Language;
  inviteCode?: string;
}

async function signUp(body: SignUp): Promise<void> {
  await api.POST('/api/public/sign-ups', { body });
}

/** The first mail may be lost. Its link stays valid. */
function Resend({ signUp: asked }: { signUp: SignUp }) {
  const { t } = useTranslation('visitor');
  const again = useMutation({ mutationFn: () => signUp(asked) });
  return (
    <>
      <Button variant="default" onClick={() => again.mutate()} loading={again.isPending}>
        {t('mailSent.again')}
      </Button>
      <Text size="sm" role="status">
        {again.isSuccess && t('mailSent.sentAgain')}
      </Text>
      {again.error && <ErrorState error={again.error} />}
    </>
  );
}

function SignUpForm({ done }: { done: (sent: SignUp) => void }) {
  const { t, i18n } = useTranslation('visitor');
  const { invite = '' } = useSearch({ from: '/visitor/sign-up' });
  return (
    <Form
      fields={{
        email: useEmail('email'),
        inviteCode: textField(t('fields.inviteCode'), { hint: t('fields.inviteCodeHint'), initial: invite }),
      }}
      submit={t('signUp.submit')}
      isWide
      isShort
      send={async ({ email, inviteCode }) => {
        const language = i18n.language as Language;
        const sent = { email, language, ...(inviteCode ? { inviteCode } : {}) };
        await signUp(sent);
        return sent;
      }}
      done={done}
    />
  );
}
