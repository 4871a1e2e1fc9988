/**
 * Bases, their members and sources over REST: routes, and shapes as clients know them.
 */

export { presentBase } from './present.ts'
export { basesRest } from './routes.ts'
