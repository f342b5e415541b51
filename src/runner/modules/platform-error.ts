// The error by which components say that they are not configured as they need.

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
