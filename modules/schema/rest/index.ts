/**
 * Tables and columns over REST: their routes, their shape as clients know it, and reading that shape.
 */

export { readPlace } from './columns.ts'
export { type PresentTableViews, presentFull, presentShared, VIEW_PRESENTER } from './present.ts'
export { schemaRest } from './routes.ts'
