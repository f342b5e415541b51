import { Modal } from '@mantine/core';
import { T } from '../english.ts';
import { useFocusBack } from '../parts/focus.ts';

export function Help({ close }: { close: () => void }) {
  useFocusBack();
  return (
    <Modal opened onClose={close} title={T.help.title} closeButtonProps={{ 'aria-label': T.help.close }}>
      <dl className="facts">
        {T.help.keys.map(([key, does]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
