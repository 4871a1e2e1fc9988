/**
 * Views, their columns, filters and sorts over REST: routes, shapes as clients know them, and reading those shapes.
 */

export { presentOneView, presentSharedView, presentTableViews, presentViewList } from './present.ts'
export { viewsRest } from './routes.ts'
