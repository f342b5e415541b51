// The parts of a schedule, which triggers and heartbeats have alike.

import { text } from '../openapi/schema.ts';

export const cronExpression = (description: string, example: string) =>
  text({ description, minLength: 1, maxLength: 255, example });

export const TIMEZONE = text({
  description: 'Time zone of `cron`, an IANA name; UTC when not given.',
  minLength: 1,
  maxLength: 64,
  example: 'Europe/Berlin',
});
