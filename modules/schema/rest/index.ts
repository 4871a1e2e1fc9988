/**
 * REST routes of tables, columns and synchronization.
 */

export { readFieldPosition } from './columns.ts'
export { type PresentTableViews, presentFull, presentShared, VIEW_PRESENTER } from './present.ts'
export { schemaRest } from './routes.ts'
