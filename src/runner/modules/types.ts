// Stands in for `@pipedream/types` in users' code: identity functions for type checking only.

const identity = <T>(component: T): T => component;

export const defineComponent = identity;
export const defineSource = identity;
export const defineAction = identity;
export const defineApp = identity;
