// The error by which components say that they are not configured as they need.

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** Kept for code that reads it; stacks are shown always. */
  readonly exposeStack: boolean;

  constructor(message?: string, exposeStack = false) {
    super(message);
    this.exposeStack = exposeStack;
  }
}
