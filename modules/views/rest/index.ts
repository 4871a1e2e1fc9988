/**
 * Views, their columns, filters and sorts over REST: routes, shapes as clients know them, and reading those shapes.
 */

export { presentOneView, presentSharedView, presentTableViews, presentViewList } from './presenter.ts'
export { viewsRest } from './routes.ts'
