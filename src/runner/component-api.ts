// What processes of code and those that judge components beforehand both know of the component API.

/** Members of `$.send` that need the vendor's services: they throw when they are called. */
export const HOSTED_SENDS = ['s3', 'sql', 'sse', 'snowflake', 'sms'] as const;

/** How the message begins for code whose default export is text, a number or the like. */
export const NO_COMPONENT = 'The default export is neither a component nor a function';
