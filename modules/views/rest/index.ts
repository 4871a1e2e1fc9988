/**
 * REST routes of views, their columns, filters and sorts.
 */

export { presentOneView, presentSharedView, presentTableViews, presentViewList } from './present.ts'
export { viewsRest } from './routes.ts'
