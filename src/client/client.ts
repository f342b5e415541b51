// What `errand/client` is: a client of the interface, for browsers and Node. It is a promise to programs that are not ours.

// biome-ignore lint/performance/noBarrelFile: an entry of the package, which nothing of ours imports
export { etagOf, textOf } from './answers.ts';
export type { StreamEvent, StreamOptions } from './events.ts';
export { Errand } from './generated/errand.ts';
export type * from './generated/types.ts';
export type { CallOptions, ErrandOptions } from './options.ts';
export type { Page, Paged } from './paged.ts';
export type { ParameterProblem, ProblemCode, ProblemDetails } from './problem.ts';
export { ConnectionError, ProblemError } from './problem.ts';
