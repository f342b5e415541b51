import { useState } from 'react';
import type { DeliveryMail } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Card } from '../parts/card.tsx';
import { Scrollable } from '../parts/scrollable.tsx';
import { Foreign } from '../parts/text/foreign.tsx';

/** What a mail or notice says. Its HTML is anything that code wrote: it stands in a frame in which nothing runs. */
export function Mail({ id, mail }: { id: string; mail: DeliveryMail }) {
  const [isText, setText] = useState(!mail.has_html);
  return (
    <Card
      title={T.notices.content}
      head={
        <>
          <span className="grow" />
          {mail.has_html && (
            <div className="tabs">
              <button type="button" aria-pressed={!isText} onClick={() => setText(false)}>
                {T.notices.html}
              </button>
              <button type="button" aria-pressed={isText} onClick={() => setText(true)}>
                {T.notices.text}
              </button>
            </div>
          )}
        </>
      }
    >
      {isText ? (
        <Scrollable className="raw mono" label={T.notices.text}>
          <Foreign>{mail.text}</Foreign>
        </Scrollable>
      ) : (
        <iframe className="mail" sandbox="" src={`/v1/deliveries/${id}/mail`} title={T.notices.content} />
      )}
    </Card>
  );
}
