/**
 * Parameters of a rendered statement for a driver. Each driver has a type of its own for what it binds; dialects encode
 * values before they render, so every value is one that the engine's driver takes.
 */
export const bound = (params: readonly unknown[]): never[] => params as never[]
