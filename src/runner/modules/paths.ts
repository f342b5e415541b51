// Provides `__dirname` and `__filename` to packages written as CommonJS; in a bundle, both are the bundle's.

export const __dirname = import.meta.dirname;
export const __filename = import.meta.filename;
