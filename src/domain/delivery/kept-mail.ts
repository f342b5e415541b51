// A mail that was written into the outbox folder, since there is no mail server or no address: its delivery is made, and no person
// has it.

/** What the detail of such an attempt begins with. */
export const NO_MAIL_SENT = 'No mail was sent, since ';

/** Returns why a mail was not sent. `detail`: of its last attempt. Null: it was sent, or is no mail. */
export function whyKept(detail: string): string | null {
  return detail.startsWith(NO_MAIL_SENT) ? detail : null;
}
