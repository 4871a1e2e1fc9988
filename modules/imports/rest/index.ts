/**
 * Imports, copies and jobs over REST: routes, and shapes as clients know them.
 */

export { copiesRest } from './copies.ts'
export { importsRest } from './routes.ts'
