// Packages written as CommonJS may ask where they lie; in a bundle, that is where the bundle lies.

export const __dirname = import.meta.dirname;
export const __filename = import.meta.filename;
