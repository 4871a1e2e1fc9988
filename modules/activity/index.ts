/** The activity of a base: its change log, comments, and what happened to its members and links, in one list. */

export { activityRest } from './rest/index.ts'
export { activityRouter } from './router.ts'
export { type ActivityService, createActivityService } from './service.ts'
