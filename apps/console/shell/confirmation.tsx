import { lazy, Suspense, useEffect, useState } from 'react';
import { type Shape, whenUnconfirmed } from '../api/client.js';

const ConfirmationDialog = lazy(() => import('./confirmation-dialog.js'));

type Answer = (isConfirmed: boolean) => void;

/** Asks for the password or a code, once for all requests that wait for it. */
export function Confirmation({ session }: { session: Shape<'Session'> }) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    let asked: Promise<boolean> | null = null;
    whenUnconfirmed(() => {
      asked ??= new Promise<boolean>((resolve) => setAnswer(() => resolve)).finally(() => {
        asked = null;
        setAnswer(null);
      });
      return asked;
    });
    return () => whenUnconfirmed(() => Promise.resolve(false));
  }, []);
  if (!answer) return null;
  return (
    <Suspense fallback={null}>
      <ConfirmationDialog by={session.secondFactor === 'on' ? 'code' : 'password'} answer={answer} />
    </Suspense>
  );
}
