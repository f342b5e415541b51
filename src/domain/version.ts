/** `original_context.platform_version` and the user agent. A test compares it with package.json. */
export const VERSION = '0.1.0';
