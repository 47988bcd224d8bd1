import type { ModalProps } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { AskedForms } from './asking.js';
import { Dialog } from './dialog.js';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

/** A dialog with a form. It asks before unsent input is lost; the form's own buttons close it without a question. */
export function FormDialog({ onClose, children, ...dialog }: ModalProps) {
  const [forms] = useState(() => new Set<() => boolean>());
  const [isAsking, ask] = useState(false);
  const leave = () => {
    ask(false);
    onClose();
  };
  const close = () => {
    if ([...forms].some((isDirty) => isDirty())) ask(true);
    else onClose();
  };
  return (
    <>
      <Dialog {...dialog} onClose={close}>
        <AskedForms value={forms}>{children}</AskedForms>
      </Dialog>
      {isAsking && (
        <Suspense>
          <LeaveDialog stay={() => ask(false)} leave={leave} />
        </Suspense>
      )}
    </>
  );
}
